//! What the page and the REPL say, in English or Chinese.
//!
//! English stands in the code where it is said, and `chinese.tsv` has the Chinese of each template. Documents and answers are in English; a
//! [`Message`] knows what it was made of, also in a session that was kept, so that each can be read in either language ([`in_language`]). What the
//! table does not have stays English.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{LazyLock, OnceLock};

use clap::ValueEnum;

use lakeward_agent::recommend::{Narrowing, Note};
use lakeward_core::message::{MadeOf, Message, PARTS};
use lakeward_core::request::{Demand, Demanded, Label, Signals};
use lakeward_core::text::shown;

/// Characters of a line.
const LINE: usize = 2000;
/// Parts of parts of a message that are looked at.
const DEPTH: usize = 10;

/// A language of the interface; Chinese in simplified characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    #[value(name = "en")]
    English,
    #[value(name = "zh")]
    Chinese,
}

impl Language {
    /// The language that the environment names, as POSIX has it: the first of LC_ALL, LC_MESSAGES and LANG that is set.
    pub fn of_environment() -> Self {
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let named = ["LC_ALL", "LC_MESSAGES", "LANG"].into_iter().find_map(set);
        named.and_then(|name| Self::of_tag(&name)).unwrap_or(Self::English)
    }

    /// The language that a browser prefers by its `Accept-Language` (RFC 9110, section 12.5.4).
    pub fn accepted(header: &str) -> Self {
        let languages = header.split(',').filter_map(|part| {
            let (tag, quality) = part.split_once(';').unwrap_or((part, ""));
            let quality = quality.trim().strip_prefix("q=").map_or(Some(1.0), |it| it.trim().parse::<f32>().ok())?;
            Some((Self::of_tag(tag.trim())?, quality)).filter(|(_, quality)| *quality > 0.0)
        });
        // Of languages that are wanted as much as each other the first.
        let best = languages.reduce(|best, other| if other.1 > best.1 { other } else { best });
        best.map_or(Self::English, |(language, _)| language)
    }

    fn of_tag(tag: &str) -> Option<Self> {
        let name = tag.split(['-', '_', '.', '@']).next().unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "zh" => Some(Self::Chinese),
            "en" | "c" | "posix" => Some(Self::English),
            _ => None,
        }
    }

    /// Its tag for a document (BCP 47).
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-Hans",
        }
    }
}

tokio::task_local! {
    /// That of a request to the service.
    static OF_REQUEST: Language;
}

/// That of this process, once it is set.
static OF_PROCESS: OnceLock<Language> = OnceLock::new();

/// Sets the language of all that this process says, where no request has one of its own.
pub fn set(language: Language) {
    let _ = OF_PROCESS.set(language);
}

/// Runs `work` with what it says in `language`.
pub async fn within<T>(language: Language, work: impl Future<Output = T>) -> T {
    OF_REQUEST.scope(language, work).await
}

/// The language of what is said now.
pub fn current() -> Language {
    let of_request = OF_REQUEST.try_with(|language| *language).ok();
    of_request.or_else(|| OF_PROCESS.get().copied()).unwrap_or(Language::English)
}

/// Templates with their Chinese: lines of English, a tab, and the translation.
static CHINESE: LazyLock<HashMap<&'static str, &'static str>> =
    LazyLock::new(|| rows(include_str!("chinese.tsv")).collect());

/// The rows of a table without what is for its readers.
fn rows(lines: &str) -> impl Iterator<Item = (&str, &str)> {
    lines.lines().filter(|line| !line.starts_with("#\t")).filter_map(|line| line.split_once('\t'))
}

/// The Chinese of a template.
fn chinese(english: &str) -> Option<&'static str> {
    CHINESE.get(english).copied()
}

/// The Chinese of a message; none where its template has none, and of parts of parts that lie deeper than any does: a session may be anybody's.
fn message_in_chinese(message: &Message, depth: usize) -> Option<String> {
    let depth = depth.checked_sub(1)?;
    let MadeOf { template, parts } = message.made_of()?;
    let form = chinese(template)?;
    // Data is as it is, whatever else is called so.
    let part = |part: &Message| message_in_chinese(part, depth).unwrap_or_else(|| part.to_string());
    Some(match parts.len() {
        0 => form.to_string(),
        1 if template.starts_with("# ") => form.replacen('#', &parts[0], 1),
        _ if template.contains("{}") => filled(form, &mut |place| parts.get(place).map(part).unwrap_or_default()),
        // A list; where a word stands before the last part, commas stand between the others.
        _ => {
            let between = if template.starts_with(' ') { chinese(PARTS)? } else { form };
            let texts: Vec<String> = parts.iter().map(part).collect();
            let (last, before) = texts.split_last()?;
            format!("{}{form}{last}", before.join(between))
        }
    })
}

/// A message.
pub fn say(english: &'static str) -> &'static str {
    match current() {
        Language::English => english,
        Language::Chinese => chinese(english).unwrap_or(english),
    }
}

/// `form` with its `{}`, or `{2}` where the order is another, filled in.
pub fn filled(form: &str, part: &mut dyn FnMut(usize) -> String) -> String {
    let (mut text, mut rest, mut next) = (String::new(), form, 0);
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((inside, after)) = behind.split_once('}') else { break };
        let place = inside.parse::<usize>().map_or(next, |number| number.saturating_sub(1));
        next = place + 1;
        text.push_str(before);
        text.push_str(&part(place));
        rest = after;
    }
    text.push_str(rest);
    text
}

/// A message with what is filled into its `{}`.
pub fn fill(english: &'static str, parts: &[&str]) -> String {
    filled(say(english), &mut |place| parts.get(place).copied().unwrap_or_default().to_string())
}

/// `3 rows`: a number of things, whose English name is in the singular.
pub fn count(number: u64, thing: &'static str) -> String {
    in_language(&Message::counted(number, thing)).into_owned()
}

/// The name of something that has one in the program: of a role, an operation, a column of a list.
pub fn name(english: &str) -> String {
    let known = if current() == Language::Chinese { chinese(english) } else { None };
    known.map_or_else(|| english.to_string(), str::to_string)
}

/// A sentence of an answer, or any other message.
pub fn in_language(message: &Message) -> Cow<'_, str> {
    let other = if current() == Language::Chinese { message_in_chinese(message, DEPTH) } else { None };
    other.map_or(Cow::Borrowed(message.as_str()), Cow::Owned)
}

/// What was understood of a request, in one line.
pub fn understood(signals: &Signals) -> String {
    if current() == Language::English {
        return signals.understood();
    }
    let percent =
        |name: &'static str, confidence: f64| format!("{} ({:.0} %)", say(name), confidence.clamp(0.0, 1.0) * 100.0);
    let mut parts = vec![
        percent(signals.operation.label.name(), signals.operation.confidence),
        percent(signals.intention.label.name(), signals.intention.confidence),
    ];
    parts.extend(signals.demands.iter().map(demand_line));
    shown(&parts.join(" · "), LINE)
}

/// A demand as `role: value`.
pub fn demand_line(demand: &Demand) -> String {
    if current() == Language::English {
        return demand.line();
    }
    let value = Demand { avoid: false, ..demand.clone() }.message();
    let value = in_language(&value);
    let not = if demand.avoid { say("not ") } else { "" };
    let inferred = demand.value != Demanded::Words && !demand.is_held_to();
    format!("{}: {not}{value}{}", name(&demand.role.to_string()), if inferred { "?" } else { "" })
}

/// A field that answers can be narrowed by, with its values.
pub fn narrowing_line(narrowing: &Narrowing) -> String {
    format!("{}: {}", name(&narrowing.role.to_string()), narrowing.values_line())
}

/// A note of an answer.
pub fn note<'a>(note: Note<'a>) -> Cow<'a, str> {
    let fact = match note {
        Note::Sentence(text) => return in_language(text),
        Note::Fact(fact) if current() == Language::English => return Cow::Owned(fact.line()),
        Note::Fact(fact) => fact,
    };
    let (about, cited, said) = (name(&fact.about), fact.cited(), fact.statement());
    let statement = in_language(&said);
    let (title, cited) = (shown(&fact.title, LINE), shown(&cited, LINE));
    Cow::Owned(match &fact.field {
        Some(field) => fill("{} of {} [{}]: {} (field `{}`)", &[&about, &title, &cited, &statement, field]),
        None => fill("{} of {} [{}]: {}", &[&about, &title, &cited, &statement]),
    })
}

#[cfg(test)]
mod tests;
