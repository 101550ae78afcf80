use std::path::Path;

use super::template::{CHINESE, PARTS, filled, rows};
use super::*;

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
            if path.is_dir() && !path.ends_with("messages") && !path.ends_with("tests") {
                read(&path, all);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
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
                assert!(CHINESE.exact(english).is_some(), "no Chinese of `{english}`");
            }
        }
        for behind in source.split("count(").skip(1) {
            let Some((_, thing)) = behind.split(')').next().and_then(|call| call.rsplit_once(", \"")) else { continue };
            let thing = thing.trim_end_matches('"');
            assert!(CHINESE.exact(&format!("# {thing}")).is_some(), "no Chinese of several `{thing}`");
        }
    }
}

/// A sentence that is changed where it is made would be shown in English without a word: so the table must have it as it is made there.
#[test]
fn every_english_text_of_the_table_is_in_the_sources() {
    let sources = sources();
    let is_said = |text: &str| {
        let text = text.trim_matches([' ', '`', ',', ';', ':', '%', '(', ')', '.']);
        sources.iter().any(|source| source.contains(text))
    };
    let (whole, parts) = TABLE.split_once(PARTS).unwrap();
    let mut missing = Vec::new();
    for (english, _) in rows(whole).into_iter().chain(rows(parts)).filter(|(english, _)| !english.starts_with('#')) {
        // What is filled in stands between, and some are put together of two pieces.
        let longest = english.split("{}").max_by_key(|piece| piece.len()).unwrap();
        let middle = longest.match_indices(' ').map(|(at, _)| at).min_by_key(|at| at.abs_diff(longest.len() / 2));
        let (left, right) = longest.split_at(middle.unwrap_or(0));
        if !is_said(longest) && !is_said(right) && (left.is_empty() || !is_said(left)) {
            missing.push(english);
        }
    }
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
        let same = english.contains("no question is open") || english.contains("is taken for the same as");
        assert!(same || used.iter().all(|used| *used), "{english}: {chinese}");
        assert!(!chinese.is_empty() && !chinese.contains(['<', '&']), "{english}: {chinese}");
        assert!(!chinese.is_empty(), "{english}");
    }
}

#[test]
fn sentences_of_answers_are_found_by_their_template() {
    in_chinese(|| {
        for (english, chinese) in [
            (
                "meets place (Kenya), period (1980 to 1985); not format (CSV)",
                "符合地点（Kenya），时间范围（1980 to 1985）；不符合格式（CSV）",
            ),
            ("`a, b` and `c` serve about equally well.", "`a, b` 和 `c` 同样合适。"),
            ("Which place should it be?", "应为哪个地点？"),
            ("3 shown before are left out", "已略去之前显示过的 3 个结果"),
            (
                "format `CSV` may not be what is meant: it counts, but nothing is left out for it",
                "格式 `CSV` 可能不是您的意思：它会影响排序，但不会据此排除结果",
            ),
            (
                "computes the total b for each c (`x` is taken for b; `y` is taken for c)",
                "按 c 计算 b 的总和（`x` 理解为 b；`y` 理解为 c）",
            ),
            ("computes the mean of a and the total b for each c", "按 c 计算 a 的平均值和 b 的总和"),
            ("accepted; unknown; but 1 of 3 columns align", "已采纳；unknown；但共 3 列，其中 1 列对齐"),
            ("its columns say elevation; an unknown reason", "列名中有 elevation；an unknown reason"),
        ] {
            assert_eq!(in_language(english), chinese);
        }
        // What the lake says is not translated, though it may be called as something of the program.
        for data in ["Map", "Results of 2020", "place", "not for profit; partly open", "but why"] {
            assert_eq!(in_language(data), data);
        }
        assert_eq!(count(3, "row"), "3 行");
        assert_eq!(fill("keeps {} of {}", &["2", "5 列"]), "保留 5 列中的 2 列");
    });
    assert_eq!(in_language("3 shown before are left out"), "3 shown before are left out");
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
