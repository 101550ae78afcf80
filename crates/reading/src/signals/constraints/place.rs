//! Places: names of a gazetteer (`places.tsv`, and countries and states from the lake's own list), adjectives of countries,
//! parts (`northern England`, `the east`), capitalised names where only a place can stand, and what the lake itself knows.

use std::collections::HashMap;
use std::sync::OnceLock;

use super::Grounding;
use super::lexicon::{Class, Cue, Hit, says};
use super::words::{Claim, Sentence, same_thing};
use lakeward_lake::places;

/// Words of the longest name.
const LONGEST: usize = 5;
/// Places that are kept; a request that names more means all of them.
const MOST: usize = 60;

#[derive(Debug, Clone)]
struct Known {
    name: String,
    adjective: bool,
    plain: bool,
}

/// The gazetteer by names in lower case.
fn gazetteer() -> &'static HashMap<String, Known> {
    static GAZETTEER: OnceLock<HashMap<String, Known>> = OnceLock::new();
    GAZETTEER.get_or_init(|| {
        let mut known: HashMap<String, Known> = HashMap::new();
        let mut add = |said: &str, name: &str, adjective: bool| {
            let entry = Known { name: name.to_string(), adjective, plain: false };
            known.entry(said.to_lowercase()).or_insert(entry);
        };
        let mut plain: Vec<&str> = Vec::new();
        for line in include_str!("places.tsv").lines().filter(|line| !line.starts_with('#')) {
            let Some((kind, list)) = line.split_once('\t') else { continue };
            let between = if kind == "comma" { "\t" } else { ", " };
            for item in list.split(between) {
                match (kind, item.split_once('=')) {
                    ("plain", _) => plain.push(item),
                    (_, Some((said, name))) => add(said, name, kind == "demonym"),
                    (_, None) => add(item, item, false),
                }
            }
        }
        for name in places::names() {
            add(name, name, false);
        }
        for name in plain {
            if let Some(entry) = known.get_mut(name) {
                entry.plain = true;
            }
        }
        known
    })
}

/// Whether `text` is the name of a place of the gazetteer; its usual name.
pub fn known(text: &str) -> Option<&'static str> {
    gazetteer().get(&text.to_lowercase()).filter(|entry| !entry.adjective).map(|entry| entry.name.as_str())
}

/// A place in a sentence.
#[derive(Debug, Clone)]
pub struct Mention {
    from: usize,
    to: usize,
    name: String,
    /// Said in passing: an adjective, a source. It changes no place that is in force.
    weak: bool,
}

/// The places of `sentence` that nothing else has claimed.
fn mentions(sentence: &Sentence, lake: &dyn Grounding, in_force: &[String], adds: bool) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let mut at = 0;
    while at < sentence.words.len() && found.len() < MOST {
        let mention = (!sentence.words[at].sign && sentence.words[at].claim.is_none())
            .then(|| {
                part(sentence, at, in_force)
                    .or_else(|| listed(sentence, at))
                    .or_else(|| grounded(sentence, at, lake))
                    .or_else(|| unknown(sentence, at, &found, !in_force.is_empty(), adds))
            })
            .flatten();
        match mention {
            Some(mention) => {
                at = mention.to;
                found.push(mention);
            }
            None => at += 1,
        }
    }
    found
}

/// `northern England`; `the east` of the one place in force.
fn part(sentence: &Sentence, at: usize, in_force: &[String]) -> Option<Mention> {
    const PARTS: [&str; 24] = [
        "northern",
        "southern",
        "eastern",
        "western",
        "central",
        "north",
        "south",
        "east",
        "west",
        "upper",
        "lower",
        "northeastern",
        "northwestern",
        "southeastern",
        "southwestern",
        "rural",
        "urban",
        "greater",
        "inner",
        "outer",
        "mainland",
        "coastal",
        "metropolitan",
        "downtown",
    ];
    let word = sentence.low(at);
    if !PARTS.contains(&word) {
        return None;
    }
    if let Some(whole) = listed(sentence, at + 1).filter(|whole| !whole.weak) {
        let name = format!("{} {}", sentence.words[at].text, whole.name);
        return Some(Mention { from: at, name, ..whole });
    }
    let cardinal = ["north", "south", "east", "west"].contains(&word);
    let alone = sentence.before(at) == "the" && sentence.words.get(at + 1).is_none_or(|next| !next.is_content());
    match in_force {
        [whole] if cardinal && alone && sentence.low(at + 1) != "of" => {
            let name = format!("{word}ern {whole}");
            Some(Mention { from: at, to: at + 1, name, weak: false })
        }
        _ => None,
    }
}

/// The longest name of the gazetteer that begins at `at`.
fn listed(sentence: &Sentence, at: usize) -> Option<Mention> {
    let first = sentence.words.get(at).filter(|word| !word.sign)?;
    let mut key = String::new();
    let mut longest = None;
    for to in at..(at + LONGEST).min(sentence.words.len()) {
        let word = &sentence.words[to];
        if to > at && !word.glued {
            key.push(' ');
        }
        key.push_str(&word.text.to_lowercase());
        if let Some(entry) = gazetteer().get(&key) {
            longest = Some((to + 1, entry));
        }
    }
    let (to, known) = longest?;
    let next = sentence.low(to);
    let inside = at > 0 && !sentence.is_edge(at - 1);
    let shouted = first.text.chars().count() > 1 && first.text.chars().all(|c| c.is_uppercase() || c == '.');
    let following_noun = sentence.words.get(to).is_some_and(|word| word.is_content() || word.is(Class::Auxiliary));
    if known.plain && !shouted && !(first.is_capital() && (inside || next == "'s" || next == "and" || !following_noun))
    {
        return None;
    }
    // `English` alone is mostly a language.
    let adjective = |at: usize| gazetteer().get(sentence.low(at)).is_some_and(|known| known.adjective);
    let noun_follows = sentence.words.get(to).is_some_and(|word| word.is_content() || word.is(Class::Data))
        || next == "ones"
        || (matches!(next, "and" | "or" | ",") && adjective(to + 1));
    if known.adjective && !noun_follows {
        return None;
    }
    let (to, qualifier) = sized(sentence, to);
    let name = format!("{}{qualifier}", known.name);
    // `Berlin Wall`, `Texas Instruments`, `Dublin City Council` is said as well: a name that goes on is of something else.
    let source = matches!(sentence.before(at), "from" | "by")
        && sentence.words.get(to).is_some_and(|word| word.is(Class::Office));
    Some(Mention { from: at, to, name, weak: known.adjective && qualifier.is_empty() || source })
}

/// `municipalities above 100k people` after the adjective of a country: where it ends and its text.
fn sized(sentence: &Sentence, at: usize) -> (usize, String) {
    const SETTLEMENTS: [&str; 8] =
        ["municipalities", "communes", "cities", "towns", "villages", "counties", "districts", "settlements"];
    let number = |at: usize| sentence.low(at).starts_with(|c: char| c.is_ascii_digit());
    let bound = (at + 1..at + 4).find(|place| number(*place));
    let bounded = (at..at + 4)
        .any(|place| matches!(sentence.low(place), "above" | "below" | "under" | "over" | "than" | "least"));
    match bound {
        Some(number) if bounded && SETTLEMENTS.contains(&sentence.low(at)) => {
            let to =
                number + 1 + usize::from(sentence.words.get(number + 1).is_some_and(|word| word.is(Class::Counted)));
            (to, format!(" {}", sentence.text(at, to)))
        }
        _ => (at, String::new()),
    }
}

/// A name that the lake's columns hold.
fn grounded(sentence: &Sentence, at: usize, lake: &dyn Grounding) -> Option<Mention> {
    const LONGEST_VALUE: usize = 3;
    if !sentence.words[at].is_capital() || !sentence.words[at].is_content() || sentence.words[at].is(Class::NoPlace) {
        return None;
    }
    let most = (at + LONGEST_VALUE).min(sentence.words.len());
    (at + 1..=most).rev().find_map(|to| {
        let fits = sentence.words[at..to].iter().all(|word| word.is_capital() || word.low == "of");
        let name = lake.place(&sentence.text(at, to)).filter(|_| fits)?;
        Some(Mention { from: at, to, name, weak: false })
    })
}

/// Where the capitalised name that begins at `at` ends: `Puy de Dôme`, `Stratford-upon-Avon`.
fn name_end(sentence: &Sentence, at: usize) -> usize {
    const INSIDE: [&str; 12] = ["de", "la", "le", "du", "des", "del", "di", "do", "da", "upon", "am", "el"];
    let capital = |at: usize| sentence.words.get(at).is_some_and(|word| word.is_capital() && !word.is(Class::NoPlace));
    let mut to = at + 1;
    while to < at + LONGEST {
        if capital(to) || (INSIDE.contains(&sentence.low(to)) && capital(to + 1)) {
            to += 1;
            continue;
        }
        break;
    }
    to
}

/// How many capitalised names the list has that begins at `at`, and the word after it.
fn proper_list(sentence: &Sentence, at: usize) -> (usize, usize) {
    const MOST_NAMES: usize = 12;
    let (mut names, mut end) = (0, at);
    let mut next = at;
    while names < MOST_NAMES && sentence.words.get(next).is_some_and(|word| word.is_capital() && word.is_content()) {
        names += 1;
        end = name_end(sentence, next);
        next = end;
        next += usize::from(sentence.low(next) == ",");
        next += usize::from(matches!(sentence.low(next), "and" | "or" | "&"));
        if next == end {
            break;
        }
    }
    (names, end)
}

/// A capitalised name that is in no list, where a place stands: after `in`, in a list of places, before `County`.
fn unknown(sentence: &Sentence, at: usize, found: &[Mention], narrowing: bool, adds: bool) -> Option<Mention> {
    let word = &sentence.words[at];
    if !word.is_capital() || word.is(Class::NoPlace) || word.is(Class::Month) || word.is(Class::Data) {
        return None;
    }
    let to = name_end(sentence, at);
    let words = &sentence.words[at..to];
    let acronym = |text: &str| text.chars().count() > 1 && text.chars().all(|c| !c.is_lowercase());
    let office = words.iter().any(|word| word.is(Class::Office) || word.is(Class::Month));
    if office
        || words.iter().any(|word| acronym(&word.text))
        || sentence.words.get(to).is_some_and(|word| word.is(Class::Office))
    {
        return None;
    }
    let mention = |to: usize, weak: bool| Some(Mention { from: at, to, name: sentence.text(at, to), weak });
    let kind = |at: usize| sentence.words.get(at).is_some_and(|word| word.is(Class::PlaceKind) && word.is_capital());
    if words.len() > 1 && kind(to - 1) {
        return mention(to, false);
    }
    let before = sentence.before(at);
    let lower_follows = sentence.words.get(to).is_some_and(|word| word.is_content() && !word.is_capital());
    let listed = |mention: &Mention| {
        let gap = sentence.words.get(mention.to..at).unwrap_or_default();
        gap.len() <= 3
            && !gap.is_empty()
            && gap.iter().all(|word| matches!(word.low.as_str(), "," | "and" | "or" | "&" | "+" | "'s"))
    };
    if found.last().is_some_and(listed) && !lower_follows {
        return mention(to, false);
    }
    if matches!(before, "in" | "at" | "across" | "around" | "near" | "within" | "throughout" | "outside" | "inside") {
        return (at > 1 || before == "in").then(|| mention(to, false)).flatten();
    }
    let definite = before == "the" && at > 1 && sentence.low(at - 2) == "in";
    if definite && !lower_follows {
        return mention(to, false);
    }
    if matches!(before, "of" | "for" | "from" | "city" | "county") && !lower_follows {
        return mention(to, before == "from");
    }
    // `the Po basin`: the kind in lower case.
    let plain_kind = matches!(
        sentence.low(to),
        "basin"
            | "county"
            | "district"
            | "province"
            | "valley"
            | "island"
            | "region"
            | "peninsula"
            | "prefecture"
            | "islands"
    );
    if plain_kind && (at > 0 || narrowing) && word.is_content() && !word.is(Class::Unit) {
        return mention(to + 1, false);
    }
    // `Bowie, Morris and Marion counties`, `only Bowie and Morris`.
    if word.is_content() && !word.is(Class::Unit) && !word.is(Class::Header) {
        let (names, end) = proper_list(sentence, at);
        let kind =
            sentence.words.get(end).is_some_and(|word| word.is(Class::PlaceKind)) && sentence.low(end).ends_with('s');
        let narrowed =
            narrowing && matches!(before, "only" | "just" | "to" | "rather") && (names > 1 || sentence.is_edge(end));
        if (kind && names > 1) || narrowed {
            return mention(to, false);
        }
    }
    let only = at == 0
        && narrowing
        && (sentence.stands(to, "only") || sentence.stands(to, "alone") || sentence.stands(to, "is enough"));
    if only
        && word.is_content()
        && !word.is(Class::Unit)
        && !word.is(Class::Header)
        && (words.len() > 1 || sentence.is_edge(to + 1))
    {
        return mention(to, false);
    }
    // A sentence of names alone: `Musanze and Huye.`
    let names = |word: &super::words::Word| {
        word.is_capital() && word.is_content() || matches!(word.low.as_str(), "and" | "," | "&")
    };
    if narrowing
        && word.is_content()
        && !word.is(Class::Unit)
        && sentence.words.len() > 1
        && sentence.words.iter().all(names)
    {
        return mention(to, false);
    }
    // `Makati rather than Quezon`.
    if narrowing
        && (before == "than" || at == 0 && (sentence.stands(to, "rather than") || sentence.stands(to, "instead")))
        && !lower_follows
    {
        return mention(to, false);
    }
    // A name alone between commas: `listings, Lyon, one line per flat`.
    let alone = sentence.is_edge(to) && at > 0 && sentence.is_edge(at - 1) && sentence.low(at - 1) == ",";
    if alone && word.is_content() {
        return mention(to, true);
    }
    // `Kildare and Meath belong under these as well`: in a sentence that adds, names that begin it are places.
    let pair =
        matches!(sentence.low(to), "and" | ",") && sentence.words.get(to + 1).is_some_and(|word| word.is_capital());
    let owner = sentence.low(to) == "'s";
    let narrowed = at == 0
        && pair
        && narrowing
        && sentence.has(&["enough", "only", "suffice", "suffices", "rather", "instead", "just"]);
    if narrowed && word.is_content() {
        return mention(to, false);
    }
    let starts = pair || owner || matches!(sentence.low(to), "also" | "too" | "as");
    let bare = words.iter().all(super::words::Word::is_content);
    let elsewhere = sentence.stands(to, "as well as");
    (narrowing
        && adds
        && !elsewhere
        && bare
        && (at == 0 && starts
            || matches!(before, "," | "and" | "but" | "also" | "put" | "add" | "include" | "append" | "that" | "with"))
        && (pair || owner || !lower_follows))
        .then(|| mention(to, true))
        .flatten()
}

/// Words by which a table or a place is taken.
pub const APPROVING: [&str; 14] = [
    "good", "nice", "fine", "right", "enough", "ok", "okay", "perfect", "great", "yes", "accepted", "only", "suffice",
    "suffices",
];

/// What the reading of places has to know of the turn.
#[derive(Clone, Copy)]
pub struct Turn<'a> {
    /// The cues of the sentence.
    pub hits: &'a [Hit],
    /// Whether it puts rows of other places to those in force.
    pub adds: bool,
    /// What the turn has taken out.
    pub refused: &'a [String],
    /// What the lake knows.
    pub lake: &'a dyn Grounding,
}

/// Reads the places of `sentence` into `in_force`. `changed`: whether this turn has set places already.
pub fn read(sentence: &mut Sentence, turn: &Turn<'_>, in_force: &mut Vec<String>, changed: &mut bool) {
    let Turn { hits, adds, refused, lake } = *turn;
    let approves = sentence.has(&APPROVING);
    let mut found = mentions(sentence, lake, in_force, adds);
    found.retain(|mention| !refused.iter().any(|text| same_thing(text, &mention.name)));
    if found.is_empty() {
        return;
    }
    // `Sicily looks odd`: spoken of, not asked for.
    let remark = |mention: &Mention| {
        let verb = sentence.words.get(mention.to).is_some_and(|word| {
            word.is(Class::Auxiliary) || word.is(Class::Verb) || word.low.ends_with('s') && word.is_content()
        });
        (mention.from == 0 || sentence.is_edge(mention.from - 1)) && verb && !adds && !approves && !in_force.is_empty()
    };
    found.retain(|mention| !remark(mention));
    let negated = |mention: &Mention| contrast(sentence, mention.from);
    let (off, on): (Vec<&Mention>, Vec<&Mention>) = found.iter().partition(|mention| negated(mention));
    let narrows = says(hits, Cue::Narrow) || !off.is_empty();
    let before = in_force.clone();
    let is_new = |mention: &&Mention| !in_force.contains(&mention.name);
    let strong: Vec<String> =
        on.iter().filter(|mention| !mention.weak || adds || narrows).map(|mention| mention.name.clone()).collect();
    let any_new = on.iter().any(is_new);
    if in_force.is_empty() {
        *in_force = unique(on.iter().map(|mention| mention.name.clone()));
    } else if !off.is_empty()
        && !on.is_empty()
        && off.iter().all(|mention| in_force.iter().any(|name| same_thing(name, &mention.name)))
    {
        // `West Bengal rather than Bihar`: one for the other, the rest stays.
        let gone = |name: &&String| off.iter().any(|mention| same_thing(name, &mention.name));
        let kept = in_force.iter().filter(|name| !gone(name)).cloned();
        *in_force = unique(kept.chain(strong));
    } else if strong.is_empty() {
        in_force.retain(|name| !off.iter().any(|mention| mention.name == *name) || before.len() == 1);
    } else if adds && any_new {
        *in_force = unique(in_force.iter().cloned().chain(strong));
    } else if any_new && (!*changed || narrows)
        || (!any_new && says(hits, Cue::Narrow) && strong.len() < in_force.len())
    {
        *in_force = unique(strong.into_iter());
    }
    *changed |= *in_force != before;
    for mention in &found {
        sentence.claim(mention.from, mention.to, Claim::Place);
    }
}

/// Whether `not`, `rather than` or `instead of` stands before the name.
fn contrast(sentence: &Sentence, at: usize) -> bool {
    let (from, _) = sentence.clause(at);
    let near = at.saturating_sub(3).max(from);
    (near..at).any(|place| {
        let word = sentence.low(place);
        let only = (at..at + 4).any(|after| sentence.low(after) == "only");
        word == "not" && place + 2 >= at && !only
            || (word == "than" && sentence.before(place) == "rather")
            || (word == "of" && sentence.before(place) == "instead")
    })
}

fn unique(names: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for name in names {
        if kept.len() < MOST && !kept.contains(&name) {
            kept.push(name);
        }
    }
    kept
}

/// Takes what `phrase` names out of the places in force, if it is one of several of them.
pub fn take_out(phrase: &str, in_force: &mut Vec<String>) -> bool {
    let before = in_force.len();
    if before > 1 {
        in_force.retain(|name| !same_thing(name, phrase));
    }
    in_force.len() < before
}
