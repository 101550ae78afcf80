//! Blocks of Avro files, checked before arrow-avro decodes them: it never ends where a block has more bytes than the rows that it announces
//! (59.3), and unpacks whatever is packed.
//!
//! The bytes pass as they are, block by block. Of each the rows are skipped by the schema in the file's head: they have to end where
//! the block does. An array or map counts as any other value.
//!
//! What it does not decode at all, records without fields and types within themselves, is cut out of the rows and the schema: the field
//! that has it is left out, the rest of its record is not. UUIDs pass as the texts that they are written as.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::read::DeflateDecoder;
use serde_json::{Map, Value};

/// A larger block, packed or not, is an error.
const MOST_BLOCK_BYTES: u64 = 1 << 30;
/// Values of no bytes that are believed: of others there are no more than bytes.
const MOST_EMPTY: u64 = 1 << 20;
/// Why the rows of a file end before it says so.
pub(crate) const BREAKS_OFF: &str = "the file breaks off";
/// Types in types that are followed.
const MOST_DEPTH: usize = 100;
const SYNC_BYTES: usize = 16;
/// What the head of a file calls its schema, and how its blocks are packed.
const SCHEMA: &[u8] = b"avro.schema";
const CODEC: &[u8] = b"avro.codec";

/// How many bytes the values of a type have.
enum Shape {
    Fixed(u64),
    /// A whole number of variable length.
    Number,
    /// A length, and so many bytes.
    Bytes,
    /// Its fields, and whether each passes.
    Record(Vec<(usize, bool)>),
    /// Blocks of items; those of a map have keys before them.
    Items(usize, bool),
    Union(Vec<usize>),
    /// A type that another place describes.
    Named(String),
    /// One that is being described.
    Open,
}

/// The types of a schema; the first is that of the rows.
#[derive(Default)]
struct Shapes {
    all: Vec<Shape>,
    named: HashMap<String, usize>,
    /// The names of the fields that lead to the type being described.
    within: Vec<String>,
    /// The fields that do not pass, each as the names that lead to it.
    left_out: Vec<String>,
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged Avro file: {reason}"))
}

impl Shapes {
    /// Adds a type of the schema, in the namespace `space`; its number. What does not pass is taken out of `schema`.
    fn add(&mut self, schema: &mut Value, space: &str, depth: usize) -> io::Result<usize> {
        if depth > MOST_DEPTH {
            return Err(damaged("types within types without end"));
        }
        let number = self.all.len();
        self.all.push(Shape::Open);
        let none = || damaged("its schema is none");
        let shape = match schema {
            Value::Array(kinds) => {
                Shape::Union(kinds.iter_mut().map(|kind| self.add(kind, space, depth + 1)).collect::<io::Result<_>>()?)
            }
            Value::Object(described) => match described.get_mut("type").ok_or_else(none)? {
                Value::String(kind) => {
                    let kind = kind.clone();
                    self.described(number, &kind, described, space, depth)?
                }
                kind => {
                    let inner = self.add(kind, space, depth + 1)?;
                    Shape::Record(vec![(inner, self.passes(inner))])
                }
            },
            Value::String(kind) => plain(kind, space),
            _ => return Err(none()),
        };
        self.all[number] = shape;
        Ok(number)
    }

    fn described(
        &mut self,
        number: usize,
        kind: &str,
        schema: &mut Map<String, Value>,
        space: &str,
        depth: usize,
    ) -> io::Result<Shape> {
        let none = || damaged("its schema is none");
        Ok(match kind {
            "array" => Shape::Items(self.add(schema.get_mut("items").ok_or_else(none)?, space, depth + 1)?, false),
            "map" => Shape::Items(self.add(schema.get_mut("values").ok_or_else(none)?, space, depth + 1)?, true),
            "record" | "error" | "enum" | "fixed" => {
                let text = |key: &str| schema.get(key).and_then(Value::as_str);
                let name = text("name").unwrap_or_default();
                let space = match (name.rsplit_once('.'), text("namespace")) {
                    (Some((space, _)), _) | (None, Some(space)) => space,
                    (None, None) => space,
                };
                let space = space.to_string();
                self.named.insert(full_name(name, &space), number);
                match kind {
                    "enum" => Shape::Number,
                    "fixed" => {
                        let size = schema.get("size").and_then(Value::as_u64);
                        Shape::Fixed(size.ok_or_else(|| damaged("a type without a size"))?)
                    }
                    _ => self.record(schema, &space, depth)?,
                }
            }
            _ => {
                if kind == "string" && schema.get("logicalType").is_some_and(|kind| kind == "uuid") {
                    schema.remove("logicalType");
                }
                plain(kind, space)
            }
        })
    }

    fn record(&mut self, schema: &mut Map<String, Value>, space: &str, depth: usize) -> io::Result<Shape> {
        let Some(Value::Array(fields)) = schema.get_mut("fields") else { return Ok(Shape::Record(Vec::new())) };
        let mut shapes = Vec::with_capacity(fields.len());
        for field in fields.iter_mut() {
            self.within.push(field["name"].as_str().unwrap_or_default().to_string());
            let kind = field.get_mut("type").ok_or_else(|| damaged("a field without a type"))?;
            let shape = self.add(kind, space, depth + 1)?;
            let passes = self.passes(shape);
            if !passes {
                self.left_out.push(self.within.join("."));
            }
            shapes.push((shape, passes));
            self.within.pop();
        }
        let mut passing = shapes.iter().map(|(_, passes)| *passes);
        fields.retain(|_| passing.next().unwrap_or(true));
        Ok(Shape::Record(shapes))
    }

    /// Whether the decoder reads values of type `number`, all of whose types are described but those that it is in.
    fn passes(&self, number: usize) -> bool {
        match &self.all[number] {
            Shape::Open => false,
            Shape::Record(fields) => fields.iter().any(|(_, passes)| *passes),
            Shape::Union(kinds) => kinds.iter().all(|&kind| self.passes(kind)),
            Shape::Items(item, _) => self.passes(*item),
            Shape::Named(name) => self.number_of(name).is_none_or(|number| self.passes(number)),
            Shape::Fixed(_) | Shape::Number | Shape::Bytes => true,
        }
    }

    fn number_of(&self, name: &str) -> Option<usize> {
        let short = name.rsplit('.').next().unwrap_or(name);
        self.named.get(name).or_else(|| self.named.get(short)).copied()
    }

    /// Skips a value of type `number` at the start of `bytes`; `cuts` are the parts of it that do not pass, by the bytes left before and
    /// after each.
    fn skip(&self, number: usize, bytes: &mut &[u8], cuts: &mut Vec<(usize, usize)>, depth: usize) -> io::Result<()> {
        if depth > MOST_DEPTH {
            return Err(damaged("values within values without end"));
        }
        match &self.all[number] {
            Shape::Fixed(length) => skip_bytes(bytes, *length),
            Shape::Number => number_of(bytes).map(|_| ()),
            Shape::Bytes => {
                let length = count_of(bytes)?;
                skip_bytes(bytes, length)
            }
            Shape::Record(fields) => {
                for (field, passes) in fields {
                    let (before, cuts_before) = (bytes.len(), cuts.len());
                    self.skip(*field, bytes, cuts, depth + 1)?;
                    if !passes {
                        cuts.truncate(cuts_before);
                        cuts.push((before, bytes.len()));
                    }
                }
                Ok(())
            }
            Shape::Items(item, has_keys) => loop {
                let count = number_of(bytes)?;
                if count < 0 {
                    // The bytes of the items are told.
                    number_of(bytes)?;
                }
                let count = count.unsigned_abs();
                if count == 0 {
                    return Ok(());
                }
                check_count(count, bytes)?;
                for _ in 0..count {
                    if *has_keys {
                        let length = count_of(bytes)?;
                        skip_bytes(bytes, length)?;
                    }
                    self.skip(*item, bytes, cuts, depth + 1)?;
                }
            },
            Shape::Union(kinds) => {
                let kind = usize::try_from(count_of(bytes)?).ok().and_then(|kind| kinds.get(kind));
                self.skip(*kind.ok_or_else(|| damaged("a value of no type"))?, bytes, cuts, depth + 1)
            }
            Shape::Named(name) => {
                let known = self.number_of(name).ok_or_else(|| damaged("a type that is not described"))?;
                self.skip(known, bytes, cuts, depth + 1)
            }
            Shape::Open => Err(damaged("a type that is not described")),
        }
    }
}

/// A type that has only a name.
fn plain(kind: &str, space: &str) -> Shape {
    match kind {
        "null" => Shape::Fixed(0),
        "boolean" => Shape::Fixed(1),
        "float" => Shape::Fixed(4),
        "double" => Shape::Fixed(8),
        "int" | "long" => Shape::Number,
        "bytes" | "string" => Shape::Bytes,
        name => Shape::Named(full_name(name, space)),
    }
}

fn full_name(name: &str, space: &str) -> String {
    if name.contains('.') || space.is_empty() { name.to_string() } else { format!("{space}.{name}") }
}

fn skip_bytes(bytes: &mut &[u8], length: u64) -> io::Result<()> {
    let rest = usize::try_from(length).ok().and_then(|length| bytes.get(length..));
    *bytes = rest.ok_or_else(|| damaged("a value ends after its block"))?;
    Ok(())
}

fn check_count(count: u64, bytes: &[u8]) -> io::Result<()> {
    if count > MOST_EMPTY.max(bytes.len() as u64) {
        return Err(damaged("more values than bytes"));
    }
    Ok(())
}

/// The next whole number of `input`.
fn number_of(input: &mut impl Read) -> io::Result<i64> {
    let (mut value, mut shift) = (0u64, 0);
    loop {
        let mut byte = [0];
        input.read_exact(&mut byte)?;
        value |= u64::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
        }
        shift += 7;
        if shift > 63 {
            return Err(damaged("a number of more than ten bytes"));
        }
    }
}

/// Writes a whole number that is not negative.
fn put_number(out: &mut Vec<u8>, number: usize) {
    let mut rest = (number as u64) << 1;
    while rest > 0x7f {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

fn count_of(input: &mut impl Read) -> io::Result<u64> {
    u64::try_from(number_of(input)?).map_err(|_| damaged("a negative length"))
}

/// The bytes of an Avro file, each block of which is checked before it passes.
pub(crate) struct CheckedBlocks<R> {
    input: Remembering<R>,
    shapes: Shapes,
    codec: String,
    sync: [u8; SYNC_BYTES],
    breaks_off: Arc<AtomicBool>,
    /// How much of what was read has passed.
    passed: usize,
}

/// Remembers the bytes that are read.
struct Remembering<R> {
    inner: R,
    read: Vec<u8>,
}

impl<R: Read> Read for Remembering<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read.extend_from_slice(&buffer[..count]);
        Ok(count)
    }
}

impl<R: BufRead> CheckedBlocks<R> {
    /// The file that `input` reads, whose head is looked at; what is wrong with that is left to the decoder.
    ///
    /// # Errors
    /// Those of `input`; for a head that is no head.
    pub(crate) fn new(input: R) -> io::Result<Self> {
        let mut input = Remembering { inner: input, read: Vec::new() };
        let mut magic = [0; 4];
        input.read_exact(&mut magic)?;
        if magic != *b"Obj\x01" {
            return Err(damaged("it does not begin as one"));
        }
        let mut metadata: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        loop {
            let count = number_of(&mut input)?;
            if count < 0 {
                number_of(&mut input)?;
            }
            if count == 0 {
                break;
            }
            for _ in 0..count.unsigned_abs() {
                let (key, value) = (bytes_of(&mut input)?, bytes_of(&mut input)?);
                metadata.insert(key, value);
            }
        }
        let mut sync = [0; SYNC_BYTES];
        input.read_exact(&mut sync)?;
        let schema = metadata.get(SCHEMA).ok_or_else(|| damaged("no schema"))?;
        let mut schema: Value = serde_json::from_slice(schema).map_err(|error| damaged(&error.to_string()))?;
        let mut shapes = Shapes::default();
        shapes.add(&mut schema, "", 0)?;
        let codec = metadata.get(CODEC).map_or(&b"null"[..], Vec::as_slice);
        let codec = String::from_utf8_lossy(codec).into_owned();
        metadata.insert(SCHEMA.to_vec(), schema.to_string().into_bytes());
        if !shapes.left_out.is_empty() {
            // What is cut is not packed again.
            metadata.insert(CODEC.to_vec(), b"null".to_vec());
        }
        input.read.clear();
        input.read.extend(magic);
        put_number(&mut input.read, metadata.len());
        for text in metadata.iter().flat_map(|(key, value)| [key, value]) {
            put_number(&mut input.read, text.len());
            input.read.extend(text);
        }
        input.read.push(0);
        input.read.extend(sync);
        Ok(CheckedBlocks { input, shapes, codec, sync, breaks_off: Arc::default(), passed: 0 })
    }

    /// Whether the file ends within a block, once it has been read: the decoder does not tell.
    pub(crate) fn breaks_off(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.breaks_off)
    }

    /// The fields that the decoder does not get to see, each as the names that lead to it.
    pub(crate) fn left_out(&self) -> &[String] {
        &self.shapes.left_out
    }

    /// Reads the next block and checks it; nothing at the end of the file. Of a block that is cut off the decoder uses nothing.
    fn read_block(&mut self) -> io::Result<()> {
        if self.input.inner.fill_buf()?.is_empty() {
            return Ok(());
        }
        let (rows, packed) = match self.block() {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                self.breaks_off.store(true, Ordering::Relaxed);
                return Ok(());
            }
            read => read?,
        };
        let Some(bytes) = self.unpacked(packed)? else {
            let reason = format!("its blocks are packed by `{}`", self.codec);
            return if self.left_out().is_empty() { Ok(()) } else { Err(damaged(&reason)) };
        };
        let (mut rest, mut cuts) = (&bytes[..], Vec::new());
        check_count(rows, rest)?;
        for _ in 0..rows {
            self.shapes.skip(0, &mut rest, &mut cuts, 0).map_err(|_| damaged("a row does not fit its block"))?;
        }
        if !rest.is_empty() {
            return Err(damaged("a block has more bytes than its rows"));
        }
        if !self.left_out().is_empty() {
            let (mut kept, mut from): (Vec<u8>, usize) = (Vec::with_capacity(bytes.len()), 0);
            for (before, after) in cuts {
                kept.extend(&bytes[from..bytes.len() - before]);
                from = bytes.len() - after;
            }
            kept.extend(&bytes[from..]);
            let block = &mut self.input.read;
            block.clear();
            put_number(block, usize::try_from(rows).unwrap_or(usize::MAX));
            put_number(block, kept.len());
            block.extend(kept);
            block.extend(self.sync);
        }
        Ok(())
    }

    fn block(&mut self) -> io::Result<(u64, Vec<u8>)> {
        let rows = count_of(&mut self.input)?;
        let packed = bytes_of(&mut self.input)?;
        self.input.read_exact(&mut [0; SYNC_BYTES])?;
        Ok((rows, packed))
    }

    /// A block's bytes; `None` if the decoder does not unpack it either.
    fn unpacked(&self, packed: Vec<u8>) -> io::Result<Option<Vec<u8>>> {
        let all = |from: &mut dyn Read| {
            let mut bytes = Vec::new();
            from.take(MOST_BLOCK_BYTES + 1).read_to_end(&mut bytes)?;
            if bytes.len() as u64 > MOST_BLOCK_BYTES { Err(damaged("a block is too large")) } else { Ok(Some(bytes)) }
        };
        match self.codec.as_str() {
            "null" => Ok(Some(packed)),
            "deflate" => all(&mut DeflateDecoder::new(&packed[..])),
            "zstandard" => all(&mut zstd::Decoder::new(&packed[..])?),
            "snappy" => {
                // Its checksum is behind it.
                let packed = packed.get(..packed.len().saturating_sub(4)).unwrap_or_default();
                let length = snap::raw::decompress_len(packed).map_err(io::Error::other)?;
                if length as u64 > MOST_BLOCK_BYTES {
                    return Err(damaged("a block is too large"));
                }
                snap::raw::Decoder::new().decompress_vec(packed).map(Some).map_err(io::Error::other)
            }
            _ => Ok(None),
        }
    }
}

/// A length, and so many bytes.
fn bytes_of(input: &mut impl Read) -> io::Result<Vec<u8>> {
    let length = count_of(input)?;
    if length > MOST_BLOCK_BYTES {
        return Err(damaged("a block is too large"));
    }
    let mut bytes = Vec::new();
    let read = input.take(length).read_to_end(&mut bytes)?;
    if read as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

impl<R: BufRead> Read for CheckedBlocks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ready = self.fill_buf()?;
        let count = ready.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for CheckedBlocks<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.passed == self.input.read.len() {
            self.input.read.clear();
            self.passed = 0;
            self.read_block()?;
        }
        Ok(&self.input.read[self.passed..])
    }

    fn consume(&mut self, count: usize) {
        self.passed = (self.passed + count).min(self.input.read.len());
    }
}
