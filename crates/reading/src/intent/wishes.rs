//! What a turn says beyond the catalogue's fields: how many answers, what for, what kind of data, how it is judged,
//! which columns.
//!
//! None of it is looked up anywhere, so each has a closed list of phrases, and what they are about stays in the words
//! to search by: only `top 10` and `train a classifier` are no topic.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::reader::Reading;
use super::reading::Fact;
use lakeward_core::role::Role;

/// Numbers of answers that can be asked for.
const MOST_ANSWERS: u32 = 100;
/// A task or a label is at most so many words.
const LONGEST_TASK_WORDS: usize = 12;
/// The name of a column is at most so many words.
const LONGEST_COLUMN_WORDS: usize = 5;
/// Columns read from one turn.
const MOST_COLUMNS: usize = 20;

const ANSWERS: &str = "
    top|first|best # table*|dataset*|result*|answer*|record|records|option|options|match|matches|hits;
    show|give|list|find|return|recommend|suggest me|us? only|just|at? most|least? the? top|best|first?
        # table*|dataset*|result*|answer*|record|records|option|options|candidates|suggestions|matches;
    only|just # table*|dataset*|result*|answer*|record|records|option|options;
    at|up most|to # table*|dataset*|result*|answer*|record|records|option|options;
    # results|answers|options|suggestions|candidates|matches|hits";

/// `top 5` alone, which also begins `top 5 percent`: only at the end of a clause or before one of these.
const TOP: &str = "top # >percent|per";
const BEHIND_TOP: [&str; 7] = ["", "please", "for", "on", "about", "of", "only"];

/// What the number is not of: `top 5 income groups` never meets these patterns, for a noun of answers must follow.
static COUNTED: LazyLock<Phrases<bool>> = LazyLock::new(|| Phrases::new([(true, ANSWERS), (false, TOP)]));

const TASKS: &str = "
    train|training|build|building|develop|fit|finetune|pretrain|evaluate|benchmark|validate _4
        model|models|classifier*|regressor*|detector*|network|networks|predictor*|forecaster*;
    fine tune|tuning _4 model|models|classifier|network;
    for|to predict|predicting|forecast|forecasting|classify|classifying|detect|detecting|segment|segmenting;
    for|to recognise|recognising|recognize|recognizing;
    for _3 classification|segmentation|forecasting|regression|clustering|prediction|recognition task|tasks";

static TASK: LazyLock<Phrases<()>> = LazyLock::new(|| Phrases::new([((), TASKS)]));

/// Measures: `true` for names that are nothing else, `false` for words that need a verb of judging in their clause.
static MEASURE: LazyLock<Phrases<bool>> = LazyLock::new(|| {
    let names = "macro|micro f1 score?; f1 score?; f score; roc auc; auc|auroc; mean absolute percentage? error; mae;
        mape; rmse;
        root mean squared|square error; mean squared|square error; mse; r2 score?; r squared; log loss; cross entropy;
        bleu; rouge;
        ndcg; mrr; mean average precision; perplexity; iou; intersection over union; cohen's|cohen kappa; brier score?";
    let words = "accuracy; precision; recall; sensitivity; specificity; map; dice; kappa";
    Phrases::new([(true, names), (false, words)])
});

static JUDGING: LazyLock<Phrases<()>> = LazyLock::new(|| {
    Phrases::new([(
        (),
        "evaluat*; measur*; judg*; scor*; benchmark*; optimis*; optimiz*; metric|metrics; report*; assess*",
    )])
});

static MODALITY: LazyLock<Phrases<()>> = LazyLock::new(|| {
    let list = "satellite|aerial image|images|imagery; time series; point cloud|clouds;
        sensor|image|video|audio|speech|text|tabular|geospatial|spatial|lidar|radar|graph|eeg|ecg|genomic
            data|dataset|datasets|readings|recordings|files|corpus|measurements;
        images|photos|photographs|pictures|videos|recordings of";
    Phrases::new([((), list)])
});

static ANNOTATION: LazyLock<Phrases<()>> = LazyLock::new(|| {
    let list = "labelled|labeled|annotated|unlabelled|unlabeled;
        with _3 bounding|segmentation|class|ground boxes|masks|labels|truth; with _1
        labels|annotations|captions|transcripts|masks";
    Phrases::new([((), list)])
});

/// Columns: `true` for those that are wanted.
static COLUMNS: LazyLock<Phrases<bool>> = LazyLock::new(|| {
    let unwanted = "without|drop|exclude|excluding|omit|skip|remove|no the|any? column|columns|field|fields
        for|named|called|of|on|like? :?";
    let wanted = "with|have|has|having|include|includes|including|contain|contains|containing|need|needs|add|want _2
            column|columns|field|fields for|named|called|of|on|like :?;
        column|columns for|named|called|like; columns :";
    Phrases::new([(false, unwanted), (true, wanted)])
});

/// Reads all but the columns.
pub(super) fn read(reading: &mut Reading) {
    answers(reading);
    tasks(reading);
    measures(reading);
    let last = reading.turn.words.len();
    for hit in MODALITY.find(&reading.turn, 0, last) {
        if reading.is_free(hit.from, hit.to) {
            let text = reading.turn.said(hit.from, hit.to).to_string();
            reading.say(hit.from, hit.to, Fact::Modality(text));
        }
    }
    for hit in ANNOTATION.find(&reading.turn, 0, last) {
        let to = phrase_end(reading, hit.to, LONGEST_TASK_WORDS);
        let text = reading.turn.said(hit.from, to).to_string();
        reading.say(hit.from, hit.to, Fact::Annotation(text));
    }
}

fn answers(reading: &mut Reading) {
    for hit in COUNTED.find(&reading.turn, 0, reading.turn.words.len()) {
        let Some(number) = hit.number.filter(|number| (1..=MOST_ANSWERS).contains(number)) else { continue };
        let turn = &reading.turn;
        // A sign behind the number makes it another: `top 5 %`.
        let behind = if turn.gaps[hit.to - 1].joined { turn.low(hit.to) } else { "" };
        let percent = turn.text[turn.words[hit.to - 1].end..].trim_start().starts_with('%');
        let ends = hit.means || BEHIND_TOP.contains(&behind) && !percent;
        if !ends || reading.clashes(hit.from, hit.to) {
            continue;
        }
        reading.take(hit.from, hit.to);
        reading.spent[hit.from..hit.to].fill(true);
        reading.say(hit.from, hit.to, Fact::Answers(number as usize));
    }
}

fn tasks(reading: &mut Reading) {
    for hit in TASK.find(&reading.turn, 0, reading.turn.words.len()) {
        if reading.clashes(hit.from, hit.to) {
            continue;
        }
        let from = hit.from + usize::from(matches!(reading.turn.low(hit.from), "for" | "to"));
        let to = phrase_end(reading, hit.to, LONGEST_TASK_WORDS);
        // What is done is no topic, what it is done to is: `predict` and `train … classifier`, not `house prices`.
        reading.spent[from] = true;
        reading.spent[hit.to - 1] = true;
        let text = reading.turn.said(from, to).to_string();
        reading.say(hit.from, hit.to, Fact::Task(text));
    }
}

fn measures(reading: &mut Reading) {
    for hit in MEASURE.find(&reading.turn, 0, reading.turn.words.len()) {
        let (from, to) = reading.clause_words[reading.clauses[hit.from]];
        let judged = JUDGING.any(&reading.turn, from, to);
        // A word of the catalogue's own titles is a topic until it is said to judge.
        let own = (hit.from..hit.to).all(|at| reading.stems[at].is_some());
        if !judged && (!hit.means || own) || reading.clashes(hit.from, hit.to) {
            continue;
        }
        reading.take(hit.from, hit.to);
        reading.spent[hit.from..hit.to].fill(true);
        let text = reading.turn.said(hit.from, hit.to).to_string();
        reading.say(hit.from, hit.to, Fact::Measure(text));
    }
}

/// Reads the columns, in clauses that gave no dimension of the catalogue.
pub(super) fn columns(reading: &mut Reading) {
    let mut cut = vec![false; reading.clause_words.len()];
    for placed in &reading.facts {
        if let Fact::Demanded { demand, .. } | Fact::Refused(demand) = &placed.fact {
            cut[reading.clauses[placed.from]] |= demand.role == Role::Dimension;
        }
    }
    let mut count = 0;
    for hit in COLUMNS.find(&reading.turn, 0, reading.turn.words.len()) {
        if cut[reading.clauses[hit.from]] {
            continue;
        }
        for (from, to) in listed(reading, hit.to) {
            count += 1;
            if count > MOST_COLUMNS {
                return;
            }
            let name = reading.turn.said(from, to).to_string();
            reading.say(from, to, if hit.means { Fact::Column(name) } else { Fact::NoColumn(name) });
        }
    }
}

/// The items of a list that begins at a word: free words up to `and`, `or`, a comma; the list ends with its clause.
fn listed(reading: &Reading, start: usize) -> Vec<(usize, usize)> {
    const ARTICLES: [&str; 6] = ["a", "an", "the", "each", "every", "any"];
    let turn = &reading.turn;
    let mut items = Vec::new();
    let Some(clause) = start.checked_sub(1).map(|at| reading.clauses[at]) else { return items };
    let mut from = start;
    for at in start..=turn.words.len() {
        let ends = at == turn.words.len() || reading.clauses[at] != clause || reading.used[at];
        let between = matches!(turn.low(at), "and" | "or");
        let comma = at > start && turn.gaps[at - 1].comma;
        if ends || between || comma {
            while from < at && ARTICLES.contains(&turn.low(from)) {
                from += 1;
            }
            if from < at && at - from <= LONGEST_COLUMN_WORDS {
                items.push((from, at));
            }
            from = if between { at + 1 } else { at };
        }
        if ends {
            break;
        }
    }
    items
}

/// The end of the phrase that goes on at a word: the clause's, a comma, at most `most` words.
fn phrase_end(reading: &Reading, at: usize, most: usize) -> usize {
    let clause = reading.clauses[at - 1];
    let goes_on = |to: usize| {
        to < reading.turn.words.len()
            && reading.clauses[to] == clause
            && !reading.turn.gaps[to - 1].comma
            && !reading.used[to]
    };
    let mut to = at;
    while to - at < most && goes_on(to) {
        to += 1;
    }
    to
}
