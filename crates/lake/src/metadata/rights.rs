//! What a record's statements of rights are: a licence, or only who may reach the data.

/// Who may reach the data, as the vocabularies of OpenAIRE (`info:eu-repo/semantics/`), COAR and the Publications Office of the EU
/// write it; letters only, in lower case, and the words for it.
const ACCESS: [(&str, &str); 12] = [
    ("openaccess", "open"),
    ("embargoedaccess", "embargoed"),
    ("restrictedaccess", "restricted"),
    ("closedaccess", "closed"),
    ("metadataonlyaccess", "metadata only"),
    ("cabf", "open"),
    ("cfcf", "embargoed"),
    ("cec", "restricted"),
    ("ccb", "metadata only"),
    ("public", "open"),
    ("restricted", "restricted"),
    ("nonpublic", "closed"),
];
/// Beginnings of the addresses of such terms.
const VOCABULARIES: [&str; 3] = ["info:eu-repo/semantics/", "purl.org/coar/access_right/", "/authority/access-right/"];
/// Words that only licences have; the longer ones also begin other words of them.
const LICENCE_WORDS: [&str; 17] = [
    "licen",
    "lizenz",
    "cc",
    "cc0",
    "creative",
    "creativecommons",
    "opendatacommons",
    "odbl",
    "odc",
    "pddl",
    "ogl",
    "gpl",
    "lgpl",
    "mit",
    "apache",
    "bsd",
    "dl",
];
/// What begins the date at which an embargo ends, in Dublin Core of OpenAIRE.
const EMBARGO_END: &str = "info:eu-repo/date/embargoEnd/";

/// Who may reach the data, where `statement` says just that: `open`, `embargoed`.
pub(super) fn access(statement: &str) -> Option<&'static str> {
    let statement = statement.trim();
    let vocabulary = VOCABULARIES.iter().find_map(|known| Some(statement.find(known)? + known.len()));
    let term: String = statement[vocabulary.unwrap_or(0)..]
        .chars()
        .filter(|c| c.is_alphabetic())
        .flat_map(char::to_lowercase)
        .collect();
    let known = ACCESS.iter().find(|(name, _)| *name == term);
    known.filter(|(name, _)| vocabulary.is_some() || name.ends_with("access")).map(|(_, access)| *access)
}

/// The licence among `statements`: the first that names one, else the first that does not only say who may reach the data.
pub(super) fn licence(statements: &[String]) -> Option<&String> {
    let mut others = statements.iter().filter(|statement| access(statement).is_none());
    statements
        .iter()
        .find(|statement| access(statement).is_none() && names_licence(statement))
        .or_else(|| others.next())
}

fn names_licence(statement: &str) -> bool {
    let lower = statement.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        let begins = |known: &&str| word == *known || known.len() > 4 && word.starts_with(known);
        LICENCE_WORDS.iter().any(begins)
    })
}

/// The date at which an embargo ends, where `text` is such a date of OpenAIRE.
pub(super) fn embargo_end(text: &str) -> Option<&str> {
    text.trim().strip_prefix(EMBARGO_END)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_licence_is_told_from_who_may_reach_the_data() {
        let licence_of = |statements: &[&str]| {
            let statements: Vec<String> = statements.iter().map(|statement| statement.to_string()).collect();
            licence(&statements).cloned().unwrap_or_default()
        };
        let by = "https://creativecommons.org/licenses/by/4.0/";
        assert_eq!(licence_of(&["info:eu-repo/semantics/openAccess", by]), by);
        assert_eq!(licence_of(&["Embargoed Access", "© University of Oslo", "CC BY 4.0"]), "CC BY 4.0");
        assert_eq!(licence_of(&["Open use", "Restricted Access"]), "Open use");
        assert_eq!(licence_of(&["Open Access"]), "");
        assert_eq!(access("http://purl.org/coar/access_right/c_f1cf"), Some("embargoed"));
        assert_eq!(access("http://publications.europa.eu/resource/authority/access-right/NON_PUBLIC"), Some("closed"));
        assert_eq!((access("public"), access("Access on request")), (None, None));
    }
}
