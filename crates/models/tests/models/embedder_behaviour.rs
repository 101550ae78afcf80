//! What every [`Embedder`] promises: vectors of length 1 or of zeros for any text, the same ones on every call and every thread, one
//! text being several with one weight; and that what it says of its pieces or of its server holds.

use lakeward_models::embed::{Embedder, EmbedderExt, RemoteEmbedder, TokenEmbedder, dot};

/// Checks `model`, which knows the words of `known`, two texts of different meaning.
pub fn embedder_behaves(model: &dyn Embedder, known: [&str; 2]) {
    let (id, dims) = (model.id().to_string(), model.dims());
    assert!(!id.is_empty() && dims > 0, "{id}: {dims}");
    any_text_is_accepted(model, known);
    let [one, other] = known.map(|text| model.embed(text));
    assert_ne!(one, other, "{id}: {known:?}");
    weights_count(model, known[0], &one);
    threads_agree(model, known, [&one, &other]);
    let by_reference: &dyn Embedder = &model;
    assert_eq!((by_reference.id(), by_reference.embed(known[0])), (id.as_str(), one.clone()));
    assert_eq!(by_reference.as_token_embedder().is_some(), model.as_token_embedder().is_some());
    assert_eq!(by_reference.as_remote().is_some(), model.as_remote().is_some());
    if let Some(tokens) = model.as_token_embedder() {
        pieces_have_vectors(tokens, known[0]);
    }
    if let Some(remote) = model.as_remote() {
        asking_ahead_changes_nothing(remote, known, [&one, &other]);
    }
    assert_eq!(model.failure(), None, "{id}");
    assert_eq!((model.id(), model.dims()), (id.as_str(), dims), "the id and the length changed");
}

fn any_text_is_accepted(model: &dyn Embedder, known: [&str; 2]) {
    let long = format!("{} ", known[0]).repeat(5_000);
    let every_plane: String = (0..0x11_0000).step_by(0x111).filter_map(char::from_u32).collect();
    for text in [known[0], known[1], &long, &every_plane, "\0\u{1}\u{7f}", "東京 ﷺ 😀", "```json {\"a\": 1}", "---"]
    {
        // What was in the vector before does not count.
        let (mut vector, mut again) = (vec![9.0; model.dims()], vec![f32::NAN; model.dims()]);
        let tokens = model.embed_into(text, &mut vector);
        assert_eq!(model.embed_into(text, &mut again), tokens, "{}", model.id());
        assert_eq!(vector, again, "{}", model.id());
        let length = dot(&vector, &vector).sqrt();
        match tokens {
            0 => assert!(vector.iter().all(|value| *value == 0.0), "{}", model.id()),
            _ => assert!((length - 1.0).abs() < 1e-4, "{}: a vector of length {length}", model.id()),
        }
    }
    for text in ["", " ", "\t\r\n ", "\u{200b}\u{feff}"] {
        let mut vector = vec![9.0; model.dims()];
        assert_eq!(model.embed_into(text, &mut vector), 0, "{}: {text:?}", model.id());
        assert_eq!(vector, vec![0.0; model.dims()], "{}: {text:?}", model.id());
    }
    assert!(known.iter().all(|text| model.embed(text).iter().any(|value| *value != 0.0)), "{}", model.id());
}

fn weights_count(model: &dyn Embedder, text: &str, vector: &[f32]) {
    let weighted = |texts: &[(&str, f32)]| {
        let mut vector = vec![9.0; model.dims()];
        let tokens = model.embed_weighted(texts, &mut vector);
        assert_eq!(tokens == 0, vector.iter().all(|value| *value == 0.0), "{}: {texts:?}", model.id());
        vector
    };
    assert_eq!(weighted(&[(text, 1.0)]), vector, "{}", model.id());
    let heavier = weighted(&[(text, 4.0)]);
    assert!(dot(&heavier, vector) > 0.9999, "{}: weights are relative", model.id());
    assert_eq!(weighted(&[]), vec![0.0; model.dims()], "{}", model.id());
    assert_eq!(weighted(&[(text, 0.0)]), vec![0.0; model.dims()], "{}", model.id());
}

fn threads_agree(model: &dyn Embedder, texts: [&str; 2], vectors: [&Vec<f32>; 2]) {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for turn in 0..6 {
                    let which = (thread + turn) % 2;
                    assert_eq!(&model.embed(texts[which]), vectors[which], "{}", model.id());
                }
            });
        }
    });
}

fn pieces_have_vectors(model: &dyn TokenEmbedder, text: &str) {
    let count = model.count_pieces(text);
    assert!(count > 0 && model.count_pieces("") == 0, "{}", model.id());
    for (most, marks) in [(count, false), (count, true), (1, false), (1, true)] {
        let mut rows = vec![5.0];
        let pieces = model.embed_pieces(text, most, marks, &mut rows);
        assert_eq!(pieces.len(), most + 2 * usize::from(marks), "{}", model.id());
        assert!(pieces.iter().all(|piece| (*piece as usize) < model.vocabulary_len()), "{}: {pieces:?}", model.id());
        assert_eq!((rows[0], rows.len()), (5.0, 1 + pieces.len() * model.dims()), "{}: rows are appended", model.id());
        for row in rows[1..].chunks(model.dims()) {
            assert!((dot(row, row) - 1.0).abs() < 1e-4, "{}: {row:?}", model.id());
        }
    }
}

fn asking_ahead_changes_nothing(model: &dyn RemoteEmbedder, texts: [&str; 2], vectors: [&Vec<f32>; 2]) {
    model.prefetch(&[]);
    model.prefetch(&[String::new(), texts[0].to_string(), texts[1].to_string(), texts[0].to_string()]);
    model.retry();
    for (text, vector) in texts.iter().zip(vectors) {
        assert_eq!(&model.embed(text), vector, "{}", model.id());
    }
}
