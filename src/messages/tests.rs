use std::path::Path;

use super::*;
use lakeward_core::message;
use lakeward_core::message::{AND, CLAUSES};
use lakeward_core::request::{Intention, OperationKind, RequestedYears};

const TABLE: &str = include_str!("chinese.tsv");

/// What is said in `english` while a Chinese page is made.
fn in_chinese<T>(work: impl FnOnce() -> T) -> T {
    OF_REQUEST.sync_scope(Language::Chinese, work)
}

/// The sources of the program and its crates, each string on one line.
fn sources() -> Vec<String> {
    fn read(folder: &Path, all: &mut Vec<String>) {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("tests") {
                read(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs")
                && !path.ends_with("messages/tests.rs")
            {
                // A string goes on after a backslash at the end of a line.
                let text = std::fs::read_to_string(&path).unwrap();
                let lines: Vec<&str> = text.split("\\\n").collect();
                let others = lines[1..].iter().map(|line| line.trim_start());
                let joined: String = std::iter::once(lines[0]).chain(others).collect();
                all.push(joined.replace("\\\"", "\"").replace("\\\\", "\\"));
            }
        }
    }
    let mut all = Vec::new();
    ["src", "crates"].iter().for_each(|name| read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(name), &mut all));
    all
}

#[test]
fn every_message_that_is_said_has_its_chinese() {
    for source in sources().iter().filter(|source| source.contains("crate::messages")) {
        for call in ["say(\"", "fill(\"", "phrase(\""] {
            for behind in source.split(call).skip(1) {
                let english = behind.split("\")").next().unwrap().split("\",").next().unwrap();
                assert!(chinese(english).is_some(), "no Chinese of `{english}`");
            }
        }
        for behind in source.split("count(").skip(1) {
            let Some((_, thing)) = behind.split(')').next().and_then(|call| call.rsplit_once(", \"")) else { continue };
            let thing = thing.trim_end_matches('"');
            assert!(chinese(&format!("# {thing}")).is_some(), "no Chinese of several `{thing}`");
        }
    }
}

/// A template that is changed where it is made would be shown in English without a word: so the table must have it as it is made there.
#[test]
fn every_english_text_of_the_table_is_in_the_sources() {
    let sources = sources();
    let is_said = |text: &str| sources.iter().any(|source| source.contains(&format!("\"{text}\"")));
    let texts = rows(TABLE).map(|(english, _)| english).filter(|english| !english.starts_with("# "));
    let labels: Vec<&str> = OperationKind::ALL
        .iter()
        .map(|kind| kind.name())
        .chain(Intention::ALL.iter().map(|intention| intention.name()))
        .collect();
    // What is said of a figure behind "for each" goes without its article.
    let is_known = |text: &str| labels.contains(&text) || is_said(text) || is_said(&format!("the {text}"));
    let missing: Vec<&str> = texts.filter(|text| !is_known(text)).collect();
    assert!(missing.is_empty(), "not in the sources any more: {missing:#?}");
}

#[test]
fn translations_fill_in_what_the_english_does() {
    for (english, chinese) in rows(TABLE) {
        let holes = english.matches("{}").count();
        let mut used = vec![false; holes];
        filled(chinese, &mut |place| {
            assert!(place < holes, "{english}: {chinese}");
            used[place] = true;
            String::new()
        });
        // A number that is said twice need not be said twice.
        let same = english.contains("no question is open");
        assert!(same || used.iter().all(|used| *used), "{english}: {chinese}");
        assert!(!chinese.is_empty() && !chinese.contains(['<', '&']), "{english}: {chinese}");
        assert!(!chinese.is_empty(), "{english}");
    }
}

#[test]
fn messages_are_shown_by_what_they_were_made_of() {
    let place = message!("{} ({})", Message::name("place"), "Kenya");
    let period = message!("{} ({})", Message::name("period"), RequestedYears::Cover { from: 1980, to: 1985 }.message());
    let met = message!("meets {}", Message::list(PARTS, [place, period]));
    let pair = Message::list(AND, [message!("the mean of {}", "a"), message!("the total {}", "b")]);
    let taken = [message!("`{}` is taken for {}", "x", "b"), message!("`{}` is taken for {}", "y", "c")];
    let done = message!("{} ({})", message!("computes {} for each {}", pair, "c"), Message::list(CLAUSES, taken));
    in_chinese(|| {
        for (message, chinese) in [
            (
                met.clone().and_then(message!("not {}", "x; but y")),
                "符合地点（Kenya），时间范围（1980 至 1985）；不符合x; but y",
            ),
            (message!("Which {} should it be?", Message::name("place")), "应为哪个地点？"),
            (message!("{} shown before are left out", 3u64), "已略去之前显示过的 3 个结果"),
            (done.clone(), "按 c 计算 a 的平均值 和 b 的总和（`x` 理解为 b；`y` 理解为 c）"),
            (message!("accepted").and_then("unknown"), "已采纳；unknown"),
            // Columns that are called as things of the program are columns.
            (
                message!("keeps the columns {}", Message::list(AND, ["place", "period", "row"])),
                "保留列 place，period 和 row",
            ),
            (message!("{} ({})", "place", message!("leaves out {}", "period")), "place（排除 period）"),
            (message!("an unknown {}", message!("accepted")), "an unknown accepted"),
            (Message::counted(3, "row"), "3 行"),
        ] {
            assert_eq!(in_language(&message), chinese);
            // As it is kept in a session.
            let kept = lakeward_core::message::with_parts(|| serde_json::to_string(&message)).unwrap();
            assert_eq!(in_language(&serde_json::from_str(&kept).unwrap()), chinese, "{kept}");
        }
        // What the lake says is not translated, though it may be called as something of the program.
        for data in ["accepted", "Results of 2020", "place", "meets x", "but why"] {
            assert_eq!(in_language(&data.into()), data);
        }
        assert_eq!(count(3, "row"), "3 行");
        assert_eq!(fill("keeps {} of {}", &["2", "5 列"]), "保留 5 列中的 2 列");
    });
    assert_eq!(
        in_language(&done),
        "computes the mean of a and the total b for each c (`x` is taken for b; `y` is taken for c)"
    );
    assert_eq!(count(1, "row"), "1 row");
}

#[test]
fn the_language_is_that_which_is_preferred() {
    use Language::{Chinese, English};
    for (header, language) in [
        ("zh-CN,zh;q=0.9,en;q=0.8", Chinese),
        ("zh-TW", Chinese),
        ("en-US,en;q=0.9,zh;q=0.8", English),
        ("de, zh;q=0.7, en;q=0.3", Chinese),
        ("zh;q=0", English),
        ("en;q=0.1, ZH-hans ; q=0.2", Chinese),
        ("fr", English),
        ("", English),
        ("zh;q=x,,;", English),
    ] {
        assert_eq!(Language::accepted(header), language, "{header}");
    }
    assert_eq!(Language::of_tag("zh_CN.UTF-8"), Some(Chinese));
    assert_eq!(Language::of_tag("C.UTF-8"), Some(English));
}
