//! Requests in other languages are put into English word by word; what is English stays as it is.

use lakeward_models::languages::translated;

fn english(text: &str) -> String {
    translated(text).map_or_else(|| format!("= {text}"), |found| found.text)
}

#[test]
fn words_are_put_into_english() {
    for (text, expected) in [
        ("Arbeitslosenquote der Landkreise 2009", "unemployment rate county 2009"),
        ("Bodenfeuchte in Bayern", "soil moisture in bavaria"),
        ("aves en Noruega", "bird in Norway"),
        ("Wasserverbrauch der Haushalte in Frankreich", "water consumption household in France"),
        ("qualité de l'eau des lacs depuis 1990", "water quality of lake since 1990"),
        ("¿Qué parte de la electricidad procede del carbón?", "which share of electricity of coal?"),
        ("taux de chômage", "unemployment rate"),
        ("tasa de desempleo", "unemployment rate"),
        ("temperatura de los lagos", "temperature of lake"),
        ("¿Hay datos de huracanes?", "data of hurricane?"),
        ("青藏高原湖泊的水质数据", "tibet plateau lake water quality data"),
        ("2000-2017年中国的GDP", "2000-2017 China GDP"),
    ] {
        assert_eq!(english(text), expected, "{text}");
    }
}

#[test]
fn english_stays_as_it_is() {
    for text in [
        "unemployment rate by county",
        "air quality in Paris",
        "die casting in Ontario",
        "the price of a house",
        "is it monthly?",
        "only those published after 2015",
        "10.5072/made.9",
        "xqzv blorf",
        "COVID",
        "crime in Los Angeles",
        "hay prices by war year",
        "la liga scores",
        "",
        "2",
    ] {
        assert_eq!(english(text), format!("= {text}"));
    }
}

#[test]
fn hostile_text_is_read_to_its_end() {
    for text in
        ["国".repeat(5000), "donaudampfschifffahrtsgesellschaft".repeat(200), "\u{202E}和\u{0}".into(), "¿¿''".into()]
    {
        let found = translated(&text);
        assert!(found.is_none_or(|found| found.text.len() <= 20 * text.len() + 20));
    }
}

/// Every text that people typed for the labels is English.
#[test]
fn english_requests_are_not_taken_for_another_language() {
    let labels = concat!(env!("CARGO_MANIFEST_DIR"), "/../../labels");
    let (mut requests, mut taken) = (0, Vec::new());
    for file in ["questions.jsonl", "requests.jsonl", "hard_requests.jsonl", "dialogues.jsonl", "intention.jsonl"] {
        let lines = std::fs::read_to_string(format!("{labels}/{file}")).expect("labels");
        let texts = lines.split('"').collect::<Vec<_>>();
        for text in texts.windows(3).filter(|three| three[0] == "text" && three[1] == ": ").map(|three| three[2]) {
            requests += 1;
            taken.extend(translated(text).map(|found| format!("{text} → {} ({:?})", found.text, found.language)));
        }
    }
    assert!(requests > 1000, "{requests}");
    assert!(taken.len() <= requests / 1000, "{} of {requests}:\n{}", taken.len(), taken.join("\n"));
}
