//! What publishers say in German, French, Spanish or Chinese, in English words beside it, so that requests in English find it: the models in the
//! program read English, and a request in one of these languages is put into English, too ([`lakeward_models::languages`]).

use lakeward_core::text::{is_function_word, lower_words};
use lakeward_lake::metadata::TableMetadata;
use lakeward_models::languages::Language;

/// Bytes of a description that are put into English.
const DESCRIPTION_BYTES: usize = 2000;
/// A text is English where one of so many words is an English function word.
const FUNCTION_WORDS: usize = 3;

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
        let all = format!("{title}\n{description}\n{}\n{}", tags.join(", "), spatial.join(", "));
        if is_english(&all) {
            return None;
        }
        let language = Language::of(&all)?;
        let put = |text: &str| language.in_english(text).map_or_else(|| text.to_string(), |english| english.text);
        let each = |texts: &[String]| texts.iter().map(|text| put(text)).collect();
        Some(Self { title: put(title), description: put(description), tags: each(tags), places: each(spatial) })
    }
}

/// Whether a text has as many English function words as English has; some are words of other languages, too (`in`, `an`).
fn is_english(text: &str) -> bool {
    let (mut words, mut functions) = (0, 0);
    for word in lower_words(text) {
        words += 1;
        functions += usize::from(is_function_word(&word));
    }
    functions > 0 && functions * FUNCTION_WORDS >= words
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
        let found = InEnglish::of(&said("Bodenfeuchte in Bayern", "Messungen an drei Stationen")).expect("German");
        assert_eq!((found.title.as_str(), found.places.concat().as_str()), ("soil moisture in Bavaria", "Kenya"));
        let found = InEnglish::of(&said("冰岛的地震", "")).expect("Chinese");
        assert!(found.title.contains("Iceland") && found.title.contains("earthquake"), "{found:?}");
        assert_eq!(InEnglish::of(&said("Soil moisture in Bavaria", "Measurements at three stations")), None);
        assert_eq!(InEnglish::of(&TableMetadata::default()), None);
    }
}
