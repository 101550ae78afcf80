//! The text of a page: interprets its content stream, including forms, into [`Piece`]s with their positions. Graphics, colours
//! and images are skipped; content marked as an artifact (running heads, page numbers of tagged PDFs) is left out. Source:
//! PDF 32000-1, chapters 8 and 9.

use std::collections::HashMap;
use std::rc::Rc;

use hayro_syntax::content::TypedIter;
use hayro_syntax::content::ops::TypedInstruction;
use hayro_syntax::object::{Array, Dict, Name, Number, Object, ObjectIdentifier, Stream};
use hayro_syntax::page::{Page, Resources};

use super::font::{Font, ShownCode};
use super::matrix::Matrix;
use super::piece::{Mark, Piece, Pieces};

/// Maximum nesting of forms.
const DEEPEST_FORM: usize = 12;
/// Maximum number of forms per page.
const MAX_FORMS: usize = 20_000;
/// Maximum number of `q` without `Q`.
const DEEPEST_STATE: usize = 512;

/// The fonts of a document, each read once.
#[derive(Debug, Default)]
pub struct Fonts(HashMap<ObjectIdentifier, Rc<PlacedFont>>);

#[derive(Debug)]
struct PlacedFont {
    font: Font,
    is_bold: bool,
}

/// The content of a page.
#[derive(Debug, Default)]
pub struct Shown {
    /// In the order of the content stream.
    pub pieces: Vec<Piece>,
    /// Rotated text: stamps in the margin, tables in landscape.
    pub turned: Vec<Piece>,
    /// Number of codes whose text the fonts do not define.
    pub unknown_codes: usize,
    /// Number of images.
    pub images: usize,
}

/// Interprets the content of a page; stops early at `most_bytes` of text.
pub fn show(page: &Page<'_>, fonts: &mut Fonts, most_bytes: usize) -> Shown {
    let mut run = Run {
        fonts,
        upright: Pieces::default(),
        turned: Pieces::default(),
        unknown_codes: 0,
        images: 0,
        forms: 0,
        most_bytes,
    };
    let state = State::at(Matrix(page.initial_transform(false).as_coeffs()));
    run.stream(page.typed_operations(), page.resources(), &state, 0);
    Shown {
        pieces: run.upright.finish(),
        turned: run.turned.finish(),
        unknown_codes: run.unknown_codes,
        images: run.images,
    }
}

#[derive(Debug, Clone)]
struct State {
    place: Matrix,
    font: Option<Rc<PlacedFont>>,
    size: f64,
    spacing: f64,
    word_spacing: f64,
    scaling: f64,
    leading: f64,
    rise: f64,
}

impl State {
    fn at(place: Matrix) -> Self {
        Self { place, font: None, size: 1.0, spacing: 0.0, word_spacing: 0.0, scaling: 1.0, leading: 0.0, rise: 0.0 }
    }
}

struct Run<'f> {
    fonts: &'f mut Fonts,
    upright: Pieces,
    turned: Pieces,
    unknown_codes: usize,
    images: usize,
    forms: usize,
    most_bytes: usize,
}

/// Where the next character goes.
struct Cursor {
    line: Matrix,
    text: Matrix,
}

impl Run<'_> {
    fn is_full(&self) -> bool {
        self.upright.bytes() + self.turned.bytes() > self.most_bytes
    }

    fn stream(&mut self, mut operations: TypedIter<'_>, resources: &Resources<'_>, start: &State, depth: usize) {
        let mut state = start.clone();
        let mut saved: Vec<State> = Vec::new();
        let mut cursor = Cursor { line: Matrix::IDENTITY, text: Matrix::IDENTITY };
        // For every open marked-content section, whether it or an enclosing one is an artifact.
        let mut marks: Vec<bool> = Vec::new();
        while let Some(operation) = operations.next() {
            if self.is_full() {
                return;
            }
            let hidden = marks.last().copied().unwrap_or(false);
            match operation {
                TypedInstruction::SaveState(_) if saved.len() < DEEPEST_STATE => saved.push(state.clone()),
                TypedInstruction::RestoreState(_) => {
                    if let Some(before) = saved.pop() {
                        state = before;
                    }
                }
                TypedInstruction::Transform(m) => {
                    state.place = matrix([m.0, m.1, m.2, m.3, m.4, m.5]).then(&state.place);
                }
                TypedInstruction::BeginText(_) => {
                    cursor = Cursor { line: Matrix::IDENTITY, text: Matrix::IDENTITY };
                }
                TypedInstruction::CharacterSpacing(by) => state.spacing = by.0.as_f64(),
                TypedInstruction::WordSpacing(by) => state.word_spacing = by.0.as_f64(),
                TypedInstruction::HorizontalScaling(by) => state.scaling = by.0.as_f64() / 100.0,
                TypedInstruction::TextLeading(by) => state.leading = by.0.as_f64(),
                TypedInstruction::TextRise(by) => state.rise = by.0.as_f64(),
                TypedInstruction::TextFont(font) => {
                    state.font = self.font(resources, font.0);
                    state.size = font.1.as_f64();
                }
                TypedInstruction::NextLine(by) => cursor.next_line(by.0.as_f64(), by.1.as_f64()),
                TypedInstruction::NextLineAndSetLeading(by) => {
                    state.leading = -by.1.as_f64();
                    cursor.next_line(by.0.as_f64(), by.1.as_f64());
                }
                TypedInstruction::SetTextMatrix(m) => {
                    let text = matrix([m.0, m.1, m.2, m.3, m.4, m.5]);
                    cursor = Cursor { line: text, text };
                }
                TypedInstruction::NextLineUsingLeading(_) => cursor.next_line(0.0, -state.leading),
                TypedInstruction::ShowText(text) => self.text(&state, &mut cursor, text.0.as_bytes(), hidden),
                TypedInstruction::NextLineAndShowText(text) => {
                    cursor.next_line(0.0, -state.leading);
                    self.text(&state, &mut cursor, text.0.as_bytes(), hidden);
                }
                TypedInstruction::ShowTextWithParameters(text) => {
                    state.word_spacing = text.0.as_f64();
                    state.spacing = text.1.as_f64();
                    cursor.next_line(0.0, -state.leading);
                    self.text(&state, &mut cursor, text.2.as_bytes(), hidden);
                }
                TypedInstruction::ShowTexts(texts) => self.texts(&state, &mut cursor, texts.0, hidden),
                TypedInstruction::BeginMarkedContent(mark) => marks.push(hidden || is_artifact(mark.0)),
                TypedInstruction::BeginMarkedContentWithProperties(mark) => marks.push(hidden || is_artifact(mark.0)),
                TypedInstruction::EndMarkedContent(_) => drop(marks.pop()),
                TypedInstruction::InlineImage(_) => self.images += 1,
                TypedInstruction::XObject(name) if !hidden => {
                    if let Some(stream) = resources.get_x_object(name.0) {
                        self.form(&stream, resources, &state, depth);
                    }
                }
                _ => {}
            }
        }
    }

    fn form(&mut self, stream: &Stream<'_>, around: &Resources<'_>, state: &State, depth: usize) {
        if stream.dict().get::<Name<'_>>("Subtype").is_none_or(|name| name.as_ref() != b"Form") {
            self.images += 1;
            return;
        }
        self.forms += 1;
        if depth >= DEEPEST_FORM || self.forms > MAX_FORMS {
            return;
        }
        let Ok(data) = stream.decoded_data() else { return };
        let mut inside = state.clone();
        if let Some(listed) = stream.dict().get::<Array<'_>>("Matrix") {
            let mut numbers = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];
            for (slot, number) in numbers.iter_mut().zip(listed.iter::<Number>()) {
                *slot = number.as_f64();
            }
            inside.place = Matrix(numbers).then(&state.place);
        }
        let own = stream.dict().get::<Dict<'_>>("Resources").map(Resources::new);
        self.stream(TypedIter::new(&data), own.as_ref().unwrap_or(around), &inside, depth + 1);
    }

    fn font(&mut self, resources: &Resources<'_>, name: &Name<'_>) -> Option<Rc<PlacedFont>> {
        let dict = resources.get_font(name)?;
        let Some(id) = dict.obj_id() else { return Some(Rc::new(placed(&dict))) };
        Some(Rc::clone(self.fonts.0.entry(id).or_insert_with(|| Rc::new(placed(&dict)))))
    }

    fn texts(&mut self, state: &State, cursor: &mut Cursor, texts: &Array<'_>, hidden: bool) {
        for entry in texts.iter::<Object<'_>>() {
            match entry {
                Object::String(text) => self.text(state, cursor, text.as_bytes(), hidden),
                Object::Number(back) => {
                    cursor.advance(-back.as_f64() / 1000.0 * state.size * state.scaling);
                }
                _ => {}
            }
        }
    }

    fn text(&mut self, state: &State, cursor: &mut Cursor, bytes: &[u8], hidden: bool) {
        let Some(placed) = state.font.clone() else { return };
        placed.font.decode(bytes, |code| {
            let spaced = state.spacing + if code.is_space { state.word_spacing } else { 0.0 };
            let moved = (code.width * state.size + spaced) * state.scaling;
            if !hidden {
                self.code(state, &placed, cursor, &code);
            }
            cursor.advance(moved);
        });
    }

    fn code(&mut self, state: &State, placed: &PlacedFont, cursor: &Cursor, code: &ShownCode) {
        let Some(text) = &code.text else {
            self.unknown_codes += 1;
            return;
        };
        let to_page = cursor.text.then(&state.place);
        let [a, b, c, d, ..] = to_page.0;
        let size = state.size.abs() * c.hypot(d);
        let (x, y) = to_page.apply(0.0, state.rise);
        let width = code.width * state.size * state.scaling * a.hypot(b);
        if !(size.is_finite() && x.is_finite() && y.is_finite() && width.is_finite()) || size <= 0.0 {
            return;
        }
        let upright = a * state.size > 0.0 && a.abs() > b.abs();
        let (along, across) = if upright {
            (x, y)
        } else if b.abs() > a.abs() {
            // Rotated by 90°: along the other axis, downward or upward.
            if b > 0.0 { (y, -x) } else { (-y, x) }
        } else {
            (-x, -y)
        };
        let pieces = if upright { &mut self.upright } else { &mut self.turned };
        pieces.push(&Mark { text, x: along, y: across, width: width.abs(), size, is_bold: placed.is_bold });
    }
}

impl Cursor {
    fn next_line(&mut self, right: f64, up: f64) {
        self.line = Matrix([1.0, 0.0, 0.0, 1.0, right, up]).then(&self.line);
        self.text = self.line;
    }

    fn advance(&mut self, right: f64) {
        self.text = Matrix([1.0, 0.0, 0.0, 1.0, right, 0.0]).then(&self.text);
    }
}

fn placed(dict: &Dict<'_>) -> PlacedFont {
    let name = dict.get::<Name<'_>>("BaseFont").map(|name| name.as_str().to_lowercase()).unwrap_or_default();
    let is_bold = ["bold", "cmbx", "black", "heavy", "medi"].iter().any(|part| name.contains(part));
    PlacedFont { font: Font::new(dict), is_bold }
}

fn is_artifact(name: &Name<'_>) -> bool {
    name.as_ref() == b"Artifact"
}

fn matrix(numbers: [Number; 6]) -> Matrix {
    Matrix(numbers.map(|number| number.as_f64()))
}
