//! The direction of imports: a module uses only modules to its left. ARCHITECTURE.md gives the reasons.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Left to right; modules of one entry may use each other.
const LAYERS: [&[&str]; 24] = [
    &["error"],
    &["guard"],
    &["text"],
    &["sketch"],
    &["lake"],
    &["request"],
    &["llm"],
    &["embed"],
    &["papers"],
    &["index"],
    &["cite"],
    &["intent"],
    &["retrieve"],
    &["augment"],
    &["task_graph"],
    &["recommend"],
    &["operate"],
    &["session"],
    &["agentic"],
    &["agent"],
    &["lakeward"],
    &["functions"],
    &["eval"],
    &["cli"],
];

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The modules that `text` names as `crate::module`, in one path or in a braced list.
fn used_modules(text: &str) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for (at, _) in text.match_indices("crate::") {
        let before = text[..at].chars().next_back();
        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$') {
            continue;
        }
        let rest = &text[at + "crate::".len()..];
        let names: Vec<&str> = match rest.strip_prefix('{') {
            Some(list) => list.split('}').next().unwrap_or_default().split(',').map(str::trim).collect(),
            None => vec![rest],
        };
        for name in names {
            let module: String = name.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            used.insert(module);
        }
    }
    used
}

#[test]
fn every_module_uses_only_what_stands_to_its_left() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    assert!(files.len() > 30, "the source was not found");
    let mut wrong = Vec::new();
    for path in files {
        let relative = path.strip_prefix(&source).expect("below src");
        let first = relative.components().next().expect("a name").as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs").to_string();
        if module == "lib" || module == "main" {
            continue;
        }
        let own = layer_of(&module).unwrap_or_else(|| panic!("`{module}` has no layer; add it to LAYERS"));
        for used in used_modules(&fs::read_to_string(&path).expect("a source file")) {
            if layer_of(&used).is_some_and(|layer| layer > own) {
                wrong.push(format!("{}: uses `{used}`", relative.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "imports against the direction:\n{}", wrong.join("\n"));
}

#[test]
fn only_the_command_line_prints() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&source, &mut files);
    for path in files {
        let relative = path.strip_prefix(&source).expect("below src").display().to_string();
        let text = fs::read_to_string(&path).expect("a source file");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let prints = ["println!", "eprintln!", "print!("].iter().any(|call| code.contains(call));
        let test_only = relative.contains("tests") || relative.contains("measure");
        assert!(!prints || relative.starts_with("cli") || test_only, "{relative} prints");
    }
}
