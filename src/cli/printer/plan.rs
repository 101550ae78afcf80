//! Output of plans: their steps in words, with rows, facts and warnings where a preview has them; first rows of results.

use serde_json::Value;

use super::out;
use crate::messages::{count, fill, in_language, say};
use lakeward_core::plan::Plan;
use lakeward_core::text::shown;
use lakeward_operate::PlanPreview;

/// Characters of a sentence.
const SENTENCE: usize = 600;
/// Characters of a line of SQL.
const SQL_LINE: usize = 4000;
/// Number of result rows shown: in a list, and if the result is too wide for a list.
const SAMPLE: [usize; 2] = [10, 3];
/// Most columns that are shown as a list.
const LISTED_COLUMNS: usize = 12;

/// The source and the numbered steps.
pub fn steps(plan: &Plan) {
    out(&shown(&plan.relation.source.to_string(), SENTENCE));
    for (place, step) in plan.relation.steps.iter().enumerate() {
        out(&format!("{:>2}. {}", place + 1, shown(&in_language(&step.message()), SENTENCE)));
    }
}

/// The same with the figures of a preview. Each warning is a line that begins with `warning: `.
pub fn preview(plan: &Plan, preview: &PlanPreview) {
    out(&format!("{}: {}", shown(&plan.relation.source.to_string(), SENTENCE), count(preview.rows_in, "row")));
    for (place, step) in preview.steps.iter().enumerate() {
        let rows = step.rows.map_or_else(String::new, |rows| format!(" → {}", count(rows, "row")));
        out(&format!("{:>2}. {}{rows}", place + 1, shown(&in_language(&step.does), SENTENCE)));
        step.facts.iter().for_each(|fact| out(&format!("    {}", shown(fact, SENTENCE))));
        for warning in preview.warnings.iter().filter(|warning| warning.step == place + 1) {
            out(&format!("{}: {}", say("warning"), shown(&warning.text, SENTENCE)));
        }
    }
}

/// SQL, each line behind `indent`.
pub fn sql(sql: &str, indent: &str) {
    sql.lines().for_each(|line| out(&format!("{indent}{}", shown(line, SQL_LINE))));
}

/// All first rows of a result.
pub fn sample(preview: &PlanPreview) {
    rows(preview, preview.sample.len());
}

/// Some of the first rows, of a wide result fewer.
pub fn short_sample(preview: &PlanPreview) {
    rows(preview, SAMPLE[usize::from(preview.columns.len() > LISTED_COLUMNS)]);
}

fn rows(preview: &PlanPreview, most: usize) {
    let text = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(String::new, without_rounding),
        other => other.to_string(),
    };
    let rows: Vec<Vec<String>> = preview.sample.iter().take(most).map(|row| row.iter().map(text).collect()).collect();
    if rows.is_empty() {
        return;
    }
    super::rows(&preview.columns, &rows, 0);
    if (rows.len() as u64) < preview.rows_out {
        out(&fill("({} of {})", &[&rows.len().to_string(), &count(preview.rows_out, "row")]));
    }
}

/// A number with the digits that its computation leaves certain: 12.3 for 12.299999999999999.
fn without_rounding(number: f64) -> String {
    Value::from(format!("{number:.12e}").parse::<f64>().unwrap_or(number)).to_string()
}
