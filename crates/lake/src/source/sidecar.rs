//! Files that describe tables, told by their names and, where tables have these names too, by their first bytes.

use std::io::Read;
use std::path::Path;

use crate::metadata::is_readme;
use crate::storage::{self, File};

/// Whether the name at the end of `path` is that of an XML file, packed or not.
pub(crate) fn is_xml(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    [".xml", ".xml.gz", ".xml.zst"].iter().any(|end| name.ends_with(end))
}

/// Whether the name at the end of `path` is that of a file of RDF/XML or Turtle.
pub(crate) fn is_rdf(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ["rdf", "ttl"].iter().any(|rdf| extension.eq_ignore_ascii_case(rdf)))
}

/// Whether the file describes tables and is no table itself.
pub(super) fn is_sidecar(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    if name.ends_with(".jsonld") || is_readme(&name) {
        return true;
    }
    let Some(stem) = name.strip_suffix(".json") else { return false };
    match stem {
        "datapackage" | "package_show" | "tableschema" | "dataset_infos" => true,
        // These names are also given to tables.
        "data" | "schema" | "metadata" => describes_tables(path),
        _ => {
            let describing = ["-metadata", "_metadata", ".metadata", ".schema", "-schema", ".datapackage"];
            ["croissant", "package_show", "datapackage"].iter().any(|start| stem.starts_with(start))
                || describing.iter().any(|end| stem.ends_with(end))
        }
    }
}

fn describes_tables(path: &Path) -> bool {
    const PEEK_BYTES: u64 = 4096;
    const WORDS: [&str; 7] =
        ["\"@context\"", "\"conformsTo\"", "\"dataset\"", "\"$schema\"", "\"fields\"", "\"resources\"", "\"@type\""];
    let mut head = Vec::new();
    let is_regular = storage::metadata(path).is_ok_and(|meta| meta.is_file());
    let read = is_regular.then(|| File::open(path).and_then(|file| file.take(PEEK_BYTES).read_to_end(&mut head)));
    let head = String::from_utf8_lossy(&head);
    matches!(read, Some(Ok(_))) && head.trim_start().starts_with('{') && WORDS.iter().any(|word| head.contains(word))
}
