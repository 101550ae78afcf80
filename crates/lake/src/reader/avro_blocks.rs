//! Blocks of Avro files, checked before arrow-avro decodes them: it never ends where a block has more bytes than the rows that it announces
//! (59.3), and unpacks whatever is packed.
//!
//! The bytes pass as they are, block by block. Of each the rows are skipped by the schema in the file's head: they have to end where
//! the block does. An array or map counts as any other value.

use std::collections::HashMap;
use std::io::{self, BufRead, Read};

use flate2::read::DeflateDecoder;
use serde_json::Value;

/// A larger block, packed or not, is an error.
const MOST_BLOCK_BYTES: u64 = 1 << 30;
/// Values of no bytes that are believed: of others there are no more than bytes.
const MOST_EMPTY: u64 = 1 << 20;
/// Types in types that are followed.
const MOST_DEPTH: usize = 100;
const SYNC_BYTES: usize = 16;

/// How many bytes the values of a type have.
enum Shape {
    Fixed(u64),
    /// A whole number of variable length.
    Number,
    /// A length, and so many bytes.
    Bytes,
    Record(Vec<usize>),
    /// Blocks of items; those of a map have keys before them.
    Items(usize, bool),
    Union(Vec<usize>),
    /// A type that another place describes.
    Named(String),
}

/// The types of a schema; the first is that of the rows.
#[derive(Default)]
struct Shapes {
    all: Vec<Shape>,
    named: HashMap<String, usize>,
}

fn damaged(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("damaged Avro file: {reason}"))
}

impl Shapes {
    /// Adds a type of the schema, in the namespace `space`; its number.
    fn add(&mut self, schema: &Value, space: &str, depth: usize) -> io::Result<usize> {
        if depth > MOST_DEPTH {
            return Err(damaged("types within types without end"));
        }
        let number = self.all.len();
        self.all.push(Shape::Fixed(0));
        let kind = schema.get("type").filter(|_| schema.is_object()).unwrap_or(schema);
        let shape = match kind {
            Value::Array(kinds) => {
                Shape::Union(kinds.iter().map(|kind| self.add(kind, space, depth + 1)).collect::<io::Result<_>>()?)
            }
            Value::Object(_) => {
                let inner = self.add(kind, space, depth + 1)?;
                Shape::Record(vec![inner])
            }
            Value::String(kind) => match kind.as_str() {
                "null" => Shape::Fixed(0),
                "boolean" => Shape::Fixed(1),
                "float" => Shape::Fixed(4),
                "double" => Shape::Fixed(8),
                "int" | "long" => Shape::Number,
                "bytes" | "string" => Shape::Bytes,
                "array" => Shape::Items(self.add(&schema["items"], space, depth + 1)?, false),
                "map" => Shape::Items(self.add(&schema["values"], space, depth + 1)?, true),
                "record" | "error" | "enum" | "fixed" if schema.is_object() => {
                    let name = schema["name"].as_str().unwrap_or_default();
                    let space = match (schema["namespace"].as_str(), name.rsplit_once('.')) {
                        (_, Some((space, _))) => space,
                        (Some(space), None) => space,
                        (None, None) => space,
                    };
                    self.named.insert(full_name(name, space), number);
                    match kind.as_str() {
                        "enum" => Shape::Number,
                        "fixed" => {
                            Shape::Fixed(schema["size"].as_u64().ok_or_else(|| damaged("a type without a size"))?)
                        }
                        _ => {
                            let fields = schema["fields"].as_array().map(Vec::as_slice).unwrap_or_default();
                            let field = |field: &Value| self.add(&field["type"], space, depth + 1);
                            Shape::Record(fields.iter().map(field).collect::<io::Result<_>>()?)
                        }
                    }
                }
                name => Shape::Named(full_name(name, space)),
            },
            _ => return Err(damaged("its schema is none")),
        };
        self.all[number] = shape;
        Ok(number)
    }

    /// Skips a value of type `number` at the start of `bytes`.
    fn skip(&self, number: usize, bytes: &mut &[u8], depth: usize) -> io::Result<()> {
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
            Shape::Record(fields) => fields.iter().try_for_each(|field| self.skip(*field, bytes, depth + 1)),
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
                    self.skip(*item, bytes, depth + 1)?;
                }
            },
            Shape::Union(kinds) => {
                let kind = usize::try_from(count_of(bytes)?).ok().and_then(|kind| kinds.get(kind));
                self.skip(*kind.ok_or_else(|| damaged("a value of no type"))?, bytes, depth + 1)
            }
            Shape::Named(name) => {
                let short = name.rsplit('.').next().unwrap_or(name);
                let known = self.named.get(name).or_else(|| self.named.get(short));
                self.skip(*known.ok_or_else(|| damaged("a type that is not described"))?, bytes, depth + 1)
            }
        }
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

fn count_of(input: &mut impl Read) -> io::Result<u64> {
    u64::try_from(number_of(input)?).map_err(|_| damaged("a negative length"))
}

/// The bytes of an Avro file, each block of which is checked before it passes.
pub(crate) struct CheckedBlocks<R> {
    input: Remembering<R>,
    shapes: Shapes,
    codec: String,
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
        let mut metadata: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
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
        input.read_exact(&mut [0; SYNC_BYTES])?;
        let schema = metadata.get(&b"avro.schema"[..]).ok_or_else(|| damaged("no schema"))?;
        let schema: Value = serde_json::from_slice(schema).map_err(|error| damaged(&error.to_string()))?;
        let mut shapes = Shapes::default();
        shapes.add(&schema, "", 0)?;
        let codec = metadata.get(&b"avro.codec"[..]).map_or(&b"null"[..], Vec::as_slice);
        let codec = String::from_utf8_lossy(codec).into_owned();
        Ok(CheckedBlocks { input, shapes, codec, passed: 0 })
    }

    /// Reads the next block and checks it; nothing at the end of the file. Of a block that is cut off the decoder uses nothing.
    fn read_block(&mut self) -> io::Result<()> {
        if self.input.inner.fill_buf()?.is_empty() {
            return Ok(());
        }
        let (rows, packed) = match self.block() {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        };
        let Some(bytes) = self.unpacked(packed)? else { return Ok(()) };
        let mut rest = &bytes[..];
        check_count(rows, rest)?;
        for _ in 0..rows {
            self.shapes.skip(0, &mut rest, 0).map_err(|_| damaged("a row does not fit its block"))?;
        }
        if rest.is_empty() { Ok(()) } else { Err(damaged("a block has more bytes than its rows")) }
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
