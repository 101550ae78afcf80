//! Tests of the built-in model: its similarities, its tokeniser, its file format.

use super::*;

const CASES: &str = include_str!("model/tokenizer_cases.jsonl");

fn cosine(a: &str, b: &str) -> f32 {
    let model = StaticModel::builtin();
    dot(&model.embed(a), &model.embed(b))
}

fn ids(text: &str) -> Vec<u32> {
    let mut ids = Vec::new();
    StaticModel::builtin().tokens(text, |t| ids.push(t.0));
    ids
}

/// Each line: a text, a text with nearly the same meaning, a text with another meaning.
const TRIPLES: &[(&str, &str, &str)] = &[
    ("population", "inhabitants", "album"),
    ("airport", "flights", "recipe"),
    ("revenue", "income", "river"),
    ("film", "movie", "temperature"),
    ("car", "vehicle", "poem"),
    ("doctor", "physician", "stadium"),
    ("country", "nation", "protein"),
    ("salary", "wage", "mountain"),
    ("illness", "disease", "orchestra"),
    ("city", "town", "salary"),
    ("student", "pupil", "rainfall"),
    ("firm", "company", "hurricane"),
    ("soccer", "football", "inflation"),
    ("rain", "precipitation", "senator"),
    ("author", "writer", "voltage"),
    ("price", "cost", "species"),
    ("address", "street", "calories"),
    ("birthplace", "born", "discount"),
    ("crime", "offence", "satellite"),
    ("hospital", "clinic", "league"),
    ("latitude", "longitude", "actor"),
    ("election", "votes", "glacier"),
    ("teacher", "school", "petrol"),
    ("song", "music", "unemployment"),
    ("train", "railway", "vitamin"),
    ("tree", "forest", "lawsuit"),
    ("bank", "loan", "violin"),
    ("number of residents", "population count", "goals scored"),
    ("customer id", "client number", "wind speed"),
    ("air pollution", "emissions of carbon dioxide", "tennis tournament winners"),
    ("Paris, Berlin, Madrid", "capital cities of Europe", "chemical elements"),
    ("goalkeeper, striker, midfielder", "soccer player positions", "tax rates"),
];

#[test]
fn similar_texts_are_closer_than_others() {
    let wrong: Vec<_> = TRIPLES.iter().filter(|(a, b, c)| cosine(a, b) <= cosine(a, c) + 0.1).collect();
    assert!(wrong.len() * 20 <= TRIPLES.len(), "{} of {} wrong: {wrong:?}", wrong.len(), TRIPLES.len());
}

#[test]
fn tokeniser_agrees_with_the_reference() {
    let mut count = 0;
    for line in CASES.lines() {
        let (text, expected): (String, Vec<u32>) = serde_json::from_str(line).unwrap();
        let found = ids(&text);
        let spell = |ids: &[u32]| ids.iter().map(|&i| StaticModel::builtin().piece(TokenId(i))).collect::<Vec<_>>();
        assert_eq!(found, expected, "{text:?}: {:?}, expected {:?}", spell(&found), spell(&expected));
        count += 1;
    }
    assert!(count >= 300, "{count} cases");
}

#[test]
fn vectors_have_length_one_and_repeat() {
    let model = StaticModel::builtin();
    for text in ["population of countries by year", "Łódź", "x", "東京", "12345"] {
        let (mut a, mut b) = (vec![9.0; model.dims()], vec![-9.0; model.dims()]);
        let n = model.embed_into(text, &mut a);
        assert_eq!(n, ids(text).len());
        assert_eq!(n, model.embed_into(text, &mut b));
        assert_eq!(a, b);
        assert!((dot(&a, &a) - 1.0).abs() < 1e-5);
    }
    assert_eq!(StaticModel::parse(include_bytes!("model/static.bin")).unwrap().id(), model.id());
    assert!(model.id().starts_with("lakeward-static-256@"), "{}", model.id());
    assert_eq!(model.id().len(), "lakeward-static-256@".len() + 8);
}

#[test]
fn text_without_tokens_gives_zeros() {
    let model = StaticModel::builtin();
    for text in ["", "   \t\n", "\0\0", "\u{fffd}", "\u{200b}\u{feff}"] {
        let mut out = vec![1.0; model.dims()];
        assert_eq!(model.embed_into(text, &mut out), 0, "{text:?}");
        assert!(out.iter().all(|&v| v == 0.0));
    }
}

#[test]
fn hostile_text_is_survived() {
    for c in ["a", "é", "东", "\0", ".", "\u{301}", "😀", "각", "ﷺ", "0"] {
        let text = c.repeat((1 << 20) / c.len());
        let n = ids(&text).len();
        assert!(n <= text.len());
        let mut out = vec![0.0; StaticModel::builtin().dims()];
        StaticModel::builtin().embed_into(&text, &mut out);
        assert!(out.iter().all(|v| v.is_finite()));
    }
    let all: String = (0..=0x10FFFFu32).filter_map(char::from_u32).collect();
    assert!(!ids(&all).is_empty());
    assert!(
        StaticModel::builtin()
            .embed(&String::from_utf8_lossy(&[0xF0, 0x28, 0x8C, 0x28, b'o', b'k', 0xFF]))
            .iter()
            .any(|&v| v != 0.0)
    );
}

#[test]
fn adding_tokens_is_embedding() {
    let model = StaticModel::builtin();
    let text = "Departure delays, 2019 (minutes)";
    let mut sum = vec![0.0; model.dims()];
    model.tokens(text, |token| model.add(token, 0.5, &mut sum));
    assert!(normalise(&mut sum));
    assert!((dot(&sum, &model.embed(text)) - 1.0).abs() < 1e-5);
}

#[test]
fn informative_words_weigh_more_than_empty_ones() {
    let model = StaticModel::builtin();
    let weight = |word: &str| {
        let id = ids(word);
        assert_eq!(id.len(), 1, "{word}");
        model.learned_weight(TokenId(id[0]))
    };
    for (informative, empty) in [("population", "the"), ("airport", "of"), ("tennis", ","), ("protein", "a")] {
        assert!(
            weight(informative) > 1.5 * weight(empty),
            "{informative} {} {empty} {}",
            weight(informative),
            weight(empty)
        );
    }
}

#[test]
fn normalise_handles_zero_and_infinite() {
    let mut ordinary = [3.0, 4.0];
    assert!(normalise(&mut ordinary));
    assert_eq!(ordinary, [0.6, 0.8]);
    for bad in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0], [1e30, 1e30]] {
        let mut acc = bad;
        assert!(!normalise(&mut acc), "{bad:?}");
        assert_eq!(acc, [0.0, 0.0]);
    }
}

/// A two-dimensional model of two tokens, as a file.
fn tiny() -> Vec<u8> {
    let mut file = b"LWSTATIC".to_vec();
    for n in [1u32, 2, 2, 5, 0, 2, 5] {
        file.extend(n.to_le_bytes());
    }
    file.extend(b"ab##c");
    for s in [0.5f32, 2.0] {
        file.extend(s.to_le_bytes());
    }
    file.extend([2, 0, 0, 0xFF]);
    file
}

fn parse(file: Vec<u8>) -> Result<StaticModel, ModelError> {
    StaticModel::parse(Box::leak(file.into_boxed_slice()))
}

#[test]
fn a_small_model_adds_up() {
    let model = parse(tiny()).unwrap();
    assert_eq!((model.dims(), model.vocabulary_len()), (2, 2));
    let mut acc = [0.0; 2];
    model.tokens("AB abc xyz abx", |token| model.add(token, 1.0, &mut acc));
    assert_eq!(acc, [2.0, -2.0]);
    assert_eq!(model.piece(TokenId(1)), "##c");
    assert_eq!(model.piece(TokenId(2)), "");
    assert_eq!(model.learned_weight(TokenId(1)), 2.0);
}

#[test]
fn damaged_files_are_reported() {
    assert_eq!(parse(b"PARQUET1".to_vec()).err(), Some(ModelError::Magic));
    assert!(matches!(parse(b"LWSTATIC12".to_vec()).err(), Some(ModelError::Damaged(_))));
    for cut in 0..tiny().len() {
        assert!(parse(tiny()[..cut].to_vec()).is_err(), "{cut}");
    }
    let mut longer = tiny();
    longer.push(0);
    assert!(matches!(parse(longer).err(), Some(ModelError::Size { .. })));
    let changed = |at: usize, bytes: &[u8]| {
        let mut file = tiny();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        parse(file).err()
    };
    assert_eq!(changed(8, &[2]), Some(ModelError::Version(2)));
    assert!(matches!(changed(12, &[0xFF; 4]), Some(ModelError::Size { .. })));
    assert!(matches!(changed(16, &[0xFF; 4]), Some(ModelError::Size { .. })));
    for (at, bytes) in [(24, [9, 0, 0, 0]), (28, [0xFF; 4]), (32, [1, 0, 0, 0]), (41, [0xFF; 4])] {
        assert!(matches!(changed(at, &bytes), Some(ModelError::Damaged(_))), "{at}");
    }
    assert!(matches!(changed(36, &[0xFF]), Some(ModelError::Damaged(_))), "not UTF-8");
    assert!(matches!(changed(28, &[0, 0, 0, 0]), Some(ModelError::Damaged(_))), "empty piece");
    // Changing any single byte gives either an error or a usable model.
    for at in 0..tiny().len() {
        for value in [0, 1, 0x7F, 0x80, 0xFF] {
            let mut file = tiny();
            file[at] = value;
            if let Ok(model) = parse(file) {
                model.embed("ab abc c #");
            }
        }
    }
}
