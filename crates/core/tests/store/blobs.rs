//! A cache of texts: never a reason to fail, never more than it may hold.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use lakeward_core::Result;
use lakeward_core::store::BlobCache;

use super::steps::Fault;
use super::{at_every_step, child_that, names, place};

const MOST_FILES: usize = 8;

fn cache(place: &Path) -> BlobCache {
    BlobCache::new(&place.join("cache"), MOST_FILES, 100)
}

/// Keeps three texts.
pub fn fill(place: &Path) -> Result<()> {
    let cache = cache(place);
    ["a", "b", "c"].into_iter().for_each(|key| cache.put(key, &key.repeat(50)));
    Ok(())
}

#[test]
fn a_writer_stopped_at_any_step_leaves_whole_texts_or_none() {
    for fault in [Fault::Kill, Fault::Full] {
        let (_folder, place) = place();
        at_every_step(
            &place,
            fault,
            || {
                let _ = fs::remove_dir_all(place.join("cache"));
                child_that("blobs", &place)
            },
            |step, run| {
                for key in ["a", "b", "c"] {
                    let found = cache(&place).get(key);
                    assert!(found.is_none_or(|text| text == key.repeat(50)), "{fault:?} at step {step}");
                }
                assert!(fault == Fault::Kill || run.code == Some(0), "a full disk is no reason to fail: step {step}");
            },
        );
    }
}

#[test]
fn the_oldest_go_and_what_is_too_large_is_not_kept() {
    let (_folder, place) = place();
    let cache = cache(&place);
    assert_eq!(cache.get("a"), None);
    cache.put("a", &"x".repeat(101));
    assert_eq!(cache.get("a"), None);
    for number in 0..MOST_FILES {
        fs::create_dir_all(place.join("cache")).unwrap();
        fs::write(place.join("cache").join(format!("n{number}")), "1").unwrap();
    }
    cache.put("b", "2");
    assert_eq!((names(&place.join("cache")).len(), cache.get("b").as_deref()), (MOST_FILES / 2, Some("2")));
}

#[test]
fn what_is_no_text_of_this_cache_is_as_if_it_were_not_there() {
    let (_folder, place) = place();
    let cache = cache(&place);
    cache.put("a", "1");
    fs::write(place.join("secret"), "x").unwrap();
    for key in ["", ".", "..", "../secret", "a/b", "/etc/passwd", "ä"] {
        cache.put(key, "y");
        assert_eq!(cache.get(key), None, "{key}");
    }
    assert_eq!(
        (names(&place), fs::read_to_string(place.join("secret")).unwrap()),
        (vec!["cache".into(), "secret".into()], "x".into())
    );
    let file = place.join("cache").join("a");
    for damaged in [vec![0xff; 10], vec![b'x'; 101]] {
        fs::write(&file, damaged).unwrap();
        assert_eq!(cache.get("a"), None);
    }
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    assert_eq!(cache.get("a"), None);
    cache.put("a", "1");
}

#[test]
fn of_files_those_used_least_recently_go_but_none_in_use() {
    let (_folder, place) = place();
    let cache = BlobCache::of_files(&place.join("cache"), ".bin", 250, Duration::from_secs(600));
    let put = |key: &str, minutes: u64| {
        let path = cache.put_file(key, |file, path| {
            file.set_len(100).map_err(|error| lakeward_core::Error::io("write", path, error))
        });
        let file = fs::File::options().append(true).open(path.unwrap()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(minutes * 60)).unwrap();
    };
    put("old", 30);
    put("older", 40);
    put("new", 1);
    assert_eq!(names(&place.join("cache")), ["new.bin", "old.bin"]);
    assert!(cache.file("older").is_none() && cache.file("old").is_some(), "it is used now");
    put("newest", 0);
    assert_eq!(names(&place.join("cache")), ["new.bin", "newest.bin", "old.bin"]);
}
