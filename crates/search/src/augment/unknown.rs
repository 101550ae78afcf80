//! Which facets of a table its facts leave open, so that nobody reads an answer into a question.

use super::FactKind;
use super::facts::Facts;
use super::phrases::words_of;
use super::rules::years_of;
use lakeward_core::text::bare;
use lakeward_lake::semantic::SemanticType;
use lakeward_sketch::temporal::MONTHS;

/// Words by which a description says how figures came about.
const METHOD_WORDS: [&str; 22] = [
    "assessed",
    "based",
    "calculated",
    "census",
    "collected",
    "compiled",
    "computed",
    "derived",
    "estimate",
    "estimated",
    "estimates",
    "measured",
    "measurements",
    "method",
    "methodology",
    "methods",
    "model",
    "modeled",
    "modelled",
    "sampled",
    "survey",
    "surveyed",
];
/// Words by which a description says whom or what the rows stand for.
const POPULATION_WORDS: [&str; 22] = [
    "adults",
    "aged",
    "all",
    "children",
    "citizens",
    "each",
    "employees",
    "every",
    "families",
    "households",
    "individuals",
    "inhabitants",
    "members",
    "patients",
    "people",
    "persons",
    "population",
    "residents",
    "respondents",
    "students",
    "women",
    "workers",
];
/// Words by which a column or a text says what a figure is measured in.
const UNIT_WORDS: [&str; 42] = [
    "acres",
    "celsius",
    "cents",
    "cm",
    "count",
    "day",
    "days",
    "degrees",
    "dollars",
    "eur",
    "euros",
    "fahrenheit",
    "feet",
    "gbp",
    "ha",
    "hectares",
    "hours",
    "inches",
    "kg",
    "km",
    "kwh",
    "liters",
    "litres",
    "mg",
    "ml",
    "µg",
    "meters",
    "metres",
    "miles",
    "minutes",
    "mm",
    "mw",
    "number",
    "pct",
    "percent",
    "percentage",
    "pounds",
    "rate",
    "seconds",
    "tonnes",
    "tons",
    "usd",
];

/// The facets that `facts` leave open, in the order of [`FactKind`].
pub(super) fn unknown(facts: &Facts) -> Vec<FactKind> {
    let said = words_of(&facts.description);
    let has = |list: &[&str]| said.iter().any(|word| list.contains(&word.as_str()));
    let titled = facts.title.as_deref().unwrap_or_default();
    let in_column = |list: &[&str]| {
        facts.columns.iter().any(|column| words_of(&column.words).iter().any(|word| list.contains(&word.as_str())))
    };
    let measured = facts.columns.iter().any(|column| {
        let is_percentage = matches!(column.semantic, Some(SemanticType::Percentage));
        column.unit.is_some() || is_percentage || column.name.contains(['%', '$', '€', '£'])
    });
    let subject = [&facts.name(), &facts.tags.join(" "), &facts.description]
        .iter()
        .any(|text| text.chars().any(char::is_alphabetic));
    let place = !facts.places.is_empty() || names_place(&facts.description) || names_place(titled);
    let period = facts.period.is_some() || !years_of(&facts.description).is_empty() || !years_of(titled).is_empty();
    let known = |facet: FactKind| match facet {
        FactKind::Subject => subject,
        FactKind::Place => place,
        FactKind::Period => period,
        FactKind::Unit => measured || in_column(&UNIT_WORDS) || has(&UNIT_WORDS),
        FactKind::Publisher => facts.publisher.is_some(),
        FactKind::Population => has(&POPULATION_WORDS),
        FactKind::Method => has(&METHOD_WORDS),
        FactKind::Licence => facts.has_licence,
    };
    FactKind::ALL.into_iter().filter(|facet| !known(*facet)).collect()
}

/// Whether a text names something with a capital behind a word of place: `in Maryland`. Months are no places.
fn names_place(text: &str) -> bool {
    const BEFORE: [&str; 6] = ["in", "across", "within", "throughout", "near", "im"];
    let words: Vec<&str> = text.split_whitespace().collect();
    words.windows(2).any(|pair| {
        let next = match pair[1] {
            "the" => "",
            next => bare(next),
        };
        BEFORE.contains(&pair[0].to_lowercase().as_str())
            && next.starts_with(char::is_uppercase)
            && !MONTHS.contains(&next)
            && next.chars().any(char::is_lowercase)
    })
}
