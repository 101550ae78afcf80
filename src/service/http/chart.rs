//! Charts as SVG, made here: lines, bars, points and histograms of at most some thousand values.
//!
//! Our own, as a chart needs a scale, axes and marks only: plotters draws colours and sizes of text into its SVG, which neither follow a
//! dark page nor its zoom, and guesses how wide letters are. Colours come from the page's style sheet.

use crate::messages::fill;
use maud::{Markup, html};
use serde::Deserialize;

use super::page::text;
use lakeward_core::text::years::year_of_date;

/// Width, height and margins (top, right, bottom, left) of a chart, in units of its own.
const SIZE: [f64; 2] = [720.0, 360.0];
const MARGINS: [f64; 4] = [30.0, 16.0, 56.0, 72.0];
/// Marks on an axis, about.
const TICKS: f64 = 5.0;
/// Bars at most: more have no room for their names.
pub const MOST_BARS: usize = 40;
/// Characters of a name below a bar, and how far one of them reaches to the left and down, slanted as names are.
const NAME: usize = 30;
const SLANT: [f64; 2] = [3.4, 5.9];
/// Width and height of a histogram.
const SMALL: [f64; 2] = [120.0, 28.0];

/// The form of a chart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChartKind {
    /// Points joined in the order of their first value.
    Line,
    /// One bar for each row.
    #[default]
    Bar,
    /// Points.
    Scatter,
}

impl ChartKind {
    /// All, with their names.
    pub const ALL: [(Self, &'static str); 3] = [(Self::Bar, "bar"), (Self::Line, "line"), (Self::Scatter, "scatter")];
}

/// What is drawn: a value of the second column for each of the first.
pub struct Chart<'a> {
    /// Its form.
    pub kind: ChartKind,
    /// Names of the two columns.
    pub names: [&'a str; 2],
    /// The values of the first as written, and those of the second; rows without one are left out.
    pub points: Vec<(String, f64)>,
}

impl Chart<'_> {
    /// As SVG with a text that says what it shows.
    pub fn svg(&self) -> Markup {
        if self.points.iter().any(|(_, y)| !y.is_finite()) {
            let points = self.points.iter().filter(|(_, y)| y.is_finite()).cloned().collect();
            return Chart { kind: self.kind, names: self.names, points }.svg();
        }
        let numbers: Option<Vec<f64>> = self.points.iter().map(|(x, _)| position(x)).collect();
        let xs = numbers.filter(|_| self.kind != ChartKind::Bar);
        let mut ys = Scale::of(self.points.iter().map(|(_, y)| *y));
        if self.kind == ChartKind::Bar {
            ys = Scale::of([0.0, ys.from, ys.to].into_iter());
        }
        let count = self.points.len();
        let across = xs.as_ref().map(|xs| Scale::of(xs.iter().copied()));
        let place = |number: usize| match (&xs, &across) {
            (Some(xs), Some(scale)) => left() + scale.share(xs[number]) * width(),
            _ => left() + (number as f64 + 0.5) / count.max(1) as f64 * width(),
        };
        let [x, y] = self.names;
        let (least, most) =
            (self.points.iter().map(|(_, y)| *y)).fold((f64::MAX, f64::MIN), |(a, b), y| (a.min(y), b.max(y)));
        let caption = match count {
            0 => fill("{} by {}: no values", &[y, x]),
            _ => {
                let parts = [count.to_string(), number(least), number(most)];
                fill("{} by {}: {} values from {} to {}", &[y, x, &parts[0], &parts[1], &parts[2]])
            }
        };
        let names = if across.is_none() { self.names_below(&place) } else { Vec::new() };
        // Names may reach beyond the frame: the drawing grows by that.
        let longest = names.iter().map(|(_, name)| name.chars().count()).max().unwrap_or(0) as f64;
        let beyond = (longest * SLANT[0] - left()).max(0.0).ceil();
        let high = SIZE[1].max((bottom() + 36.0 + longest * SLANT[1]).ceil());
        html! {
            svg.chart role="img" aria-label=(text(&caption)) viewBox={ (-beyond) " 0 " (SIZE[0] + beyond) " " (high) } {
                @for tick in ys.ticks() {
                    @let at = down(ys.share(tick));
                    line.grid x1=(left()) x2=(left() + width()) y1=(round(at)) y2=(round(at)) {}
                    text x=(left() - 6.0) y=(round(at + 4.0)) text-anchor="end" { (number(tick)) }
                }
                @match &across {
                    Some(scale) => { @for tick in scale.ticks() {
                        text x=(round(left() + scale.share(tick) * width())) y=(bottom() + 18.0) text-anchor="middle" { (plain(tick)) }
                    } },
                    None => { @for (place, name) in &names {
                        @let place = *place + 4.0;
                        text x=(round(place)) y=(bottom() + 14.0) text-anchor="end" transform={ "rotate(-60 " (round(place)) " " (bottom() + 14.0) ")" } { (name) }
                    } },
                }
                line.axis x1=(left()) x2=(left() + width()) y1=(bottom()) y2=(bottom()) {}
                text.name x=(left() + width()) y=(high - 4.0) text-anchor="end" { (text(x)) }
                text.name x="4" y="14" { (text(y)) }
                (self.marks(&ys, &place, xs.as_deref()))
            }
        }
    }

    fn marks(&self, ys: &Scale, place: &dyn Fn(usize) -> f64, xs: Option<&[f64]>) -> Markup {
        let tip = |number: usize| format!("{}: {}", text(&self.points[number].0), self::number(self.points[number].1));
        let zero = down(ys.share(0.0_f64.clamp(ys.from, ys.to)));
        let mut order: Vec<usize> = (0..self.points.len()).collect();
        if let Some(xs) = xs {
            order.sort_by(|a, b| xs[*a].total_cmp(&xs[*b]));
        }
        let at = |number: usize| [round(place(number)), round(down(ys.share(self.points[number].1)))];
        html! {
            @match self.kind {
                ChartKind::Bar => { @for number in 0..self.points.len() {
                    @let [x, y] = at(number);
                    @let wide = (width() / self.points.len() as f64 * 0.8).max(1.0);
                    rect.mark x=(round(x - wide / 2.0)) width=(round(wide)) y=(round(y.min(zero))) height=(round((y - zero).abs())) { title { (tip(number)) } }
                } },
                ChartKind::Line => {
                    @let path: Vec<String> = order.iter().map(|number| { let [x, y] = at(*number); format!("{x},{y}") }).collect();
                    polyline.mark points=(path.join(" ")) {}
                },
                ChartKind::Scatter => { @for number in order {
                    @let [x, y] = at(number);
                    circle.mark cx=(x) cy=(y) r="3.5" { title { (tip(number)) } }
                } },
            }
        }
    }

    /// Some of the names, with the places they belong to.
    fn names_below(&self, place: &dyn Fn(usize) -> f64) -> Vec<(f64, String)> {
        let each = self.points.len().div_ceil(MOST_BARS).max(1);
        let named = self.points.iter().enumerate().step_by(each);
        named.map(|(number, (name, _))| (place(number), lakeward_core::text::shown(name, NAME))).collect()
    }
}

/// How often numbers fall into each of some ranges of the same width, as small bars.
pub fn histogram(counts: &[u64], caption: &str) -> Markup {
    let most = counts.iter().max().copied().unwrap_or(0).max(1) as f64;
    let wide = SMALL[0] / counts.len().max(1) as f64;
    let bars = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(place, count)| {
        let high = (*count as f64 / most * SMALL[1]).max(1.0).round();
        format!("M{:.1} {}v-{high}h{:.1}v{high}z", place as f64 * wide, SMALL[1], wide * 0.9)
    });
    html! {
        svg.histogram role="img" aria-label=(caption) width=(SMALL[0]) height=(SMALL[1]) viewBox={ "0 0 " (SMALL[0]) " " (SMALL[1]) } {
            path d=(bars.collect::<String>()) {}
        }
    }
}

/// A range of values, from its first mark to its last.
struct Scale {
    from: f64,
    to: f64,
    step: f64,
}

impl Scale {
    /// Marks are 1, 2 or 5 times a power of ten apart.
    fn of(values: impl Iterator<Item = f64>) -> Self {
        let (mut from, mut to) =
            values.filter(|it| it.is_finite()).fold((f64::MAX, f64::MIN), |(a, b), it| (a.min(it), b.max(it)));
        if from > to {
            (from, to) = (0.0, 1.0);
        }
        let span = if to > from { to - from } else { from.abs().max(1.0) };
        let power = 10_f64.powf((span / TICKS).log10().floor());
        let step =
            [1.0, 2.0, 5.0, 10.0].iter().map(|times| times * power).find(|step| span / step <= TICKS).unwrap_or(span);
        Self {
            from: (from / step).floor() * step,
            to: ((to / step).ceil() * step).max((from / step).floor() * step + step),
            step,
        }
    }

    fn share(&self, value: f64) -> f64 {
        ((value - self.from) / (self.to - self.from)).clamp(0.0, 1.0)
    }

    fn ticks(&self) -> impl Iterator<Item = f64> {
        let count = ((self.to - self.from) / self.step).round() as usize;
        let (from, step) = (self.from, self.step);
        (0..=count.min(20)).map(move |number| from + number as f64 * step)
    }
}

/// Where a value stands: a number, or the year of a date with its months and days.
fn position(text: &str) -> Option<f64> {
    if let Ok(number) = text.trim().parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let year = f64::from(year_of_date(text)?);
    let part = |from: usize| text.get(from..from + 2)?.parse::<f64>().ok();
    Some(year + (part(5).unwrap_or(1.0) - 1.0) / 12.0 + (part(8).unwrap_or(1.0) - 1.0) / 372.0)
}

fn left() -> f64 {
    MARGINS[3]
}

fn bottom() -> f64 {
    SIZE[1] - MARGINS[2]
}

fn width() -> f64 {
    SIZE[0] - MARGINS[1] - MARGINS[3]
}

/// The height at which a share of the range is drawn.
fn down(share: f64) -> f64 {
    bottom() - share * (bottom() - MARGINS[0])
}

fn round(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// A number as short as its size allows.
pub fn number(value: f64) -> String {
    let (by, unit) = match value.abs() {
        1e12.. => (1e12, " T"),
        1e9.. => (1e9, " G"),
        1e6.. => (1e6, " M"),
        1e4.. => (1e3, " k"),
        _ => (1.0, ""),
    };
    format!("{}{unit}", plain(value / by))
}

/// Without digits that say nothing.
fn plain(value: f64) -> String {
    if value != 0.0 && value.abs() < 1e-3 { format!("{value:.1e}") } else { ((value * 1e3).round() / 1e3).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_hold_all_values() {
        for (values, first, last, step) in [
            (vec![3.0, 97.0], 0.0, 100.0, 20.0),
            (vec![-0.04, 0.13], -0.05, 0.15, 0.05),
            (vec![1990.0, 2020.0], 1990.0, 2020.0, 10.0),
        ] {
            let scale = Scale::of(values.into_iter());
            assert!(
                (scale.from - first).abs() < 1e-9 && (scale.to - last).abs() < 1e-9 && (scale.step - step).abs() < 1e-9,
                "{first} {last}: {} {} {}",
                scale.from,
                scale.to,
                scale.step
            );
        }
    }

    #[test]
    fn one_value_none_and_numbers_without_end_are_drawn_too() {
        for values in [vec![], vec![5.0], vec![f64::NAN, f64::INFINITY], vec![0.0, 0.0]] {
            let points = values.into_iter().map(|it| ("a <b>".to_string(), it)).collect();
            for (kind, _) in ChartKind::ALL {
                let chart = Chart { kind, names: ["x", "y"], points: Vec::clone(&points) };
                let svg = chart.svg().into_string();
                assert!(!svg.contains("NaN\"") && !svg.contains("<b>"), "{svg}");
            }
        }
    }

    #[test]
    fn dates_stand_between_their_years() {
        assert_eq!(position("2020"), Some(2020.0));
        assert!(position("2020-07-02").is_some_and(|at| (2020.4..2020.6).contains(&at)));
        assert_eq!(position("Ghent"), None);
    }
}
