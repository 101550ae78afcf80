//! What a preview warns of before anything runs.

use lakeward_operate::{PreviewLimits, WarningKind, plan_preview};
use serde_json::{Value, json};

use super::plans::{Lake, SALES, SHOPS, column, is, keep, lake, plan, preview};

fn warned(lake: &Lake, source: &str, steps: Value) -> Vec<(WarningKind, String)> {
    let preview = preview(lake, &plan(source, steps));
    preview.warnings.into_iter().map(|warning| (warning.kind, warning.text)).collect()
}

fn measured(function: &str, name: &str) -> Value {
    json!({"group": {"measures": [{"function": function, "of": column(name)}]}})
}

#[test]
fn a_preview_warns_before_anything_runs() {
    let lake = lake(&[
        ("sales.csv", SALES),
        ("shops.csv", SHOPS),
        ("twice.csv", "name,tax\nNorth,1\nNorth,2\nnorth,3\n"),
        ("sums.csv", "place,people\nA,10\nB,20\nTotal,30\n"),
        ("mixed.csv", "id,size\n1,12\n2,about 9\n3,large\n4,7\n5,huge\n"),
    ]);
    let warned = |source: &str, steps: Value| warned(&lake, source, steps);
    let first = |source: &str, steps: Value| warned(source, steps).into_iter().next().expect("a warning");
    let (kind, text) = first("sales", json!([{"filter": is("kind", "equal", json!("cofee"))}]));
    assert!(kind == WarningKind::NothingLeft && text.contains("coffee"), "{text}");
    let (kind, text) = first("sales", json!([{"filter": is("amount", "greater", json!(500))}]));
    assert!(kind == WarningKind::NothingLeft && text.contains("from 1 to 40"), "{text}");
    assert_eq!(first("sales", json!([{"filter": is("amount", "less", json!(500))}])).0, WarningKind::NoChange);
    assert_eq!(first("sales", json!([{"limit": {"rows": 7}}])).0, WarningKind::NoChange);
    let to_twice =
        json!([{"join": {"with": {"source": {"table": "twice"}}, "on": [{"left": "shop", "right": "name"}]}}]);
    let kinds: Vec<WarningKind> = warned("sales", to_twice).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [WarningKind::RowsMultiplied, WarningKind::MostUnmatched]);
    let mean = json!([{"group": {"keys": [{"of": column("shop")}], "measures": [{"function": "mean", "of": column("amount")}]}},
        {"group": {"measures": [{"function": "mean", "of": column("mean_amount")}]}}]);
    assert_eq!(first("sales", mean).0, WarningKind::MeanOfMeans);
    let sum = |name: &str| json!([{"group": {"measures": [{"function": "sum", "of": column(name)}]}}]);
    assert_eq!(first("sums", sum("people")).0, WarningKind::TotalsAmongParts);
    assert_eq!(first("mixed", sum("size")).0, WarningKind::TextAsNumbers);
    assert!(warned("sales", sum("amount")).is_empty());
}

#[test]
fn numbers_of_different_units_are_not_computed_together_silently() {
    let lake = lake(&[
        ("prices.csv", "item,price,weight\na,$5,5 kg\nb,€7.5,7 kg\nc,$1200,3 lb\nd,8,1 kg\n"),
        ("long.csv", "country,indicator,amount\nA,rain mm,5\nA,sun hours,7\nB,rain mm,4\nB,sun hours,9\n"),
    ]);
    let mixed = |source: &str, steps: Value| {
        let mut warned = warned(&lake, source, steps);
        warned.retain(|(kind, _)| *kind == WarningKind::MixedUnits);
        warned.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("; ")
    };
    let text = mixed("prices", json!([measured("sum", "price")]));
    assert!(text.contains("no sign, $, €"), "{text}");
    let text = mixed("prices", json!([measured("sum", "weight")]));
    assert!(text.contains("kg, lb"), "{text}");
    let text = mixed("long", json!([measured("mean", "amount")]));
    assert!(text.contains("indicator") && text.contains("rain mm, sun hours"), "{text}");
    let rain = json!({"filter": is("indicator", "equal", json!("rain mm"))});
    assert_eq!(mixed("long", json!([rain, measured("mean", "amount")])), "");
    let by = json!({"group": {"keys": [{"of": column("indicator")}], "measures": [{"function": "mean", "of": column("amount")}]}});
    assert_eq!(mixed("long", json!([by])), "");
}

#[test]
fn values_that_no_row_has_are_reported_beside_those_that_rows_have() {
    let lake = lake(&[("sales.csv", SALES)]);
    let texts = |condition: Value| {
        let warned = warned(&lake, "sales", json!([{"filter": condition}]));
        warned.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("; ")
    };
    let list = json!({"one_of": {"value": column("kind"), "values": ["tea", "cofee"]}});
    assert_eq!(texts(list.clone()), "there is no row whose kind is cofee; the nearest are coffee");
    let out = texts(json!({"not": list}));
    assert_eq!(out, "there is no row whose kind is cofee; the nearest are coffee");
    let all = texts(is("kind", "different", json!("milk")));
    assert!(all.starts_with("there is no row whose kind is milk") && all.contains("changes nothing"), "{all}");
    let many: Vec<String> = (0..9).map(|number| format!("x{number}")).chain(["tea".to_string()]).collect();
    let many = texts(json!({"one_of": {"value": column("kind"), "values": many}}));
    assert!(many.ends_with("nor are there rows for 6 more values of the condition"), "{many}");
    assert_eq!(texts(is("kind", "equal", json!("tea"))), "");
}

#[test]
fn lost_keys_and_text_in_the_order_of_numbers_are_reported() {
    let lake = lake(&[
        ("shops.csv", SHOPS),
        ("codes.csv", "id,size\n1,9\n2,10\n3,11\n4,about 5\n"),
        ("sales.csv", SALES),
        ("rates.csv", "country,mean_income\nA,5\nB,7\nC,9\n"),
    ]);
    let kinds = |source: &str, steps: Value| -> Vec<WarningKind> {
        warned(&lake, source, steps).into_iter().map(|(kind, _)| kind).collect()
    };
    let group = json!({"group": {"keys": [{"of": column("shop")}, {"of": column("kind")}],
        "measures": [{"function": "count"}]}});
    assert_eq!(kinds("sales", json!([group, {"drop": ["kind"]}])), [WarningKind::KeyDropped]);
    assert_eq!(kinds("sales", json!([group, {"rename": [["kind", "what"]]}, keep(&["shop", "what"])])), []);
    assert_eq!(kinds("sales", json!([{"drop": ["note"]}])), []);
    assert_eq!(kinds("codes", json!([{"sort": [{"by": column("size")}]}])), [WarningKind::TextAsNumbers]);
    assert_eq!(kinds("shops", json!([{"sort": [{"by": column("region")}]}])), []);
    assert_eq!(kinds("rates", json!([measured("mean", "mean_income")])), [WarningKind::MeanOfMeans]);
}

#[test]
fn columns_that_were_asked_for_are_not_lost_without_a_word() {
    let lake = lake(&[("shops.csv", SHOPS), ("sales.csv", SALES)]);
    let region = json!({"join": {"with": {"source": {"table": "shops"}}, "on": [{"left": "shop", "right": "name"}],
        "columns": [{"column": "region"}]}});
    let twice = json!({"derive": {"name": "twice", "value": {"arithmetic":
        {"operator": "times", "left": column("amount"), "right": {"value": 2}}}}});
    let by = |key: &str| json!({"group": {"keys": [{"of": column(key)}], "measures": [{"function": "sum", "of": column("amount")}]}});
    let lost = |asked: &[&str], steps: Value| -> Vec<String> {
        let asked_for = asked.iter().map(|words| words.to_string()).collect();
        let limits = PreviewLimits { asked_for, ..PreviewLimits::default() };
        let preview = plan_preview(&lake.context, &plan("sales", steps), &limits).expect("a preview");
        let lost = preview.warnings.into_iter().filter(|warning| warning.kind == WarningKind::TargetDropped);
        lost.map(|warning| warning.text).collect()
    };
    assert_eq!(lost(&[], json!([region, by("kind")])), ["step 2 leaves out region, which was asked for"]);
    assert_eq!(lost(&[], json!([region, by("region")])), [""; 0]);
    assert_eq!(lost(&[], json!([region, {"filter": is("region", "equal", json!("upper"))}, by("kind")])), [""; 0]);
    assert_eq!(lost(&[], json!([twice, {"drop": ["twice"]}])), ["step 2 leaves out twice, which was asked for"]);
    assert_eq!(lost(&[], json!([twice, keep(&["twice"]), {"rename": [["twice", "double"]]}])), [""; 0]);
    assert_eq!(lost(&["amounts"], json!([keep(&["shop", "kind"])])), ["step 1 leaves out amount, which was asked for"]);
    assert_eq!(lost(&["amount"], json!([by("kind"), {"limit": {"rows": 1}}])), [""; 0]);
    assert_eq!(lost(&["staff"], json!([keep(&["shop", "kind"])])), [""; 0]);
}

#[test]
fn new_gaps_are_reported() {
    let lake = lake(&[("sales.csv", SALES)]);
    let ratio = json!({"arithmetic": {"operator": "divided_by", "left": {"value": 1},
        "right": {"arithmetic": {"operator": "minus", "left": column("amount"), "right": {"value": 40}}}}});
    let preview = preview(&lake, &plan("sales", json!([{"derive": {"name": "x", "value": ratio}}])));
    assert_eq!(preview.steps[0].facts, ["without a value in 2 of 7 rows"]);
}
