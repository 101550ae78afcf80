//! How the document is laid out: indented where a person looks (fields of the session, of its turns and of its steps), each
//! deeper value on one line. Messages are kept as what they were made of, so that they can be shown in another language.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::Formatter;

use super::document::Session;
use lakeward_core::error::{Error, Result};
use lakeward_core::message::with_parts;

/// Objects and lists this deep are broken into lines.
const BROKEN_DEPTH: usize = 3;

/// The document as text, with a final line feed.
///
/// # Errors
/// [`Error::Internal`] when it has no form in JSON.
pub fn text(session: &Session) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut text, Shallow { depth: 0, empty: true });
    with_parts(|| session.serialize(&mut serializer)).map_err(|error| Error::Internal(error.to_string()))?;
    text.push(b'\n');
    Ok(text)
}

struct Shallow {
    depth: usize,
    empty: bool,
}

impl Shallow {
    fn enter<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        self.empty = true;
        writer.write_all(bracket)
    }

    fn leave<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if !self.empty && self.depth < BROKEN_DEPTH {
            self.new_line(writer)?;
        }
        self.empty = false;
        writer.write_all(bracket)
    }

    fn item<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= BROKEN_DEPTH {
            return self.new_line(writer);
        }
        if first { Ok(()) } else { writer.write_all(b" ") }
    }

    fn new_line<W: ?Sized + Write>(&self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b"\n")?;
        (0..self.depth).try_for_each(|_| writer.write_all(b" "))
    }
}

impl Formatter for Shallow {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.leave(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.empty = false;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.enter(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.leave(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _writer: &mut W) -> io::Result<()> {
        self.empty = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_is_the_document_and_readable() {
        let mut session = Session::new("s", "lake");
        session.accept("geo/countries");
        let text = String::from_utf8(text(&session).unwrap()).unwrap();
        assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), session);
        let expected = " \"accepted\": [\n  {\n   \"table\": \"geo/countries\",\n   \"turn\": 0\n  }\n ],\n";
        assert!(text.contains(expected), "{text}");
        assert!(text.contains("\n \"turns\": [],\n"), "{text}");
    }
}
