//! TREC run files: `query-id Q0 document-id rank score tag`, one document per line.
//!
//! Reading: the order is that of trec_eval, by descending score and, for equal scores, by descending document id; the rank
//! column is ignored. Writing: scores decrease strictly, even as 32-bit numbers, so that every scorer sees the intended order,
//! however it breaks ties.
//!
//! White space separates the fields, so in ids it is written as `%20` (`%09`, `%0A`, `%0B`, `%0C`, `%0D`), and a `%` that would be
//! read as one of these as `%25`; reading reverses this.

use std::collections::BTreeMap;
use std::path::Path;

use super::benchmark::Problems;
use super::layout::lines::{Line, bad_line, read_lines};
use super::system::Ranked;
use lakeward_core::error::Result;
use lakeward_core::store::{AtomicFile, Purpose};

/// Rankings by query, best first.
pub type Run = BTreeMap<String, Vec<Ranked>>;

/// White space in ids, as it is written.
const ESCAPES: [(&str, char); 6] =
    [("%20", ' '), ("%09", '\t'), ("%0A", '\n'), ("%0B", '\u{b}'), ("%0C", '\u{c}'), ("%0D", '\r')];

/// Reads a run file (also `.zst`). Documents that a query repeats count once, with their greatest score, and are reported as
/// problems.
///
/// # Errors
/// [`Error::Io`](lakeward_core::Error::Io), and [`Error::Usage`](lakeward_core::Error::Usage) with the invalid line.
pub fn read(path: &Path) -> Result<(Run, Problems)> {
    let mut run = Run::new();
    let mut problems = Problems::default();
    read_lines(path, |line| {
        let (query, ranked) = parse(line).map_err(|reason| bad_line(path, line.number, &reason))?;
        run.entry(query).or_default().push(ranked);
        Ok(())
    })?;
    for (query, ranking) in &mut run {
        ranking.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| b.id.cmp(&a.id)));
        let mut seen = std::collections::HashSet::new();
        ranking.retain(|ranked| {
            let first = seen.insert(ranked.id.clone());
            if !first {
                problems.add(
                    "documents that a query of the run repeats; the best place counts",
                    &format!("{query} {}", ranked.id),
                );
            }
            first
        });
    }
    Ok((run, problems))
}

fn parse(line: &Line<'_>) -> Result<(String, Ranked), String> {
    let fields: Vec<&str> = line.text.split_ascii_whitespace().collect();
    let [query, _, document, _, score, _] = fields[..] else {
        return Err(format!(
            "{} fields; a run has six: `query-id Q0 document-id rank score tag` (white space in ids as %20)",
            fields.len()
        ));
    };
    let score: f64 = score.parse().map_err(|_| format!("`{score}` is not a score"))?;
    if !score.is_finite() {
        return Err(format!("`{score}` is not a finite score"));
    }
    Ok((unescaped(query), Ranked { id: unescaped(document), score }))
}

/// Writes `rankings` (query, best first) to `path`, atomically; `tag` names the system.
///
/// # Errors
/// [`Error::Io`](lakeward_core::Error::Io).
pub fn write<'a>(
    path: &Path,
    tag: &str,
    rankings: impl IntoIterator<Item = (&'a str, Vec<(&'a str, f64)>)>,
) -> Result<()> {
    let mut file = AtomicFile::create(path, Purpose::Output)?;
    let tag = escaped(tag);
    for (query, ranking) in rankings {
        let query = escaped(query);
        let mut last = f32::INFINITY;
        for (place, (id, score)) in ranking.into_iter().enumerate() {
            last = falling(score, last);
            file.put(format!("{query} Q0 {} {} {last} {tag}\n", escaped(id), place + 1).as_bytes())?;
        }
    }
    file.replace().map(|_| ())
}

/// `score` if it is below `last`, otherwise the next number below `last`.
fn falling(score: f64, last: f32) -> f32 {
    let score = if score.is_finite() { score as f32 } else { 0.0 };
    let score = score.clamp(f32::MIN / 2.0, f32::MAX / 2.0);
    if score < last { score } else { last.next_down() }
}

/// `id` with its white space escaped.
pub fn escaped(id: &str) -> String {
    let mut out = String::with_capacity(id.len());
    for (at, c) in id.char_indices() {
        match ESCAPES.iter().find(|(_, space)| *space == c) {
            Some((escape, _)) => out.push_str(escape),
            None if c == '%' && is_escape(&id[at..]) => out.push_str("%25"),
            None => out.push(c),
        }
    }
    out
}

/// Whether `text` starts with an escape that [`unescaped`] would change.
fn is_escape(text: &str) -> bool {
    ESCAPES.iter().any(|(escape, _)| starts_with(text, escape)) || starts_with(text, "%25")
}

fn starts_with(text: &str, escape: &str) -> bool {
    text.get(..escape.len()).is_some_and(|start| start.eq_ignore_ascii_case(escape))
}

/// Reverses [`escaped`]; other escapes are kept.
pub fn unescaped(id: &str) -> String {
    if !id.contains('%') {
        return id.to_string();
    }
    let mut out = String::with_capacity(id.len());
    let mut rest = id;
    while let Some(c) = rest.chars().next() {
        if let Some((escape, space)) = ESCAPES.iter().find(|(escape, _)| starts_with(rest, escape)) {
            out.push(*space);
            rest = &rest[escape.len()..];
        } else if starts_with(rest, "%25") && is_escape(&format!("%{}", &rest[3..])) {
            out.push('%');
            rest = &rest[3..];
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_id_survives_escaping() {
        for id in ["plain", "a b\tc", "50%", "a%20b", "a%2520b", "%25", "%2525", "%41", "ä%", "%", "a\u{a0}b", "%2", ""]
        {
            let written = escaped(id);
            assert!(!written.contains([' ', '\t']), "{written}");
            assert_eq!(unescaped(&written), id, "{written}");
        }
        assert_eq!((escaped("a b").as_str(), escaped("geo/50%41").as_str()), ("a%20b", "geo/50%41"));
    }

    #[test]
    fn a_written_run_is_read_in_the_same_order_with_ties_and_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        let ranking =
            vec![("b", 1.0), ("a", 1.0), ("c c", 1.0), ("z", 2.0), ("n", f64::NAN), ("m", -1e300), ("l", -1e300)];
        write(&path, "our system", [("q 1", ranking)]).unwrap();
        let (run, problems) = read(&path).unwrap();
        let ids: Vec<&str> = run["q 1"].iter().map(|ranked| ranked.id.as_str()).collect();
        assert_eq!(ids, ["b", "a", "c c", "z", "n", "m", "l"]);
        assert!(problems.list().is_empty());
    }

    #[test]
    fn ties_are_read_as_in_trec_eval_and_bad_lines_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run");
        std::fs::write(&path, "q Q0 a 1 0.5 x\nq Q0 b 2 0.5 x\nq Q0 c 3 0.75 x\nq Q0 a 4 0.25 x\n\n").unwrap();
        let (run, problems) = read(&path).unwrap();
        let ids: Vec<&str> = run["q"].iter().map(|ranked| ranked.id.as_str()).collect();
        assert_eq!(ids, ["c", "b", "a"]);
        assert_eq!(problems.list().len(), 1);
        for (bad, expected) in
            [("q Q0 a 1 x y", "`x` is not a score"), ("q Q0 a 1 nan y", "finite"), ("q a 1", "3 fields")]
        {
            std::fs::write(&path, format!("q Q0 a 1 1 t\n{bad}\n")).unwrap();
            let error = read(&path).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains("line 2"), "{error}");
        }
    }
}
