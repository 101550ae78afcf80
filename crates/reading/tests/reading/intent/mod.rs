//! What a conversation wants, read out of its turns: each rule on a small catalogue made up here, and hostile texts.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Instant;

use lakeward_core::request::{Demanded, Intent, RequestedYears};
use lakeward_core::role::Role;
use lakeward_reading::intent::{Changes, Fact, Reader, TurnReading, Vocabulary, WordsKind, apply};
use proptest::prelude::*;

/// A made-up catalogue of a country's tables.
fn catalogue() -> Vocabulary {
    let values: [(&str, &[(&str, u32)]); 7] = [
        (
            "geography",
            &[
                ("France", 60),
                ("Bretagne", 20),
                ("Alsace", 18),
                ("Corse", 9),
                ("Pays de la Loire", 12),
                ("St. Malo", 2),
                ("France outside Corse", 3),
                ("Normandie", 11),
            ],
        ),
        (
            "subjects",
            &[
                ("Health", 20),
                ("Labour", 25),
                ("Crime and justice", 9),
                ("Income, pensions and wealth", 14),
                ("Agriculture", 30),
                ("Crop production", 12),
                ("Business conditions", 4),
            ],
        ),
        (
            "survey",
            &[
                ("Labour Force Survey", 25),
                ("Census of Agriculture", 12),
                ("Health Panel", 11),
                ("Survey of Household Spending", 8),
            ],
        ),
        (
            "frequency",
            &[("Annual", 40), ("Monthly", 30), ("Every 2 years", 8), ("Occasional", 3), ("Occasional Monthly", 1)],
        ),
        ("status", &[("archived", 30), ("current", 70)]),
        (
            "dimensions",
            &[
                ("Sex", 50),
                ("Age group", 44),
                ("Type of dwelling", 5),
                ("Type of crop", 6),
                ("Trading partner", 3),
                ("Trading Partners", 4),
                ("Marital status", 5),
            ],
        ),
        ("language", &[("French", 90), ("Breton", 10)]),
    ];
    let listed = values.into_iter().flat_map(|(field, values)| {
        values.iter().map(move |(value, count)| (Role::of_field(field), value.to_string(), *count))
    });
    let titles =
        "labour force characteristics trade in goods wheat yields hospital stays unemployment rate household income";
    Vocabulary::new(listed, titles.split(' ').map(|word| (word.to_string(), 5)), 100, true)
}

/// A conversation over it.
struct Talk<'v> {
    reader: Reader<'v>,
    intent: Intent,
    turn: usize,
}

impl<'v> Talk<'v> {
    fn new(vocabulary: &'v Vocabulary) -> Self {
        Talk { reader: Reader::new(vocabulary, |_| false), intent: Intent::default(), turn: 0 }
    }

    /// After the topic was given.
    fn on_wheat(vocabulary: &'v Vocabulary) -> Self {
        let mut talk = Self::new(vocabulary);
        talk.say("Do you have anything on wheat yields?");
        talk
    }

    fn say(&mut self, text: &str) -> (TurnReading, Changes) {
        self.turn += 1;
        let reading = self.reader.read(text, self.turn, &self.intent);
        let changes = apply(&reading, &mut self.intent);
        (reading, changes)
    }

    /// What is in force, as `role=value`, ` ?` behind what is inferred.
    fn in_force(&self) -> Vec<String> {
        let shown = |value: &Demanded| match value {
            Demanded::Values(things) => things.iter().map(|thing| thing.join("/")).collect::<Vec<_>>().join("+"),
            Demanded::Period(RequestedYears::Cover { from, to }) => format!("{from}..{to}"),
            Demanded::Period(RequestedYears::Exactly { from, to }) => format!("={from}..{to}"),
            Demanded::Period(RequestedYears::StartsIn(year)) => format!("{year}.."),
            Demanded::Period(RequestedYears::EndsIn(year)) => format!("..{year}"),
        };
        let demands = self.intent.demands.iter();
        demands.map(|d| format!("{}={}{}", d.role, shown(&d.value), if d.hard { "" } else { " ?" })).collect()
    }
}

fn after(turns: &[&str]) -> Vec<String> {
    let vocabulary = catalogue();
    let mut talk = Talk::on_wheat(&vocabulary);
    for turn in turns {
        talk.say(turn);
    }
    talk.in_force()
}

#[test]
fn values_are_read_in_the_role_that_is_meant() {
    for (text, expected) in [
        ("It has to include Bretagne.", vec!["place=Bretagne"]),
        ("It falls under crime and justice.", vec!["subject=Crime and justice"]),
        ("It comes from the Labour Force Survey.", vec!["source=Labour Force Survey"]),
        ("We want to compare by sex.", vec!["dimension=Sex"]),
        ("broken down by sex and age group", vec!["dimension=Sex+Age group"]),
        ("by trading partner", vec!["dimension=Trading partner/Trading Partners"]),
        ("I live in St. Malo. It must still be updated.", vec!["place=St. Malo", "status=current"]),
        ("It should be in Breton, the language.", vec!["language=Breton"]),
        (
            "monthly figures from the Health Panel for Alsace",
            vec!["frequency=Monthly", "source=Health Panel", "place=Alsace"],
        ),
        ("the subject is pensions and wealth", vec!["subject=Income, pensions and wealth ?"]),
    ] {
        assert_eq!(after(&[text]), expected, "{text}");
    }
}

#[test]
fn closed_forms_are_read() {
    for (text, expected) in [
        ("Between 2001 and 2010.", vec!["period=2001..2010"]),
        ("2012 and no other year", vec!["period==2012..2012"]),
        ("The series starts in 1972.", vec!["period=1972.."]),
        ("Data up to 2005.", vec!["period=..2005"]),
        ("It's biennial.", vec!["frequency=Every 2 years"]),
        ("At no fixed interval.", vec!["frequency=Occasional"]),
        ("An irregular monthly one.", vec!["frequency=Occasional Monthly"]),
        ("It has been discontinued.", vec!["status=archived"]),
        ("Just nationwide numbers.", vec!["place=France"]),
        ("Weekly data", vec![]),
    ] {
        assert_eq!(after(&[text]), expected, "{text}");
    }
}

#[test]
fn what_was_said_last_is_in_force() {
    for (turns, expected) in [
        (vec!["Bretagne. No, wait. Alsace"], vec!["place=Alsace"]),
        (vec!["In Bretagne.", "Sorry, that should be Alsace."], vec!["place=Alsace"]),
        (
            vec!["In Bretagne.", "It must be monthly data.", "Actually, yearly"],
            vec!["place=Bretagne", "frequency=Annual"],
        ),
        (vec!["In Bretagne.", "Forget what I said about the place."], vec![]),
        (vec!["In Bretagne.", "not Bretagne"], vec![]),
        (vec!["In Bretagne.", "not in Bretagne but in Corse"], vec!["place=Corse"]),
        (vec!["In Bretagne and Corse.", "without Corse"], vec!["place=Bretagne"]),
        (vec!["The series starts in 1972.", "and it ends in 1990"], vec!["period==1972..1990"]),
        (vec!["by sex", "also by age group"], vec!["dimension=Sex+Age group"]),
        (vec!["It falls under agriculture.", "labour"], vec!["subject=Agriculture"]),
        (vec!["It falls under agriculture.", "Scratch that. labour"], vec!["subject=Labour ?"]),
    ] {
        assert_eq!(after(&turns), expected, "{turns:?}");
    }
}

#[test]
fn neighbouring_values_make_a_list() {
    for (text, expected) in [
        ("It has to include Bretagne and Alsace.", "place=Bretagne+Alsace"),
        ("for Bretagne, Alsace and Corse", "place=Bretagne+Alsace+Corse"),
        ("in Bretagne or Alsace", "place=Bretagne/Alsace"),
        ("Bretagne as well as Corse", "place=Bretagne+Corse"),
    ] {
        assert_eq!(after(&[text]), [expected], "{text}");
    }
}

#[test]
fn misspelt_words_are_mended_and_others_left() {
    assert_eq!(after(&["it falls under agricutlure"]), ["subject=Agriculture"]);
    assert_eq!(after(&["montly data for Bretange"]), ["frequency=Monthly", "place=Bretagne"]);
    let vocabulary = catalogue();
    let reader = Reader::new(&vocabulary, |word| word == "bretange");
    let mut intent = Intent::default();
    apply(&reader.read("wheat", 1, &intent), &mut intent);
    let reading = reader.read("for Bretange please", 2, &intent);
    assert_eq!(reading.demands().count(), 0, "{reading:?}");
}

#[test]
fn the_topic_is_read_with_restraint() {
    let vocabulary = catalogue();
    let mut talk = Talk::new(&vocabulary);
    let (reading, _) = talk.say("Hello, I need trade in goods since 1990. For Bretagne");
    assert_eq!(talk.in_force(), ["period=1990.. ?", "place=Bretagne ?"]);
    let topic = |text: &str| Fact::Words { text: text.into(), kind: WordsKind::Topic };
    let said: Vec<&Fact> = reading.facts.iter().filter(|fact| matches!(fact, Fact::Words { .. })).collect();
    assert_eq!(said, [&topic("trade goods"), &topic("bretagne")]);
    let mut whole = Talk::new(&vocabulary);
    whole.say("monthly exports of soft wheat in Bretagne from 2001 to 2005, top 5");
    assert_eq!(whole.in_force(), ["frequency=Monthly ?", "place=Bretagne ?", "period=2001..2005"]);
    let (reading, _) = talk.say("More exactly, exports of soft wheat.");
    assert_eq!(reading.facts, [Fact::Words { text: "exports soft wheat".into(), kind: WordsKind::Aspect }]);
}

#[test]
fn a_focus_is_forgotten_and_the_topic_stays() {
    let vocabulary = catalogue();
    let mut talk = Talk::new(&vocabulary);
    talk.say("I need trade in goods");
    talk.say("More exactly, exports of soft wheat.");
    let topics = |talk: &Talk| talk.intent.topics.iter().map(|said| said.text.clone()).collect::<Vec<_>>();
    assert_eq!(topics(&talk), ["trade goods", "exports soft wheat"]);
    talk.say("Forget the focus.");
    assert_eq!(topics(&talk), ["trade goods"]);
}

#[test]
fn one_question_settles_a_conflict() {
    let vocabulary = catalogue();
    let mut talk = Talk::on_wheat(&vocabulary);
    talk.say("In Bretagne.");
    let (_, changes) = talk.say("It has to include Alsace.");
    let [conflict] = &changes.conflicts[..] else { panic!("{changes:?}") };
    assert_eq!(conflict.question(), "Keep Bretagne, or replace it by Alsace?");
    assert_eq!(talk.in_force(), ["place=Alsace"]);
    let answer = conflict.answered("both please").expect("an answer");
    assert!(conflict.settle(answer, &mut talk.intent, 4));
    assert_eq!(talk.in_force(), ["place=Bretagne+Alsace"]);
    let mut talk = Talk::on_wheat(&vocabulary);
    talk.say("In Bretagne.");
    for retracting in ["Sorry, in Alsace.", "in Alsace again"] {
        assert_eq!(talk.say(retracting).1.conflicts, [], "{retracting}");
    }
}

#[test]
fn other_elements_are_read() {
    let vocabulary = catalogue();
    let mut talk = Talk::new(&vocabulary);
    talk.say(
        "Show me the top 5 tables to train a classifier for wheat diseases, labelled images of leaves, \
         evaluated by macro F1 and recall.",
    );
    talk.say("With columns for yield and farm size. Drop the column named notes.");
    let intent = &talk.intent;
    let texts =
        |said: &[lakeward_core::request::TurnWords]| said.iter().map(|said| said.text.clone()).collect::<Vec<_>>();
    assert_eq!(intent.answers, Some(5));
    assert_eq!(intent.task.as_ref().map(|said| said.text.as_str()), Some("train a classifier for wheat diseases"));
    assert_eq!(intent.data.modality.as_ref().map(|said| said.text.as_str()), Some("images of"));
    assert!(intent.data.annotation.is_some());
    assert_eq!(texts(&intent.measures), ["macro F1", "recall"]);
    assert_eq!(texts(&intent.columns_wanted), ["yield", "farm size"]);
    assert_eq!(texts(&intent.columns_excluded), ["notes"]);
    assert!(intent.topics[0].text.contains("wheat diseases"), "{:?}", intent.topics);
    talk.say("three results are enough");
    assert_eq!(talk.intent.answers, Some(3));
}

#[test]
fn nothing_said_is_forgotten_in_a_hundred_turns() {
    let vocabulary = catalogue();
    let mut talk = Talk::on_wheat(&vocabulary);
    talk.say("In Bretagne, monthly data, by sex, from the Health Panel.");
    for _ in 0..100 {
        talk.say("Hmm, not quite. What else is there about soft wheat?");
    }
    let expected = ["place=Bretagne", "frequency=Monthly", "dimension=Sex", "source=Health Panel"];
    assert_eq!(talk.in_force().iter().map(String::as_str).collect::<BTreeSet<_>>(), BTreeSet::from(expected));
}

#[test]
fn hostile_texts_are_read_in_bounded_time() {
    let vocabulary = catalogue();
    let mut talk = Talk::on_wheat(&vocabulary);
    let many = [
        "by sex and ",
        "Bretagne, ",
        "'s ’s't",
        "every 2 ",
        "1990 ",
        "not without ",
        "İß\u{301}\u{200d}",
        ". ",
        "under labour ",
    ];
    for text in many {
        let start = Instant::now();
        talk.say(&text.repeat(100_000));
        assert!(start.elapsed().as_secs() < 5, "{text}: {:?}", start.elapsed());
    }
    for text in
        ["", " ", "\0", "’s", "n't", "\u{202e}1990", "2015-", "not", "columns:", "top", "top 99999999999999999999"]
    {
        talk.say(text);
    }
    let none = Vocabulary::new(std::iter::empty(), std::iter::empty(), 0, false);
    Talk::new(&none).say("Anything for Bretagne since 1990, monthly, by sex?");
}

proptest! {
    #[test]
    fn any_text_is_read_and_always_alike(texts in prop::collection::vec("(?s).{0,60}", 1..4), words in
        prop::collection::vec(prop::sample::select(vec![
            "not", "no", "in", "Bretagne", "by", "sex", "and", "2001", "to", "1999-03", "forget", "the", "place",
            "monthly", "St. Malo",
            "columns", ":", ",", ".", "instead of", "wait", "under", "labour", "every", "two",
            "years", "top", "5", "also", "updated", "isn't",
        ]), 0..24)) {
        let vocabulary = catalogue();
        let turns: Vec<String> = texts.into_iter().chain([words.join(" ")]).collect();
        let run = || {
            let mut talk = Talk::on_wheat(&vocabulary);
            let readings: Vec<TurnReading> = turns.iter().map(|turn| talk.say(turn).0).collect();
            (readings, talk.intent)
        };
        let first = run();
        prop_assert_eq!(&first, &run());
        let mut roles: Vec<&str> = first.1.demands.iter().map(|demand| demand.role.name()).collect();
        roles.sort_unstable();
        let count = roles.len();
        roles.dedup();
        prop_assert_eq!(count, roles.len());
        let json = serde_json::to_string(&first.1).expect("JSON");
        prop_assert_eq!(serde_json::from_str::<Intent>(&json).expect("an intent"), first.1);
    }
}

#[test]
fn the_published_schema_is_that_of_the_intent() {
    let path = PathBuf::from(crate::REPOSITORY).join("schemas/intent.schema.json");
    let expected = serde_json::to_value(lakeward_core::request::intent_schema()).expect("a schema");
    if std::env::var_os("LAKEWARD_WRITE_SCHEMAS").is_some() {
        let text = serde_json::to_string_pretty(&expected).expect("JSON") + "\n";
        std::fs::write(&path, text).expect("a file");
    }
    let published: serde_json::Value = serde_json::from_slice(&std::fs::read(&path).expect("a file")).expect("JSON");
    assert!(published == expected, "out of date: run this test with LAKEWARD_WRITE_SCHEMAS=1");
}

/// 100,000 values of made-up words.
#[test]
fn a_large_catalogue_is_read_quickly() {
    let syllables = ["ba", "co", "di", "fu", "ge", "ha", "lo", "mi", "nu", "re", "si", "ta"];
    let word = |mut number: usize| {
        let mut word = String::new();
        for _ in 0..4 {
            word += syllables[number % 12];
            number /= 12;
        }
        word
    };
    let roles = [Role::Place, Role::Subject, Role::Source, Role::Dimension];
    let value = |n: usize| {
        (roles[n % 4].clone(), format!("{} of {} {}", word(n), word(n / 3 + 7), word(n * 7)), 1 + (n % 9) as u32)
    };
    let start = Instant::now();
    let vocabulary = Vocabulary::new((0..100_000).map(value), (0..20_000).map(|n| (word(n), 2)), 500_000, true);
    let built = start.elapsed();
    let reader = Reader::new(&vocabulary, |_| false);
    let mut intent = Intent::default();
    apply(&reader.read("wheat", 1, &intent), &mut intent);
    let (_, text, _) = value(4_711);
    let turn = format!(
        "Hmm, close. It is broken down by {text}, between 1990 and 2005, published by {} of badidiba.",
        word(9)
    );
    let start = Instant::now();
    let reading = reader.read(&turn, 2, &intent);
    println!("100,000 values: {built:?}, {} bytes; a turn {:?}", vocabulary.bytes(), start.elapsed());
    assert!(reading.demands().any(|demand| demand.value == Demanded::Values(vec![vec![text.clone()]])), "{reading:?}");
    assert!(built.as_secs() < 30);
}
