//! The tasks of a document, and which dataset was used for which.
//!
//! Task phrases are weighted by where they occur: title, abstract, headings, and what the text itself calls a task. A phrase that
//! says the same in more or fewer words becomes a keyword of the phrase with the greater weight. Each dataset goes to the task
//! named nearest to its use: in the same sentence, in the heading above, in the sentences before; otherwise to the first task.

use std::collections::{HashMap, HashSet};

use super::super::document::SectionKind;
use super::super::extraction::ExtractedTask;
use super::gazetteer::loose_key;
use super::lines::Lines;
use super::mentions::Mention;
use super::phrases::{are_alike, phrases};

/// Maximum number of tasks per document.
const MAX_TASKS: usize = 8;
/// Minimum weight of other tasks, as a share of the first one's.
const MIN_SHARE: f64 = 0.35;
/// Minimum number of words of a phrase, not counting dataset names.
const MIN_WORDS: usize = 2;
/// Maximum number of phrases that are compared with each other.
const MAX_PHRASES: usize = 400;
/// Maximum number of keywords per task.
const MAX_KEYWORDS: usize = 8;
/// Maximum distance in lines at which an earlier sentence still tells the task of a name.
const NEAR_LINES: usize = 3;
/// Phrases of sentences that state the document's aim.
const CUES: [&str; 16] = [
    "we propose",
    "we present",
    "we introduce",
    "we address",
    "we study",
    "we consider",
    "we tackle",
    "we investigate",
    "we develop",
    "we aim",
    "this paper",
    "in this work",
    "our goal",
    "this work",
    "we describe",
    "we explore",
];

/// A phrase of the document.
#[derive(Debug, Default)]
struct Weighed {
    name: String,
    weight: f64,
    count: u32,
    lines: Vec<usize>,
}

/// A task with its phrases.
struct Task {
    name: String,
    weight: f64,
    keywords: Vec<String>,
    /// Lines that name it, ascending.
    lines: Vec<usize>,
}

/// The tasks of a document that uses `datasets`; the first also gets datasets that fit no task, and other tasks are included only
/// if a dataset was used for them.
pub fn tasks(lines: &Lines<'_>, datasets: &[&Mention]) -> Vec<ExtractedTask> {
    let names: HashSet<String> = datasets.iter().map(|mention| loose_key(&mention.name)).collect();
    let mut found = chosen(weighed(lines, &names));
    if found.is_empty() {
        // Without a task phrase, the title stands for the task.
        found.push(Task { name: String::new(), weight: 0.0, keywords: Vec::new(), lines: Vec::new() });
    }
    let mut assigned: Vec<Vec<&Mention>> = vec![Vec::new(); found.len()];
    for mention in datasets {
        let votes: Vec<f64> = found.iter().map(|task| vote(lines, mention, task)).collect();
        assigned[best(&votes)].push(mention);
    }
    let kept = found.into_iter().zip(assigned).enumerate();
    kept.filter(|(place, (_, assigned))| *place == 0 || !assigned.is_empty())
        .map(|(_, (task, assigned))| {
            let datasets = assigned.into_iter().map(|mention| super::dataset(mention, lines)).collect();
            super::task(&task.name, need(lines, &task), task.keywords, datasets)
        })
        .collect()
}

/// The position of the greatest vote, the first of equal ones.
fn best(votes: &[f64]) -> usize {
    let mut best = 0;
    for (place, vote) in votes.iter().enumerate() {
        if *vote > votes[best] {
            best = place;
        }
    }
    best
}

/// The phrases of `lines` by weight; words in `names` (of datasets) are removed from phrases.
fn weighed(lines: &Lines<'_>, names: &HashSet<String>) -> Vec<Weighed> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut weighed: Vec<Weighed> = Vec::new();
    for (number, line) in lines.iter() {
        let is_stated = states_aim(line.text);
        for phrase in phrases(line.text) {
            let words: Vec<&str> = phrase.name.split(' ').filter(|word| !names.contains(&loose_key(word))).collect();
            if words.len() < MIN_WORDS {
                continue;
            }
            let name = words.join(" ");
            let place = *places.entry(name.to_lowercase()).or_insert_with(|| {
                weighed.push(Weighed { name: name.clone(), ..Weighed::default() });
                weighed.len() - 1
            });
            let entry = &mut weighed[place];
            entry.count += 1;
            if entry.lines.last() != Some(&number) {
                entry.lines.push(number);
            }
            entry.weight += match (number, line.is_heading, line.kind) {
                (0, ..) => 4.0 + if phrase.is_aim { 1.0 } else { 0.0 },
                (_, true, SectionKind::Background) => 0.1,
                (_, true, _) => 0.75,
                (_, _, SectionKind::Background | SectionKind::Acknowledgements) => 0.0,
                (_, _, kind) if kind == SectionKind::Abstract || lines.is_first(number) => match is_stated {
                    true => 2.0,
                    false => 1.0,
                },
                _ => 0.0,
            };
            entry.weight += if phrase.is_called_task { 0.5 } else { 0.0 };
        }
    }
    for entry in &mut weighed {
        entry.weight += 0.5 * f64::from(entry.count).ln_1p();
    }
    weighed.sort_by(|a, b| b.weight.total_cmp(&a.weight).then_with(|| a.name.cmp(&b.name)));
    weighed.truncate(MAX_PHRASES);
    weighed
}

/// The phrases with the greatest weights, each with its paraphrases.
fn chosen(weighed: Vec<Weighed>) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    for phrase in weighed {
        let same = tasks.iter_mut().find(|task| are_alike(&task.name, &phrase.name));
        if let Some(task) = same {
            task.lines.extend(phrase.lines);
            if task.keywords.len() < MAX_KEYWORDS {
                task.keywords.push(phrase.name);
            }
            continue;
        }
        let is_heavy = tasks.first().is_none_or(|first| phrase.weight >= MIN_SHARE * first.weight);
        if is_heavy && tasks.len() < MAX_TASKS {
            tasks.push(Task { name: phrase.name, weight: phrase.weight, keywords: Vec::new(), lines: phrase.lines });
        }
    }
    for task in &mut tasks {
        task.lines.sort_unstable();
        task.lines.dedup();
    }
    tasks
}

/// Score for a dataset having been used for a task, by where both are named.
fn vote(lines: &Lines<'_>, mention: &Mention, task: &Task) -> f64 {
    let mut votes = 0.0;
    for (at, strength) in &mention.places {
        let sure = if *strength > 0.0 { 1.0 } else { 0.25 };
        votes += sure * nearness(lines, *at, task);
    }
    // Between equally near tasks, the document's aim decides.
    votes * (1.0 + 0.05 * task.weight.ln_1p())
}

fn nearness(lines: &Lines<'_>, at: usize, task: &Task) -> f64 {
    let section = lines.get(at).section;
    let after = task.lines.partition_point(|line| *line <= at);
    let Some(nearest) = after.checked_sub(1).map(|place| task.lines[place]) else { return 0.0 };
    let is_heading = |line: usize| lines.get(line).is_heading && lines.get(line).section == section;
    let heading = task.lines[..after].iter().rev().take(64).any(|line| is_heading(*line) && *line > 0);
    let near = match at - nearest {
        0 => 3.0,
        distance if distance <= NEAR_LINES && lines.get(nearest).section == section => 1.5 / distance as f64,
        _ => 0.0,
    };
    f64::max(near, if heading { 2.0 } else { 0.0 })
}

/// The sentence that states the task: preferably one that states an aim, then one that names the task; otherwise the title.
fn need(lines: &Lines<'_>, task: &Task) -> String {
    let sentences = || task.lines.iter().copied().filter(|line| !lines.get(*line).is_heading);
    let stated = sentences().find(|line| lines.is_first(*line) && states_aim(lines.text(*line)));
    let found = stated
        .or_else(|| sentences().find(|line| lines.is_first(*line)))
        .or_else(|| sentences().find(|line| states_aim(lines.text(*line))))
        .or_else(|| sentences().next());
    found.map_or_else(|| lines.text(0).to_string(), |line| lines.text(line).to_string())
}

fn states_aim(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    CUES.iter().any(|cue| lower.contains(cue))
}
