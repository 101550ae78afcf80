//! Closed forms of what a turn does to the present plan, which no model needs to guess: run it, reverse its order,
//! take back its last condition, order or number of rows, count its rows, call its columns otherwise.

use lakeward_core::message;
use lakeward_core::plan::{Condition, Direction, Grouping, Measure, MeasureFunction, Order, Plan, Step};
use lakeward_core::request::Act;
use lakeward_core::text::{lower_words, name_key};

use super::assemble::Assembly;
use super::not_applied::NotApplied;
use super::number::number;
use super::span::{Role, Span, TurnReading};

/// Most turns that are undone at once.
pub const ALL_STEPS: usize = 100;

/// A slot of a plan that can be taken back by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// The condition that was added last.
    Condition,
    /// The order of rows.
    Order,
    /// The number of rows.
    Limit,
}

/// What a turn does with the plan that stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// It is to be carried out; the number of the operation, if one is said.
    Run(Option<u64>),
    /// The last first.
    Reverse,
    /// What stands last in a slot goes.
    TakeBack(Slot),
    /// How many rows the result has.
    Count,
    /// Columns get other names.
    Rename,
    /// All that was asked for goes.
    StartOver,
    /// Nothing: it thanks, or says that this was all.
    Thanks,
}

/// Words that change nothing of what a turn says.
const POLITE: [&str; 14] =
    ["please", "now", "then", "just", "ok", "okay", "so", "and", "thanks", "can", "you", "could", "yes", "pls"];
/// Words for the plan or its rows.
const IT: [&str; 14] =
    ["it", "that", "this", "them", "the", "these", "those", "list", "result", "results", "rows", "table", "one", "my"];

impl Control {
    /// What a whole text says so; none where it says anything else.
    pub fn of_text(text: &str) -> Option<Self> {
        let words: Vec<String> = lower_words(text).filter(|word| !POLITE.contains(&word.as_str())).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        run(&words)
            .or_else(|| reverse(&words))
            .or_else(|| take_back(&words))
            .or_else(|| count_rows(&words))
            .or_else(|| rename(&words))
            .or_else(|| start_over(&words))
            .or_else(|| thanks(text))
    }

    /// The turn that says it.
    pub fn reading(self, text: &str) -> TurnReading {
        let act = match self {
            Self::Run(_) => Act::Run,
            Self::Reverse | Self::Count | Self::Rename => Act::Refine,
            Self::TakeBack(_) => Act::Retract,
            Self::StartOver => Act::Undo,
            Self::Thanks => Act::Chat,
        };
        let number = |number: u64| Span { number: Some(number as f64), ..Span::new(0..text.len(), text, Role::Answer) };
        let all = || Span { number: Some(ALL_STEPS as f64), ..Span::new(0..text.len(), text, Role::Steps) };
        let spans = match self {
            Self::Run(said) => said.into_iter().map(number).collect(),
            Self::StartOver => vec![all()],
            _ => Vec::new(),
        };
        TurnReading { text: text.to_string(), acts: vec![act], confidence: 1.0, spans, ..TurnReading::default() }
    }

    /// What it makes of a plan whose result has these columns.
    pub fn applied(self, text: &str, plan: &Plan, columns: &[String]) -> Assembly {
        let mut made =
            Assembly { plan: plan.clone(), tables: Vec::new(), not_applied: Vec::new(), remarks: Vec::new() };
        let steps = &mut made.plan.relation.steps;
        let is_done = match self {
            Self::Run(_) | Self::StartOver | Self::Thanks => true,
            Self::Reverse => steps.iter_mut().rev().find_map(order_of).map(turn_round).is_some(),
            Self::TakeBack(slot) => take_back_last(steps, slot),
            Self::Count => count_of(steps),
            Self::Rename => {
                let (renamed, not_applied) = renamed(text, columns);
                steps.extend(Some(renamed).filter(|renamed| !renamed.is_empty()).map(Step::Rename));
                made.not_applied = not_applied;
                true
            }
        };
        if !is_done {
            let reason = match self {
                Self::TakeBack(Slot::Condition) => "no condition stands",
                Self::TakeBack(Slot::Limit) => "no number of rows stands",
                Self::Count => "one figure of all rows stands already",
                _ => "nothing says in which order the rows come",
            };
            made.not_applied.push(NotApplied::left_out(text.trim(), reason));
        }
        let is_cut = made.plan.relation.steps.iter().any(|step| matches!(step, Step::Limit { .. } | Step::Top(_)));
        if self == Self::Reverse && is_done && is_cut {
            made.remarks.push(message!("the first rows are now those of the other end"));
        }
        made
    }
}

/// `run it`, `run 2`, `run the first one`, `carry it out`.
fn run(words: &[&str]) -> Option<Control> {
    const RUN: [&str; 2] = ["run", "execute"];
    const WHICH: [&str; 7] = ["operation", "step", "number", "no", "nr", "proposal", "query"];
    let carries = words.first() == Some(&"carry") && words.contains(&"out");
    if !carries && !words.first().is_some_and(|word| RUN.contains(word)) {
        return None;
    }
    let (mut said, mut numbers) = (None, 0);
    for word in &words[1..] {
        match number(word).filter(|number| number.value.fract() == 0.0 && number.value >= 1.0) {
            Some(number) if *word != "one" => (said, numbers) = (Some(number.value as u64), numbers + 1),
            _ if IT.contains(word) || WHICH.contains(word) || (carries && *word == "out") => {}
            _ => return None,
        }
    }
    (numbers < 2).then_some(Control::Run(said))
}

/// `start over`, `begin again from scratch`, `reset`.
fn start_over(words: &[&str]) -> Option<Control> {
    const ANEW: [&str; 6] = ["over", "again", "anew", "afresh", "scratch", "beginning"];
    const BESIDE: [&str; 4] = ["from", "all", "everything", "with"];
    let (first, rest) = words.split_first()?;
    let resets = matches!(*first, "reset" | "restart");
    let begins = matches!(*first, "start" | "begin") && rest.iter().any(|word| ANEW.contains(word));
    let is_all = |word: &&str| ANEW.contains(word) || BESIDE.contains(word) || IT.contains(word);
    ((resets || begins) && rest.iter().all(is_all)).then_some(Control::StartOver)
}

/// `thanks`, `great, thank you very much`, `ok, that's all for now`, `bye`.
fn thanks(text: &str) -> Option<Control> {
    const BESIDE: &str = "you a lot very much so great nice perfect ok okay good day that is was s it all for now today then and please done we are i m";
    let words: Vec<String> = lower_words(text).collect();
    let thanks = |word: &str| matches!(word, "thanks" | "thank" | "thx" | "cheers" | "bye" | "goodbye");
    let says = |said: &str| words.iter().any(|word| word == said);
    let ends = says("that") && says("all") && (says("s") || says("is") || says("was"));
    let is_all = words.iter().all(|word| thanks(word) || BESIDE.split(' ').any(|beside| beside == word));
    ((ends || words.iter().any(|word| thanks(word))) && is_all).then_some(Control::Thanks)
}

/// Whether a text agrees to what was proposed and says nothing else. A question agrees to nothing.
pub fn says_only_yes(text: &str) -> bool {
    const AGREEMENT: &str = "yes yep yeah yup sure ok okay please alright right do go great good perfect fine nice excellent agreed \
                             exactly accept accepted works confirmed";
    const BESIDE: &str = "it that this so then now ahead on and the is s looks sounds very";
    let words: Vec<String> = lower_words(text).collect();
    let is_any = |word: &String, list: &str| list.split_whitespace().any(|known| known == word);
    let asks = text.contains('?') || words.first().is_some_and(|first| first == "is");
    !asks
        && words.iter().any(|word| is_any(word, AGREEMENT))
        && words.iter().all(|word| is_any(word, AGREEMENT) || is_any(word, BESIDE))
}

/// `the other way round`, `reverse the order`, `sort that the other way`.
fn reverse(words: &[&str]) -> Option<Control> {
    const TURN: [&str; 5] = ["reverse", "reversed", "invert", "inverted", "flip"];
    const BESIDE: [&str; 16] = [
        "sort",
        "sorted",
        "order",
        "ordered",
        "sorting",
        "ordering",
        "in",
        "around",
        "round",
        "about",
        "way",
        "direction",
        "put",
        "make",
        "turn",
        "show",
    ];
    let turns = words.iter().any(|word| TURN.contains(word))
        || words.windows(2).any(|two| matches!(two, ["other" | "opposite", "way" | "order" | "direction"]));
    let is_all = |word: &&str| {
        TURN.contains(word) || BESIDE.contains(word) || IT.contains(word) || matches!(*word, "other" | "opposite")
    };
    (turns && words.iter().all(is_all)).then_some(Control::Reverse)
}

/// `drop that last filter`, `without the last condition`, `remove the limit`.
fn take_back(words: &[&str]) -> Option<Control> {
    const TAKE: [&str; 14] = [
        "drop", "remove", "delete", "undo", "lift", "forget", "cancel", "take", "scrap", "clear", "lose", "without",
        "ditch", "skip",
    ];
    const BESIDE: [&str; 7] = ["last", "latest", "off", "back", "out", "again", "away"];
    let slot = |word: &str| match word {
        "filter" | "condition" | "restriction" | "criterion" => Some(Slot::Condition),
        "sort" | "sorting" | "order" | "ordering" => Some(Slot::Order),
        "limit" => Some(Slot::Limit),
        _ => None,
    };
    let named: Vec<Slot> = words.iter().filter_map(|word| slot(word)).collect();
    let is_all =
        |word: &&str| TAKE.contains(word) || BESIDE.contains(word) || IT.contains(word) || slot(word).is_some();
    let takes = words.first().is_some_and(|word| TAKE.contains(word));
    let [only] = named[..] else { return None };
    (takes && words.iter().all(is_all)).then_some(Control::TakeBack(only))
}

/// `how many is that?`, `how many are left`, `how many rows`.
fn count_rows(words: &[&str]) -> Option<Control> {
    const BESIDE: [&str; 14] = [
        "is",
        "are",
        "there",
        "left",
        "of",
        "in",
        "total",
        "all",
        "altogether",
        "remain",
        "remaining",
        "do",
        "we",
        "have",
    ];
    let rest = words.strip_prefix(&["how", "many"])?;
    let is_all = |word: &&str| BESIDE.contains(word) || IT.contains(word);
    (!rest.is_empty() && rest.iter().all(is_all)).then_some(Control::Count)
}

/// Counts the rows of what the steps make, unless that is one row; whether it does.
fn count_of(steps: &mut Vec<Step>) -> bool {
    let is_figure = |step: &Step| matches!(step, Step::Group(grouping) if grouping.keys.is_empty());
    if steps.iter().any(is_figure) {
        return false;
    }
    let measure = Measure { function: MeasureFunction::Count, of: None, condition: None, name: None };
    steps.push(Step::Group(Grouping { keys: Vec::new(), measures: vec![measure] }));
    true
}

/// `rename qty to quantity`, `rename the column qty as quantity and no to number`.
fn rename(words: &[&str]) -> Option<Control> {
    let (first, rest) = words.split_first()?;
    let between = rest.iter().position(|word| BEFORE_NAME.contains(word))?;
    (*first == "rename" && (1..rest.len() - 1).contains(&between)).then_some(Control::Rename)
}

/// What stands before a new name.
const BEFORE_NAME: [&str; 3] = ["to", "as", "into"];

/// The columns that a text calls otherwise, with their new names, and what it says of columns that are not there or cannot be called so.
fn renamed(text: &str, columns: &[String]) -> (Vec<(String, String)>, Vec<NotApplied>) {
    let (mut renamed, mut not_applied) = (Vec::new(), Vec::new());
    let lower = text.to_ascii_lowercase();
    let behind = lower.find("rename").map_or(text, |verb| &text[verb + "rename".len()..]);
    // The old name, the new one, and the words of the old one that come next.
    let (mut old, mut new): (Vec<&str>, Option<Vec<&str>>) = (Vec::new(), None);
    let mut pairs: Vec<(String, String)> = Vec::new();
    let is_polite = |word: &str| lower_words(word).all(|word| matches!(word.as_str(), "please" | "pls" | "thanks"));
    for word in behind.split_whitespace().filter(|word| !is_polite(word)) {
        let is_between = BEFORE_NAME.contains(&word.to_lowercase().as_str());
        match &mut new {
            None if is_between => new = Some(Vec::new()),
            None => old.push(word),
            Some(said) if is_between || word == "and" && !said.is_empty() => {
                pairs.push((old.join(" "), said.join(" ")));
                (old, new) = (Vec::new(), None);
            }
            Some(said) => said.push(word),
        }
    }
    pairs.extend(new.map(|said| (old.join(" "), said.join(" "))));
    let bare = |said: &str| said.trim_matches(|c: char| "`'\"“”‘’.,;!?".contains(c) || c.is_whitespace()).to_string();
    for (old, new) in pairs {
        let (old, new) = (bare(&old), bare(&new));
        let said =
            lower_words(&old).filter(|word| !IT.contains(&word.as_str()) && word != "column" && word != "columns");
        let alone = said.collect::<Vec<_>>().join(" ");
        let is_meant = |column: &&String| {
            name_key(column) == name_key(&old) || !alone.is_empty() && name_key(column) == name_key(&alone)
        };
        match columns.iter().find(is_meant) {
            None => not_applied.push(NotApplied::left_out(old, "no column is called so")),
            Some(_) if new.is_empty() => not_applied.push(NotApplied::left_out(old, "its new name is not said")),
            Some(column) if columns.iter().any(|known| known != column && known.eq_ignore_ascii_case(&new)) => {
                not_applied.push(NotApplied::left_out(new, "another column is called so already"));
            }
            Some(column) => renamed.push((column.clone(), new)),
        }
    }
    (renamed, not_applied)
}

fn order_of(step: &mut Step) -> Option<&mut Vec<Order>> {
    match step {
        Step::Sort(order) => Some(order),
        Step::Top(top) => Some(&mut top.by),
        _ => None,
    }
}

fn turn_round(order: &mut Vec<Order>) {
    for order in order {
        order.direction = match order.direction {
            Direction::Ascending => Direction::Descending,
            Direction::Descending => Direction::Ascending,
        };
    }
}

/// Takes the last of a slot out of the steps; whether there was one.
fn take_back_last(steps: &mut Vec<Step>, slot: Slot) -> bool {
    let is_it = |step: &Step| match slot {
        Slot::Condition => matches!(step, Step::Filter(_)),
        Slot::Order => matches!(step, Step::Sort(_)),
        Slot::Limit => matches!(step, Step::Limit { .. }),
    };
    let Some(place) = steps.iter().rposition(is_it) else { return false };
    match &mut steps[place] {
        Step::Filter(Condition::All(parts)) if parts.len() > 1 => {
            parts.pop();
            if let [only] = &parts[..] {
                steps[place] = Step::Filter(only.clone());
            }
        }
        _ => drop(steps.remove(place)),
    }
    true
}

#[cfg(test)]
mod tests {
    use lakeward_core::plan::{Comparison, Expression, Value};
    use lakeward_core::request::Input;

    use super::*;

    #[test]
    fn closed_forms_say_nothing_else() {
        for text in
            ["run it", "Run it please", "ok, run that", "carry it out", "execute the query", "run the operation"]
        {
            assert_eq!(Control::of_text(text), Some(Control::Run(None)), "{text}");
        }
        assert_eq!(Control::of_text("run 2"), Some(Control::Run(Some(2))));
        assert_eq!(Control::of_text("run operation 3, please"), Some(Control::Run(Some(3))));
        for text in [
            "the other way round",
            "sort that the other way",
            "reverse it",
            "in reverse order please",
            "flip the order",
        ] {
            assert_eq!(Control::of_text(text), Some(Control::Reverse), "{text}");
        }
        for text in ["drop that last filter", "remove the last condition", "take the filter off again"] {
            assert_eq!(Control::of_text(text), Some(Control::TakeBack(Slot::Condition)), "{text}");
        }
        for text in ["how many is that?", "how many are left", "so how many rows", "how many are there in total"] {
            assert_eq!(Control::of_text(text), Some(Control::Count), "{text}");
        }
        for text in ["start over", "ok, start again from scratch", "Reset", "let's begin"] {
            let is_it = text != "let's begin";
            assert_eq!(Control::of_text(text), is_it.then_some(Control::StartOver), "{text}");
        }
        for text in ["thanks", "Great, thank you!", "ok, that's all for now", "thanks, that is all", "bye"] {
            assert_eq!(Control::of_text(text), Some(Control::Thanks), "{text}");
        }
        for text in ["rename qty to quantity", "Please rename the column qty as quantity", "rename a to b and c to d"] {
            assert_eq!(Control::of_text(text), Some(Control::Rename), "{text}");
        }
        assert_eq!(Control::of_text("drop the limit"), Some(Control::TakeBack(Slot::Limit)));
        for text in [
            "",
            "runs batted in",
            "run time by year",
            "run 1 and 2",
            "the other",
            "drop the last column",
            "order",
            "filter",
            "drop the china filter",
            "reverse charges",
            "in order",
            "how many",
            "how many is that each",
            "how many ships are left",
            "start over the weekend",
            "start with 2020",
            "rename to quantity",
            "rename qty",
            "rename it as",
            "thanks, only 2024",
            "that is all of them",
            "all of that",
        ] {
            assert_eq!(Control::of_text(text), None, "{text}");
        }
    }

    #[test]
    fn the_last_condition_goes_and_an_order_turns() {
        let is = |column: &str| Condition::Compare {
            left: Expression::column(column.to_string()),
            comparison: Comparison::Equal,
            right: Expression::Value(Value::Integer(1)),
        };
        let by = |direction| Step::Sort(vec![Order { by: Expression::column("c".to_string()), direction }]);
        let plan = Plan::of(Input::Table("t".into()))
            .then(Step::Filter(Condition::All(vec![is("a"), is("b")])))
            .then(by(Direction::Descending));
        let made = Control::TakeBack(Slot::Condition).applied("drop the filter", &plan, &[]);
        assert_eq!(made.plan.relation.steps[0], Step::Filter(is("a")));
        let made = Control::Reverse.applied("reverse it", &plan, &[]);
        assert_eq!(made.plan.relation.steps[1], by(Direction::Ascending));
        assert!(made.remarks.is_empty());
        let made = Control::Reverse.applied("reverse it", &plan.then(Step::Limit { rows: 10, skip: 0 }), &[]);
        assert_eq!(made.remarks, ["the first rows are now those of the other end"]);
        let made = Control::Reverse.applied("reverse it", &Plan::of(Input::Table("t".into())), &[]);
        assert_eq!(made.not_applied.len(), 1);
    }

    #[test]
    fn columns_are_called_otherwise_where_they_are_there() {
        let columns = ["qty", "unit_price", "No."].map(str::to_string);
        let pairs = |text: &str| renamed(text, &columns).0;
        let pair = |old: &str, new: &str| (old.to_string(), new.to_string());
        assert_eq!(pairs("rename qty to quantity"), [pair("qty", "quantity")]);
        assert_eq!(
            pairs("Please rename the column `unit price` as `price per piece`."),
            [pair("unit_price", "price per piece")]
        );
        assert_eq!(
            pairs("rename qty to Quantity and no to Number, please"),
            [pair("qty", "Quantity"), pair("No.", "Number")]
        );
        for (text, lost) in [("rename weight to kg", "weight"), ("rename qty to unit_price", "unit_price")] {
            let (pairs, not_applied) = renamed(text, &columns);
            assert!(pairs.is_empty() && not_applied[0].words == lost, "{not_applied:?}");
        }
    }

    #[test]
    fn agreement_says_nothing_else() {
        for text in [
            "yes",
            "Yes please!",
            "do it",
            "ok, go ahead",
            "sure then",
            "right, do that now",
            "perfect",
            "that looks good",
        ] {
            assert!(says_only_yes(text), "{text}");
        }
        let others = [
            "",
            "no",
            "not that",
            "it",
            "do not",
            "what else",
            "yes but only 2010",
            "go back",
            "hello",
            "is that right",
            "ok?",
            "that one please",
            "correct that",
            "do you want this",
        ];
        for text in others {
            assert!(!says_only_yes(text), "{text}");
        }
    }
}
