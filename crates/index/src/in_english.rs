//! What publishers say in German, French, Spanish or Chinese, in English words beside it, so that requests in English find it: the models in the
//! program read English, and a request in one of these languages is put into English, too ([`lakeward_models::languages`]).

use lakeward_lake::metadata::TableMetadata;
use lakeward_models::languages::{Language, is_plainly_english};

/// Bytes of a description that are put into English.
const DESCRIPTION_BYTES: usize = 2000;

/// What a publisher says, in English words.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct InEnglish {
    pub title: String,
    pub description: String,
    pub tags: Vec<String>,
    pub places: Vec<String>,
}

impl InEnglish {
    /// What `metadata` say; none where they are in English, or in a language that is not known here.
    pub fn of(metadata: &TableMetadata) -> Option<Self> {
        let TableMetadata { title, description, tags, spatial, .. } = metadata;
        let title = title.as_deref().unwrap_or_default();
        let description = description.as_deref().unwrap_or_default();
        let description = &description[..description.floor_char_boundary(DESCRIPTION_BYTES)];
        // Most is English, and each text is read twice while an index is made.
        let said = format!("{title}\n{description}");
        if is_plainly_english(&said) {
            return None;
        }
        let language = Language::of(&format!("{said}\n{}\n{}", tags.join(", "), spatial.join(", ")))?;
        let put = |text: &str| language.in_english(text).map_or_else(|| text.to_string(), |english| english.text);
        let each = |texts: &[String]| texts.iter().map(|text| put(text)).collect();
        Some(Self { title: put(title), description: put(description), tags: each(tags), places: each(spatial) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_languages_are_put_into_english_and_english_is_left_alone() {
        let said = |title: &str, description: &str| TableMetadata {
            title: Some(title.into()),
            description: Some(description.into()),
            spatial: vec!["Kenia".into()],
            ..TableMetadata::default()
        };
        let found = InEnglish::of(&said(
            "Bodenfeuchte in Bayern",
            "Messungen der Feuchte an drei Stationen und in zwei Tiefen des Bodens",
        ))
        .expect("German");
        assert_eq!((found.title.as_str(), found.places.concat().as_str()), ("soil moisture in bavaria", "Kenya"));
        let found = InEnglish::of(&said("冰岛的地震", "")).expect("Chinese");
        assert!(found.title.contains("Iceland") && found.title.contains("earthquake"), "{found:?}");
        assert_eq!(InEnglish::of(&said("Soil moisture in Bavaria", "Measurements at three stations")), None);
        assert_eq!(InEnglish::of(&TableMetadata::default()), None);
    }
}
