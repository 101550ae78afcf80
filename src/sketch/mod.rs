//! Small summaries of values; knows no files.
