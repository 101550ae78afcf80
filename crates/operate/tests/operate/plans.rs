//! Plans as SQL: what each step makes of small tables whose results can be counted by hand.

use std::fs;

use lakeward_core::monitor::Silent;
use lakeward_core::plan::Plan;
use lakeward_index::LakeIndex;
use lakeward_index::build::{self, BuildOptions};
use lakeward_models::embed::{Embedder, StaticModel};
use lakeward_operate::{LakeContext, Limits, PlanPreview, PreviewLimits, plan_preview, plan_sql, run_plan, run_step};
use serde_json::{Value, json};
use tempfile::TempDir;

pub struct Lake {
    pub folder: TempDir,
    /// Keeps steps of plans.
    pub context: LakeContext,
    /// Keeps nothing.
    pub plain: LakeContext,
}

pub fn lake(files: &[(&str, &str)]) -> Lake {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, text) in files {
        fs::write(folder.path().join(name), text).expect("a file");
    }
    let index = folder.path().join(".lakeward");
    build::build(folder.path(), &index, StaticModel::builtin(), &BuildOptions::default(), &Silent).expect("a build");
    let open = LakeIndex::open(&index, StaticModel::builtin().id()).expect("an index");
    let plain = LakeContext::new(folder.path(), &open, Limits::default()).expect("a context");
    let context = LakeContext::new(folder.path(), &open, Limits::default()).expect("a context");
    let context = context.keeping_steps_in(&index.join("cache/steps"));
    Lake { folder, context, plain }
}

pub const SALES: &str = "shop,Day,kind,amount,note\n\
    North,2020-01-05,tea,10,a\n\
    North,2020-02-10,coffee,20,\n\
    South,2020-02-11,tea,5,b\n\
    south,2021-03-01,tea,7,c\n\
    East,2021-03-02,coffee,40,d\n\
    East,2021-03-02,coffee,40,d\n\
    ,2021-07-09,water,1,e\n";
pub const SHOPS: &str = "name,region,staff\nNORTH,upper,4\nSouth,lower,6\nWest,lower,9\n";
const WIDE: &str = "country,2000,2010,2020\nA,1,2,3\nB,4,,6\n";
const MORE: &str = "Kind,Sold,place\ntea,3,North\nmilk,8,West\n";

pub fn small() -> Lake {
    lake(&[("sales.csv", SALES), ("shops.csv", SHOPS), ("wide.csv", WIDE), ("more.csv", MORE)])
}

pub fn plan(source: &str, steps: Value) -> Plan {
    let plan = json!({"version": 1, "source": {"table": source}, "steps": steps});
    Plan::from_json(&plan.to_string()).expect("a plan")
}

/// What the plan would do: the same where steps are kept, where they have been kept, and where none are.
pub fn preview(lake: &Lake, plan: &Plan) -> PlanPreview {
    let limits = PreviewLimits { sample_rows: 100, ..PreviewLimits::default() };
    let preview = |context: &LakeContext| {
        let preview = plan_preview(context, plan, &limits)
            .unwrap_or_else(|error| panic!("{error}\n{}", plan_sql(context, plan).unwrap_or_default()));
        PlanPreview { elapsed_ms: 0.0, ..preview }
    };
    let plain = preview(&lake.plain);
    assert_eq!(preview(&lake.context), plain, "with steps kept");
    assert_eq!(preview(&lake.context), plain, "from kept steps");
    plain
}

/// The rows of the result, each as JSON; its rows counted one by one are those of the preview.
pub fn rows(lake: &Lake, source: &str, steps: Value) -> Vec<String> {
    let preview = preview(lake, &plan(source, steps));
    let rows: Vec<String> =
        preview.sample.iter().map(|row| Value::Array(row.clone()).to_string().replace('"', "")).collect();
    assert_eq!(rows.len() as u64, preview.rows_out, "{}\n{rows:?}", preview.sql);
    rows
}

pub fn column(name: &str) -> Value {
    json!({"column": name})
}

pub fn is(name: &str, comparison: &str, value: Value) -> Value {
    json!({"compare": {"left": column(name), "comparison": comparison, "right": {"value": value}}})
}

pub fn keep(names: &[&str]) -> Value {
    json!({"select": names.iter().map(|name| json!({"column": name})).collect::<Vec<_>>()})
}

#[test]
fn conditions_mean_what_they_say() {
    let lake = small();
    let kept = |condition: Value| rows(&lake, "sales", json!([{"filter": condition}, keep(&["amount"])])).join("");
    assert_eq!(kept(is("shop", "equal", json!("SOUTH"))), "[5][7]");
    assert_eq!(kept(is("shop", "different", json!("South"))), "[10][20][40][40]", "a missing shop is not different");
    assert_eq!(kept(json!({"not": is("shop", "equal", json!("South"))})), "[10][20][40][40][1]", "but it is not South");
    assert_eq!(kept(is("amount", "greater", json!("7"))), "[10][20][40][40]");
    assert_eq!(kept(is("Day", "less", json!("2020-02"))), "[10]");
    assert_eq!(kept(is("Day", "at_most", json!("2020-02"))), "[10][20][5]");
    assert_eq!(kept(is("Day", "greater", json!(2020))), "[7][40][40][1]");
    assert_eq!(kept(json!({"between": {"value": column("amount"), "from": 5, "to": 10}})), "[10][5][7]");
    assert_eq!(kept(json!({"one_of": {"value": column("kind"), "values": ["Tea", "water"]}})), "[10][5][7][1]");
    assert_eq!(kept(json!({"text": {"value": column("kind"), "test": "ends", "text": "EE"}})), "[20][40][40]");
    assert_eq!(kept(json!({"missing": column("note")})), "[20]");
    let both = json!({"all": [is("kind", "equal", json!("tea")), {"any": [is("shop", "equal", json!("North")), is("amount", "equal", json!(7))]}]});
    assert_eq!(kept(both), "[10][7]");
    let month = json!({"compare": {"left": {"part": {"part": "month", "of": column("Day")}}, "comparison": "equal", "right": {"value": 3}}});
    assert_eq!(kept(month), "[7][40][40]");
    let above = json!({"compare": {"left": column("amount"), "comparison": "greater", "right": {"over": {"function": "mean", "of": column("amount")}}}});
    assert_eq!(kept(above), "[20][40][40]", "the mean is 17.6");
}

#[test]
fn rows_are_grouped_ordered_and_cut() {
    let lake = small();
    let group = json!({"group": {"keys": [{"of": column("kind")}], "measures": [
        {"function": "count"}, {"function": "sum", "of": column("amount"), "as": "total"},
        {"function": "median", "of": column("amount")}, {"function": "count_distinct", "of": column("Day")},
        {"function": "count", "where": is("amount", "greater", json!(8)), "as": "large"}]}});
    assert_eq!(
        rows(&lake, "sales", json!([group])),
        ["[coffee,3,100,40.0,2,3]", "[tea,3,22,7.0,3,1]", "[water,1,1,1.0,1,0]"]
    );
    let having = json!([group, {"filter": is("count", "at_least", json!(3))}, {"sort": [{"by": column("total")}]}, keep(&["kind"])]);
    assert_eq!(rows(&lake, "sales", having), ["[tea]", "[coffee]"], "ordered by a column that is left out");
    let last = json!([{"sort": [{"by": column("amount"), "direction": "descending"}, {"by": column("Day")}]},
        {"limit": {"rows": 3, "skip": 1}}, keep(&["amount"]), {"derive": {"name": "twice", "value":
            {"arithmetic": {"operator": "times", "left": column("amount"), "right": {"value": 2}}}}}]);
    assert_eq!(rows(&lake, "sales", last), ["[40,80]", "[20,40]", "[10,20]"]);
    let top = json!([{"top": {"rows": 1, "by": [{"by": column("amount"), "direction": "descending"}], "within": ["kind"]}}, keep(&["kind", "amount"])]);
    assert_eq!(rows(&lake, "sales", top), ["[coffee,40]", "[tea,10]", "[water,1]"]);
    assert_eq!(
        rows(&lake, "sales", json!([keep(&["kind"]), {"distinct": []}, {"sort": [{"by": column("kind")}]}])),
        ["[coffee]", "[tea]", "[water]"]
    );
    assert_eq!(rows(&lake, "sales", json!([{"distinct": ["kind"]}, keep(&["amount"])])).len(), 3);
    let latest = json!([{"sort": [{"by": column("Day"), "direction": "descending"}]}, {"distinct": ["kind"]}, keep(&["kind", "amount"])]);
    assert_eq!(rows(&lake, "sales", latest), ["[water,1]", "[coffee,40]", "[tea,7]"]);
    let year = json!([{"group": {"keys": [{"of": {"part": {"part": "year", "of": column("Day")}}}], "measures": [
        {"function": "share", "of": column("amount"), "times": 100.0, "as": "part"},
        {"function": "quantile", "at": 0.5, "of": column("amount")}, {"function": "first", "by": [{"by": column("amount")}], "of": column("note")}]}},
        {"derive": {"name": "part", "value": {"number": {"function": {"round": 1}, "of": column("part")}}}}]);
    assert_eq!(rows(&lake, "sales", year), ["[2020,28.5,10.0,b]", "[2021,71.5,23.5,e]"]);
    let all = json!([{"group": {"measures": [{"function": "max", "of": column("Day")}, {"function": "count"}]}}]);
    assert_eq!(rows(&lake, "sales", all), ["[2021-07-09,7]"]);
}

#[test]
fn values_are_derived_from_the_row_and_the_rows_around_it() {
    let lake = small();
    let derived = |value: Value| {
        rows(
            &lake,
            "sales",
            json!([{"derive": {"name": "x", "value": value}}, {"sort": [{"by": column("Day")}]}, keep(&["x"])]),
        )
        .join("")
    };
    assert_eq!(derived(json!({"bin": {"of": column("amount"), "width": 10}})), "[10][20][0][0][40][40][0]");
    assert_eq!(derived(json!({"part": {"part": "weekday", "of": column("Day")}})), "[7][1][2][1][2][2][5]");
    assert_eq!(derived(json!({"part": {"part": "year_month", "of": column("Day")}})).matches("2021-03-01").count(), 3);
    let case = json!({"case": {"branches": [{"when": is("amount", "at_least", json!(20)), "then": {"value": "large"}}], "otherwise": {"value": "small"}}});
    assert_eq!(derived(case).matches("large").count(), 3);
    let share =
        json!({"number": {"function": {"round": 2}, "of": {"share": {"of": column("amount"), "within": ["kind"]}}}});
    assert_eq!(derived(share), "[0.45][0.2][0.23][0.32][0.4][0.4][1.0]");
    let before = json!({"previous": {"of": column("amount"), "by": [{"by": column("Day")}], "within": ["kind"]}});
    assert_eq!(derived(before), "[null][null][10][5][20][40][null]");
    let divided = json!({"arithmetic": {"operator": "divided_by", "left": column("amount"), "right": {"value": 0}}});
    assert_eq!(derived(divided), "[null]".repeat(7));
    let days = json!({"arithmetic": {"operator": "minus", "left": column("Day"), "right": {"convert": {"to": "date", "of": {"value": "2020-01-01"}}}}});
    assert!(derived(days).starts_with("[4][40][41]"));
}

#[test]
fn tables_are_joined_in_every_way() {
    let lake = small();
    let join = |kind: &str, after: Value| {
        let mut steps = vec![
            json!({"join": {"with": {"source": {"table": "shops"}}, "kind": kind, "on": [{"left": "shop", "right": "name"}], "columns": [{"column": "staff"}]}}),
        ];
        steps.extend(after.as_array().cloned().unwrap_or_default());
        rows(&lake, "sales", Value::Array(steps))
    };
    let columns = json!([keep(&["shop", "amount", "staff"])]);
    assert_eq!(join("left", columns.clone()).len(), 7);
    assert_eq!(join("inner", columns.clone()), ["[North,10,4]", "[North,20,4]", "[South,5,6]", "[south,7,6]"]);
    assert_eq!(join("semi", json!([keep(&["amount"])])), ["[10]", "[20]", "[5]", "[7]"]);
    assert_eq!(join("anti", json!([keep(&["amount"])])), ["[40]", "[40]", "[1]"]);
    let full = join("full", columns);
    assert!(full.len() == 8 && full.contains(&"[West,null,9]".to_string()), "{full:?}");
    let grouped = json!([{"join": {"with": {"source": {"table": "sales"}, "steps": [
        {"group": {"keys": [{"of": column("shop")}], "measures": [{"function": "sum", "of": column("amount"), "as": "sold"}]}}]},
        "on": [{"left": "name", "right": "shop", "exact": true}]}}, keep(&["name", "sold"])]);
    assert_eq!(rows(&lake, "shops", grouped), ["[NORTH,null]", "[South,5]", "[West,null]"]);
}

#[test]
fn tables_are_united_and_turned() {
    let lake = small();
    let union = json!([keep(&["kind", "amount"]), {"filter": is("kind", "equal", json!("tea"))}, {"union": {"others": [
        {"with": {"source": {"table": "more"}}, "columns": [["kind", "Kind"], ["amount", "Sold"]]}], "source_column": "from", "keep_extra": true}}]);
    assert_eq!(
        rows(&lake, "sales", union),
        ["[tea,10,null,sales]", "[tea,5,null,sales]", "[tea,7,null,sales]", "[tea,3,North,more]", "[milk,8,West,more]"]
    );
    let least = json!([keep(&["kind", "amount"]), {"union": {"others": [{"with": {"source": {"table": "sales"}, "steps": [
        {"filter": is("kind", "equal", json!("tea"))}]}}], "source_column": "from"}}, {"distinct": []},
        {"top": {"rows": 1, "by": [{"by": column("amount")}], "within": ["from"]}}]);
    assert_eq!(rows(&lake, "sales", least), ["[water,1,sales]"], "a table twice is one source");
    let extra = json!([{"union": {"others": [{"with": {"source": {"table": "more"}}, "columns": [["kind", "Kind"]]}], "keep_extra": true}},
        {"group": {"measures": [{"function": "sum", "of": column("Sold")}, {"function": "share", "of": column("Sold")}]}}]);
    assert_eq!(rows(&lake, "sales", extra), ["[11,1.0]"], "a column that the first table does not have");
    let long = json!([{"unpivot": {"columns": ["2000", "2010", "2020"], "name": "year", "value": "value"}},
        {"filter": is("year", "at_least", json!(2010))}]);
    assert_eq!(rows(&lake, "wide", long), ["[A,2010,2]", "[A,2020,3]", "[B,2020,6]"]);
    let wide = json!([{"pivot": {"column": "kind", "rows": ["shop"], "measure": {"function": "sum", "of": column("amount")}}}]);
    assert_eq!(
        rows(&lake, "sales", wide),
        [
            "[East,80,null,null]",
            "[North,20,10,null]",
            "[South,null,5,null]",
            "[south,null,7,null]",
            "[null,null,null,1]"
        ]
    );
}

#[test]
fn nothing_is_mixed_up_on_the_way() {
    let lake = lake(&[
        ("sales.csv", SALES),
        ("shops.csv", SHOPS),
        ("filtered.csv", "name,staff\nNorth,99\n"),
        ("codes.csv", "shop,grade\n1,x\n2,y\n"),
        ("void.csv", "kind,amount\ntea,\n"),
    ]);
    // A part of the query and a table of the lake of one name.
    let named = json!([{"filter": is("kind", "equal", json!("coffee"))}, {"limit": {"rows": 1}}, {"filter": is("amount", "greater", json!(1))},
        {"join": {"with": {"source": {"table": "filtered"}}, "on": [{"left": "shop", "right": "name"}], "columns": [{"column": "staff"}]}}, keep(&["shop", "staff"])]);
    assert_eq!(rows(&lake, "sales", named), ["[North,99]"]);
    // A sign within a value that is compared.
    let inner = json!({"case": {"branches": [{"when": is("kind", "equal", json!("tea")), "then": {"value": 1}}], "otherwise": {"value": 2}}});
    let different = json!({"compare": {"left": inner, "comparison": "different", "right": {"value": 1}}});
    assert_eq!(rows(&lake, "sales", json!([{"filter": different}, keep(&["amount"])])).join(""), "[20][40][40][1]");
    // Names that change places, and a key that is called as what it is made of.
    let swapped = json!([keep(&["kind", "amount"]), {"rename": [["kind", "amount"], ["amount", "kind"]]}, {"sort": [{"by": column("kind")}]}, {"limit": {"rows": 2}}]);
    assert_eq!(rows(&lake, "sales", swapped), ["[water,1]", "[tea,5]"]);
    let lower = json!([{"group": {"keys": [{"of": {"text": {"function": "lower", "of": column("shop")}}}], "measures": [
        {"function": "count"}, {"function": "share", "as": "part"}]}}, {"limit": {"rows": 3}}]);
    assert_eq!(rows(&lake, "sales", lower)[2], format!("[south,2,{}]", 2.0 / 7.0));
    // Columns to order by that are no longer needed do not keep equal rows apart.
    let once = json!([{"top": {"rows": 2, "by": [{"by": {"text": {"function": "length", "of": column("shop")}}}], "within": ["kind"]}},
        {"sort": [{"by": column("kind")}]}, keep(&["kind"]), {"distinct": []}]);
    assert_eq!(rows(&lake, "sales", once), ["[coffee]", "[tea]", "[water]"]);
    // Two ways of writing a value are one column.
    let pivot = json!([{"pivot": {"column": "shop", "rows": ["kind"], "measure": {"function": "sum", "of": column("amount")}}}]);
    let wide = preview(&lake, &plan("sales", pivot));
    assert_eq!(
        wide.columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>(),
        ["kind", "East", "North", "South"]
    );
    assert_eq!(Value::Array(wide.sample[1].clone()).to_string(), "[\"tea\",null,10,12]");
    // A column without a value takes the type of the one it stands below.
    let void = json!([keep(&["kind", "amount"]), {"union": {"others": [{"with": {"source": {"table": "void"}}}]}}, {"group": {"measures": [{"function": "sum", "of": column("amount")}]}}]);
    assert_eq!(rows(&lake, "sales", void), ["[123]"]);
    // Keys of two types in one column.
    let full = json!([{"join": {"with": {"source": {"table": "codes"}}, "kind": "full", "on": [{"left": "shop", "right": "shop"}], "columns": [{"column": "grade"}]}},
        {"filter": is("shop", "equal", json!("1"))}, keep(&["shop", "grade"])]);
    assert_eq!(rows(&lake, "sales", full), ["[1,x]"]);
}

/// Totals and numbers of rows of each kind: coffee 100 and 3, tea 22 and 3, water 1 and 1.
fn kinds() -> Value {
    json!({"group": {"keys": [{"of": column("kind")}], "measures": [
        {"function": "sum", "of": column("amount"), "as": "total"}, {"function": "count", "as": "rows"}]}})
}

fn arithmetic(left: Value, operator: &str, right: Value) -> Value {
    json!({"arithmetic": {"operator": operator, "left": left, "right": right}})
}

#[test]
fn later_orders_do_not_change_what_a_limit_left() {
    let lake = small();
    let by = |name: &str, direction: &str| json!({"sort": [{"by": column(name), "direction": direction}]});
    let amounts = |steps: Value| rows(&lake, "sales", steps).join("");
    let up = by("amount", "ascending");
    let (cut, down) = (json!({"limit": {"rows": 3}}), by("amount", "descending"));
    assert_eq!(amounts(json!([keep(&["amount"]), up, cut, down])), "[7][5][1]");
    assert_eq!(amounts(json!([keep(&["amount"]), cut, down])), "[20][10][5]", "the first rows of the table");
    let top = json!({"top": {"rows": 3, "by": [{"by": column("amount")}], "within": []}});
    assert_eq!(amounts(json!([keep(&["amount"]), top, down])), "[7][5][1]");
    let skipped = json!({"limit": {"rows": 2, "skip": 1}});
    let within = json!({"top": {"rows": 1, "by": [{"by": column("total")}], "within": ["kind"]}});
    let expected = ["[tea,22,3]", "[water,1,1]"];
    assert_eq!(rows(&lake, "sales", json!([kinds(), by("kind", "ascending"), skipped, within])), expected);
    assert_eq!(rows(&lake, "sales", json!([kinds(), skipped, by("total", "descending")])), expected);
}

#[test]
fn turned_groups_are_no_longer_one_row_each() {
    let lake = small();
    let turned = json!({"unpivot": {"columns": ["total", "rows"], "name": "of", "value": "value"}});
    let sort = json!({"sort": [{"by": column("kind")}, {"by": column("of"), "direction": "descending"}]});
    assert_eq!(
        rows(&lake, "sales", json!([kinds(), turned, sort])).join(""),
        "[coffee,total,100][coffee,rows,3][tea,total,22][tea,rows,3][water,total,1][water,rows,1]"
    );
    let group =
        json!({"group": {"keys": [{"of": column("kind")}], "measures": [{"function": "sum", "of": column("value")}]}});
    assert_eq!(rows(&lake, "sales", json!([kinds(), turned, group])).join(""), "[coffee,103][tea,25][water,2]");
}

#[test]
fn what_cannot_be_computed_is_missing() {
    let lake = small();
    let round = |of: Value| json!({"number": {"function": {"round": 9}, "of": of}});
    let derived = |value: Value| {
        let steps = json!([{"derive": {"name": "x", "value": value}}, {"sort": [{"by": column("Day")}]}, keep(&["x"])]);
        rows(&lake, "sales", steps).join("")
    };
    let root =
        arithmetic(arithmetic(column("amount"), "minus", json!({"value": 4})), "to_the_power", json!({"value": 0.5}));
    assert_eq!(derived(root.clone()).matches("null").count(), 1, "only the root of 1 - 4");
    let zero =
        arithmetic(arithmetic(column("amount"), "times", json!({"value": 0.0})), "times", json!({"value": -1.0}));
    assert_eq!(derived(arithmetic(column("amount"), "divided_by", zero.clone())), "[null]".repeat(7));
    assert_eq!(derived(arithmetic(column("amount"), "modulo", zero.clone())), "[null]".repeat(7));
    assert_eq!(derived(json!({"share": {"of": zero}})), "[null]".repeat(7));
    let measured = |measure: Value| {
        let mut measure = measure;
        measure["as"] = json!("x");
        let group = json!({"group": {"keys": [{"of": column("kind")}], "measures": [measure]}});
        rows(&lake, "sales", json!([group, {"derive": {"name": "x", "value": round(column("x"))}}])).join("")
    };
    let far = arithmetic(column("amount"), "plus", json!({"value": 10_000_000.5}));
    assert_eq!(
        measured(json!({"function": "correlation", "of": far, "with": column("amount")})),
        "[coffee,1.0][tea,1.0][water,null]"
    );
    let large = is("amount", "greater", json!(20));
    assert_eq!(
        measured(json!({"function": "correlation", "of": column("amount"), "with": column("amount"), "where": large})),
        "[coffee,null][tea,null][water,null]"
    );
    assert_eq!(
        measured(json!({"function": "quantile", "at": 0.123_456_789, "of": column("amount")})),
        "[coffee,24.93827156][tea,5.493827156][water,1.0]"
    );
}

#[test]
fn values_that_differ_by_their_types_are_two() {
    let lake = small();
    let number = json!({"convert": {"to": "number", "of": column("amount")}});
    let group = json!([{"group": {"keys": [{"of": column("kind")}], "measures": [
        {"function": "share", "of": column("amount"), "as": "part"}, {"function": "sum", "of": column("amount"), "as": "total"},
        {"function": "sum", "of": number, "as": "number"}]}}, keep(&["kind", "total", "number"])]);
    assert_eq!(rows(&lake, "sales", group).join(""), "[coffee,100,100.0][tea,22,22.0][water,1,1.0]");
    let keys = json!([{"group": {"keys": [{"of": column("Day")}, {"of": {"convert": {"to": "text", "of": column("Day")}}, "as": "text"}],
        "measures": [{"function": "count"}]}}, {"limit": {"rows": 1}}]);
    assert_eq!(rows(&lake, "sales", keys), ["[2020-01-05,2020-01-05,1]"]);
}

#[test]
fn measures_beside_the_rows() {
    let lake = small();
    let over = |function: Value, of: &str| {
        let mut over = function;
        over["of"] = column(of);
        over["within"] = json!(["kind"]);
        let steps = json!([{"derive": {"name": "x", "value": {"over": over}}}, {"sort": [{"by": column("Day")}]}, keep(&["x"])]);
        rows(&lake, "sales", steps).join("")
    };
    assert_eq!(over(json!({"function": "median"}), "amount"), "[7.0][40.0][7.0][7.0][40.0][40.0][1.0]");
    assert_eq!(over(json!({"function": "count_distinct"}), "amount"), "[3][2][3][3][2][2][1]");
    assert_eq!(
        over(json!({"function": "first", "by": [{"by": column("amount")}]}), "note"),
        "[b][null][b][b][null][null][e]"
    );
}

#[test]
fn a_run_writes_what_the_preview_counted() {
    let lake = small();
    let plan =
        plan("sales", json!([{"filter": is("kind", "equal", json!("tea"))}, {"sort": [{"by": column("amount")}]}]));
    let out = lake.folder.path().join("out.parquet");
    let outcome = run_plan(&lake.context, &plan, &PreviewLimits::default(), &out).expect("a run");
    assert_eq!((outcome.rows, outcome.inputs.len()), (3, 1));
    assert!(out.is_file() && outcome.sql.contains("ORDER BY \"amount\" ASC NULLS LAST"), "{}", outcome.sql);
}

#[test]
fn plans_that_go_on_start_from_what_was_run() {
    let lake = small();
    let limits = PreviewLimits::default();
    let tea = plan("sales", json!([{"filter": is("kind", "equal", json!("tea"))}]));
    let out = lake.folder.path().join("step_1.parquet");
    run_step(&lake.context, &tea, &limits, &out).expect("a run");
    let more = json!([{"filter": is("kind", "equal", json!("tea"))}, {"group": {"measures": [{"function": "count"}]}}]);
    assert_eq!(rows(&lake, "sales", more.clone()), ["[3]"]);
    // A table that changes is read again.
    fs::write(lake.folder.path().join("sales.csv"), format!("{SALES}West,2022-01-01,tea,3,f\n")).expect("a file");
    assert_eq!(rows(&lake, "sales", more), ["[4]"]);
    let reports = lake.folder.path().join(".lakeward/cache/steps/reports");
    assert!(fs::read_dir(reports).expect("a folder").count() >= 4);
}

#[test]
fn rows_that_were_turned_have_no_keys() {
    let lake = small();
    let sums = json!({"group": {"keys": [{"of": column("kind")}], "measures": [
        {"function": "sum", "of": column("amount"), "as": "a"}, {"function": "count", "as": "b"}]}});
    let turn = json!({"unpivot": {"columns": ["a", "b"], "name": "n", "value": "v"}});
    let distinct = json!([sums, turn, keep(&["kind"]), {"distinct": []}]);
    assert_eq!(rows(&lake, "sales", distinct), ["[coffee]", "[tea]", "[water]"]);
    let semi = |kind: &str| {
        let mixed = json!({"union": {"others": [{"with": {"source": {"table": "more"}},
            "columns": [["kind", "Kind"], ["amount", "place"]]}]}});
        let on = json!([{"left": "kind", "right": "kind"}, {"left": "amount", "right": "amount"}]);
        let other = json!({"source": {"table": "sales"}, "steps": [{"filter": is("amount", "less", json!(30))}]});
        let join = json!({"join": {"with": other, "kind": kind, "on": on}});
        rows(&lake, "sales", json!([keep(&["kind", "amount"]), mixed, join])).join("")
    };
    assert_eq!(semi("semi"), "[tea,10][coffee,20][tea,5][tea,7][water,1]");
    assert_eq!(semi("anti"), "[coffee,40][coffee,40][tea,North][milk,West]");
}
