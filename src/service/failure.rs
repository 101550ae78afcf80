//! Why a request to the service was not answered.

use std::path::Path;
use std::time::Duration;

use lakeward_core::error::Error;
use lakeward_core::message;
use lakeward_core::message::Message;

/// Why a request was not answered.
#[derive(Debug)]
pub enum Failure {
    /// Too many requests are waiting.
    Busy,
    /// It took longer than this.
    Late(Duration),
    /// The program's own error.
    Lake(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Lake(error)
    }
}

impl Failure {
    /// What failed, without the path of the folder `lake`: whoever asks a service need not know where its files are.
    pub fn message(&self, lake: &Path) -> Message {
        match self {
            Self::Busy => message!("too many requests are waiting"),
            Self::Late(deadline) => message!("no answer within {} s", format!("{:.0}", deadline.as_secs_f64())),
            Self::Lake(error) => {
                let message = error.message();
                let without = without_folder(&message, lake);
                if message == *without { message } else { without.into() }
            }
        }
    }

    /// What to do next, if anything.
    pub fn hint(&self, lake: &Path) -> Option<Message> {
        match self {
            Self::Busy => Some(message!("ask again in some seconds")),
            Self::Late(_) => Some(message!("ask for less: fewer rows, fewer tables, a narrower request")),
            // The command line has other ways to go on.
            Self::Lake(Error::SessionChanged { .. }) => {
                Some(message!("read its newest state, and send the change again"))
            }
            Self::Lake(error) => error.hint().map(|hint| without_folder(&hint, lake).into()),
        }
    }
}

fn without_folder(text: &str, lake: &Path) -> String {
    let folder = lake.to_string_lossy();
    let folder = folder.trim_end_matches('/');
    if folder.is_empty() || folder == "." { text.to_string() } else { text.replace(&format!("{folder}/"), "") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_the_lake_is_not_told() {
        let lake = Path::new("/srv/lake/");
        let failure = Failure::from(Error::unreadable(Path::new("/srv/lake/a/b.csv"), "truncated"));
        assert_eq!(failure.message(lake), "`a/b.csv` cannot be read as a table: truncated");
    }
}
