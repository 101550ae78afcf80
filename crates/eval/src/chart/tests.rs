//! What every chart must be: well-formed whatever the names, the same each time, its texts apart from each other.

use proptest::prelude::*;

use super::*;

/// Three benchmarks, three systems, one of them with intervals, one bar missing.
fn sample() -> ChartData {
    let bar = |value: f64| Some(Bar { value, interval: Some((value - 0.05, value + 0.04)) });
    let group = |name: &str, bars| BarGroup { name: name.to_string(), bars };
    ChartData {
        title: "Ranking quality".into(),
        measure: "nDCG@10".into(),
        systems: ["lakeward", "bm25", "containment"].map(String::from).to_vec(),
        groups: vec![
            group("lake join", vec![bar(0.91), Some(Bar::new(0.68)), Some(Bar::new(0.752))]),
            group("lake union", vec![bar(0.84), Some(Bar::new(0.413)), None]),
            group("lake search", vec![bar(1.0), Some(Bar::new(0.0)), Some(Bar::new(f64::NAN))]),
        ],
        greatest: 1.0,
    }
}

/// `groups` × `systems` bars with long names.
fn crowded(groups: usize, systems: usize) -> ChartData {
    let bars = |at: usize| (0..systems).map(|s| Some(Bar::new(((at * 7 + s * 3) % 11) as f64 / 10.0))).collect();
    ChartData {
        title: "WIDE TITLE ".repeat(20),
        measure: "nDCG@10, the mean over all queries of each benchmark".into(),
        systems: (0..systems).map(|at| format!("SYSTEM-WITH-A-LONG-NAME-{at}-MMMMMMMMMMMMMMMMMMMM")).collect(),
        groups: (0..groups)
            .map(|at| BarGroup {
                name: format!("benchmark-{at} WEBTABLE-UNION-WWWWWWWW 名前名前名前"), bars: bars(at)
            })
            .collect(),
        greatest: 1.0,
    }
}

/// Name, attributes and text of an element.
type Element = (String, Vec<(String, String)>, String);

/// The elements of an XML document without declarations, comments or CDATA. Panics where a tag is not closed, an attribute
/// not quoted, or an entity unknown.
fn elements(svg: &str) -> Vec<Element> {
    let mut open: Vec<usize> = Vec::new();
    let mut elements: Vec<Element> = Vec::new();
    let mut rest = svg;
    let mut roots = 0;
    while let Some((text, after)) = rest.split_once('<') {
        match open.last() {
            Some(at) => elements[*at].2.push_str(&unescaped(text)),
            None => assert!(text.trim().is_empty(), "text outside of the root: {text}"),
        }
        let (tag, behind) = after.split_once('>').expect("a closed tag");
        rest = behind;
        if let Some(name) = tag.strip_prefix('/') {
            let at = open.pop().expect("an open tag");
            assert_eq!(elements[at].0, name);
            continue;
        }
        let is_empty = tag.ends_with('/');
        let tag = tag.trim_end_matches('/');
        let (name, mut attributes) = tag.split_once(' ').unwrap_or((tag, ""));
        let mut pairs = Vec::new();
        while let Some((key, value)) = attributes.trim_start().split_once("=\"") {
            assert!(key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'), "attribute `{key}`");
            let (value, more) = value.split_once('"').expect("a closing quote");
            pairs.push((key.to_string(), unescaped(value)));
            attributes = more;
        }
        assert!(attributes.trim().is_empty(), "left of the tag: {attributes}");
        roots += usize::from(open.is_empty());
        elements.push((name.to_string(), pairs, String::new()));
        if !is_empty {
            open.push(elements.len() - 1);
        }
    }
    assert!(rest.trim().is_empty() && open.is_empty() && roots == 1, "one root, all closed");
    elements
}

fn unescaped(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let (entity, behind) = after.split_once(';').expect("a whole entity");
        out.push(match entity {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            "#39" => '\'',
            _ => panic!("entity `{entity}`"),
        });
        rest = behind;
    }
    out.push_str(rest);
    assert!(!out.chars().any(|c| (c.is_control() && c != '\n') || c == '\u{ffff}'), "no XML character: {out:?}");
    out
}

/// The box of every text: left, top, right, bottom, by the widths of letters that the chart itself reckons with.
fn boxes(svg: &str) -> Vec<(f64, f64, f64, f64, String)> {
    let texts = elements(svg).into_iter().filter(|(name, ..)| name == "text");
    texts
        .map(|(_, attributes, text)| {
            let get = |key: &str| attributes.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str());
            let at = |key: &str| get(key).expect("an attribute").parse::<f64>().expect("a number");
            let size = match get("class").expect("a class") {
                "t" => TITLE_SIZE,
                "n" => NAME_SIZE,
                "s" => SMALL_SIZE,
                _ => FIGURE_SIZE,
            };
            let (x, y, width) = (at("x"), at("y"), text_width(&text, size));
            if get("transform").is_some() {
                return (x - size * 0.75, y - width, x + size * 0.2, y, text);
            }
            let left = match get("text-anchor").expect("an anchor") {
                "start" => x,
                "middle" => x - width / 2.0,
                _ => x - width,
            };
            (left, y - size * 0.75, left + width, y + size * 0.2, text)
        })
        .collect()
}

fn assert_apart(svg: &str) {
    let (height, boxes) = (elements(svg)[0].1[3].1.parse::<f64>().expect("a height"), boxes(svg));
    for (at, (left, top, right, bottom, text)) in boxes.iter().enumerate() {
        assert!(*left >= 0.0 && *right <= WIDTH && *top >= 0.0 && *bottom <= height, "`{text}` is cut by the edge");
        for (l, t, r, b, other) in &boxes[at + 1..] {
            assert!(left >= r || l >= right || top >= b || t >= bottom, "`{text}` overlaps `{other}`");
        }
    }
}

#[test]
fn the_sample_is_drawn_as_it_was() {
    let svg = grouped_bars(&sample());
    let elements = elements(&svg);
    let count = |name: &str| elements.iter().filter(|element| element.0 == name).count();
    // Background, three squares of the legend, seven bars with the grounds of their figures; three whiskers.
    assert_eq!((count("rect"), count("path")), (1 + 3 + 7 * 2, 3));
    assert_eq!(elements[1].2, "Ranking quality");
    assert!(elements[2].2.contains("lake union: lakeward 0.840 (0.790 to 0.880), bm25 0.413."), "{}", elements[2].2);
    let bar = "<rect fill=\"#0072b2\" x=\"163.3\" y=\"141.1\" width=\"28\" height=\"172.9\"/>";
    assert!(svg.contains(bar), "{svg}");
    assert!(svg.contains(">.752</text>") && svg.contains(">1.000</text>") && svg.contains(">.000</text>"));
    assert!(!svg.contains("NaN"));
    assert_eq!(svg, grouped_bars(&sample()), "the same bytes each time");
    assert_apart(&svg);
}

#[test]
fn nothing_is_a_chart_too() {
    let mut data = sample();
    data.groups.clear();
    data.systems.clear();
    elements(&grouped_bars(&data));
    data.greatest = f64::NAN;
    assert_apart(&grouped_bars(&data));
}

#[test]
fn texts_never_overlap() {
    for groups in [1, 2, 5, 7, 12, MOST_GROUPS + 1] {
        for systems in [1, 2, 5, MOST_SYSTEMS, MOST_SYSTEMS + 1] {
            assert_apart(&grouped_bars(&crowded(groups, systems)));
        }
    }
    let svg = grouped_bars(&crowded(MOST_GROUPS + 1, MOST_SYSTEMS + 1));
    assert!(svg.contains("Not drawn: 1 groups, 1 systems."));
}

#[test]
fn figures_are_short() {
    assert_eq!(figure(0.75249, 1.0), ".752");
    assert_eq!(figure(-0.5, 1.0), "-.500");
    assert_eq!(figure(0.9999, 1.0), "1.000");
    assert_eq!((figure(12.34, 50.0), figure(1234.5, 2000.0)), ("12.3".into(), "1234".into()));
    for value in [1e300, -1e300, 123_456.0] {
        for scale in [1.0, 50.0, 1e6] {
            assert!(figure(value, scale).len() <= 6, "{}", figure(value, scale));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn hostile_names_stay_text(
        names in prop::collection::vec(".{0,40}", 3..6),
        value in any::<f64>(),
        low in any::<f64>(),
    ) {
        let mut names = names;
        names.push("</text><script>alert('1')</script>&amp;\u{1}\u{202e}]]>".into());
        let bar = Some(Bar { value, interval: Some((low, value)) });
        let data = ChartData {
            title: names[0].clone(),
            measure: names[1].clone(),
            systems: names.clone(),
            groups: names.iter().map(|name| BarGroup { name: name.clone(), bars: vec![bar; names.len()] }).collect(),
            greatest: low,
        };
        let svg = grouped_bars(&data);
        prop_assert!(elements(&svg).iter().all(|(name, ..)| name != "script"));
        prop_assert!(!svg.contains("NaN") || names.concat().contains("NaN") || value.is_nan() || low.is_nan());
    }
}
