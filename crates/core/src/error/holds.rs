//! The files beside an index, as errors about them name them.

use std::path::Path;

/// What a file beside the index contains; it decides the message and the hint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A session, or the folder of sessions.
    Session,
    /// Feedback from sessions.
    Learned,
    /// The generated questions of the tables.
    Questions,
    /// The list of documents, or their texts.
    Papers,
    /// How far models are trusted.
    Checks,
    /// What users know of tables.
    Notes,
    /// How answers of the service are used.
    Usage,
    /// Where a harvest stands.
    Harvest,
    /// What became of the shard of this number of a list: `rows/` in the folder of the list.
    ShardRow(u32),
}

impl Holds {
    /// The start of a message, before the file's name.
    pub(super) fn before_name(self) -> &'static str {
        match self {
            Holds::Session => "session file ",
            Holds::Learned => "the feedback in ",
            Holds::Questions => "the questions in ",
            Holds::Papers => "",
            Holds::Checks => "the measurements in ",
            Holds::Notes => "the notes in ",
            Holds::Usage => "the usage log ",
            Holds::Harvest => "the record of the harvest in ",
            Holds::ShardRow(_) => "the row of a shard in ",
        }
    }

    pub(super) fn hint(self, file: &Path) -> String {
        let path = file.display();
        match self {
            Holds::Session => {
                "the file is unchanged; move it away or fix it, or start another session (`lakeward sessions` \
                               lists them)"
                    .into()
            }
            Holds::Learned => format!("the file is unchanged; move `{path}` away to start learning afresh"),
            Holds::Questions => {
                format!("the file is unchanged; remove `{path}` and run `lakeward augment` to generate them again")
            }
            Holds::Checks => {
                format!("remove `{path}` and run `lakeward model check` to measure again")
            }
            Holds::Notes => format!("the file is unchanged; move `{path}` away to go on without notes"),
            Holds::Usage => format!("the file is unchanged; move `{path}` away to begin a new one"),
            Holds::Harvest => format!(
                "the file and the pages are unchanged; harvest into another folder, or move `{path}` away to harvest all of it again"
            ),
            Holds::ShardRow(shard) => {
                let list = file.ancestors().nth(2).unwrap_or(file).display();
                format!(
                    "the index is unchanged; remove `{path}` and run `lakeward index work {list} --shard {shard}` again"
                )
            }
            Holds::Papers => format!(
                "move `{path}` away, and add the papers again (`lakeward papers add PATH`); their files are untouched"
            ),
        }
    }
}
