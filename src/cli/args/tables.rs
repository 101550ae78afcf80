//! Arguments of the commands that show what is known of tables.

use clap::Args;

#[derive(Debug, Args)]
pub struct ProfileCommand {
    /// A table of the lake, or any file.
    pub table: String,
}

#[derive(Debug, Args)]
pub struct TablesCommand {
    /// Only ids that contain this text.
    pub containing: Option<String>,
}

#[derive(Debug, Args)]
pub struct CopiesCommand {
    /// Only those of this table.
    pub table: Option<String>,
}

#[derive(Debug, Args)]
pub struct NoteCommand {
    /// The id of a table or record.
    pub table: Option<String>,
    /// A title for it.
    #[arg(long, value_name = "TEXT", requires = "table")]
    pub title: Option<String>,
    /// What is worth knowing of it.
    #[arg(long, value_name = "TEXT", requires = "table")]
    pub description: Option<String>,
    /// A column and what it is: another name, its meaning. With `--remove` the column alone.
    #[arg(long, num_args = 1..=2, value_names = ["COLUMN", "TEXT"], requires = "table")]
    pub column: Vec<String>,
    /// Remove the note, or that on the column.
    #[arg(long, requires = "table", conflicts_with_all = ["title", "description"])]
    pub remove: bool,
}
