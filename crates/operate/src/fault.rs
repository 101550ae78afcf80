//! The lake's own errors on their way through DataFusion.

use std::fmt;
use std::sync::{Mutex, PoisonError};

use datafusion::error::DataFusionError;

use lakeward_core::error::Error;

/// An error of the lake inside one of DataFusion's. Shown with its hint, for sessions that know DataFusion's errors only;
/// whoever knows the lake's takes it out again.
#[derive(Debug)]
pub struct LakeFault {
    text: String,
    error: Mutex<Option<Error>>,
}

impl LakeFault {
    /// The error behind `error`, once; none where it is not of the lake.
    pub fn take(error: &DataFusionError) -> Option<Error> {
        let DataFusionError::External(inner) = error.find_root() else { return None };
        let fault: &LakeFault = inner.downcast_ref()?;
        fault.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl fmt::Display for LakeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl std::error::Error for LakeFault {}

/// `error` as one of DataFusion's.
pub fn fault(error: Error) -> DataFusionError {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(&error);
    while let Some(reason) = source {
        text.push_str(&format!(": {reason}"));
        source = reason.source();
    }
    if let Some(hint) = error.hint() {
        text.push_str(&format!("; {hint}"));
    }
    DataFusionError::External(Box::new(LakeFault { text, error: Mutex::new(Some(error)) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_shown_with_its_hint_and_comes_out_once() {
        let unknown = Error::UnknownTable { name: "stetes".into(), nearest: vec!["us/states".into()] };
        let error = fault(unknown).context("while planning");
        let text = error.to_string();
        assert!(text.contains("there is no table `stetes` in the lake; did you mean `us/states`?"), "{text}");
        assert!(matches!(LakeFault::take(&error), Some(Error::UnknownTable { .. })));
        assert!(LakeFault::take(&error).is_none());
        assert!(LakeFault::take(&DataFusionError::Execution("other".into())).is_none());
    }
}
