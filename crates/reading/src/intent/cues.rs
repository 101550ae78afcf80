//! Words by which a request tells the role of a value: `published by`, `broken down by`, `falls under`.
//!
//! They decide between roles and make a value stated instead of inferred; the values themselves are found without them.

use std::sync::LazyLock;

use super::phrases::Phrases;
use super::turn::Turn;
use lakeward_core::role::Role;

/// What a cue announces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Announced {
    /// A value of a role.
    Value(Role),
    /// Words of a title or text.
    Aspect,
}

/// A cue in the words `from..to`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cue {
    pub from: usize,
    pub to: usize,
}

const SUBJECT: &str = "
    fall|falls under|in|into|within; file|filed|filing it? under|with; under the heading|theme|subject|topic|category;
    subject area;
    topic area; theme|themes; subject|subjects; category|categories; topic; domain; field of; listed under;
    classified|classed as|under; look|find|search for? it|them|that in|under|among; thematically; belong|belongs
    to|in|under|with; filed; heading; section; in general; sit|sits in; tagged";

const SOURCE: &str = "
    come|comes|came from; survey|surveys; source|sources; published|publisher|publishes; produced by; released by;
    collected by|in|through|for; compiled by; issued by; conducted by; provided by; provider; agency;
    program|programme behind;
    based on; taken from; drawn from; behind it; data from; gathered; questionnaire; stem|stems from; they use; run by;
    organization|organisation is";

const PLACE: &str = "
    place|places; geograph*; region|regions; area|areas is|of; locat*; country|countries; province|provinces;
    territory|territories; city|cities; work|live|based in; include|includes|including; in there; care about;
    cover|covers|covering; jurisdiction; where; only for; somewhere in";

const DIMENSION: &str = "
    breakdown|breakdowns; break down|downs; broken down|out; break it|them|that|this down|out; split|splits;
    column|columns;
    compare|comparing by; by type of; dimension|dimensions; variable|variables; disaggregat*; cross tab*; crosstab*;
    cross classified; separate|separated|separately; group|grouped by; detail|details|detailed by|on|for;
    category|categories of; distinguish*; varies; tabulated; differ by; cross|crossed with|by; sliced|slicing by;
    shows|showing;
    as dimensions; by; per";

const ASPECT: &str = "
    specific|specifically; more exactly; exactly; more precisely; precisely; the part; what matters; in particular;
    particularly; namely; focus*; concretely; deal|deals with; title; really; after; mainly; especially; interested in;
    to be exact|precise; about";

static PHRASES: LazyLock<[(Announced, Phrases<()>); 5]> = LazyLock::new(|| {
    [
        (Announced::Value(Role::Subject), SUBJECT),
        (Announced::Value(Role::Source), SOURCE),
        (Announced::Value(Role::Place), PLACE),
        (Announced::Value(Role::Dimension), DIMENSION),
        (Announced::Aspect, ASPECT),
    ]
    .map(|(announced, list)| (announced, Phrases::new([((), list)])))
});

/// The cues of a role, or of free words, in order. A role that has no list of its own is announced by its name.
pub(super) fn find(turn: &Turn, announced: &Announced) -> Vec<Cue> {
    if let Some((_, phrases)) = PHRASES.iter().find(|(known, _)| known == announced) {
        return phrases.find(turn, 0, turn.words.len()).iter().map(|hit| Cue { from: hit.from, to: hit.to }).collect();
    }
    let Announced::Value(role) = announced else { return Vec::new() };
    let named = |at: &usize| {
        let word = turn.low(*at);
        word == role.name() || word.strip_suffix('s') == Some(role.name())
    };
    (0..turn.words.len()).filter(named).map(|at| Cue { from: at, to: at + 1 }).collect()
}

/// Whether a cue names what a column is, not only how the table is cut: a one-word value may stand before it.
pub(super) fn names_a_column(turn: &Turn, cue: Cue) -> bool {
    const NOUNS: [&str; 4] = ["column", "dimension", "variable", "separate"];
    (cue.from..cue.to).any(|at| NOUNS.iter().any(|noun| turn.low(at).starts_with(noun)))
}

/// Prepositions that announce a value of the role directly before it.
pub(super) fn prepositions(role: &Role) -> &'static [&'static str] {
    match role {
        Role::Place => &["in", "for", "within", "across", "of"],
        Role::Subject => &["under", "among", "within"],
        Role::Source => &["from", "through", "by", "via"],
        Role::Dimension => &["by", "per"],
        Role::Format => &["as", "in"],
        _ => &[],
    }
}

/// Whether a word is one of these prepositions, of whatever role.
pub(super) fn is_preposition(word: &str) -> bool {
    [Role::Place, Role::Subject, Role::Source, Role::Dimension].iter().any(|role| prepositions(role).contains(&word))
}
