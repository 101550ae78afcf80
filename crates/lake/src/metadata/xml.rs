//! Records in XML, one at a time, as the values that JSON is read as.
//!
//! An element with nothing but text is that text; else an object of its attributes and children by local name, a list where one repeats, and
//! its text as `@value`; `xml:lang` is `@language`. ISO 19115's wrappers of single values (`CharacterString`) are left out. No entity but the
//! five of XML is expanded and no other document is opened. A record is read within bounds of depth, elements and bytes; what is beyond
//! them is left out and said. A record that is not closed as it was opened is left out, and reading goes on with the next.

use std::cell::Cell;
use std::io::{self, BufRead, Read};
use std::rc::Rc;

use quick_xml::Reader;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use serde_json::{Map, Value};

use super::clean::LONGEST_DESCRIPTION_BYTES;
use super::parts::UnusedReason;

/// Most bytes of one record, or of what is between two.
const LARGEST_RECORD_BYTES: u64 = 64 << 20;
/// Deepest nesting of a record.
const MOST_DEPTH: usize = 64;
/// Most elements and attributes of a record.
const MOST_PARTS: usize = 50_000;
/// Most bytes of the text of an element; more than is kept, as some of it may be markup.
const MOST_TEXT_BYTES: usize = 8 * LONGEST_DESCRIPTION_BYTES + 1;
/// Elements that stand for the single value in them (ISO 19115).
const WRAPPERS: [&str; 12] = [
    "CharacterString",
    "Date",
    "DateTime",
    "Decimal",
    "Integer",
    "Real",
    "Boolean",
    "URL",
    "Anchor",
    "TM_Date",
    "LocalisedCharacterString",
    "FileName",
];

/// An element that was read.
#[derive(Debug)]
pub(crate) struct Element {
    /// Its local name.
    pub name: String,
    pub value: Value,
    /// Its bytes in the decoded text.
    pub bytes: u64,
    /// Why some of it is left out.
    pub flaws: Vec<UnusedReason>,
    /// Why all of it is.
    pub broken: Option<String>,
}

/// How reading ended.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// Why before the end of the text, if it did.
    pub early: Option<String>,
    /// Whether it declares entities.
    pub has_entities: bool,
    /// Whether elements are open at the end of the text.
    pub is_unclosed: bool,
}

/// Calls `each` with every element of `names` that is in no other of them. It returns whether to go on.
pub(crate) fn each_element(input: impl BufRead, names: &[&str], mut each: impl FnMut(Element) -> bool) -> Ended {
    let left = Rc::new(Cell::new(LARGEST_RECORD_BYTES));
    let mut reader = Reader::from_reader(Bounded { input, left: Rc::clone(&left) });
    let config = reader.config_mut();
    config.check_end_names = false;
    config.allow_unmatched_ends = true;
    config.allow_dangling_amp = true;
    let (mut buffer, mut ended, mut open) = (Vec::new(), Ended::default(), None::<Building>);
    let mut depth = 0i64;
    loop {
        buffer.clear();
        let before = reader.buffer_position();
        let event = match reader.read_event_into(&mut buffer) {
            Ok(event) => event,
            Err(error) => {
                ended.early = Some(format!("byte {}: {error}", reader.error_position()));
                break;
            }
        };
        match &event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth -= 1,
            _ => {}
        }
        match &event {
            Event::Eof => break,
            Event::DocType(text) => ended.has_entities |= memchr::memmem::find(text, b"<!ENTITY").is_some(),
            Event::Start(tag) | Event::Empty(tag) if names.contains(&local_name(tag).as_str()) => {
                // One inside a broken one begins anew.
                let broken = open.take_if(|building| building.broken.is_some());
                if broken.is_some_and(|broken| !each(broken.finish(before))) {
                    return ended;
                }
                open.get_or_insert_with(|| Building::new(before));
            }
            _ => {}
        }
        let Some(building) = &mut open else {
            left.set(LARGEST_RECORD_BYTES);
            continue;
        };
        building.take(&event);
        if building.is_closed() {
            let after = reader.buffer_position();
            let whole = open.take().map(|building| building.finish(after));
            left.set(LARGEST_RECORD_BYTES);
            if !whole.is_none_or(&mut each) {
                return ended;
            }
        }
    }
    ended.is_unclosed = depth > 0 || reader.buffer_position() == 0;
    if let Some(mut building) = open {
        building.broken.get_or_insert_with(|| "the file ends inside it".into());
        each(building.finish(reader.buffer_position()));
    }
    ended
}

/// A record while it is read.
struct Building {
    start: u64,
    stack: Vec<Open>,
    /// The finished value.
    root: Option<(String, Value)>,
    parts: usize,
    /// Elements open below the deepest that is read.
    beyond: usize,
    flaws: Vec<UnusedReason>,
    broken: Option<String>,
    name: String,
}

#[derive(Default)]
struct Open {
    name: String,
    object: Map<String, Value>,
    text: String,
}

impl Building {
    fn new(start: u64) -> Self {
        let (stack, root, flaws, broken, name) = Default::default();
        Self { start, stack, root, parts: 0, beyond: 0, flaws, broken, name }
    }

    fn flaw(&mut self, flaw: UnusedReason) {
        if !self.flaws.contains(&flaw) {
            self.flaws.push(flaw);
        }
    }

    fn is_closed(&self) -> bool {
        self.root.is_some()
    }

    fn take(&mut self, event: &Event<'_>) {
        match event {
            Event::Start(_) | Event::Text(_) | Event::CData(_) | Event::GeneralRef(_) if self.broken.is_some() => {}
            Event::Start(tag) => self.open(tag),
            Event::Empty(tag) => {
                self.open(tag);
                self.close(&local_name(tag));
            }
            Event::End(tag) => self.close(&String::from_utf8_lossy(tag.local_name().as_ref())),
            Event::Text(text) => self.text(&String::from_utf8_lossy(text)),
            Event::CData(text) => self.text(&String::from_utf8_lossy(text)),
            Event::GeneralRef(name) => {
                let written = format!("&{};", String::from_utf8_lossy(name));
                match unescape(&written) {
                    Ok(text) => self.text(&text),
                    Err(_) => {
                        self.flaw(UnusedReason::Entity);
                        self.text(&written);
                    }
                }
            }
            _ => {}
        }
    }

    fn open(&mut self, tag: &BytesStart<'_>) {
        let name = local_name(tag);
        if self.stack.is_empty() {
            self.name.clone_from(&name);
        }
        self.parts += 1;
        if self.stack.len() >= MOST_DEPTH || self.parts > MOST_PARTS || self.beyond > 0 {
            self.beyond += 1;
            return self.flaw(UnusedReason::TooDeep);
        }
        let mut open = Open { name, ..Open::default() };
        for attribute in tag.attributes().with_checks(false).flatten() {
            let key = String::from_utf8_lossy(attribute.key.as_ref()).into_owned();
            let local = key.rsplit(':').next().unwrap_or(&key);
            let is_technical = key.starts_with("xmlns") || ["schemaLocation", "codeList", "codeSpace"].contains(&local);
            self.parts += 1;
            if is_technical || self.parts > MOST_PARTS {
                continue;
            }
            let raw = String::from_utf8_lossy(&attribute.value);
            let value = unescape(&raw).map_or_else(|_| raw.to_string(), std::borrow::Cow::into_owned);
            let local = if key == "xml:lang" { "@language" } else { local };
            open.object.insert(local.to_string(), Value::String(value));
        }
        self.stack.push(open);
    }

    fn text(&mut self, text: &str) {
        if self.beyond > 0 {
            return;
        }
        let Some(open) = self.stack.last_mut() else { return };
        let room = MOST_TEXT_BYTES.saturating_sub(open.text.len());
        open.text.push_str(&text[..text.floor_char_boundary(room)]);
        if text.len() > room {
            self.flaw(UnusedReason::Cut);
        }
    }

    fn close(&mut self, name: &str) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        if self.broken.is_some() {
            // Until its own end.
            if name == self.name {
                self.root = Some((self.name.clone(), Value::Null));
            }
            return;
        }
        let Some(open) = self.stack.pop() else { return };
        if open.name != name {
            let shown = |name: &str| lakeward_core::text::shown(name, 40).to_string();
            self.broken = Some(format!("`{}` is closed by `{}`", shown(&open.name), shown(name)));
            return self.close(name);
        }
        let Open { name, mut object, text } = open;
        if let Some(parent) = self.stack.last_mut()
            && WRAPPERS.contains(&name.as_str())
        {
            parent.text.push_str(text.trim());
            parent.object.extend(object);
            return;
        }
        let text = text.trim();
        let value = if object.is_empty() {
            Value::String(text.to_string())
        } else {
            if !text.is_empty() {
                object.insert("@value".into(), Value::String(text.to_string()));
            }
            Value::Object(object)
        };
        let Some(parent) = self.stack.last_mut() else {
            self.root = Some((name, value));
            return;
        };
        match parent.object.get_mut(&name) {
            Some(Value::Array(list)) => list.push(value),
            Some(first) => {
                let known = first.take();
                *first = Value::Array(vec![known, value]);
            }
            None => _ = parent.object.insert(name, value),
        }
    }

    fn finish(self, end: u64) -> Element {
        let value = self.root.map_or(Value::Null, |(_, value)| value);
        let Self { start, flaws, broken, name, .. } = self;
        Element { name, value, bytes: end.saturating_sub(start), flaws, broken }
    }
}

fn local_name(tag: &BytesStart<'_>) -> String {
    String::from_utf8_lossy(tag.local_name().as_ref()).into_owned()
}

/// An input of which only so many bytes may be read before the bound is set anew.
pub(super) struct Bounded<R> {
    pub input: R,
    pub left: Rc<Cell<u64>>,
}

impl<R: BufRead> BufRead for Bounded<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.left.get() == 0 {
            return Err(io::Error::other("one record is larger than what is read at once"));
        }
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        self.left.set(self.left.get().saturating_sub(count as u64));
        self.input.consume(count);
    }
}

impl<R: BufRead> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(out)?;
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> (Vec<Element>, Ended) {
        let mut found = Vec::new();
        let ended = each_element(text.as_bytes(), &["record"], |element| {
            found.push(element);
            true
        });
        (found, ended)
    }

    #[test]
    fn elements_become_values() {
        let (found, ended) = read(
            "<?xml version='1.0'?><x:all xmlns:x='u'><x:record a='1 &lt; 2' xmlns='v'><t xml:lang='en'>A &amp; B</t><t>&#233;<![CDATA[<i>]]></t>\
             <d><gco:Date>2020-01-02</gco:Date></d><e/></x:record><record>only</record></x:all>",
        );
        assert!(ended.early.is_none() && !ended.has_entities);
        let expected =
            json!({"a": "1 < 2", "t": [{"@language": "en", "@value": "A & B"}, "é<i>"], "d": "2020-01-02", "e": ""});
        assert_eq!(found[0].value, expected);
        assert_eq!(found[1].value, json!("only"));
    }

    #[test]
    fn a_broken_record_is_left_out_and_the_next_is_read() {
        let (found, ended) =
            read("<all><record><a>1</b></record><record><c>2</c></record><record><a><record><c>3</c></record>");
        let broken: Vec<Option<&str>> = found.iter().map(|element| element.broken.as_deref()).collect();
        assert_eq!(found[1].value, json!({"c": "2"}), "{found:?}");
        assert_eq!((broken[0], broken[1]), (Some("`a` is closed by `b`"), None));
        assert_eq!(broken.last().unwrap(), &Some("the file ends inside it"), "{ended:?}");
    }

    #[test]
    fn no_entity_is_expanded_and_bounds_hold() {
        let bomb = "<!DOCTYPE r [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;'><!ENTITY x SYSTEM 'file:///etc/passwd'>]><record><t>&b; &x;</t></record>";
        let (found, ended) = read(bomb);
        assert!(ended.has_entities);
        assert_eq!((&found[0].value, &found[0].flaws[..]), (&json!({"t": "&b; &x;"}), &[UnusedReason::Entity][..]));
        let deep = format!("<record>{}{}</record>", "<a>".repeat(100_000), "</a>".repeat(100_000));
        assert_eq!(read(&deep).0[0].flaws, [UnusedReason::TooDeep]);
        let wide = format!("<record>{}<z>1</z></record>", "<a/>".repeat(200_000));
        assert_eq!(read(&wide).0[0].flaws, [UnusedReason::TooDeep]);
        let long = format!("<record><t>{}</t></record>", "x".repeat(5 << 20));
        let (found, _) = read(&long);
        assert_eq!((found[0].flaws.as_slice(), found[0].bytes), (&[UnusedReason::Cut][..], long.len() as u64));
        let endless = format!("<record><t>{}", "y".repeat(65 << 20));
        let (found, ended) = read(&endless);
        assert!(ended.early.is_some_and(|why| why.contains("larger than")) && found[0].broken.is_some());
    }

    #[test]
    fn arbitrary_bytes_do_not_panic() {
        for text in [
            "",
            "<",
            "<record",
            "<record><",
            "&",
            "<record>&#x0;&#9999999999;</record>",
            "</record>",
            "<!DOCTYPE",
            "<record a='",
        ] {
            read(text);
        }
    }
}
