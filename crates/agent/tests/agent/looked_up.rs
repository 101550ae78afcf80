//! Words that are values of a table which says what the codes at hand mean.

use std::fmt::Write;
use std::fs;

use super::wanted_columns::{first_of, index};

/// Two hundred deliveries with codes of nine groups, which have codes of three classes; and a table whose row numbers are in `boxes`, too.
fn lake() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let (mut deliveries, mut rooms) = ("day,grp_cd,ward,boxes\n".to_string(), "room,purpose\n".to_string());
    for day in 0..200 {
        let (group, ward) = (day % 9, ["North", "South"][day % 2]);
        writeln!(deliveries, "2024-{:02}-{:02},G{group},{ward},{}", day % 12 + 1, day % 28 + 1, day % 20 + 1)
            .expect("text");
    }
    for room in 1..=40 {
        writeln!(rooms, "{room},{}", ["Laundry", "Kitchen", "Chapel", "Archive"][room % 4]).expect("text");
    }
    let labels = ["Antibiotics", "Bandages", "Vaccines", "Insulin", "Gloves", "Opioids", "Saline", "Syringes", "Masks"];
    let mut groups = "grp_cd,label,cls\n".to_string();
    for (number, label) in labels.iter().enumerate() {
        writeln!(groups, "G{number},{label},{}", ["A", "B", "C"][number % 3]).expect("text");
    }
    let classes = "cls,storage\nA,Refrigerated\nB,Ambient\nC,Locked cabinet\n".to_string();
    for (name, text) in [("deliveries", deliveries), ("groups", groups), ("classes", classes), ("rooms", rooms)] {
        fs::write(folder.path().join(format!("{name}.csv")), text).expect("a file");
    }
    index(folder)
}

#[test]
fn what_a_code_means_is_looked_up() {
    let (plan, preview, reason) = first_of(lake(), "only the antibiotics", Some("deliveries"));
    assert!(reason.contains("`G0` of `grp_cd` means Antibiotics"), "{reason}");
    assert_eq!((plan.inputs().len(), preview.rows_out), (1, 23), "{reason}");
}

#[test]
fn codes_of_a_table_of_codes_are_looked_up_too() {
    let (plan, preview, reason) = first_of(lake(), "only what is refrigerated", Some("deliveries"));
    assert!(reason.contains("`A` of `cls` means Refrigerated"), "{reason}");
    assert_eq!((plan.inputs().len(), preview.rows_out), (2, 67), "{reason}");
}

#[test]
fn what_the_rows_say_themselves_is_not_looked_up() {
    let (plan, preview, reason) = first_of(lake(), "only the north ward", Some("deliveries"));
    assert_eq!((plan.inputs().len(), preview.rows_out), (1, 100), "{reason}");
    // Small numbers are the numbers of much.
    let (plan, _, reason) = first_of(lake(), "the boxes per ward, kitchen", Some("deliveries"));
    assert!(!format!("{plan:?}").contains("rooms"), "{reason}");
}

/// Sixty people with codes of roles, and a table of three lists of codes.
fn staff() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let lists =
        [("shift", ["E", "L", "N"], ["early", "late", "night"]), ("role", ROLES, ["warden", "cook", "cleaner"])];
    let (mut staff, mut codes) = ("emp_id,role,wage\n".to_string(), "field,code,meaning\n".to_string());
    for number in 0..60 {
        writeln!(staff, "E{number:03},{},{}", ROLES[number % 3], 14 + number % 7).expect("text");
    }
    for (field, of_field, meanings) in lists {
        for (code, meaning) in of_field.iter().zip(meanings) {
            writeln!(codes, "{field},{code},{meaning}").expect("text");
        }
    }
    for (name, text) in [("staff", staff), ("lists", codes)] {
        fs::write(folder.path().join(format!("{name}.csv")), text).expect("a file");
    }
    index(folder)
}

const ROLES: [&str; 3] = ["WRD", "COK", "CLN"];

#[test]
fn a_list_of_another_column_explains_nothing() {
    let (plan, preview, reason) = first_of(staff(), "only the cooks", Some("staff"));
    assert_eq!((plan.inputs().len(), preview.rows_out), (1, 20), "{reason}");
}
