//! Records that are broken in every way: named and counted, and none lost silently.

use super::{indexed, named, write_forms};
use lakeward_lake::metadata::UnusedReason;

#[test]
fn broken_records_are_named_and_counted() {
    const BROKEN: u64 = 2000;
    let folder = tempfile::tempdir().expect("a folder");
    if !write_forms(folder.path(), 1, BROKEN as usize) {
        return;
    }
    let (lakeward, stats) = indexed(&folder.path().join("broken"));
    // Every seventh has neither title nor description, is not closed as it was opened, or follows no standard; each 500th is too long.
    assert_eq!(stats.records + stats.records_left_out, BROKEN + 1, "{:?}", stats.problems);
    assert_eq!(stats.records_left_out, 854);
    let said = stats.problems.iter().map(|(_, reason)| reason.as_str()).collect::<Vec<_>>().join("\n");
    for reason in [
        "neither title nor description",
        "`title` is closed by `titel`",
        "no standard known",
        "records in all cannot be used",
    ] {
        assert!(said.contains(reason), "{reason}: {said}");
    }
    let counted = |reason| stats.record_flaws.iter().find(|flaw| flaw.reason == reason).map_or(0, |flaw| flaw.records);
    let several = [
        UnusedReason::NoDate,
        UnusedReason::HiddenCharacters,
        UnusedReason::Markup,
        UnusedReason::Cycle,
        UnusedReason::Entity,
    ];
    for reason in several {
        assert!(counted(reason) >= 280, "{reason:?}: {:?}", stats.record_flaws);
    }
    assert_eq!(counted(UnusedReason::Cut), BROKEN / 500);
    // The one that is whole is read after all of them.
    assert_eq!(named(&lakeward, "oai:made:2000").1.unused, []);
    let (_, long) = named(&lakeward, "oai:broken:500");
    assert!(long.description.is_some_and(|text| text.len() <= 16 << 10));
    let (_, turned) = named(&lakeward, "oai:broken:2");
    let title = turned.title.expect("a title");
    assert!(!title.contains('<') && !title.contains('\u{202E}'), "{title}");
}
