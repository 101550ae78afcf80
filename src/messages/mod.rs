//! What the page and the REPL say, in English or Chinese.
//!
//! English stands in the code where it is said, and `chinese.tsv` has the Chinese of each message. Answers are made in
//! English, as documents are; their sentences are found again by the template that made them ([`in_language`]), so
//! that a session can be read in either language. What the table does not have stays English.

mod template;

use std::borrow::Cow;
use std::sync::OnceLock;

use clap::ValueEnum;

use lakeward_agent::recommend::{Narrowing, Note};
use lakeward_core::request::{Demand, Demanded, Label, Signals};
use lakeward_core::text::shown;
use template::CHINESE;
pub use template::filled;

/// Characters of a line.
const LINE: usize = 2000;

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

/// A message.
pub fn say(english: &'static str) -> &'static str {
    match current() {
        Language::English => english,
        Language::Chinese => CHINESE.exact(english).unwrap_or(english),
    }
}

/// A message with what is filled into its `{}`.
pub fn fill(english: &'static str, parts: &[&str]) -> String {
    filled(say(english), &mut |place| parts.get(place).copied().unwrap_or_default().to_string())
}

/// `3 rows`: a number of things, whose English name is in the singular.
pub fn count(number: u64, thing: &'static str) -> String {
    match current() {
        Language::English => lakeward_core::text::counted(number, thing),
        Language::Chinese => CHINESE.counted(number, thing),
    }
}

/// The name of something that has one in the program: of a role, an operation, a column of a list.
pub fn name(english: &str) -> String {
    let known = if current() == Language::Chinese { CHINESE.exact(english) } else { None };
    known.map_or_else(|| english.to_string(), str::to_string)
}

/// A sentence of an answer.
pub fn in_language(text: &str) -> Cow<'_, str> {
    match current() {
        Language::English => Cow::Borrowed(text),
        Language::Chinese => CHINESE.translated(text).map_or(Cow::Borrowed(text), Cow::Owned),
    }
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
    let value = match demand.value {
        Demanded::Period(years) => CHINESE.part_of(&years.to_string()),
        _ => Demand { avoid: false, ..demand.clone() }.to_string(),
    };
    let not = if demand.avoid { say("not ") } else { "" };
    let inferred = demand.value != Demanded::Words && !demand.is_held_to();
    format!("{}: {not}{value}{}", name(&demand.role.to_string()), if inferred { "?" } else { "" })
}

/// A field that answers can be narrowed by, with its values.
pub fn narrowing_line(narrowing: &Narrowing) -> String {
    format!("{}: {}", name(&narrowing.role.to_string()), narrowing.values_line())
}

/// The respect of a fact, which may name the fields that say it.
pub fn respect(about: &str) -> String {
    match current() {
        Language::English => about.to_string(),
        Language::Chinese => CHINESE.exact(about).map_or_else(|| CHINESE.part_of(about), str::to_string),
    }
}

/// A note of an answer.
pub fn note<'a>(note: Note<'a>) -> Cow<'a, str> {
    let fact = match note {
        Note::Sentence(text) => return in_language(text),
        Note::Fact(fact) if current() == Language::English => return Cow::Owned(fact.line()),
        Note::Fact(fact) => fact,
    };
    let (about, cited) = (name(&fact.about), fact.cited());
    let statement = if fact.value.is_some() { fact.statement() } else { in_language(&fact.statement()).into_owned() };
    let (title, cited) = (shown(&fact.title, LINE), shown(&cited, LINE));
    Cow::Owned(match &fact.field {
        Some(field) => fill("{} of {} [{}]: {} (field `{}`)", &[&about, &title, &cited, &statement, field]),
        None => fill("{} of {} [{}]: {}", &[&about, &title, &cited, &statement]),
    })
}

#[cfg(test)]
mod tests;
