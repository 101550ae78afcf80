//! `nationwide`, `country level`: the place that the whole catalogue is about, without its name.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::reader::Reading;
use lakeward_core::request::Demanded;
use lakeward_core::role::Role;

static NATIONAL: LazyLock<Phrases<()>> = LazyLock::new(|| {
    let list = "national|nationally level|total|totals|figure|figures?; nationwide total|totals|figure|figures?;
        nation wide total|totals|figure|figures?; country level|wide|total|totals; whole|entire country; countrywide;
        federal level";
    Phrases::new([((), list)])
});

/// Reads it where the catalogue is about one country; not in the turn that gives the topic (`national accounts`).
pub(super) fn read(reading: &mut Reading) {
    let Some(nation) = reading.vocabulary.nation().filter(|_| !reading.first) else { return };
    for hit in NATIONAL.find(&reading.turn, 0, reading.turn.words.len()) {
        if !reading.clashes(hit.from, hit.to) {
            let values = reading.vocabulary.values(nation, "");
            reading.demand((hit.from, hit.to), Role::Place, Demanded::Values(vec![values]), true);
            reading.take(hit.from, hit.to);
        }
    }
}
