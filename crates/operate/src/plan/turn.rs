//! Steps that turn columns into rows and values into columns.

use super::Compiler;
use super::table::{Made, named, own};
use super::value::{TEXT, Typed, of_one_type};
use crate::inputs::{Family, InputColumn};
use crate::quote::{identifier, literal};
use lakeward_core::error::{Error, Result};
use lakeward_core::plan::{Comparison, Condition, Expression, Grouping, Key, Measure, Pivot, Unpivot, Value};

/// Most columns that a pivot makes.
const MOST_PIVOTED: usize = 200;

impl Compiler<'_> {
    pub(super) fn unpivot(&mut self, made: &mut Made, unpivot: &Unpivot) -> Result<()> {
        if unpivot.columns.is_empty() {
            return Err(Error::usage("no column is named to become rows"));
        }
        let turned: Vec<InputColumn> = made.table.columns_named(&unpivot.columns)?.into_iter().cloned().collect();
        let is_turned = |column: &InputColumn| turned.iter().any(|other| other.name == column.name);
        let mut columns: Vec<_> = own(&made.table).into_iter().filter(|(_, column)| !is_turned(column)).collect();
        let typed: Vec<Typed> =
            turned.iter().map(|column| Typed { sql: identifier(&column.name), column: column.clone() }).collect();
        let (values, data_type) = of_one_type(&typed);
        let names: Vec<String> = turned.iter().map(|column| literal(&column.name)).collect();
        columns.push((format!("unnest([{}])", names.join(", ")), InputColumn::computed(&named(&unpivot.name)?, TEXT)));
        let value = InputColumn::computed(&named(&unpivot.value)?, data_type);
        let value = InputColumn { writing: turned[0].writing.clone(), ..value };
        columns.push((format!("unnest([{}])", values.join(", ")), value));
        made.order.retain(|(name, _)| !turned.iter().any(|column| column.name == *name));
        self.project(made, "unpivoted", columns)?;
        self.close(made);
        if !unpivot.keep_missing {
            made.open.conditions.push(format!("{} IS NOT NULL", identifier(&unpivot.value)));
            made.open.does = "unpivoted";
        }
        Ok(())
    }

    pub(super) fn pivot(&mut self, made: &mut Made, pivot: &Pivot) -> Result<()> {
        let column = made.table.column(&pivot.column)?.clone();
        let of = Expression::column(column.name.clone());
        let values = if pivot.values.is_empty() { self.values_of(made, &column)? } else { pivot.values.clone() };
        if values.is_empty() {
            return Err(Error::usage(format!("`{}` has no values to make columns of", column.name)));
        }
        let measured: Vec<String> = pivot
            .measure
            .of
            .as_ref()
            .and_then(Expression::as_column)
            .map(|name| made.table.column(name).map(|column| column.name.clone()))
            .transpose()?
            .into_iter()
            .chain([column.name.clone()])
            .collect();
        let rows: Vec<String> = if pivot.rows.is_empty() {
            let others = made.table.columns.iter().filter(|other| !measured.contains(&other.name));
            others.map(|other| other.name.clone()).collect()
        } else {
            pivot.rows.clone()
        };
        let keys = rows.into_iter().map(|name| Key { of: Expression::Column(name), name: None }).collect();
        let cell = |value: &Value| {
            let is = Condition::Compare {
                left: of.clone(),
                comparison: Comparison::Equal,
                right: Expression::Value(value.clone()),
            };
            let condition = match &pivot.measure.condition {
                Some(condition) => is.and(condition.clone()),
                None => is,
            };
            Measure { condition: Some(condition), name: Some(value.to_string()), ..pivot.measure.clone() }
        };
        let measures = values.iter().map(cell).collect();
        self.group(made, &Grouping { keys, measures })?;
        made.open.does = "pivoted";
        Ok(())
    }

    /// The values of a column of the query so far, in their order.
    fn values_of(&mut self, made: &Made, column: &InputColumn) -> Result<Vec<Value>> {
        let mut parts = self.clone_parts();
        let mut copy = Made { order: Vec::new(), ..made.clone() };
        parts.close(&mut copy);
        let name = identifier(&column.name);
        let select = match column.family {
            Family::Time => {
                let name = &column.name;
                let advice = format!("`{name}` holds times; derive the date or the part that is to make columns");
                return Err(Error::usage(advice));
            }
            // Of texts with one normal form one stands for all.
            Family::Text => {
                let normal = column.call("value_normalize", &name);
                let from = &copy.open.from;
                format!("SELECT min({name})\nFROM {from}\nWHERE {normal} IS NOT NULL\nGROUP BY {normal}\nORDER BY 1")
            }
            _ => format!("SELECT DISTINCT {name}\nFROM {}\nWHERE {name} IS NOT NULL\nORDER BY 1", copy.open.from),
        };
        let sql = parts.with(&select);
        let most = MOST_PIVOTED;
        let texts = super::first_column(self.context, &sql, most + 1)?;
        if texts.len() > most {
            return Err(Error::usage(format!(
                "`{}` has more than {most} different values, too many to make a column of each; name the values",
                column.name
            )));
        }
        Ok(texts.into_iter().map(Value::Text).collect())
    }
}
