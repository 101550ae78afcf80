use super::*;

fn sketch_of<S: AsRef<str>>(cells: impl IntoIterator<Item = S>, limits: SketchLimits) -> ColumnSketch {
    let mut builder = ColumnSketchBuilder::new(limits, Writing::default());
    for cell in cells {
        builder.push(cell.as_ref());
    }
    builder.finish()
}

#[test]
fn cells_are_counted_by_kind_and_by_meaning() {
    let sketch = sketch_of(["1", "2", "2.0", " 2", "", "NA", "x", "X*"], SketchLimits::default());
    assert_eq!((sketch.rows, sketch.present(), sketch.distinct), (8, 6, 3));
    assert_eq!((sketch.kinds[Kind::Integer as usize], sketch.kinds[Kind::Float as usize]), (3, 1));
    assert_eq!(sketch.kinds[Kind::Text as usize], 2);
    assert_eq!(sketch.most_frequent, 3);
    assert_eq!(sketch.multiplicity, 2.0);
    let numbers = sketch.numbers.expect("numbers");
    assert_eq!((numbers.min, numbers.max, numbers.mean), (1.0, 2.0, 1.75));
    assert_eq!(sketch.top[0], ("2".to_string(), 2));
    assert_eq!(sketch.hashes.len(), 5, "`2`, `2.0`, `1`, `x`, `X*`");
}

#[test]
fn beyond_the_cap_distinct_counts_are_estimates_and_the_rest_stays_exact() {
    let limits = SketchLimits { exact_values: 1000, ..SketchLimits::default() };
    let cells: Vec<String> = (0..50_000).map(|i| format!("v{}", i % 20_000)).collect();
    let sketch = sketch_of(&cells, limits);
    assert!(!sketch.is_exact());
    assert!(sketch.hashes.len() <= 1000);
    assert!((sketch.distinct as f64 - 20_000.0).abs() < 3_000.0, "{}", sketch.distinct);
    assert!((sketch.multiplicity - 2.5).abs() < 0.3, "{}", sketch.multiplicity);
    assert_eq!(sketch.rows, 50_000);
    assert!(sketch.hashes.iter().all(|hash| *hash <= sketch.bound));
}

#[test]
fn two_columns_keep_the_same_samples_of_what_they_share() {
    let limits = SketchLimits { exact_values: 500, sample_values: 16, ..SketchLimits::default() };
    let a = sketch_of((0..4000).map(|i| format!("v{i}")), limits);
    let b = sketch_of((0..4000).map(|i| format!("V{i}")), limits);
    let hashes = |sketch: &ColumnSketch| sketch.samples.iter().map(|(hash, _)| *hash).collect::<Vec<_>>();
    assert_eq!(hashes(&a), hashes(&b));
}

#[test]
fn a_kept_word_is_a_value_like_any_other() {
    let cells = ["ZA", "NA", "BW", "NA", "", "BW", "-"];
    let mut sketch = sketch_of(cells, SketchLimits::default());
    assert_eq!((sketch.present(), sketch.distinct), (3, 2));
    assert_eq!(sketch.markers, [("NA".to_string(), 2), ("-".to_string(), 1)]);
    sketch.keep_words(vec!["NA".into()]);
    let plain = sketch_of(cells.map(|cell| if cell == "NA" { "NB" } else { cell }), SketchLimits::default());
    assert_eq!((sketch.rows, sketch.present(), sketch.distinct), (plain.rows, plain.present(), plain.distinct));
    assert_eq!((sketch.multiplicity, sketch.most_frequent), (plain.multiplicity, plain.most_frequent));
    assert_eq!((sketch.mean_length, sketch.samples.len()), (plain.mean_length, plain.samples.len()));
    assert!(sketch.hashes.is_sorted() && sketch.hashes.len() == sketch.variants.len());
    assert!(sketch.top.contains(&("NA".to_string(), 2)));
    assert!(sketch.hashes.contains(&Normaliser::new(sketch.writing.clone()).value("NA").hash));
    assert_eq!(sketch.markers, [("-".to_string(), 1)]);
}

#[test]
fn points_part_thousands_where_the_other_numbers_say_so() {
    let cases: [(&[&str], Point); 6] = [
        (&["645.705", "12.294.193", "847"], Point::Thousands),
        (&["645.705", "1922523", "35000", "0"], Point::Thousands),
        (&["645.705", "1922523", "847"], Point::AsWritten),
        (&["645.705", "12.294.193", "0.5"], Point::AsWritten),
        (&["12.375", "64500000"], Point::AsWritten),
        (&["645.705", "150.012"], Point::AsWritten),
    ];
    for (cells, point) in cases {
        assert_eq!(sketch_of(cells, SketchLimits::default()).writing.point, point, "{cells:?}");
    }
    let written = sketch_of(["645.705", "12.294.193", "645.705", "x"], SketchLimits::default());
    let plain = sketch_of(["645705", "12294193", "645705", "x"], SketchLimits::default());
    assert_eq!((&written.hashes, written.kinds), (&plain.hashes, plain.kinds));
    let (a, b) = (written.numbers.expect("numbers"), plain.numbers.expect("numbers"));
    assert_eq!((a.min, a.max, a.quantiles), (b.min, b.max, b.quantiles));
    assert!((a.mean - b.mean).abs() < 1e-6 && (a.deviation - b.deviation).abs() < 1e-6, "{a:?} {b:?}");
    let hashes = |sketch: &ColumnSketch| sketch.samples.iter().map(|(hash, _)| *hash).collect::<Vec<_>>();
    assert_eq!(hashes(&written), hashes(&plain));
    let known = Writing { point: Point::Decimal, ..Writing::default() };
    let mut builder = ColumnSketchBuilder::new(SketchLimits::default(), known);
    ["645.705", "12.294.193"].iter().for_each(|cell| {
        builder.push(cell);
    });
    assert_eq!(builder.finish().numbers.expect("numbers").min, 645.705);
}

#[test]
fn days_and_plain_numbers_are_summed_apart() {
    let dates = ["2001-01-05", "2001-01-07", "1935"];
    let numbers = sketch_of(dates, SketchLimits::default()).numbers.expect("days");
    assert_eq!(numbers.max - numbers.min, 2.0);
    let figures = ["5", "7", "2001-01-05"];
    let numbers = sketch_of(figures, SketchLimits::default()).numbers.expect("numbers");
    assert_eq!((numbers.min, numbers.max, numbers.mean), (5.0, 7.0, 6.0));
}

#[test]
fn quantiles_weigh_cells() {
    let sketch = sketch_of((0..=100).map(|i| i.to_string()), SketchLimits::default());
    let numbers = sketch.numbers.expect("numbers");
    assert_eq!(numbers.quantiles, [5.0, 25.0, 50.0, 75.0, 95.0]);
    assert!(sketch.ascending);
}

proptest::proptest! {
    #[test]
    fn distinct_is_exact_under_the_cap(values in proptest::collection::vec(0u32..500, 0..2000)) {
        let sketch = sketch_of(values.iter().map(|v| format!("k{v}")), SketchLimits::default());
        let expected: std::collections::BTreeSet<u32> = values.iter().copied().collect();
        proptest::prop_assert_eq!(sketch.distinct, expected.len() as u64);
        proptest::prop_assert!(sketch.is_exact());
    }
}
