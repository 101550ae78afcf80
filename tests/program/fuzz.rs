//! Changed files of every durable thing, and of every form of catalogues.

use std::fs;
use std::path::{Path, PathBuf};

use lakeward_core::error::Error;
use lakeward_core::monitor::Silent;
use lakeward_index::build::BuildOptions;
use lakeward_index::build::shards::{self, ListFolder};
use lakeward_lake::metadata::Records;
use lakeward_models::embed::StaticModel;

use crate::catalogues::write_forms;
use crate::commands::copy;
use crate::durability::files;
use crate::durability::things::{THINGS, put_all};
use crate::fuzzing::fuzz;

/// Files of one thing that are changed.
const MOST_FILES: usize = 12;

#[test]
fn changed_durable_files() {
    for thing in THINGS {
        let place = tempfile::tempdir().expect("a folder");
        put_all(place.path());
        let at = place.path().join(thing.place);
        let own: Vec<PathBuf> = if at.is_file() {
            vec![at]
        } else {
            let is_own = |path: &PathBuf| !thing.place.is_empty() || path.starts_with(at.join("segments"));
            let manifest = at.join("manifest.json");
            let below = files(&at).into_iter().filter(|path| is_own(path) && *path != manifest);
            std::iter::once(manifest.clone()).chain(below).filter(|path| path.is_file()).take(MOST_FILES).collect()
        };
        assert!(!own.is_empty(), "{}", thing.name);
        for file in own {
            let name = file.file_name().expect("a name").to_string_lossy();
            // An answer of a model says nothing of itself.
            let forgiving = if thing.name == "answer" { " (forgiving)" } else { "" };
            fuzz(&format!("{} of {}{forgiving}", name, thing.name), &file, || (thing.read)(place.path()));
        }
    }
}

/// The list of a shared build, the tables of a shard and the row of what became of it: all lie where others write.
#[test]
fn changed_lists_of_shards() {
    let folder = tempfile::tempdir().expect("a folder");
    let (lake, index) = (folder.path().join("lake"), folder.path().join("index"));
    fs::create_dir_all(lake.join("land")).expect("a folder");
    fs::write(lake.join("towns.csv"), "town,people\nAby,3\nBo,4\n").expect("a file");
    fs::write(lake.join("land/rivers.csv"), "river,mouth\nAa,Aby\n").expect("a file");
    let (embedder, options) = (StaticModel::builtin(), BuildOptions::default());
    let made = shards::list(&lake, &index, embedder, &options, 1).expect("a list");
    let (at, name) = ListFolder::divide(Path::new(&made.list)).expect("a list");
    let list = ListFolder::of(&at, &name).expect("a list");
    let begin_anew = || ["rows", "segments"].iter().for_each(|part| _ = fs::remove_dir_all(list.folder().join(part)));
    let work = || {
        begin_anew();
        let row = shards::work(&list, 0, embedder, &Silent)?;
        // What is not there any more is said.
        if row.tables == 2 { Ok(()) } else { Err(Error::usage("not all tables were read")) }
    };
    work().expect("a row");
    let of = |place: &str| files(&list.folder().join(place)).into_iter().find(|path| path.extension().is_some());
    for path in [list.folder().join("list.json"), of("shards").expect("a shard")] {
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        fuzz(&format!("{name} of a shared build"), &path, work);
    }
    work().expect("a row");
    let kept = folder.path().join("kept");
    copy(&list.folder().join("segments"), &kept);
    fuzz("the row of a shard", &of("rows").expect("a row"), || {
        let _ = fs::remove_file(index.join("manifest.json"));
        copy(&kept, &list.folder().join("segments"));
        shards::commit(&list, &index, embedder, &options, false, &Silent).map(|_| ())
    });
}

/// All records of a file, with what each says.
fn read_records(path: &Path) -> Result<(), Error> {
    let records = Records::read(path, "catalogue")?;
    let flawed = records.left_out > 0 || records.flaws().next().is_some();
    let (_, records) = records.divide(&[])?;
    for record in &records {
        record.metadata()?;
    }
    if flawed { Err(Error::usage("some records are flawed")) } else { Ok(()) }
}

#[test]
fn changed_catalogues() {
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 6, 0) {
        return;
    }
    let mut forms: Vec<PathBuf> = files(folder.path());
    forms.retain(|path| path.file_name().is_some_and(|name| name != "truth.json"));
    forms.sort();
    let mut read = 0;
    for path in &forms {
        if Records::read(path, "catalogue").is_err() {
            continue;
        }
        read += 1;
        let name = path.strip_prefix(folder.path()).unwrap_or(path).display().to_string();
        fuzz(&format!("{name} (forgiving)"), path, || read_records(path));
    }
    assert!(read >= 5, "{forms:?}");
}
