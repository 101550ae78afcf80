//! Units of measure: those that words say with a number, and those that the name of a column ends with.
//!
//! A closed set of units with fixed factors. Currencies and temperatures have none and are not in it: their numbers are taken as they stand.

use lakeward_core::message;
use lakeward_core::message::Message;
use lakeward_core::text::{lower_words, name_words};

use super::schema::SchemaColumn;
use super::words::{Word, words};

/// Units that can be converted into one another: what each name is in the first of them.
const KINDS: [&[(&str, f64)]; 8] = [
    &[
        ("seconds second secs sec s", 1.0),
        ("milliseconds millisecond ms", 1e-3),
        ("minutes minute mins min", 60.0),
        ("hours hour hrs hr h", 3600.0),
        ("days day", 86_400.0),
        ("weeks week wks", 604_800.0),
    ],
    &[
        ("kilograms kilogram kilogrammes kilos kilo kgs kg", 1.0),
        ("grams gram grammes gramme g gr", 1e-3),
        ("milligrams milligram mg", 1e-6),
        ("tonnes tonne tons ton t", 1e3),
        ("kilotonnes kilotonne kt", 1e6),
        ("lbs lb", 0.453_592_37),
        ("ounces ounce oz", 0.028_349_523_125),
    ],
    &[
        ("metres metre meters meter m", 1.0),
        ("millimetres millimetre millimeters millimeter mm", 1e-3),
        ("centimetres centimetre centimeters centimeter cm", 1e-2),
        ("kilometres kilometre kilometers kilometer km kms", 1e3),
        ("feet foot ft", 0.3048),
        ("inches inch", 0.0254),
        ("yards yard yd", 0.9144),
        ("miles mile mi", 1609.344),
    ],
    &[("m2 sqm", 1.0), ("hectares hectare ha", 1e4), ("acres acre", 4_046.856_422_4), ("km2 sqkm", 1e6)],
    &[
        ("litres litre liters liter l", 1.0),
        ("millilitres millilitre milliliters milliliter ml", 1e-3),
        ("centilitres centilitre cl", 1e-2),
        ("hectolitres hectolitre hl", 1e2),
        ("m3", 1e3),
    ],
    &[
        ("kwh", 1.0),
        ("wh", 1e-3),
        ("mwh", 1e3),
        ("gwh", 1e6),
        ("twh", 1e9),
        ("kilojoules kilojoule kj", 1.0 / 3600.0),
        ("kilocalories kcal", 4.184 / 3600.0),
    ],
    &[("kilowatts kilowatt kw", 1.0), ("watts watt w", 1e-3), ("megawatts megawatt mw", 1e3), ("gw", 1e6)],
    &[("kmh kph", 1.0), ("mph", 1.609_344), ("knots knot kn", 1.852)],
];

/// Places of kinds, and of units in theirs, that a speed is made of.
const TIME: usize = 0;
const LENGTH: usize = 2;
const SPEED: usize = 7;
const HOUR: usize = 3;
const KILOMETRE: usize = 3;

/// A unit: its kind, its factor, and its name in the words of the column or the analyst.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    kind: usize,
    factor: f64,
    /// Its name as it is written.
    pub name: String,
}

impl Unit {
    fn of(name: &str) -> Option<Self> {
        let lower = name.to_lowercase();
        KINDS.iter().enumerate().find_map(|(kind, units)| {
            let (_, factor) = units.iter().find(|(names, _)| names.split(' ').any(|known| known == lower))?;
            Some(Self { kind, factor: *factor, name: name.to_string() })
        })
    }

    /// The unit that stands right behind a number in a text whose first `end` bytes say the number; it may stand behind them.
    pub(super) fn behind_number(text: &str, end: usize) -> Option<Self> {
        let words = words(text);
        let last = words.iter().rposition(|word| word.bytes.start < end)?;
        let is_number = |word: &str| super::number::number(word).is_some() || matches!(word, "a" | "an" | "half");
        (1..=(last + 1).min(words.len() - 1)).find_map(|at| {
            let (before, word) = (&text[words[at - 1].bytes.clone()], &text[words[at].bytes.clone()]);
            // "The 1990s" are no seconds.
            let is_decade = word == "s" && words[at].bytes.start == words[at - 1].bytes.end && before.len() == 4;
            if is_decade || !is_number(&before.to_lowercase()) {
                return None;
            }
            if let Some(speed) = Self::speed(text, &words[at..]) {
                return Some(speed);
            }
            let squared = words.get(at + 1).filter(|next| next.bytes.start == words[at].bytes.end);
            let whole = squared.map(|next| &text[words[at].bytes.start..next.bytes.end]).and_then(Self::of);
            whole.or_else(|| Self::of(word))
        })
    }

    /// The speed that a text says in its first `words`: `km/h`, `miles per hour`.
    fn speed(text: &str, words: &[Word]) -> Option<Self> {
        let [way, by, time, ..] = words else { return None };
        let said = |word: &Word| &text[word.bytes.clone()];
        let (length, duration) = (Self::of(said(way))?, Self::of(said(time))?);
        let is_rate = matches!(said(by), "/" | "per" | "an" | "a") && (length.kind, duration.kind) == (LENGTH, TIME);
        let name = text[way.bytes.start..time.bytes.end].to_string();
        let (_, hour) = KINDS[TIME][HOUR];
        let (_, kilometre) = KINDS[LENGTH][KILOMETRE];
        let factor = length.factor / kilometre / (duration.factor / hour);
        is_rate.then_some(Self { kind: SPEED, factor, name })
    }

    /// Whether the numbers of a column are times, such as minutes.
    pub(super) fn is_of_time(column: &SchemaColumn) -> bool {
        Self::of_column(column).is_some_and(|unit| unit.kind == TIME)
    }

    /// Whether the numbers of a column are lengths, such as metres.
    pub(super) fn is_of_length(column: &SchemaColumn) -> bool {
        Self::of_column(column).is_some_and(|unit| unit.kind == LENGTH)
    }

    /// A unit among words that can be converted into that of a column and is another one.
    pub(super) fn other_than(column: &SchemaColumn, words: &str) -> Option<OtherUnit> {
        // A minimum, a place in an order.
        const UNCLEAR: [&str; 4] = ["min", "second", "sec", "mi"];
        let own = Self::of_column(column)?;
        let is_other = |unit: &Self| unit.kind == own.kind && unit.factor != own.factor;
        let words: Vec<String> = lower_words(words).collect();
        let of = |word: &String| Self::of(word).filter(|unit| unit.kind == own.kind && word.len() > 1);
        // "Hours per week", "minutes a day" are in hours and minutes.
        let is_rate = |at: usize| at > 0 && matches!(words[at - 1].as_str(), "per" | "a" | "an" | "each" | "every");
        let said = (0..words.len()).filter(|at| !is_rate(*at) && !UNCLEAR.contains(&words[*at].as_str()));
        let said: Vec<Self> = said.filter_map(|at| of(&words[at])).collect();
        let said = said.iter().all(is_other).then(|| said.into_iter().next()).flatten()?;
        let times = tidy(own.factor / said.factor);
        Some(OtherUnit { said: said.name, own: own.name, times, divided_by: tidy(said.factor / own.factor) })
    }

    /// The unit that the publisher of a column says, else the one that its name ends with, `_per_` and what follows aside. A single letter, and
    /// `min` beside what may be a minimum, count only there; other names of units may stand anywhere.
    fn of_column(column: &SchemaColumn) -> Option<Self> {
        if let Some(unit) = &column.unit {
            return Self::of(unit);
        }
        let mut words = name_words(&column.name);
        words.truncate(words.iter().position(|word| word == "per").unwrap_or(words.len()));
        let joined = |words: &[String]| words.concat();
        let tail = (1..=2.min(words.len())).rev().map(|count| joined(&words[words.len() - count..]));
        tail.into_iter().find_map(|tail| Self::of(&tail)).or_else(|| {
            let clear =
                words.iter().filter(|word| word.len() > 1 && !matches!(word.as_str(), "min" | "sec" | "second" | "mi"));
            clear.into_iter().find_map(|word| Self::of(word))
        })
    }
}

/// How many days a unit of time is that is written out: `hours`.
pub(super) fn days_of(word: &str) -> Option<f64> {
    const DAY: f64 = 86_400.0;
    Unit::of(word).filter(|unit| unit.kind == TIME && word.len() > 3).map(|unit| unit.factor / DAY)
}

/// A unit that is said of a column which has another.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct OtherUnit {
    /// Its name.
    pub said: String,
    /// The name of the column's.
    pub own: String,
    /// What the numbers of the column are to be multiplied by.
    pub times: f64,
    /// What they are to be divided by instead.
    pub divided_by: f64,
}

/// A number that was said with a unit, as a column has it, and how it was taken.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Taken {
    /// In the unit of the column; how it was converted, if it was.
    Converted(f64, Option<Message>),
    /// As it stands, since the column's unit is not known.
    Unconverted,
    /// The column has another kind of unit.
    Cannot(String),
}

/// `number` of `said` in the unit of a column.
pub(super) fn in_unit_of(column: &SchemaColumn, number: f64, said: &Unit) -> Taken {
    let name = &column.name;
    match Unit::of_column(column) {
        None => Taken::Unconverted,
        Some(own) if own.kind != said.kind => Taken::Cannot(format!("`{name}` is in {}", own.name)),
        Some(own) => {
            // `5 m` says millions where no unit is meant.
            let number = if said.name == "m" && number >= 1e6 { number / 1e6 } else { number };
            let value = tidy(number * said.factor / own.factor);
            let how = message!("{} {} is {} {}", tidy(number).to_string(), &*said.name, value.to_string(), &*own.name);
            Taken::Converted(value, (own.factor != said.factor).then_some(how))
        }
    }
}

/// A product without the rounding of its factors.
fn tidy(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::schema::ColumnKind;

    #[test]
    fn numbers_are_taken_in_the_unit_of_the_column() {
        let of = |name: &str, number: f64, text: &str| {
            let column = SchemaColumn::new(name, ColumnKind::Number);
            Unit::behind_number(text, text.len()).map(|said| in_unit_of(&column, number, &said))
        };
        let value =
            |taken: Option<Taken>| if let Some(Taken::Converted(value, _)) = taken { Some(value) } else { None };
        for (column, number, text, expected) in [
            ("duration_min", 2.0, "2 hours", 120.0),
            ("Weight (kg)", 0.5, "half a tonne", 500.0),
            ("length_m", 80.0, "80cm", 0.8),
            ("cooking_minutes", 1.0, "an hour", 60.0),
            ("fuel_tonnes_per_day", 5000.0, "5000 kg", 5.0),
            ("height_m", 5e6, "5 m", 5.0),
            ("floor_area_m2", 1.0, "1 hectare", 10_000.0),
            ("kwh_in", 36_000.0, "36000 kJ", 10.0),
            ("wind_kmh", 60.0, "60 km/h", 60.0),
            ("wind_kmh", 10.0, "10 metres per second", 36.0),
        ] {
            assert_eq!(value(of(column, number, text)), Some(expected), "{text} of {column}");
        }
        assert!(matches!(of("loans", 300.0, "300 grams"), Some(Taken::Unconverted)));
        assert!(matches!(of("weight_kg", 2.0, "2 hours"), Some(Taken::Cannot(_))));
        assert!(matches!(of("min_temp", 2.0, "2 hours"), Some(Taken::Unconverted)), "a minimum is no minute");
        assert_eq!(Unit::behind_number("20 dogs", 7), None);
        assert_eq!(
            Unit::behind_number("under 2 hours", 7).map(|unit| unit.name),
            Some("hours".into()),
            "behind the span"
        );
        assert_eq!(Unit::behind_number("2 of the hours", 1), None);
    }
}
