//! Charts for reports: groups of bars as one SVG file that needs nothing beside it.
//!
//! Written by hand, because a report is read in a browser, on a forge's page and in print: text is text, colours are
//! given for light and dark ([`STYLE`]), the figures stand at the bars, and a title and a description say the same to
//! whoever does not see it. Text never overlaps: groups stand in as many rows as their bars' figures need, names are
//! cut to the room they have. The same data gives the same bytes. It computes no figures.

use std::fmt::Write;

/// Bars of one group: for each system its value, if it has one.
#[derive(Debug, Clone, PartialEq)]
pub struct BarGroup {
    /// The name under the bars, such as a benchmark's.
    pub name: String,
    /// One a system, in the order of [`ChartData::systems`]; fewer leave the last ones without a bar.
    pub bars: Vec<Option<Bar>>,
}

/// One bar.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// Its height, on the scale of [`ChartData::greatest`].
    pub value: f64,
    /// The ends of the 95% interval, lower first, drawn as a whisker.
    pub interval: Option<(f64, f64)>,
}

impl Bar {
    /// A bar without an interval.
    pub fn new(value: f64) -> Self {
        Bar { value, interval: None }
    }
}

/// What a chart shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ChartData {
    /// What is shown, above the bars.
    pub title: String,
    /// The measure and its unit, at the axis.
    pub measure: String,
    /// Names of the systems, for the legend; at most [`MOST_SYSTEMS`] are drawn.
    pub systems: Vec<String>,
    /// The groups, from left to right and from top to bottom; at most [`MOST_GROUPS`] are drawn.
    pub groups: Vec<BarGroup>,
    /// The upper end of the axis, as 1 for shares; values beyond it are drawn to it and told by their figures.
    pub greatest: f64,
}

/// Systems that have a colour of their own.
pub const MOST_SYSTEMS: usize = 8;
/// Groups that are drawn; the description says how many are left out.
pub const MOST_GROUPS: usize = 48;

/// Widths and heights in user units, which are pixels at the size of the file.
const WIDTH: f64 = 960.0;
const MARGIN: f64 = 16.0;
const AXIS_WIDTH: f64 = 44.0;
const TITLE_HEIGHT: f64 = 34.0;
const LEGEND_LINE: f64 = 20.0;
const PLOT_HEIGHT: f64 = 190.0;
/// Room above the highest bar for its figure, written upright.
const FIGURE_HEIGHT: f64 = 34.0;
/// Room below the axis beside the lines of the groups' names.
const NAME_GAP: f64 = 20.0;
const NAME_LINE: f64 = 15.0;
/// Room between the legend or the row above and the measure.
const ROW_GAP: f64 = 20.0;
/// A bar with its figure written upright above needs so much.
const LEAST_BAR: f64 = 13.0;
const MOST_BAR: f64 = 30.0;
const GROUP_GAP: f64 = 22.0;
/// No group is narrower, so that its name has room.
const LEAST_GROUP: f64 = 96.0;
/// Sizes of title and names; [`STYLE`] says the same.
const TITLE_SIZE: f64 = 16.0;
const NAME_SIZE: f64 = 12.0;
const SMALL_SIZE: f64 = 11.0;
const FIGURE_SIZE: f64 = 10.0;
/// The widest name in the legend.
const LEGEND_WIDTH: f64 = 280.0;
const STEPS: usize = 5;

/// Colours after Okabe and Ito, told apart with any colour vision, the yellow and the sky blue darkened so that all have a
/// contrast of at least 3:1 to both backgrounds.
const COLOURS: [&str; MOST_SYSTEMS] =
    ["#0072b2", "#d55e00", "#009e73", "#b8860b", "#3a9bd5", "#cc79a7", "#8c6d46", "#7f7f7f"];

const STYLE: &str = "text{font-family:Helvetica,Arial,'Liberation Sans',sans-serif;fill:#1f2328}\
.t{font-size:16px;font-weight:600}.n{font-size:12px}.s{font-size:11px;fill:#57606a}.f{font-size:10px}\
.bg{fill:#ffffff}.g{stroke:#d8dee4;stroke-width:1}.a{stroke:#57606a;stroke-width:1}\
.w{stroke:#1f2328;stroke-width:1.2;fill:none}\
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.s{fill:#9da7b1}.bg{fill:#0d1117}.g{stroke:#30363d}\
.a{stroke:#9da7b1}.w{stroke:#e6edf3}}";

/// A bar chart of `data` as a complete SVG document.
///
/// Values that are not finite have no bar; texts are escaped, and cut with `…` where there is no room.
pub fn grouped_bars(data: &ChartData) -> String {
    let systems = data.systems.len().min(MOST_SYSTEMS);
    let groups = &data.groups[..data.groups.len().min(MOST_GROUPS)];
    let legend = legend_places(&data.systems[..systems]);
    let scale = if data.greatest.is_finite() && data.greatest > 0.0 { data.greatest } else { 1.0 };
    let layout = Layout::new(groups, systems, legend.lines, scale);
    let mut svg = String::new();
    // Writing to a string cannot fail.
    let _ = write!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         width=\"{WIDTH}\" height=\"{height}\" role=\"img\" aria-labelledby=\"chart-title chart-text\">\n\
         <title id=\"chart-title\">{title}</title>\n\
         <desc id=\"chart-text\">{text}</desc>\n<style>{STYLE}</style>\n\
         <rect class=\"bg\" x=\"0\" y=\"0\" width=\"{WIDTH}\" height=\"{height}\"/>\n",
        height = number(layout.height),
        title = escaped(&data.title),
        text = escaped(&description(data, groups, systems)),
    );
    let title = cut(&data.title, WIDTH - 2.0 * MARGIN, TITLE_SIZE);
    text_at(&mut svg, "t", (MARGIN, MARGIN + 12.0), "start", &title);
    for (place, (system, (left, line))) in data.systems.iter().zip(&legend.places).enumerate() {
        let top = TITLE_HEIGHT + MARGIN + *line as f64 * LEGEND_LINE;
        rect(&mut svg, COLOURS[place % COLOURS.len()], (*left, top - 9.0), (11.0, 11.0));
        text_at(&mut svg, "n", (left + 17.0, top), "start", &cut(system, LEGEND_WIDTH, NAME_SIZE));
    }
    for (row, members) in groups.chunks(layout.groups_a_row.max(1)).enumerate() {
        let base = layout.base_of(row);
        axis(&mut svg, &cut(&data.measure, WIDTH / 2.0, SMALL_SIZE), base, scale);
        for (place, group) in members.iter().enumerate() {
            let left = MARGIN + AXIS_WIDTH + GROUP_GAP / 2.0 + place as f64 * (layout.group_width + GROUP_GAP);
            draw_group(&mut svg, group, systems, &layout, (left, base), scale);
        }
    }
    svg.push_str("</svg>\n");
    svg
}

/// Where things stand.
struct Layout {
    bar_width: f64,
    group_width: f64,
    groups_a_row: usize,
    row_height: f64,
    top: f64,
    height: f64,
    /// Whether the figures stand upright because the bars are too narrow.
    upright: bool,
}

impl Layout {
    fn new(groups: &[BarGroup], systems: usize, legend_lines: usize, scale: f64) -> Self {
        let room = WIDTH - 2.0 * MARGIN - AXIS_WIDTH;
        let least = (systems as f64 * LEAST_BAR).max(LEAST_GROUP);
        let fitting = ((room / (least + GROUP_GAP)) as usize).max(1);
        let rows = groups.len().div_ceil(fitting).max(1);
        // As many in each row as in the others, nearly.
        let groups_a_row = groups.len().div_ceil(rows).max(1);
        let group_width = room / groups_a_row as f64 - GROUP_GAP;
        let bar_width = (group_width / systems.max(1) as f64).min(MOST_BAR);
        let figures = groups.iter().flat_map(|group| group.bars.iter().take(systems).flatten());
        let widest = figures.map(|bar| text_width(&figure(bar.value, scale), FIGURE_SIZE)).fold(0.0, f64::max);
        let name_lines = groups.iter().map(|group| wrapped(&group.name, name_room(group_width)).len()).max();
        let name_height = NAME_GAP + name_lines.unwrap_or(1) as f64 * NAME_LINE;
        let row_height = ROW_GAP + FIGURE_HEIGHT + PLOT_HEIGHT + name_height;
        let top = TITLE_HEIGHT + MARGIN + legend_lines as f64 * LEGEND_LINE;
        let height = top + rows as f64 * row_height;
        let upright = widest > bar_width;
        Layout { bar_width, group_width, groups_a_row, row_height, top, height, upright }
    }

    /// The height of the axis of `row`.
    fn base_of(&self, row: usize) -> f64 {
        self.top + row as f64 * self.row_height + ROW_GAP + FIGURE_HEIGHT + PLOT_HEIGHT
    }
}

/// Room for a line of a group's name.
fn name_room(group_width: f64) -> f64 {
    group_width + GROUP_GAP - 8.0
}

struct Legend {
    /// Left edge and line of each system.
    places: Vec<(f64, usize)>,
    lines: usize,
}

fn legend_places(systems: &[String]) -> Legend {
    let mut places = Vec::new();
    let (mut left, mut line) = (MARGIN, 0);
    for system in systems {
        let width = 17.0 + text_width(system, NAME_SIZE).min(LEGEND_WIDTH) + 18.0;
        if left > MARGIN && left + width > WIDTH - MARGIN {
            (left, line) = (MARGIN, line + 1);
        }
        places.push((left, line));
        left += width;
    }
    let lines = if systems.is_empty() { 0 } else { line + 1 };
    Legend { places, lines }
}

/// Lines and figures of the scale of one row, and the measure above it.
fn axis(svg: &mut String, measure: &str, base: f64, scale: f64) {
    let (left, right) = (MARGIN + AXIS_WIDTH, WIDTH - MARGIN);
    text_at(svg, "s", (MARGIN, base - PLOT_HEIGHT - FIGURE_HEIGHT - 4.0), "start", measure);
    for step in 0..=STEPS {
        let share = step as f64 / STEPS as f64;
        let y = base - share * PLOT_HEIGHT;
        let class = if step == 0 { "a" } else { "g" };
        line(svg, class, (left, y), (right, y));
        text_at(svg, "s", (left - 6.0, y + 4.0), "end", &tick(share * scale, scale));
    }
}

fn tick(value: f64, scale: f64) -> String {
    if scale >= 10.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}

fn draw_group(svg: &mut String, group: &BarGroup, systems: usize, layout: &Layout, place: (f64, f64), scale: f64) {
    let (left, base) = place;
    let bars_width = layout.bar_width * systems as f64;
    let first = left + (layout.group_width - bars_width) / 2.0;
    for (at, bar) in group.bars.iter().take(systems).enumerate() {
        let Some(bar) = bar.filter(|bar| bar.value.is_finite()) else { continue };
        let x = first + at as f64 * layout.bar_width;
        draw_bar(svg, bar, COLOURS[at % COLOURS.len()], (x, base), layout, scale);
    }
    for (line, text) in wrapped(&group.name, name_room(layout.group_width)).iter().enumerate() {
        let y = base + 17.0 + line as f64 * NAME_LINE;
        text_at(svg, "n", (left + layout.group_width / 2.0, y), "middle", text);
    }
}

fn draw_bar(svg: &mut String, bar: Bar, colour: &str, place: (f64, f64), layout: &Layout, scale: f64) {
    let (x, base) = place;
    let width = layout.bar_width;
    let height = |value: f64| (value / scale).clamp(0.0, 1.0) * PLOT_HEIGHT;
    let own = height(bar.value);
    rect(svg, colour, (x + 1.0, base - own), (width - 2.0, own));
    let middle = x + width / 2.0;
    let mut top = own;
    if let Some((lower, upper)) = bar.interval.filter(|(lower, upper)| lower.is_finite() && upper.is_finite()) {
        let (low, high) = (height(lower.min(upper)), height(upper.max(lower)));
        top = top.max(high);
        let (cap, low, high) = (3.0_f64.min(width / 4.0), base - low, base - high);
        let (from, to, center) = (number(middle - cap), number(middle + cap), number(middle));
        let (low, high) = (number(low), number(high));
        let _ = writeln!(svg, "<path class=\"w\" d=\"M{from} {low}H{to}M{center} {low}V{high}M{from} {high}H{to}\"/>");
    }
    // Above the bar and its whisker, on a ground of its own, which lines of the scale would else run through.
    let figure = figure(bar.value, scale);
    let length = text_width(&figure, FIGURE_SIZE);
    if !layout.upright {
        ground(svg, (middle - length / 2.0, base - top - 13.0), (length, 11.0));
        return text_at(svg, "f", (middle, base - top - 4.0), "middle", &figure);
    }
    // As wide as the letters are high.
    ground(svg, (middle - 5.0, base - top - 5.0 - length), (10.0, length));
    let (x, y) = (number(middle + 3.5), number(base - top - 5.0));
    let _ = writeln!(svg, "<text class=\"f\" x=\"{x}\" y=\"{y}\" transform=\"rotate(-90 {x} {y})\">{figure}</text>");
}

/// A rectangle in the colour of the page.
fn ground(svg: &mut String, (x, y): (f64, f64), (width, height): (f64, f64)) {
    let (x, y, width, height) = (number(x), number(y), number(width), number(height));
    let _ = writeln!(svg, "<rect class=\"bg\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>");
}

/// Three decimals for shares, without the zero in front; fewer for greater scales. At most 5 letters up to 99,999.
fn figure(value: f64, scale: f64) -> String {
    if scale >= 100.0 {
        return if value.abs() < 99_999.5 { format!("{value:.0}") } else { format!("{value:.0e}") };
    }
    if scale > 1.0 {
        return if value.abs() < 999.5 { format!("{value:.1}") } else { format!("{value:.0e}") };
    }
    let text = if value.abs() < 9.9995 { format!("{value:.3}") } else { format!("{value:.0e}") };
    match text.strip_prefix("0.").or_else(|| text.strip_prefix("-0.")) {
        Some(decimals) if text.starts_with('-') => format!("-.{decimals}"),
        Some(decimals) => format!(".{decimals}"),
        None => text,
    }
}

/// All figures in words, for readers who do not see the bars.
fn description(data: &ChartData, groups: &[BarGroup], systems: usize) -> String {
    let mut text = format!("{}.", data.measure);
    for group in groups {
        let bars = data.systems.iter().take(systems).zip(&group.bars);
        let told: Vec<String> = bars
            .filter_map(|(system, bar)| bar.filter(|bar| bar.value.is_finite()).map(|bar| (system, bar)))
            .map(|(system, bar)| {
                let interval = bar.interval.map(|(lower, upper)| format!(" ({lower:.3} to {upper:.3})"));
                format!("{system} {:.3}{}", bar.value, interval.unwrap_or_default())
            })
            .collect();
        let _ = write!(text, " {}: {}.", group.name, told.join(", "));
    }
    let (more_groups, more_systems) = (data.groups.len() - groups.len(), data.systems.len() - systems);
    if more_groups > 0 || more_systems > 0 {
        let _ = write!(text, " Not drawn: {more_groups} groups, {more_systems} systems.");
    }
    text
}

fn text_at(svg: &mut String, class: &str, (x, y): (f64, f64), anchor: &str, text: &str) {
    let (x, y, text) = (number(x), number(y), escaped(text));
    let _ = writeln!(svg, "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{text}</text>");
}

fn rect(svg: &mut String, colour: &str, (x, y): (f64, f64), (width, height): (f64, f64)) {
    let (x, y, width, height) = (number(x), number(y), number(width), number(height));
    let _ = writeln!(svg, "<rect fill=\"{colour}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>");
}

fn line(svg: &mut String, class: &str, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let (x1, y1, x2, y2) = (number(x1), number(y1), number(x2), number(y2));
    let _ = writeln!(svg, "<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
}

/// One decimal, and none where it is 0.
fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map(str::to_string).unwrap_or(text)
}

/// `text` in at most two lines of width `room`, cut at spaces where there are any.
fn wrapped(text: &str, room: f64) -> Vec<String> {
    if text_width(text, NAME_SIZE) <= room {
        return vec![text.to_string()];
    }
    let ends = text.match_indices(' ').map(|(at, _)| at);
    let fitting = ends.take_while(|end| text_width(&text[..*end], NAME_SIZE) <= room).last();
    match fitting {
        Some(end) => vec![text[..end].to_string(), cut(text[end..].trim_start(), room, NAME_SIZE)],
        None => vec![cut(text, room, NAME_SIZE)],
    }
}

/// `text` in letters of size `size` within the width `room`, with `…` where something is cut off.
fn cut(text: &str, room: f64, size: f64) -> String {
    if text_width(text, size) <= room {
        return text.to_string();
    }
    let mut kept = String::new();
    let mut used = width_of('…') * size;
    for letter in text.chars() {
        used += width_of(letter) * size;
        if used > room {
            break;
        }
        kept.push(letter);
    }
    kept.push('…');
    kept
}

fn text_width(text: &str, size: f64) -> f64 {
    text.chars().map(|letter| width_of(letter) * size).sum()
}

/// The width of a letter over its size, at least that of Helvetica's and its substitutes' (Adobe's font metrics).
fn width_of(letter: char) -> f64 {
    match letter {
        'i' | 'j' | 'l' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' => 0.29,
        'f' | 't' | 'r' | ' ' | '-' | '(' | ')' | '/' => 0.34,
        'm' | 'w' => 0.84,
        'M' | 'W' | '@' | '%' | '…' => 1.02,
        'A'..='Z' | '&' => 0.79,
        '\u{21}'..='\u{7e}' => 0.6,
        // East Asian letters and pictures are as wide as they are high; other letters at most as wide as capitals,
        // nearly all.
        '\u{1100}'.. => 1.25,
        _ => 0.85,
    }
}

/// `text` as character data: markup escaped, what XML does not allow replaced.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            // Marks that turn the direction of writing would turn the figures, too.
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => out.push('\u{fffd}'),
            letter if letter.is_control() => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests;
