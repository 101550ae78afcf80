//! Why a request to the service was not answered.

use std::path::Path;
use std::time::Duration;

use lakeward_core::error::Error;

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
    pub fn message(&self, lake: &Path) -> String {
        match self {
            Self::Busy => "too many requests are waiting".into(),
            Self::Late(deadline) => format!("no answer within {:.0} s", deadline.as_secs_f64()),
            Self::Lake(error) => without_folder(&with_sources(error), lake),
        }
    }

    /// What to do next, if anything.
    pub fn hint(&self, lake: &Path) -> Option<String> {
        match self {
            Self::Busy => Some("ask again in some seconds".into()),
            Self::Late(_) => Some("ask for less: fewer rows, fewer tables, a narrower request".into()),
            // The command line has other ways to go on.
            Self::Lake(Error::SessionChanged { .. }) => Some("read its newest state, and send the change again".into()),
            Self::Lake(error) => error.hint().map(|hint| without_folder(&hint, lake)),
        }
    }
}

fn with_sources(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
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
