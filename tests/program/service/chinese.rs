//! The page and the REPL in Chinese: what the program says by itself is Chinese, what it was told and what the lake says is as it was.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::sync::LazyLock;

use regex::Regex;

use super::browser::{Browser, link};
use super::hostile_lake;
use super::server::{Server, program};
use crate::place::{Run, write};

/// A turn in words that answers may repeat.
const REQUEST: &str = "Glaciers in Kenya since 1990";

/// A catalogue in whose texts no two words of small letters stand side by side.
pub(super) fn make_catalogue(folder: &Path) {
    let record = |number: usize| {
        let (place, format) = (["Kenya", "Norway", "Peru"][number % 3], ["CSV", "NetCDF"][number % 2]);
        let (publisher, issued) = (["North", "South"][number % 2], format!("201{}-02-03", number % 10));
        serde_json::json!({
            "id": format!("r{number}"), "title": format!("Glaciers {place} {number}"), "publisher": publisher, "license": "CC0",
            "spatial": [place], "temporal": "1980-01-01/2020-12-31", "issued": issued, "format": format,
        })
    };
    let records: String = (0..12).map(|number| format!("{}\n", record(number))).collect();
    write(&folder.join("records.jsonl"), records);
    hostile_lake::index(folder);
}

/// A table of the same kind.
fn make_table(folder: &Path) {
    let rows: String =
        (0..40).map(|row| format!("{},{},{}\n", ["Kenya", "Peru"][row % 2], 1990 + row, row * 7)).collect();
    write(&folder.join("Mass.csv"), format!("Country,Year,Mass\n{rows}"));
    hostile_lake::index(folder);
}

/// What is left in English of a page or of lines: two words of small letters side by side, outside code and what was typed.
fn english(text: &str) -> Vec<String> {
    static DATA: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"(?s)<head>.*?</head>|<(h1|pre|textarea|code|option)[^>]*>.*?</(h1|pre|textarea|code|option)>|<h2 class="said">.*?</h2>|`[^`]*`|/[a-z]+ [a-z]+|<[^>]*>"#)
            .expect("a pattern")
    });
    static WORDS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"[a-z]{2,},? [a-z]{2,}[^<\n]{0,60}").expect("a pattern"));
    static LABELS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(?:aria-label|data-wait|data-says)="([^"]*)""#).expect("a pattern"));
    let labels = LABELS.captures_iter(text).map(|label| label[1].to_string());
    let texts: Vec<String> = std::iter::once(DATA.replace_all(text, "\n").into_owned()).chain(labels).collect();
    texts.iter().flat_map(|text| WORDS.find_iter(text)).map(|found| found.as_str().to_string()).collect()
}

fn check(page: &str) {
    assert!(page.contains("<html lang=\"zh-Hans\">"), "{page}");
    let left = english(page);
    assert!(left.is_empty(), "{left:#?}\n{page}");
}

#[test]
fn the_page_is_in_the_language_of_the_browser() {
    let server = Server::of(make_catalogue, &[]);
    let browser = Browser { language: "zh-CN,zh;q=0.9,en;q=0.5", ..Browser::new(&server) };
    let home = browser.open("/");
    assert!(home.contains("您想做什么？") && home.contains(">提问</button>"), "{home}");
    let first = browser.submit(&home, "/ask", &[("text", REQUEST), ("table", "")]);
    assert!(first.contains("理解为：") && first.contains("符合") && first.contains("已记住："), "{first}");
    let pages = [
        home,
        browser.submit(&first, "/ask", &[("text", "only CSV")]),
        browser.open("/search?q=Glaciers"),
        browser.open("/search"),
        browser.open("/table?id=r1"),
        browser.get("/table?id=nothing").text(),
        browser.get("/nothing").text(),
        first,
    ];
    pages.iter().for_each(|page| check(page));
    // The same conversation for somebody else.
    let other = Browser { language: "en-GB", cookie: browser.cookie.clone(), server: &server };
    let conversations = other.open("/");
    assert!(conversations.contains("<html lang=\"en\">") && conversations.contains("want to do?"), "{conversations}");
    let same = other.open(&link(&conversations, "/sessions/[^\"]*"));
    assert!(same.contains("Understood: ") && english(&same).len() > 5, "{same}");
}

#[test]
fn an_operation_is_reported_in_the_language_that_is_set() {
    let server = Server::of(make_table, &["--language", "zh"]);
    let browser = Browser::new(&server);
    let asked = [("text", "the mean Mass for each Country"), ("table", "Mass")];
    let computed = browser.submit(&browser.open("/"), "/ask", &asked);
    let preview = browser.open(&link(&computed, "/sessions/[^\"]*/preview[^\"]*operation=1"));
    let ran = browser.submit(&preview, "/run", &[]);
    let result = browser.open(&link(&ran, "/sessions/[^\"]*/result\\?step=1"));
    let undone = browser.submit(&ran, "/undo", &[]);
    let pages = [
        (computed, "预览操作 1"),
        (preview, "执行：2 行"),
        (ran, "已执行"),
        (result, "图表"),
        (undone, "已撤销"),
        (browser.open("/map"), "数据湖地图"),
        (browser.open("/table?id=Mass"), "从这张表开始"),
    ];
    for (page, part) in &pages {
        assert!(page.contains(part), "{part}: {page}");
        check(page);
    }
}

/// What `lakeward repl` says to `lines` with a variable of the environment.
fn talked(lake: &Path, (variable, value): (&str, &str), lines: &[&str]) -> String {
    let mut command = program(lake, true);
    command.args(["repl"]).env_remove("LC_ALL").env_remove("LC_MESSAGES").env("LANG", "C").env(variable, value);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut process = piped.expect("the program");
    process.stdin.take().expect("a pipe").write_all(lines.join("\n").as_bytes()).expect("lines");
    Run::ended(process.wait_with_output().expect("an end")).said()
}

#[test]
fn the_repl_is_in_the_language_of_the_environment() {
    let folder = tempfile::tempdir().expect("a folder");
    let (catalogue, table) = (folder.path().join("catalogue"), folder.path().join("table"));
    make_catalogue(&catalogue);
    make_table(&table);
    let asked = [
        REQUEST,
        "/memory",
        "only CSV",
        "what licence does the first one have?",
        "/cite 1",
        "/accept 1",
        "/reject 2",
        "/xyzzy",
        "/accept",
    ];
    let computed =
        ["/use Mass", "the mean Mass for each Country", "/run 1", "/undo", "/redo", "/plan", "/budget", "/help"];
    for set in [("LANG", "zh_CN.UTF-8"), ("LC_ALL", "zh_TW"), ("LAKEWARD_LANGUAGE", "zh")] {
        let spoken = [talked(&catalogue, set, &asked), talked(&table, set, &computed)].join("\n");
        for part in
            ["新会话", "地点: Kenya", "缩小范围", "的许可证：CC0", "工作表：Mass", "得到 2 行，2 列", "没有命令"]
        {
            assert!(spoken.contains(part), "{part}: {spoken}");
        }
        let left = english(&spoken);
        assert!(left.is_empty(), "{left:#?}\n{spoken}");
    }
    let spoken = talked(&catalogue, ("LANG", "en_GB.UTF-8"), &asked);
    assert!(spoken.contains("place: Kenya") && spoken.contains("new session"), "{spoken}");
    // What divides the answers is shown, chosen as it is shown, and what is listed then is cited, one or all.
    let narrowed =
        talked(&catalogue, ("LANG", "en_GB.UTF-8"), &["Glaciers", "format: CSV", "/memory", "/cite", "/cite 1"]);
    let (before, after) = narrowed.split_once("wanted:").unwrap_or_else(|| panic!("{narrowed}"));
    assert!(before.contains("narrow by") && before.contains("format: CSV (6), NetCDF (6)"), "{narrowed}");
    assert!(after.contains("format: CSV") && !after.contains("format: CSV?"), "{narrowed}");
    let cited: Vec<&str> = after.lines().filter(|line| line.contains("Glaciers ") && line.contains("(20")).collect();
    assert!(cited.len() > 2 && cited[0] == cited[cited.len() - 1], "{cited:?}\n{narrowed}");
}
