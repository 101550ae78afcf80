//! Dialogues over a synthetic catalogue: seeded, consistent with their records, and live.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::script::{Correction, Statement};
use super::*;
use lakeward_core::text::lower_words;

const PLACES: [&str; 5] = ["Oslo", "Bern", "Rome", "Kyiv", "Lima"];
const SUBJECTS: [&str; 4] = ["Water", "Energy and fuels", "Health", "Labour"];
const TOPICS: [&str; 4] =
    ["drinking water quality", "electricity prices", "hospital beds", "unemployment of the young"];

/// 400 records of which many share their words.
fn records() -> Vec<GoalRecord> {
    let facets = |number: usize| RecordFacets {
        values: vec![
            (Respect::Place, PLACES[number % 5].to_string()),
            (Respect::Subject, SUBJECTS[number / 5 % 4].to_string()),
            (Respect::Frequency, ["Annual", "Monthly", "Every 5 years"][number / 7 % 3].to_string()),
            (Respect::Status, ["current", "archived"][number / 11 % 2].to_string()),
            (Respect::Dimension, format!("Dimension {}", number % 13)),
        ],
        first_year: Some(1950 + (number % 37) as i32),
        last_year: Some(1990 + (number % 29) as i32),
        cut_short: Vec::new(),
    };
    (0..400)
        .map(|number| GoalRecord {
            id: format!("r{number:03}"),
            title: format!("Survey of {}, part {}", TOPICS[number % 4], number / 40),
            text: format!(
                "Field staff visited {number} plots twice and weighed dried samples of survey {} at noon, part by part",
                TOPICS[number % 4]
            ),
            facets: facets(number),
        })
        .collect()
}

fn made(options: &SimulationOptions) -> Vec<Dialogue> {
    dialogues(&records(), options).expect("dialogues")
}

/// A user's final requirements, from his statements.
fn in_force(dialogue: &Dialogue) -> Vec<Requirement> {
    let mut standing: Vec<Requirement> = Vec::new();
    for statement in dialogue.script.turns.iter().flatten() {
        match statement {
            Statement::Says(demand) | Statement::Misstates(demand) => standing.push(demand.clone()),
            Statement::Slips { right, .. } => standing.push(right.clone()),
            Statement::Corrects { wrong, right } => {
                let place = standing.iter().position(|demand| demand == wrong).expect("what was said");
                standing[place] = right.clone();
            }
        }
    }
    standing
}

#[test]
fn in_the_end_the_record_is_one_of_few_that_meet_everything() {
    let records = records();
    let catalogue = Catalogue::new(&records);
    let all = made(&SimulationOptions { dialogues: 300, ..SimulationOptions::default() });
    let mut corrections: BTreeMap<&str, usize> = BTreeMap::new();
    for dialogue in &all {
        let lists = in_force(dialogue).iter().map(|demand| catalogue.meeting(demand)).collect::<Vec<_>>();
        let meet = lists.into_iter().reduce(|a, b| catalogue::both(&a, &b)).expect("something wanted");
        assert!(meet.len() <= 20, "{dialogue:?}");
        assert!(meet.iter().any(|place| records[*place as usize].id == dialogue.goal));
        *corrections.entry(dialogue.script.correction.name()).or_default() += 1;
        let correcting = dialogue
            .script
            .turns
            .iter()
            .position(|turn| turn.iter().any(|statement| matches!(statement, Statement::Corrects { .. })));
        assert_eq!(correcting.is_some(), dialogue.script.correction == Correction::LaterTurn);
        assert!(
            correcting.is_none_or(|turn| turn > 0) && (2..=8).contains(&dialogue.script.turns.len()),
            "{dialogue:?}"
        );
    }
    // 60, 90 and 150 are expected.
    assert!(
        (35..=90).contains(&corrections["same-turn"]) && (60..=120).contains(&corrections["later-turn"]),
        "{corrections:?}"
    );
    assert_eq!(all.iter().map(|dialogue| dialogue.goal.as_str()).collect::<BTreeSet<_>>().len(), 300);
    assert_eq!(all.iter().map(|dialogue| dialogue.bank).collect::<BTreeSet<_>>().len(), BANKS.len());
}

#[test]
fn a_seed_gives_the_same_lines_and_another_seed_others() {
    let lines = |seed: u64| -> Vec<String> {
        let options = SimulationOptions { dialogues: 20, seed, ..SimulationOptions::default() };
        made(&options).iter().map(|dialogue| dialogue.line().to_string()).collect()
    };
    assert_eq!(lines(7), lines(7));
    assert_ne!(lines(7), lines(8));
    let line: Value = serde_json::from_str(&lines(7)[0]).expect("JSON");
    assert_eq!((&line["id"], &line["task"]), (&json!("sim-0001"), &json!("dialogue")));
    assert!(line["turns"][0]["constraints"]["plan"].is_string(), "{line}");
    assert!(
        line["turns"].as_array().expect("turns").iter().all(|turn| !turn["text"].as_str().expect("a text").is_empty())
    );
}

#[test]
fn the_hasty_type_in_small_letters_and_misspell() {
    let options = SimulationOptions { dialogues: 40, banks: vec!["hasty".into()], ..SimulationOptions::default() };
    let texts: Vec<String> = made(&options)
        .iter()
        .flat_map(|dialogue| dialogue.line()["turns"].as_array().cloned().unwrap_or_default())
        .map(|turn| turn["text"].as_str().unwrap_or_default().to_string())
        .collect();
    assert!(texts.iter().all(|text| *text == text.to_lowercase() && !text.contains("{}")));
    let said = texts.join(" ");
    assert!(said.contains("weighed dried samples"));
    let of_records: BTreeSet<String> = records().iter().flat_map(|record| lower_words(&record.text)).collect();
    let alike = |word: &str| of_records.iter().any(|known| known.len() == word.len() + 1 && known[..4] == word[..4]);
    assert!(lower_words(&said).any(|word| word.len() > 4 && !of_records.contains(&word) && alike(&word)));
    let unknown = SimulationOptions { banks: vec!["loud".into()], ..SimulationOptions::default() };
    assert!(dialogues(&records(), &unknown).is_err());
}

/// An oracle that shows the goal from turn `after` on; with `None` it never does.
struct Oracle<'a> {
    records: &'a [GoalRecord],
    goal: Option<&'a str>,
    after: usize,
    turns: usize,
    down: Vec<String>,
}

impl Conversation for Oracle<'_> {
    fn say(&mut self, _text: &str) -> Result<Reply> {
        self.turns += 1;
        let known = self.goal.filter(|_| self.turns >= self.after);
        let others = self.records.iter().filter(|record| Some(record.id.as_str()) != self.goal);
        let first = known.iter().map(|id| (id.to_string(), "it".to_string()));
        let others = others
            .filter(|record| !self.down.contains(&record.id))
            .map(|record| (record.id.clone(), record.title.clone()));
        Ok(Reply { shown: first.chain(others).take(10).collect(), tokens: 3 })
    }

    fn turn_down(&mut self, table: &str) {
        self.down.push(table.to_string());
    }
}

#[test]
fn a_user_takes_his_record_and_gives_up_in_the_end() {
    let records = records();
    let all = made(&SimulationOptions { dialogues: 40, ..SimulationOptions::default() });
    let mut conversed = Vec::new();
    for dialogue in &all {
        let mut system = Oracle { records: &records, goal: Some(&dialogue.goal), after: 2, turns: 0, down: Vec::new() };
        let found = converse(dialogue, &mut system, Patience::default()).expect("a conversation");
        // Some goals are among the first ten records anyway.
        assert!(found.accepted && found.said.len() <= 2, "{found:?}");
        conversed.push((dialogue, found));
        let mut deaf = Oracle { records: &[], goal: None, after: 9, turns: 0, down: Vec::new() };
        let lost = converse(dialogue, &mut deaf, Patience { turns: 5, looks_at: 1 }).expect("a conversation");
        assert_eq!((lost.accepted, lost.said.len(), lost.rank, lost.turn_of_success), (false, 5, None, [7; 3]));
        assert_eq!(lost.turned_down, 0);
    }
    assert!(conversed.iter().any(|(_, found)| found.turned_down > 0));
    let scores = ConversationScores::of_all(&conversed);
    assert_eq!((scores[0].group.as_str(), scores[0].dialogues, scores[0].accepted), ("all", 40, 1.0));
    assert_eq!((scores[0].recall_at_1, scores[0].recall_at_5), (1.0, 1.0));
    assert!((1.5..=2.0).contains(&scores[0].average_turn[0]) && (1.0..=6.0).contains(&scores[0].tokens), "{scores:?}");
    let parts: usize =
        scores.iter().filter(|part| part.group.starts_with("correction")).map(|part| part.dialogues).sum();
    assert_eq!(parts, 40);
}

#[test]
fn indistinguishable_records_are_no_goals() {
    let twin = |id: &str| GoalRecord { id: id.into(), title: "Twins".into(), ..GoalRecord::default() };
    assert!(dialogues(&[twin("a"), twin("b")], &SimulationOptions::default()).is_err());
    assert!(dialogues(&[], &SimulationOptions::default()).is_err());
    let only = GoalRecord { id: "c".into(), title: "Only one of its kind".into(), ..GoalRecord::default() };
    // A title alone gives no plan.
    assert!(dialogues(&[only], &SimulationOptions::default()).is_err());
}

#[test]
fn users_say_no_word_of_the_title() {
    let records = records();
    let options = SimulationOptions { dialogues: 40, ..SimulationOptions::default() };
    let all = made(&options);
    assert_eq!(all.len(), 40);
    for dialogue in &all {
        let goal = records.iter().find(|record| record.id == dialogue.goal).expect("the goal");
        let title: Vec<String> = lakeward_core::text::lower_words(&goal.title).collect();
        let mut plans = 0;
        for statement in dialogue.script.turns.iter().flatten() {
            let right = match statement {
                Statement::Says(requirement) | Statement::Misstates(requirement) => requirement,
                Statement::Slips { right, .. } | Statement::Corrects { right, .. } => right,
            };
            let said = match right {
                Requirement::Plan(said) => {
                    plans += 1;
                    said
                }
                Requirement::Value(_, said) => said,
                Requirement::Years(_) => continue,
                Requirement::Written(_) => panic!("{right:?}"),
            };
            let shared = lakeward_core::text::lower_words(said).find(|word| title.contains(word));
            assert!(shared.is_none(), "{said}: {}", goal.title);
        }
        assert_eq!(plans, 1);
    }
}

#[test]
fn plans_that_are_written_are_told_as_they_are() {
    let records = records();
    let plan = vec!["I will hold the towns against each other.".to_string(), "Years matter little.".to_string()];
    let plans = [(records[3].id.clone(), plan.clone()), ("nowhere".to_string(), plan)].into();
    let all = made(&SimulationOptions {
        plans,
        dialogues: 40,
        same_turn: 0.5,
        later_turn: 0.5,
        ..SimulationOptions::default()
    });
    assert_eq!(all.len(), 1, "of the others nobody has a plan");
    assert_eq!(all[0].goal, records[3].id);
    let said: Vec<String> = all[0].line()["turns"]
        .as_array()
        .expect("turns")
        .iter()
        .map(|turn| turn["text"].as_str().unwrap_or_default().to_string())
        .collect();
    assert!(
        said.concat().contains("against each other.") && said.concat().contains("Years matter little."),
        "{said:?}"
    );
    assert!(said[0].starts_with("I will hold"), "{said:?}");
}

proptest! {
    #[test]
    fn any_catalogue_is_talked_about_without_panic(
        titles in prop::collection::vec(".{0,30}", 0..12),
        values in prop::collection::vec((0usize..9, ".{0,20}"), 0..12),
        years in (-3000i32..4000, -3000i32..4000),
        seed in any::<u64>(),
    ) {
        let roles = [Respect::Place, Respect::Subject, Respect::Source, Respect::Frequency, Respect::Status, Respect::Dimension, Respect::Format,
            Respect::Licence, Respect::Other("x".into())];
        let records: Vec<GoalRecord> = titles.iter().enumerate().map(|(number, title)| GoalRecord {
            id: number.to_string(),
            title: title.clone(),
            text: format!("{title} {}", titles.concat()),
            facets: RecordFacets {
                values: values.iter().skip(number % 3).map(|(role, value)| (roles[*role].clone(), value.clone())).collect(),
                first_year: Some(years.0 + number as i32),
                last_year: Some(years.1),
                cut_short: Vec::new(),
            },
        }).collect();
        let options =
            SimulationOptions { dialogues: 5, seed, same_turn: 0.5, later_turn: 0.5, ..SimulationOptions::default() };
        for dialogue in dialogues(&records, &options).unwrap_or_default() {
            let _ = dialogue.line();
            let mut system = Oracle { records: &records, goal: None, after: 1, turns: 0, down: Vec::new() };
            let _ = converse(&dialogue, &mut system, Patience::default());
        }
    }
}
