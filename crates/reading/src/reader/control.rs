//! Closed forms of what a turn does to the present plan, which no model needs to guess: run it, reverse its order,
//! take back its last condition, order or number of rows, count its rows.

use lakeward_core::plan::{Condition, Direction, Grouping, Measure, MeasureFunction, Order, Plan, Step};
use lakeward_core::request::Act;
use lakeward_core::text::lower_words;

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
    /// All that was asked for goes.
    StartOver,
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
            .or_else(|| start_over(&words))
    }

    /// The turn that says it.
    pub fn reading(self, text: &str) -> TurnReading {
        let act = match self {
            Self::Run(_) => Act::Run,
            Self::Reverse | Self::Count => Act::Refine,
            Self::TakeBack(_) => Act::Retract,
            Self::StartOver => Act::Undo,
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

    /// What it makes of a plan.
    pub fn applied(self, text: &str, plan: &Plan) -> Assembly {
        let mut made =
            Assembly { plan: plan.clone(), tables: Vec::new(), not_applied: Vec::new(), remarks: Vec::new() };
        let steps = &mut made.plan.relation.steps;
        let is_done = match self {
            Self::Run(_) | Self::StartOver => true,
            Self::Reverse => steps.iter_mut().rev().find_map(order_of).map(turn_round).is_some(),
            Self::TakeBack(slot) => take_back_last(steps, slot),
            Self::Count => count_of(steps),
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
            made.remarks.push("the first rows are now those of the other end".into());
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
        let made = Control::TakeBack(Slot::Condition).applied("drop the filter", &plan);
        assert_eq!(made.plan.relation.steps[0], Step::Filter(is("a")));
        let made = Control::Reverse.applied("reverse it", &plan);
        assert_eq!(made.plan.relation.steps[1], by(Direction::Ascending));
        assert!(made.remarks.is_empty());
        let made = Control::Reverse.applied("reverse it", &plan.then(Step::Limit { rows: 10, skip: 0 }));
        assert_eq!(made.remarks, ["the first rows are now those of the other end"]);
        let made = Control::Reverse.applied("reverse it", &Plan::of(Input::Table("t".into())));
        assert_eq!(made.not_applied.len(), 1);
    }
}
