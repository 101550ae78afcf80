//! Progress of long work on the terminal; silent if stderr is not a terminal. Also reports Ctrl-C to the work.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt;
use lakeward_core::error::Result;
use lakeward_core::monitor::{Monitor, Total};

/// A progress bar, or a spinner for stages without a total.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar that appears when the first stage begins. From now on the first Ctrl-C requests a stop, the second ends the
    /// process.
    pub fn new(quiet: bool) -> Result<Self> {
        interrupt::listen()?;
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        Ok(Self { bar })
    }

    /// Removes the bar.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Monitor for Bar {
    fn begin(&self, name: &str, total: Total) {
        let (length, name, template) = match total {
            Total::Unknown => (None, name.to_string(), "{spinner} {msg}"),
            Total::Steps(steps) => (Some(steps), name.to_string(), "{msg} {wide_bar} {pos}/{len} {eta}"),
            Total::Files { files, bytes } => {
                (Some(bytes), format!("{name} {files} files"), "{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
            }
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        match length {
            Some(length) => {
                self.bar.disable_steady_tick();
                self.bar.set_position(0);
                self.bar.set_length(length);
            }
            None => self.bar.enable_steady_tick(Duration::from_millis(100)),
        }
        self.bar.set_message(name);
    }

    fn advance(&self, amount: u64) {
        self.bar.inc(amount);
    }

    fn is_stopped(&self) -> bool {
        interrupt::requested()
    }
}
