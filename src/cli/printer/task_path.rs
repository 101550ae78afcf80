//! Output of the path from a request over tasks to a dataset.

use lakeward_core::text::shown;
use lakeward_search::task_search::TaskPath;

/// Characters of a text.
const TEXT_CHARS: usize = 600;

/// One line per step.
pub fn lines(path: &TaskPath) -> Vec<String> {
    let mut lines = Vec::new();
    let line = |what: &str, text: &str| format!("{what}: {}", shown(text, TEXT_CHARS));
    if let Some(via) = &path.via {
        lines.push(line("via the task", via));
    }
    if path.learned {
        let year = path.year.map(|year| format!(", {year}")).unwrap_or_default();
        let request = shown(&path.task, TEXT_CHARS);
        lines.push(format!("asked in a session{year} (similarity {:.2}): {request}", path.similarity));
        return lines;
    }
    lines.push(format!("task (similarity {:.2}): {}", path.similarity, shown(&path.task, TEXT_CHARS)));
    let title = if path.document_title.is_empty() { String::new() } else { format!(", {}", path.document_title) };
    let year = path.year.map(|year| format!(" ({year})")).unwrap_or_default();
    lines.push(line("paper", &format!("{}{title}{year}", path.document)));
    if let Some(similar) = &path.similar_to {
        lines.push(line("inferred from a description similar to that of", similar));
    }
    if let Some(sentence) = &path.sentence {
        let section = path.section.as_ref().map(|section| format!(" [{section}]")).unwrap_or_default();
        lines.push(line("says", &format!("{sentence}{section}")));
    } else if !path.called.is_empty() {
        lines.push(line("calls the dataset", &path.called));
    }
    lines
}
