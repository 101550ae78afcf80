//! Plans over real and hostile tables, previewed, run and exported: rows of a preview against a count made some other way,
//! names and files of strangers, limits, interruption.

mod failures;
mod filters;
mod unions;

use std::collections::{BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use arrow::util::display::{ArrayFormatter, FormatOptions};
use lakeward_core::Error;
use lakeward_core::monitor::Silent;
use lakeward_core::plan::{
    Comparison, Condition, DatePart, Expression, Grouping, Join, JoinKey, JoinKind, Kept, Key, Measure,
    MeasureFunction, Plan, Relation, Step, TextTest, Union, UnionPart, Value,
};
use lakeward_core::request::Input;
use lakeward_core::text::counted;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_operate::{
    LakeContext, Limits, PlanPreview, PreviewLimits, WarningKind, plan_preview, plan_sql, run_plan,
};
use lakeward_sketch::normalise::Normaliser;
use proptest::prelude::*;
use tempfile::TempDir;

fn sample_lake() -> PathBuf {
    Path::new(crate::REPOSITORY).join("lake")
}

fn index_of(lake: &Path) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    build::build(lake, folder.path(), StaticModel::builtin(), &BuildOptions::default(), &Silent).expect("a build");
    folder
}

fn context_of(lake: &Path, index: &Path, limits: Limits) -> LakeContext {
    let index = LakeIndex::open(index, StaticModel::builtin().id()).expect("an index");
    LakeContext::new(lake, &index, limits).expect("a context")
}

fn sample_limited(limits: Limits) -> LakeContext {
    static INDEX: OnceLock<TempDir> = OnceLock::new();
    let index = INDEX.get_or_init(|| index_of(&sample_lake()));
    context_of(&sample_lake(), index.path(), limits)
}

fn sample() -> LakeContext {
    sample_limited(Limits::default())
}

/// All rows as text, NULL as `-`.
fn ask(context: &LakeContext, sql: &str) -> Result<Vec<Vec<String>>, Error> {
    let mut rows = context.query(sql, None)?;
    let mut lines = Vec::new();
    while let Some(batch) = rows.next_batch()? {
        let options = FormatOptions::default().with_null("-");
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|array| ArrayFormatter::try_new(array, &options).expect("a formatter"))
            .collect();
        for row in 0..batch.num_rows() {
            lines.push(columns.iter().map(|column| column.value(row).to_string()).collect());
        }
    }
    Ok(lines)
}

fn answer(context: &LakeContext, sql: &str) -> Vec<Vec<String>> {
    ask(context, sql).unwrap_or_else(|error| panic!("{sql}: {error}"))
}

fn preview(context: &LakeContext, plan: &Plan) -> PlanPreview {
    plan_preview(context, plan, &PreviewLimits::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The rows of a plan, run into a file that becomes step `step`; the file must agree with the preview.
fn run_rows(context: &LakeContext, plan: &Plan, folder: &Path, step: usize) -> Vec<Vec<String>> {
    let previewed = preview(context, plan);
    let out = folder.join(format!("step_{step}.parquet"));
    let outcome = run_plan(context, plan, &PreviewLimits::default(), &out).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(outcome.sql, previewed.sql);
    assert_eq!(outcome.columns, previewed.columns);
    assert_eq!(outcome.rows, previewed.rows_out, "{}", previewed.sql);
    context.set_step(step, &out);
    let rows = answer(context, &format!("SELECT * FROM session.step_{step}"));
    assert_eq!(rows.len() as u64, previewed.rows_out);
    let left: Vec<_> = fs::read_dir(folder)
        .expect("a folder")
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(".lakeward")))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    rows
}

fn table(id: &str) -> Input {
    Input::Table(id.into())
}

fn file(path: &Path) -> Input {
    Input::File(path.to_str().expect("a path").into())
}

fn written(folder: &TempDir, name: &str, text: &str) -> Input {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a file");
    file(&path)
}

/// A join on keys as they are written.
fn join(left: Input, right: Input, on: &[(&str, &str)]) -> Plan {
    let key = |(left, right): &(&str, &str)| JoinKey { left: left.to_string(), right: right.to_string(), exact: true };
    let on = on.iter().map(key).collect();
    let join = Join { with: Relation::of(right), kind: JoinKind::Left, on, columns: Vec::new() };
    Plan::of(left).then(Step::Join(join))
}

/// The same on keys in their normal form, where `normalised`.
fn normalised(mut plan: Plan, normalised: bool) -> Plan {
    if let Some(Step::Join(join)) = plan.relation.steps.last_mut() {
        join.on.iter_mut().for_each(|key| key.exact = !normalised);
    }
    plan
}

fn filter(input: Input, conditions: Vec<Condition>) -> Plan {
    conditions.into_iter().reduce(Condition::and).map(Step::Filter).into_iter().fold(Plan::of(input), Plan::then)
}

fn column(name: &str) -> Expression {
    Expression::column(name)
}

fn one_of(name: &str, values: &[&str]) -> Condition {
    Condition::OneOf {
        value: column(name),
        values: values.iter().map(|value| Value::Text(value.to_string())).collect(),
    }
}

fn none_of(name: &str, values: &[&str]) -> Condition {
    Condition::Not(Box::new(one_of(name, values)))
}

fn present(name: &str) -> Condition {
    Condition::Not(Box::new(Condition::Missing(column(name))))
}

fn contains(name: &str, text: &str) -> Condition {
    Condition::Text { value: column(name), test: TextTest::Contains, text: text.into(), exact: false }
}

fn between(name: &str, from: &str, to: &str) -> Condition {
    Condition::Between { value: column(name), from: Value::Text(from.into()), to: Value::Text(to.into()) }
}

fn compare(name: &str, comparison: Comparison, value: &str) -> Condition {
    Condition::Compare { left: column(name), comparison, right: Expression::Value(Value::Text(value.into())) }
}

fn measure(function: MeasureFunction, name: Option<&str>) -> Measure {
    Measure { function, of: name.map(column), condition: None, name: None }
}

fn grouped(plan: Plan, keys: Vec<Expression>, measures: Vec<Measure>) -> Plan {
    let keys = keys.into_iter().map(|of| Key { of, name: None }).collect();
    plan.then(Step::Group(Grouping { keys, measures }))
}

fn part(part: DatePart, name: &str) -> Expression {
    Expression::Part { part, of: Box::new(column(name)) }
}

fn united(first: Input, others: Vec<(Input, Vec<(String, String)>)>, keep_extra: bool, source: Option<&str>) -> Plan {
    let others = others.into_iter().map(|(input, columns)| UnionPart { with: Relation::of(input), columns }).collect();
    Plan::of(first).then(Step::Union(Union { others, keep_extra, source_column: source.map(str::to_string) }))
}

fn facts(preview: &PlanPreview) -> Vec<&str> {
    preview.steps.iter().flat_map(|step| &step.facts).map(String::as_str).collect()
}

/// The text of the warning of a kind.
fn warned(preview: &PlanPreview, kind: WarningKind) -> Option<&str> {
    preview.warnings.iter().find(|warning| warning.kind == kind).map(|warning| warning.text.as_str())
}

fn names(preview: &PlanPreview) -> Vec<&str> {
    preview.columns.iter().map(|column| column.name.as_str()).collect()
}

fn same_columns(names: &[&str]) -> Vec<(String, String)> {
    names.iter().map(|name| (name.to_string(), name.to_string())).collect()
}

#[test]
fn a_join_of_real_tables_is_counted_as_by_hand() {
    let context = sample();
    let kept = ["name", "ISO_Country"].map(|name| Kept { column: name.into(), name: None });
    let mut plan =
        join(table("transport/routes_us_2026_07"), table("transport/airports_world"), &[("destination", "iata_code")]);
    if let Some(Step::Join(join)) = plan.relation.steps.last_mut() {
        join.columns = kept.into();
    }
    let previewed = preview(&context, &plan);
    let left: Vec<String> =
        answer(&context, r#"SELECT "Destination" FROM routes_us_2026_07"#).into_iter().flatten().collect();
    let right = answer(&context, "SELECT iata_code, name FROM airports_world");
    let mut partners: HashMap<&str, u64> = HashMap::new();
    right.iter().filter(|row| row[0] != "-").for_each(|row| *partners.entry(&row[0]).or_default() += 1);
    let partners_of = |key: &String| partners.get(key.as_str()).copied().unwrap_or(0);
    assert_eq!(previewed.rows_in, left.len() as u64);
    let unmatched = left.iter().filter(|key| partners_of(key) == 0).count() as u64;
    let pairs: u64 = left.iter().map(partners_of).sum();
    assert_eq!(previewed.rows_out, pairs + unmatched);
    let ours: BTreeSet<&str> = left.iter().map(String::as_str).collect();
    let alone = right.iter().filter(|row| row[0] == "-" || !ours.contains(row[0].as_str())).count() as u64;
    let fact =
        facts(&previewed).into_iter().find(|fact| fact.contains("airports_world without a partner")).expect("a fact");
    assert!(fact.starts_with(&counted(alone, "row")), "{fact}");
    let keys = fact.rsplit_once("such as ").expect("keys").1;
    assert!(keys.split(", ").all(|key| !ours.contains(key)), "{keys}");
    assert_eq!(previewed.sample.len(), 10);
    assert_eq!(names(&previewed).last(), Some(&"iso_country"));
    let folder = tempfile::tempdir().expect("a folder");
    let rows = run_rows(&context, &plan, folder.path(), 1);
    // The order of the working table.
    let kept: Vec<&String> = rows
        .iter()
        .map(|row| &row[names(&previewed).iter().position(|name| *name == "Destination").expect("a column")])
        .collect();
    assert_eq!(kept, left.iter().flat_map(|key| vec![key; partners_of(key).max(1) as usize]).collect::<Vec<_>>());
}

#[test]
fn normalised_keys_meet_however_they_are_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let left = written(
        &folder,
        "people.csv",
        "name,born,note\nNew York,2020-01-02,a\n\"Smith, John\",x,b\nOslo[1],y,c\n,z,d\nParis,w,e\n\"1,234\",v,f\nwords,u,g\n",
    );
    let right = written(
        &folder,
        "places.csv",
        "place,name,size\nnew  york,N,1\nJohn Smith,J,2\nOSLO,O,3\nOslo,O2,4\nn/a,M,5\nparis,P,\n1234,T,7\nnobody,X,8\n",
    );
    let context = sample();
    let plan = join(left, right, &[("name", "place")]);
    let previewed = preview(&context, &plan);
    assert_eq!(previewed.rows_out, 7);
    let gain = warned(&previewed, WarningKind::KeysAsWritten).expect("a warning");
    assert!(gain.starts_with("5 rows more"), "{gain}");
    assert!(warned(&previewed, WarningKind::MostUnmatched).is_some());
    assert_eq!(names(&previewed), ["name", "born", "note", "places_name", "size"]);
    let plan = normalised(plan, true);
    let previewed = preview(&context, &plan);
    assert_eq!(warned(&previewed, WarningKind::KeysAsWritten), None);
    assert_eq!(previewed.rows_out, 8);
    assert_eq!(
        facts(&previewed),
        [
            "2 rows without a partner, such as words".to_string(),
            format!("2 rows of {} without a partner, such as nobody", folder.path().join("places.csv").display())
        ],
        "a missing key has none either"
    );
    assert!(previewed.sql.contains("value_normalize(l.\"name\") = value_normalize(r.\"place\")"), "{}", previewed.sql);
    let rows = run_rows(&context, &plan, folder.path(), 1);
    assert_eq!(rows.iter().filter(|row| row[0] == "Oslo[1]").count(), 2);
    assert_eq!(rows.iter().find(|row| row[0] == "Paris").expect("a row")[3..], ["P", "-"]);
}

#[test]
fn keys_of_two_types_are_compared_as_written_and_it_is_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let left = written(&folder, "codes.csv", "code,v\n01,a\n02,b\n3x,c\n1,d\n");
    let right = written(&folder, "numbers.csv", "number,w\n1,x\n2,y\n3,z\n");
    let context = sample();
    let previewed = preview(&context, &join(left, right, &[("code", "number")]));
    let warning = warned(&previewed, WarningKind::KeysOfTwoTypes).expect("a warning");
    assert!(warning.contains("code is text") && warning.contains("01 is not 1"), "{warning}");
    assert_eq!((previewed.rows_out, facts(&previewed)[0].starts_with("3 rows")), (4, true));
    // Numbers of two types are numbers.
    let left = written(&folder, "whole.csv", "k,v\n1,a\n2,b\n");
    let right = written(&folder, "real.csv", "k,w\n1.0,x\n2.5,y\n");
    let previewed = preview(&context, &join(left, right, &[("k", "k")]));
    assert_eq!(warned(&previewed, WarningKind::KeysOfTwoTypes), None);
    assert_eq!(facts(&previewed)[0], "1 row without a partner, such as 2");
    assert!(facts(&previewed)[1].ends_with("real.csv without a partner, such as 2.5"));
}

#[test]
fn an_aggregation_is_that_of_the_numbers() {
    let context = sample();
    let plan = grouped(
        Plan::of(table("transport/nyc2013/flights_2013_05")),
        vec![column("carrier"), part(DatePart::Year, "date")],
        vec![
            measure(MeasureFunction::Count, None),
            measure(MeasureFunction::Mean, Some("dep_delay")),
            measure(MeasureFunction::Median, Some("dep_delay")),
            measure(MeasureFunction::CountDistinct, Some("dest")),
            measure(MeasureFunction::Sum, Some("distance")),
        ],
    );
    let previewed = preview(&context, &plan);
    assert_eq!(
        names(&previewed),
        ["carrier", "date_year", "count", "mean_dep_delay", "median_dep_delay", "count_distinct_dest", "sum_distance"]
    );
    // By hand, from the file.
    let mut groups: HashMap<String, (u64, Vec<f64>, BTreeSet<String>, i64)> = HashMap::new();
    for row in answer(&context, "SELECT carrier, dep_delay, dest, distance FROM flights_2013_05") {
        let group = groups.entry(row[0].clone()).or_default();
        group.0 += 1;
        group.1.extend(row[1].parse::<f64>().ok());
        group.2.insert(row[2].clone());
        group.3 += row[3].parse::<i64>().unwrap_or(0);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let rows = run_rows(&context, &plan, folder.path(), 1);
    assert_eq!(rows.len(), groups.len());
    assert!(rows.is_sorted_by_key(|row| row[0].clone()));
    for row in &rows {
        let (count, delays, dests, distance) = groups.get_mut(&row[0]).expect("a group");
        delays.sort_by(f64::total_cmp);
        let middle = delays.len() / 2;
        let median = if delays.len() % 2 == 1 { delays[middle] } else { (delays[middle - 1] + delays[middle]) / 2.0 };
        assert_eq!(row[1], "2013");
        assert_eq!(row[2], count.to_string());
        assert!(
            (row[3].parse::<f64>().expect("a number") - delays.iter().sum::<f64>() / delays.len() as f64).abs() < 1e-9
        );
        assert_eq!(row[4].parse::<f64>().ok(), Some(median), "{row:?}");
        assert_eq!(row[5], dests.len().to_string());
        assert_eq!(row[6], distance.to_string());
    }
    assert_eq!(previewed.rows_in, groups.values().map(|group| group.0).sum::<u64>());
}

#[test]
fn numbers_and_dates_in_text_are_aggregated_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = written(
        &folder,
        "loose.csv",
        "day,fare\n4 March 2020,\"$1,000\"\nsome day,free\n2020-03-05,20\nperhaps,n/a\n31/12/2020,7 (est)\nnever,3[1]\nunknown,x\n",
    );
    let context = sample();
    let by = |key: Option<DatePart>, measures| {
        let keys = key.map(|key| part(key, "day")).into_iter().collect();
        run_rows(&context, &grouped(Plan::of(input.clone()), keys, measures), folder.path(), 1)
    };
    let measures = || vec![measure(MeasureFunction::Count, None), measure(MeasureFunction::Sum, Some("fare"))];
    assert_eq!(by(Some(DatePart::Year), measures()), [["2020", "3", "1020.0"], ["-", "4", "3.0"]]);
    let months = by(Some(DatePart::YearMonth), measures());
    assert_eq!(months.iter().map(|row| row[0].as_str()).collect::<Vec<_>>(), ["2020-03-01", "2020-12-01", "-"]);
    assert_eq!(by(None, vec![measure(MeasureFunction::Count, Some("fare"))]), [["6"]]);
}

#[test]
fn files_outside_the_lake_are_typed_as_those_within() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = written(
        &folder,
        "step_1.csv",
        "id,amount\n001,\"$1,000\"\n002,oops\n003,3\n004,4\n005,5\n006,6\n007,7\n008,8\n009,9\n010,10\n011,11\n012,12\n013,13\n014,14\n015,15\n016,16\n017,17\n018,18\n019,19\n020,20\n021,21\n022,22\n",
    );
    let context = sample();
    let previewed = preview(&context, &filter(input.clone(), Vec::new()));
    assert_eq!(previewed.sql, "SELECT *\nFROM session.\"file_step_1\"");
    assert_eq!(previewed.columns[1].data_type, "Float64");
    assert_eq!(previewed.notes.len(), 1, "{:?}", previewed.notes);
    let Input::File(path) = &input else { panic!() };
    assert_eq!(context.add_file(Path::new(path)).expect("a name"), "session.\"file_step_1\"");
    assert_eq!(answer(&context, "SELECT sum(amount) FROM session.file_step_1"), [["1250.0"]]);
    // It is read again when it changes.
    fs::write(path, "id,other\n1,x\n").expect("a file");
    assert_eq!(names(&preview(&context, &filter(input, Vec::new()))), ["id", "other"]);
    let schemas = answer(&context, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'session'");
    assert_eq!(schemas, [["file_step_1"]]);
}

fn normal_forms(context: &LakeContext, cells: &[String]) -> Vec<Option<String>> {
    let values: Vec<String> =
        cells.iter().enumerate().map(|(row, cell)| format!("({row}, '{}')", cell.replace('\'', "''"))).collect();
    let sql = format!("SELECT value_normalize(c) FROM (VALUES {}) AS t (n, c) ORDER BY n", values.join(", "));
    answer(context, &sql).into_iter().map(|mut row| row.pop().filter(|form| form != "-")).collect()
}

/// A small table: header and rows of short cells out of few.
fn small_table(first: &'static str) -> impl Strategy<Value = String> {
    let cell = prop::sample::select(vec![
        "",
        "a",
        "A",
        "b",
        "1",
        "01",
        "1.0",
        "2",
        "n/a",
        "2020-01-02",
        "2 Jan 2020",
        "x y",
        "Y, X",
    ]);
    prop::collection::vec((cell.clone(), cell), 0..9).prop_map(move |rows| {
        let mut text = format!("{first},other\n");
        for (key, other) in rows {
            text.push_str(&format!("\"{key}\",\"{other}\"\n"));
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn previews_count_what_runs_make(
        left in small_table("k"),
        right in small_table("k"),
        normalised: bool,
        matched_only: bool,
        distinct: bool,
        with_source: bool,
    ) {
        let context = sample();
        let folder = tempfile::tempdir().expect("a folder");
        let (left, right) = (written(&folder, "left.csv", &left), written(&folder, "right.csv", &right));
        let mut plan = crate::operations::normalised(join(left.clone(), right.clone(), &[("k", "k")]), normalised);
        if let Some(Step::Join(join)) = plan.relation.steps.last_mut() {
            join.kind = if matched_only { JoinKind::Inner } else { JoinKind::Left };
        }
        run_rows(&context, &plan, folder.path(), 1);
        let both = join(left.clone(), right.clone(), &[("k", "k"), ("other", "other")]);
        run_rows(&context, &crate::operations::normalised(both, normalised), folder.path(), 2);
        let source = with_source.then_some("source");
        let mut plan = united(left.clone(), vec![(right, same_columns(&["k"]))], normalised, source);
        if distinct {
            plan = plan.then(Step::Distinct(Vec::new()));
        }
        run_rows(&context, &plan, folder.path(), 3);
        run_rows(&context, &filter(Input::Step(3), vec![present("k"), contains("k", "a")]), folder.path(), 4);
        let keys = if distinct { Vec::new() } else { vec![column("k")] };
        run_rows(&context, &grouped(Plan::of(left), keys, vec![measure(MeasureFunction::Count, None)]), folder.path(), 5);
    }

    #[test]
    fn normal_forms_are_equal_exactly_when_the_index_says_so(
        cells in prop::collection::vec(
            "[ '(]{0,2}-?[0-2]{0,3}[.,]?[01]{0,3}%?[)* ]{0,2}|[aAé,' -]{0,4}|202[01]-0[12]-?(0[12])?|[12] Jan 2020|\\PC{0,6}",
            2..20,
        )
    ) {
        let mut normaliser = Normaliser::default();
        let hashes: Vec<u64> = cells.iter().map(|cell| normaliser.value(cell).hash).collect();
        let forms = normal_forms(&sample(), &cells);
        for a in 0..cells.len() {
            for b in 0..cells.len() {
                prop_assert_eq!(hashes[a] == hashes[b], forms[a] == forms[b], "{:?} / {:?}", cells[a], cells[b]);
            }
        }
    }
}
