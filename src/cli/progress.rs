//! Progress of a build or an evaluation on the terminal; silent when stderr is no terminal. Ctrl-C is heard here.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::interrupt;
use lakeward_core::error::Result;
use lakeward_eval::evaluate::EvalObserver;
use lakeward_index::build::BuildObserver;
use lakeward_search::augment::AugmentObserver;
use lakeward_tasks::papers::AddObserver;
use lakeward_tasks::papers::extract::run::ExtractObserver;

/// A progress bar over the bytes of the files to read.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// A bar that appears when reading starts; from now on the first Ctrl-C asks the build to stop, the second ends the
    /// process.
    pub fn new(quiet: bool) -> Result<Self> {
        interrupt::listen()?;
        let target = if quiet { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        Ok(Self { bar })
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl BuildObserver for Bar {
    fn started(&self, files: u64, bytes: u64) {
        let style = ProgressStyle::with_template("reading {msg} {wide_bar} {bytes}/{total_bytes} {eta}");
        if let Ok(style) = style {
            self.bar.set_style(style);
        }
        self.bar.set_position(0);
        self.bar.set_length(bytes);
        self.bar.set_message(format!("{files} files"));
    }

    fn file_done(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    fn phase(&self, what: &str) {
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            self.bar.set_style(style);
        }
        self.bar.set_message(what.to_string());
        self.bar.enable_steady_tick(std::time::Duration::from_millis(100));
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}

impl AugmentObserver for Bar {
    fn started(&self, tables: u64) {
        if let Ok(style) = ProgressStyle::with_template("questions of tables {wide_bar} {pos}/{len} {eta}") {
            self.bar.set_style(style);
        }
        self.bar.set_position(0);
        self.bar.set_length(tables);
    }

    fn table_done(&self) {
        self.bar.inc(1);
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}

impl ExtractObserver for Bar {
    fn started(&self, documents: u64) {
        if let Ok(style) = ProgressStyle::with_template("documents {wide_bar} {pos}/{len} {eta}") {
            self.bar.set_style(style);
        }
        self.bar.set_position(0);
        self.bar.set_length(documents);
    }

    fn document_done(&self) {
        self.bar.inc(1);
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}

impl AddObserver for Bar {
    fn started(&self, files: u64, bytes: u64) {
        BuildObserver::started(self, files, bytes);
    }

    fn file_done(&self, bytes: u64) {
        BuildObserver::file_done(self, bytes);
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}

impl EvalObserver for Bar {
    fn asking(&self, system: &str, queries: u64) {
        self.bar.disable_steady_tick();
        if let Ok(style) = ProgressStyle::with_template("asking {msg} {wide_bar} {pos}/{len} {eta}") {
            self.bar.set_style(style);
        }
        self.bar.set_position(0);
        self.bar.set_length(queries);
        self.bar.set_message(system.to_string());
    }

    fn answered(&self) {
        self.bar.inc(1);
    }

    fn interrupted(&self) -> bool {
        interrupt::asked()
    }
}
