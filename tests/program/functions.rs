//! Signatures and vectors in SQL: the same answer over any partitions and groups, equal values of any types, errors that say
//! what to do.

use std::sync::{Arc, OnceLock};

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryViewArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    DictionaryArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray, ListArray,
    RecordBatch, StringArray, StringViewArray, TimestampMillisecondArray, UInt64Array,
};
use arrow::datatypes::{Float64Type, Int32Type, Schema, i256};
use arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::datasource::MemTable;
use datafusion::error::DataFusionError;
use datafusion::prelude::{SessionConfig, SessionContext};
use lakeward::Lakeward;
use lakeward::functions::{aggregate, scalar};
use lakeward_models::embed::EmbedderExt;
use lakeward_sketch::Normaliser;
use lakeward_sketch::signature::{DEFAULT_CAPACITY, Signature};

use crate::place::Folder;

/// A lake of two small tables; only its embedding model is asked.
fn lake() -> &'static Lakeward {
    static LAKE: OnceLock<(Folder, Lakeward)> = OnceLock::new();
    let (_, lake) = LAKE.get_or_init(|| {
        let folder = Folder::of(&[("towns.csv", "town,people\nOulu,210000\nTurku,200000\n")]);
        let lake = folder.lake();
        (folder, lake)
    });
    lake
}

fn context(partitions: usize) -> SessionContext {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(1_024);
    let context = SessionContext::new_with_config(config);
    scalar::scalars(lake()).into_iter().for_each(|function| context.register_udf(function));
    aggregate::aggregates().into_iter().for_each(|function| context.register_udaf(function));
    context
}

/// A table whose rows are dealt to `partitions` partitions in batches.
fn add_table(context: &SessionContext, name: &str, columns: Vec<(&str, ArrayRef)>, partitions: usize) {
    let batch = RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true)))
        .expect("a batch");
    let mut dealt = vec![Vec::new(); partitions];
    let step = 700;
    for (turn, start) in (0..batch.num_rows()).step_by(step).enumerate() {
        dealt[turn % partitions].push(batch.slice(start, step.min(batch.num_rows() - start)));
    }
    let table = MemTable::try_new(batch.schema(), dealt).expect("a table");
    context.register_table(name, Arc::new(table)).expect("a name");
}

fn run(context: &SessionContext, sql: &str) -> Result<Vec<RecordBatch>, DataFusionError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    runtime.block_on(async { context.sql(sql).await?.collect().await })
}

/// All rows as text, cells joined by `|`, NULL as `-`.
fn ask(context: &SessionContext, sql: &str) -> Vec<String> {
    let options = FormatOptions::default().with_null("-");
    let batches = run(context, sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    let mut lines = Vec::new();
    for batch in batches {
        let cells: Vec<_> =
            batch.columns().iter().map(|array| ArrayFormatter::try_new(array, &options).expect("cells")).collect();
        for row in 0..batch.num_rows() {
            lines.push(cells.iter().map(|cell| cell.value(row).to_string()).collect::<Vec<_>>().join("|"));
        }
    }
    lines
}

fn one(context: &SessionContext, sql: &str) -> String {
    ask(context, sql).join(";")
}

fn error(context: &SessionContext, sql: &str) -> String {
    match run(context, sql) {
        Ok(_) => panic!("{sql} has an answer"),
        Err(error) => error.strip_backtrace(),
    }
}

/// 30,000 rows of 5 groups: `x` counts up with repetitions, `y` has some of its values, both have gaps.
fn add_rows(context: &SessionContext, partitions: usize) {
    let rows = 30_000i64;
    let column =
        |value: &dyn Fn(i64) -> Option<i64>| Arc::new((0..rows).map(value).collect::<Int64Array>()) as ArrayRef;
    let x = column(&|row| (row % 11 != 0).then_some(row * 7 % 20_011));
    let y = column(&|row| (row % 5 != 0).then_some(row * 13 % 9_001 * 2));
    let group = column(&|row| (row % 6 < 5).then_some(row % 6));
    add_table(context, "t", vec![("x", x), ("y", y), ("g", group)], partitions);
}

#[test]
fn answers_do_not_depend_on_partitions() {
    let queries = [
        "SELECT minhash(x), minhash(y, 64), approx_jaccard(x, y), approx_containment(x, y) FROM t",
        "SELECT minhash(DISTINCT x), approx_containment(DISTINCT x, y) FROM t",
        "SELECT g, minhash(x, 100), approx_jaccard(x, y), approx_containment(x, y) FROM t GROUP BY g ORDER BY g",
        "SELECT g, minhash(x) FILTER (WHERE y > 500), count(*) FROM t GROUP BY g ORDER BY g",
        // Nearly as many groups as rows: partial aggregation gives up and passes rows on.
        "SELECT x, minhash(y, 16), approx_jaccard(x, y) FILTER (WHERE g > 2) FROM t GROUP BY x ORDER BY x",
        "SELECT minhash(x) FROM t WHERE x < 0",
    ];
    let answers = |partitions: usize| {
        let context = context(partitions);
        context
            .state_ref()
            .write()
            .config_mut()
            .options_mut()
            .execution
            .skip_partial_aggregation_probe_rows_threshold = 100;
        add_rows(&context, partitions);
        queries.map(|sql| ask(&context, sql))
    };
    let alone = answers(1);
    assert_eq!(alone[0].len(), 1);
    assert_eq!(alone[2].len(), 6);
    assert_eq!(alone[4].len(), 19_101);
    for partitions in [2, 8] {
        assert_eq!(alone, answers(partitions));
    }
}

#[test]
fn two_columns_are_compared_as_their_signatures_are() {
    let context = context(4);
    add_rows(&context, 4);
    let compared = "SELECT g, approx_jaccard(x, y), approx_containment(x, y), approx_containment(y, x) FROM t GROUP BY g ORDER BY g";
    let signed = "SELECT g, jaccard(a, b), containment(a, b), containment(b, a)
        FROM (SELECT g, minhash(x, 16384) AS a, minhash(y, 16384) AS b FROM t GROUP BY g) ORDER BY g";
    assert_eq!(ask(&context, compared), ask(&context, signed));
}

#[test]
fn sets_that_fit_are_compared_exactly() {
    let context = context(4);
    add_rows(&context, 4);
    let exact =
        "SELECT (SELECT count(DISTINCT x) FROM t WHERE x < 9000 AND x IN (SELECT y FROM t WHERE x < 9000)) * 1.0
        / (SELECT count(DISTINCT x) FROM t WHERE x < 9000)";
    let estimated = "SELECT approx_containment(x, y) FROM t WHERE x < 9000";
    assert_eq!(one(&context, &format!("SELECT abs(({exact}) - ({estimated})) < 1e-12")), "true");
}

/// The signature's hashes of a column of one row that has a value, beside a NULL.
fn hashes(array: ArrayRef) -> Vec<u64> {
    let context = context(1);
    add_table(&context, "one", vec![("v", array)], 1);
    let batches = run(&context, "SELECT minhash(v) FROM one").expect("a signature");
    Signature::parse(batches[0].column(0).as_binary::<i32>().value(0)).expect("a signature").hashes().to_vec()
}

#[test]
fn equal_values_of_any_type_are_equal() {
    let decimal = |array: Decimal128Array, scale| Arc::new(array.with_precision_and_scale(12, scale).expect("a scale"));
    let texts = || StringArray::from(vec![Some("5"), None]);
    let dictionary = DictionaryArray::<Int32Type>::new(
        Int32Array::from(vec![Some(1), None]),
        Arc::new(StringArray::from(vec!["9", "5"])),
    );
    let fives: Vec<ArrayRef> = vec![
        Arc::new(Int8Array::from(vec![Some(5), None])),
        Arc::new(Int32Array::from(vec![5])),
        Arc::new(Int64Array::from(vec![5, 5, 5])),
        Arc::new(UInt64Array::from(vec![5])),
        Arc::new(Float32Array::from(vec![5.0])),
        Arc::new(Float64Array::from(vec![Some(5.0), None])),
        decimal(Decimal128Array::from(vec![500]), 2),
        Arc::new(Decimal256Array::from(vec![i256::from_i128(5_000)]).with_precision_and_scale(60, 3).expect("a scale")),
        Arc::new(texts()),
        Arc::new(LargeStringArray::from(vec!["5"])),
        Arc::new(StringViewArray::from(vec![Some("5"), None])),
        Arc::new(BinaryViewArray::from(vec![b"5".as_slice()])),
        Arc::new(dictionary),
    ];
    let expected = vec![Normaliser::default().value("5").hash];
    for five in fives {
        let data_type = five.data_type().clone();
        assert_eq!(hashes(five), expected, "{data_type}");
    }
    let day: ArrayRef = Arc::new(Date32Array::from(vec![18_335]));
    let midnight: ArrayRef = Arc::new(TimestampMillisecondArray::from(vec![18_335 * 86_400_000]));
    assert_eq!(hashes(Arc::clone(&day)), hashes(midnight));
    assert_eq!(hashes(day), vec![Normaliser::default().value("14 March 2020").hash]);
    assert_eq!(hashes(Arc::new(Float64Array::from(vec![0.0, -0.0]))).len(), 1);
    assert_eq!(hashes(Arc::new(Float64Array::from(vec![f64::NAN, -f64::NAN]))).len(), 1);
    assert_eq!(hashes(Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))).len(), 2);
}

#[test]
fn values_of_a_dictionary_that_no_row_has_do_not_count() {
    let values = Arc::new(StringArray::from_iter_values((0..50).map(|value| format!("word {value}"))));
    for rows in [3, 60] {
        let keys = Int32Array::from_iter((0..rows).map(|row| (row % 3 != 2).then_some(row % 3)));
        assert_eq!(hashes(Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::clone(&values) as ArrayRef))).len(), 2);
    }
}

#[test]
fn an_index_and_sql_make_the_same_signature() {
    let cells = ["Oulu ", "oulu", "Turku*", "1,200", "1200.0", "02134", "4 March 2020", "n/a", "(12)", "50%"];
    let mut normaliser = Normaliser::default();
    let stored = cells.iter().map(|cell| normaliser.value(cell).hash).filter(|hash| *hash != 0);
    let stored = Signature::of(stored, DEFAULT_CAPACITY);
    let forms: Vec<Option<String>> =
        cells.iter().map(|cell| normaliser.distinct_text(cell).map(str::to_string)).collect();
    assert_eq!(hashes(Arc::new(StringArray::from(forms))), stored.hashes());
}

#[test]
fn signatures_of_no_values_say_nothing() {
    let context = context(2);
    add_rows(&context, 2);
    let nothing = "SELECT approx_jaccard(x, y), approx_containment(x, y) FROM t WHERE false";
    assert_eq!(one(&context, nothing), "-|-");
    let half = "SELECT approx_jaccard(x, NULL), approx_containment(x, NULL), approx_containment(NULL, x) FROM t";
    assert_eq!(one(&context, half), "0.0|0.0|-");
    let scalars = "SELECT jaccard(s, NULL), containment(NULL, s), jaccard(s, e), containment(e, s), containment(s, e), jaccard(e, e)
        FROM (SELECT minhash(x) AS s, minhash(NULL) AS e FROM t)";
    assert_eq!(one(&context, scalars), "-|-|0.0|-|0.0|-");
}

#[test]
fn a_signature_is_compared_with_columns_of_them_in_any_layout() {
    let context = context(2);
    add_rows(&context, 2);
    for layout in ["Binary", "LargeBinary", "BinaryView"] {
        let sql = format!(
            "SELECT count(*), count(containment(arrow_cast(s, '{layout}'), (SELECT minhash(x) FROM t))), min(jaccard(s, arrow_cast(s, '{layout}')))
             FROM (SELECT g, minhash(x) AS s FROM t GROUP BY g)"
        );
        assert_eq!(one(&context, &sql), "6|6|1.0");
    }
}

#[test]
fn it_can_be_a_window() {
    let context = context(1);
    let sql = "SELECT v, approx_containment(v, w) OVER (ORDER BY v) FROM (VALUES (1, 2), (2, 1), (3, 9)) AS t(v, w) ORDER BY v";
    assert_eq!(one(&context, sql), "1|0.0;2|1.0;3|0.6666666666666666");
}

#[test]
fn errors_say_what_is_wanted() {
    let context = context(2);
    add_rows(&context, 2);
    for (sql, part) in [
        ("SELECT minhash() FROM t", "minhash"),
        ("SELECT minhash(x, 1, 2) FROM t", "minhash is called as `minhash(expression [, k])`, not with 3 arguments"),
        ("SELECT minhash([x]) FROM t", "minhash takes no List"),
        ("SELECT minhash(x, 3) FROM t", "k of minhash is 16 to 1048576, not 3"),
        ("SELECT minhash(x, -100) FROM t", "not -100"),
        ("SELECT minhash(x, NULL) FROM t", "k of minhash"),
        ("SELECT minhash(x, y) FROM t", "k of minhash must be a constant"),
        ("SELECT g, minhash(x, y) FROM t GROUP BY g", "k of minhash must be a constant"),
        ("SELECT minhash(x, 'many') FROM t", "k of minhash is a whole number, not Utf8"),
        ("SELECT approx_jaccard(x) FROM t", "approx_jaccard is called as `approx_jaccard(expression1, expression2)`"),
        ("SELECT approx_containment(x, [y]) FROM t", "approx_containment takes no List"),
        (
            "SELECT jaccard(x, y) FROM t",
            "jaccard compares signatures, which are binary, not Int64; `minhash` makes them",
        ),
        ("SELECT jaccard(minhash(x)) FROM t", "jaccard is called as `jaccard(signature1, signature2)`"),
        ("SELECT containment(minhash(x), X'0102') FROM t", "these bytes are not a signature; make one with `minhash`"),
        ("SELECT containment(minhash(x), X'4C575347020000000000') FROM t", "damaged"),
        ("SELECT embed(x) FROM t", "embed takes text, not Int64"),
        ("SELECT embed('a', 'b')", "embed is called as `embed(text)`"),
        ("SELECT cosine('a', 'b')", "cosine takes lists of numbers, not Utf8"),
        ("SELECT cosine([1, 2], [1])", "cosine takes vectors of the same length, not of 2 and 1"),
        ("SELECT cosine(embed('a'), [1.0])", "not of 256 and 1"),
    ] {
        let error = error(&context, sql);
        assert!(error.contains(part), "{sql}: {error}");
        assert!(!error.contains("Internal error"), "{sql}: {error}");
    }
}

#[test]
fn texts_become_vectors() {
    let context = context(2);
    let texts = ["inhabitants", "population", "rainfall", "population", "zzzz qqqq"];
    let texts = texts.iter().map(|text| Some(*text)).chain([None, Some("")]);
    add_table(&context, "words", vec![("word", Arc::new(texts.collect::<StringViewArray>()))], 1);
    let sql = "SELECT word, cosine(embed(word), embed('population')) > 0.3, embed(word) IS NULL FROM words";
    let estimated = ask(&context, sql);
    assert_eq!(
        estimated[..4],
        ["inhabitants|true|false", "population|true|false", "rainfall|false|false", "population|true|false"]
    );
    assert_eq!(estimated[5..], ["-|-|true", "|-|false"]);
    let batches = run(&context, "SELECT embed(word) AS v FROM words").expect("vectors");
    let vectors = batches[0].column(0).as_fixed_size_list();
    let first = vectors.value(1);
    let expected: Vec<f32> = lake().embedder().embed("population");
    assert_eq!(first.as_primitive::<arrow::datatypes::Float32Type>().values(), &expected[..]);
    assert_eq!(vectors.value_length() as usize, lake().embedder().dims());
    assert_eq!(one(&context, "SELECT cosine(embed('a town'), embed('a town')) > 0.999999"), "true");
}

#[test]
fn vectors_of_any_lists_are_compared() {
    let context = context(1);
    for (sql, expected) in [
        ("cosine([1, 0], [1.0, 0.0])", "1.0"),
        ("cosine([1, 0], [0, 5])", "0.0"),
        ("cosine([3, 4], [-3, -4])", "-1.0"),
        ("cosine([0, 0], [1, 2])", "-"),
        ("cosine([1, NULL], [1, 2])", "-"),
        ("cosine(NULL, [1, 2])", "-"),
        ("cosine([1e300, 1e300], [1e-300, 1e-300])", "1.0"),
        ("cosine(arrow_cast([1, 2], 'LargeList(Float32)'), arrow_cast([2, 4], 'FixedSizeList(2, Float64)'))", "1.0"),
        ("cosine([], [])", "-"),
    ] {
        let estimated = one(&context, &format!("SELECT {sql}"));
        let close =
            estimated.parse::<f64>().ok().zip(expected.parse::<f64>().ok()).is_some_and(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close || estimated == expected, "{sql}: {estimated}");
    }
    let lists = ListArray::from_iter_primitive::<Float64Type, _, _>(vec![
        Some(vec![Some(1.0), Some(0.0)]),
        None,
        Some(vec![Some(0.0), Some(2.0)]),
    ]);
    add_table(&context, "v", vec![("v", Arc::new(lists))], 1);
    assert_eq!(ask(&context, "SELECT cosine(v, [0, 1]) FROM v"), ["0.0", "-", "1.0"]);
}

#[test]
fn each_function_is_listed_with_its_documentation() {
    let scalars = scalar::scalars(lake());
    let aggregates = aggregate::aggregates();
    let documented = scalars
        .iter()
        .map(|function| (function.name(), function.documentation()))
        .chain(aggregates.iter().map(|function| (function.name(), function.documentation())));
    let mut names = Vec::new();
    for (name, documentation) in documented {
        let documentation = documentation.expect(name);
        assert!(documentation.syntax_example.starts_with(name) && documentation.sql_example.is_some());
        names.push(name);
    }
    assert_eq!(names, ["jaccard", "containment", "embed", "cosine", "minhash", "approx_jaccard", "approx_containment"]);
    let context = SessionContext::new_with_config(SessionConfig::new().with_information_schema(true));
    scalars.iter().for_each(|function| context.register_udf(function.clone()));
    aggregates.iter().for_each(|function| context.register_udaf(function.clone()));
    for name in names {
        let shown = ask(&context, &format!("SHOW FUNCTIONS LIKE '{name}'"));
        assert!(!shown.is_empty(), "{name}");
    }
}

#[test]
fn a_schema_without_columns_is_no_trouble() {
    let context = context(2);
    let table = MemTable::try_new(Arc::new(Schema::empty()), vec![vec![]]).expect("a table");
    context.register_table("nothing", Arc::new(table)).expect("a name");
    assert_eq!(one(&context, "SELECT approx_containment(1, 1) FROM nothing"), "-");
}
