//! Dublin Core's encodings of places and periods in one text: `start=2004; end=2019`, `name=Etna; east=15.0; north=37.7`.
//!
//! <https://www.dublincore.org/specifications/dublin-core/dcmi-period/>, `dcmi-box`, `dcmi-point`.

use std::collections::HashMap;

/// The names that the components of such a text have.
const NAMES: [&str; 16] = [
    "start",
    "end",
    "name",
    "scheme",
    "east",
    "north",
    "elevation",
    "units",
    "zunits",
    "projection",
    "northlimit",
    "eastlimit",
    "southlimit",
    "westlimit",
    "uplimit",
    "downlimit",
];

/// The components of `text` by name, in lower case; `None` where it is no such text.
pub(super) fn parts(text: &str) -> Option<HashMap<String, &str>> {
    let components = text.split(';').map(str::trim).filter(|component| !component.is_empty());
    let parts: HashMap<String, &str> = components
        .map(|component| {
            let (name, value) = component.split_once('=')?;
            let name = name.trim().to_lowercase();
            NAMES.contains(&name.as_str()).then(|| (name, value.trim()))
        })
        .collect::<Option<_>>()?;
    (!parts.is_empty()).then_some(parts)
}

/// Whether the components are those of a period.
pub(super) fn is_period(parts: &HashMap<String, &str>) -> bool {
    parts.contains_key("start") || parts.contains_key("end")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_texts_of_named_components_are_read() {
        let period = parts("name=The Great Depression; start=1929; End = 1939;").unwrap();
        assert!(is_period(&period) && period["end"] == "1939");
        assert!(!is_period(&parts("name=Etna; east=15.0; north=37.7").unwrap()));
        assert!(["Norway; Sweden", "a=b", "", ";", "start=1; Norway"].iter().all(|text| parts(text).is_none()));
    }
}
