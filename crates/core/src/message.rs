//! Texts that people read, as what they were made of: a template and what is filled into it.
//!
//! A [`Message`] is its English text to all who print, search or send it, and a string in every document. Whoever shows it in another language looks up
//! its template and fills in the parts, which may be messages themselves ([`Message::made_of`]): no text is taken apart again to find out what it says.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::ops::Deref;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text::counted;

/// The template of a list: parts with `; ` between them.
pub const CLAUSES: &str = "; ";
/// The template of a list: parts with `, ` between them.
pub const PARTS: &str = ", ";
/// The template of a list: `a, b and c`.
pub const AND: &str = " and ";
/// The template of a list: `a, b or c`.
pub const OR: &str = " or ";

/// A text with what it was made of, where it is known.
#[derive(Clone, Default)]
pub struct Message {
    text: String,
    made_of: Option<Box<MadeOf>>,
}

/// What a message was made of.
#[derive(Debug, Clone)]
pub struct MadeOf {
    /// The English text with `{}` for each part; `# thing`, for a number of things that are called by their singular; or what stands between the
    /// parts of a list ([`CLAUSES`] and so on).
    pub template: Cow<'static, str>,
    /// What is filled in.
    pub parts: Vec<Message>,
}

/// A [`Message`] of a template with `{}` in place of each further argument: a text, a number or a message.
#[macro_export]
macro_rules! message {
    ($template:literal $(, $part:expr)* $(,)?) => {
        $crate::message::Message::of($template, vec![$($crate::message::Message::from($part)),*])
    };
}

impl Message {
    /// `template` with `parts` in place of its `{}`.
    pub fn of(template: impl Into<Cow<'static, str>>, parts: Vec<Message>) -> Self {
        let template = template.into();
        let text = match (template.strip_prefix("# "), parts.as_slice()) {
            (_, []) => template.to_string(),
            (Some(thing), [number]) => {
                number.text.parse().map_or_else(|_| format!("{number} {thing}"), |count| counted(count, thing))
            }
            _ if template.contains("{}") => filled(&template, &parts),
            _ => listed(&template, &parts),
        };
        Self { text, made_of: Some(Box::new(MadeOf { template, parts })) }
    }

    /// What something of the program is called, such as a role or an operation: data that is written alike is not translated, this is.
    pub fn name(name: impl Into<String>) -> Self {
        Self::of(name.into(), Vec::new())
    }

    /// `3 rows`: a number of things.
    pub fn counted(count: u64, thing: &'static str) -> Self {
        Self::of(format!("# {thing}"), vec![count.into()])
    }

    /// Parts one after the other, with `between` ([`CLAUSES`] and so on) between them. One part is that part.
    pub fn list<M: Into<Message>>(between: &'static str, parts: impl IntoIterator<Item = M>) -> Self {
        let mut parts: Vec<Message> = parts.into_iter().map(Into::into).collect();
        match parts.len() {
            0 => Self::default(),
            1 => parts.remove(0),
            _ => Self::of(between, parts),
        }
    }

    /// This one, and behind a semicolon another.
    pub fn and_then(self, next: impl Into<Message>) -> Self {
        let parts = [self, next.into()];
        Self::list(CLAUSES, parts.into_iter().filter(|part| !part.is_empty()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What it was made of; none for a text as it is: data, or what a model wrote.
    pub fn made_of(&self) -> Option<&MadeOf> {
        self.made_of.as_deref()
    }
}

/// `template` with a part in place of each `{}`, in their order. No part is used twice, so that a text is never longer than what it is made of.
fn filled(template: &str, parts: &[Message]) -> String {
    let mut pieces = template.split("{}");
    let mut text = pieces.next().unwrap_or_default().to_string();
    let mut parts = parts.iter().map(Message::as_str);
    for piece in pieces {
        text.push_str(parts.next().unwrap_or_default());
        text.push_str(piece);
    }
    text
}

/// Parts with `between` between them; with commas, and a word before the last, where that is a word.
fn listed(between: &str, parts: &[Message]) -> String {
    let texts: Vec<&str> = parts.iter().map(Message::as_str).collect();
    match texts.split_last() {
        Some((last, before)) if between.starts_with(' ') => format!("{}{between}{last}", before.join(PARTS)),
        _ => texts.join(between),
    }
}

impl Deref for Message {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(formatter)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, formatter)
    }
}

/// Two messages that say the same are the same, whatever is known of how they were made.
impl PartialEq for Message {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Message {}

impl PartialEq<str> for Message {
    fn eq(&self, other: &str) -> bool {
        self.text == other
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl AsRef<str> for Message {
    fn as_ref(&self) -> &str {
        &self.text
    }
}

/// A text as it is.
impl From<String> for Message {
    fn from(text: String) -> Self {
        Self { text, made_of: None }
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        text.clone().into()
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        text.to_string().into()
    }
}

impl From<Cow<'_, str>> for Message {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Self {
        message.clone()
    }
}

macro_rules! from_number {
    ($($number:ty),*) => {
        $(impl From<$number> for Message {
            fn from(number: $number) -> Self {
                number.to_string().into()
            }
        })*
    };
}

from_number!(u32, u64, usize, i32, i64);

impl From<Message> for String {
    fn from(message: Message) -> Self {
        message.text
    }
}

thread_local! {
    static WITH_PARTS: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, in which messages, and their schema, are written with what they were made of: a session that is kept can be read in another language
/// later. Messages are read in either form anywhere.
pub fn with_parts<T>(work: impl FnOnce() -> T) -> T {
    struct Reset(bool);
    impl Drop for Reset {
        fn drop(&mut self) {
            WITH_PARTS.set(self.0);
        }
    }
    let _reset = Reset(WITH_PARTS.replace(true));
    work()
}

/// A string; within [`with_parts`] a list of the template and its parts, where they are known.
impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(made_of) = self.made_of.as_ref().filter(|_| WITH_PARTS.get()) else {
            return serializer.serialize_str(&self.text);
        };
        let mut list = serializer.serialize_seq(Some(1 + made_of.parts.len()))?;
        list.serialize_element(&made_of.template)?;
        made_of.parts.iter().try_for_each(|part| list.serialize_element(part))?;
        list.end()
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Read;
        impl<'de> Visitor<'de> for Read {
            type Value = Message;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text, or a list of a template and its parts")
            }

            fn visit_str<E>(self, text: &str) -> Result<Message, E> {
                Ok(text.into())
            }

            fn visit_string<E>(self, text: String) -> Result<Message, E> {
                Ok(text.into())
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Message, A::Error> {
                let template: String = list.next_element()?.ok_or_else(|| A::Error::custom("a message is empty"))?;
                let mut parts = Vec::new();
                while let Some(part) = list.next_element()? {
                    parts.push(part);
                }
                Ok(Message::of(template, parts))
            }
        }
        deserializer.deserialize_any(Read)
    }
}

impl JsonSchema for Message {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Message".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        match WITH_PARTS.get() {
            true => json_schema!({"anyOf": [{"type": "string"}, {"type": "array", "minItems": 1}]}),
            false => json_schema!({"type": "string"}),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_as_its_text() {
        let columns = Message::list(AND, ["a", "b", "c"]);
        let message = message!("adds {} from `{}`", columns, "t").and_then(Message::counted(2, "row"));
        assert_eq!(message, "adds a, b and c from `t`; 2 rows");
        assert_eq!(Message::counted(1, "row"), "1 row");
        assert_eq!(Message::list(CLAUSES, Vec::<Message>::new()), "");
        assert_eq!(Message::list(PARTS, ["only"]).made_of().map(|made_of| made_of.parts.len()), None);
    }

    #[test]
    fn parts_are_written_where_they_are_wanted_and_read_anywhere() {
        let message = message!("keeps {}; not {}", Message::counted(3, "row"), "{} [x]");
        let text = serde_json::to_string(&message).unwrap();
        assert_eq!(text, "\"keeps 3 rows; not {} [x]\"");
        let whole = with_parts(|| serde_json::to_string(&message)).unwrap();
        assert_eq!(whole, r##"["keeps {}; not {}",["# row","3"],"{} [x]"]"##);
        for written in [text, whole] {
            assert_eq!(serde_json::from_str::<Message>(&written).unwrap(), message);
        }
        // Within a document nothing else changes, and behind it all is as before.
        assert_eq!(serde_json::to_string(&message!("x")).unwrap(), "\"x\"");
    }

    #[test]
    fn hostile_lists_are_texts_or_errors() {
        for (written, text) in [(r#"["{} {} {}","a"]"#, Some("a  ")), ("[]", None), ("[1]", None), (r#"[["x"]]"#, None)]
        {
            assert_eq!(serde_json::from_str::<Message>(written).ok().as_deref(), text, "{written}");
        }
        assert_eq!(serde_json::from_str::<Message>(r##"["# row","many"]"##).unwrap(), "many row");
        assert_eq!(serde_json::from_str::<Message>(r#"["{","a"]"#).unwrap(), "a");
        // A part that is said twice at each of many levels would fill the memory.
        let nested = (0..60).fold("\"a\"".to_string(), |inner, _| format!(r#"["{{1}}{{1}}{{}}{{}}",{inner}]"#));
        assert!(serde_json::from_str::<Message>(&nested).unwrap().len() < nested.len());
    }
}
