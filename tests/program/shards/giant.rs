//! A table that is larger than the shares of two shards: some columns each, and the bytes of one process.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::{Place, assert_same, timeless};

/// A table of 70 MB with keys and figures: more than the share of a shard.
fn giant(place: &Place) {
    let mut text = String::from("well,when,basin,depth,yield,operator,remark\n");
    for row in 0..1_150_000u64 {
        let mixed = row.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24;
        let (day, month, basin) = (1 + mixed % 28, 1 + mixed % 12, mixed % 61);
        writeln!(
            text,
            "W{mixed},2019-{month:02}-{day:02},basin {basin},{}.{},{},op {},checked once more",
            row % 4000,
            row % 7,
            mixed % 907,
            mixed % 211
        )
        .expect("a text");
    }
    place.write("fields/wells.csv", &text);
    std::thread::sleep(Duration::from_millis(200));
}

#[test]
fn a_giant_table_is_shared_by_its_columns() {
    let place = Place::of(&["geo"]);
    giant(&place);
    let one = place.build("one", &["--fast"]);
    for count in [3, 5] {
        let name = format!("shards-{count}");
        let listed = place.list(&name, count, &["--fast"]);
        let list = listed["list"].as_str().expect("a list");
        let shards = listed["shards"].as_array().expect("shards");
        let parts: Vec<u64> = shards.iter().map(|shard| shard["parts"].as_u64().unwrap_or(0)).collect();
        assert_eq!(parts.iter().sum::<u64>(), count as u64, "{listed}");
        let rows: Vec<Value> = (0..count).rev().map(|shard| place.work(list, shard)).collect();
        assert_eq!(timeless(rows[0].clone()), timeless(place.work(list, count - 1)), "a part is always the same");
        assert_eq!(fs::read_dir(Path::new(list).join("parts")).expect("parts").count(), count);
        // A part that was damaged is as one that is missing.
        let kept = rows[0]["parts"][0]["file"].as_str().expect("a part");
        let kept = Path::new(list).join("parts").join(kept);
        let bytes = fs::read(&kept).expect("a part");
        fs::write(&kept, &bytes[..bytes.len() - 1]).expect("a part");
        let refused = place.run("committer", &["index", "commit", list]);
        let missing = format!("1 of {count} shards");
        assert!(refused.code == 2 && refused.stderr.contains(&missing), "{} {}", refused.code, refused.stderr);
        // Without it, the others can be committed, and the table is what is left.
        if count == 5 {
            let part = place.run("committer", &["index", "commit", list, "--in-part", "--json"]).json();
            assert!(part["unread"].as_u64() >= Some(1) && part["tables"].as_u64() < one["tables"].as_u64(), "{part}");
            place.work(list, count - 1);
            assert_eq!(place.commit(list)["tables"], one["tables"]);
            continue;
        }
        place.work(list, count - 1);
        assert_eq!(timeless(place.commit(list)), timeless(one.clone()), "{count}");
        assert_same(&place.content("one"), &place.content(&name));
        assert_eq!(fs::read_dir(Path::new(list).join("parts")).expect("parts").count(), 0, "what is committed goes");
    }
    // A file that cannot be read any more is told once.
    fs::write(place.lake().join("fields/wells.csv"), vec![0u8; 70 << 20]).expect("a file");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(timeless(place.build_in_shards("shards-3", 3, &["--fast"])), timeless(place.build("one", &["--fast"])));
}
