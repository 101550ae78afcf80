//! Banks of phrases: how users word what they want. `{}` is replaced by the value.

/// The phrases of one kind of user.
pub struct Bank {
    /// Its name.
    pub name: &'static str,
    /// A place.
    pub place: &'static [&'static str],
    /// A subject.
    pub subject: &'static [&'static str],
    /// A survey, a publisher.
    pub source: &'static [&'static str],
    /// The frequency of updates.
    pub frequency: &'static [&'static str],
    /// The status, other than the next two.
    pub status: &'static [&'static str],
    /// Maintained.
    pub current: &'static [&'static str],
    /// No longer maintained.
    pub archived: &'static [&'static str],
    /// A dimension by which it is broken down.
    pub dimension: &'static [&'static str],
    /// A file format.
    pub format: &'static [&'static str],
    /// A licence.
    pub licence: &'static [&'static str],
    /// Years that must be covered, first and last.
    pub cover: &'static [&'static str],
    /// Exactly these years.
    pub exactly: &'static [&'static str],
    /// The first year.
    pub starts: &'static [&'static str],
    /// The last year.
    pub ends: &'static [&'static str],
    /// The results are wrong.
    pub wrong: &'static [&'static str],
    /// The results are too many.
    pub many: &'static [&'static str],
    /// A result is rejected; `{}` is its title.
    pub refusal: &'static [&'static str],
    /// A statement of this turn is retracted; the right one follows.
    pub slip: &'static [&'static str],
    /// A statement of an earlier turn is retracted; `{}` is what it was about, the right one follows.
    pub correction: &'static [&'static str],
    /// A statement is repeated.
    pub again: &'static [&'static str],
    /// Whether everything is in lower case.
    pub small: bool,
    /// Share of long words that are misspelt.
    pub misspelt: f64,
}

/// All banks.
pub const BANKS: [Bank; 4] = [
    Bank {
        name: "plain",
        place: &["It must cover {}.", "The place I care about is {}.", "Only data with {} in it helps."],
        subject: &["The subject is {}.", "It belongs to {}.", "Look among {}."],
        source: &["It comes from {}.", "The source is {}.", "{} collected it."],
        frequency: &[
            "Its frequency is {}.",
            "The figures are reported like this: {}.",
            "I work with this frequency: {}.",
        ],
        status: &["Its status is {}."],
        current: &["It is still being published.", "New releases must still come out."],
        archived: &["It was discontinued.", "It is archived by now."],
        dimension: &["It is broken down by {}.", "It has {} as a dimension.", "I have to split it by {}."],
        format: &["The file format is {}.", "I can only read {}."],
        licence: &["Its licence is {}.", "It has to come under {}."],
        cover: &["I need {} to {} without gaps.", "It covers {} up to {} at least."],
        exactly: &["It runs from {} to {} and not longer.", "Its first year is {} and its last {}."],
        starts: &["It begins in {}.", "The first year is {}."],
        ends: &["The last year is {}.", "It ends with {}."],
        wrong: &["None of these.", "It is not among them.", "That is something else."],
        many: &["That leaves several.", "I see a few that could be it.", "This narrows it down a bit."],
        refusal: &["I do not mean “{}”.", "“{}” is not it."],
        slip: &["No, wait:", "I misspoke:", "Correction:"],
        correction: &["What I told you about {} was wrong.", "I have to change what I said on {}."],
        again: &["As I said:", "To repeat it:"],
        small: false,
        misspelt: 0.0,
    },
    Bank {
        name: "terse",
        place: &["place: {}", "in {}"],
        subject: &["subject: {}", "filed under {}"],
        source: &["source: {}", "by {}"],
        frequency: &["frequency: {}", "{} figures"],
        status: &["status: {}"],
        current: &["still updated", "current only"],
        archived: &["archived", "no longer updated"],
        dimension: &["by {}", "with {} as column"],
        format: &["as {}", "format {}"],
        licence: &["licence {}"],
        cover: &["{}-{} at least", "years {} to {}"],
        exactly: &["exactly {}-{}", "only {} to {}, full span"],
        starts: &["starting {}", "first year {}"],
        ends: &["ending {}", "last year {}"],
        wrong: &["no.", "other one."],
        many: &["ok.", "closer."],
        refusal: &["not “{}”."],
        slip: &["no, I mean", "sorry,"],
        correction: &["change {}:", "other {}:"],
        again: &["again:"],
        small: false,
        misspelt: 0.0,
    },
    Bank {
        name: "chatty",
        place: &[
            "We are based there, so {} really has to be in it.",
            "Our project looks at {}, so that should be included.",
        ],
        subject: &["I think people usually put this under {}.", "On your shelves it would stand with {}, I suppose."],
        source: &["I was told that it came out of {}.", "Somebody mentioned {} as the origin."],
        frequency: &[
            "For our charts the rhythm matters, and that would be {}.",
            "By the way, it should come at this interval: {}.",
        ],
        status: &["And the status should read {}, if you have that."],
        current: &["We plan to follow it over the coming years, so it had better still be maintained."],
        archived: &["I believe that nobody maintains it these days, it is an older series."],
        dimension: &["It would be wonderful to see it split up by {}.", "My boss insists on a breakdown by {}."],
        format: &["Our tools only eat {}, I'm afraid."],
        licence: &["Our lawyers want it under {}."],
        cover: &[
            "We would compare {} with {}, and need all that lies between.",
            "The story starts around {} and goes on to {}, so all those years please.",
        ],
        exactly: &["I know that it spans {} to {}, no more and no less."],
        starts: &["It must be the one whose series starts in {}."],
        ends: &["I recall that the numbers stop in {}."],
        wrong: &["Thank you, though I don't see it there.", "Hm, those are interesting, but mine looks different."],
        many: &["Nice, we're getting somewhere!", "Thanks, that already helps."],
        refusal: &["I know “{}” already and that's another one."],
        slip: &["Oh no, that was last year's project, I mean this:", "Ah, I mixed something up, rather:"],
        correction: &[
            "I have looked at my notes again and was mistaken about {}.",
            "My colleague has just corrected me about {}.",
        ],
        again: &["I may have said so before:"],
        small: false,
        misspelt: 0.0,
    },
    Bank {
        name: "hasty",
        place: &["has to have {}", "for {} pls"],
        subject: &["its a {} thing", "topic {} i guess"],
        source: &["from the {} stuff", "its {} data"],
        frequency: &["{} numbers pls", "should be {}"],
        status: &["status {}"],
        current: &["one thats still kept up", "must be alive still"],
        archived: &["an old dead one", "not updated anymore thats ok"],
        dimension: &["split by {}", "w/ {} in it"],
        format: &["in {} pls"],
        licence: &["licence {} pls"],
        cover: &["need {} til {}", "{} - {} or longer"],
        exactly: &["just {} to {} nothing else"],
        starts: &["the one that starts {}"],
        ends: &["stops in {}"],
        wrong: &["nope", "nah thats not it"],
        many: &["kinda", "hmm maybe"],
        refusal: &["not “{}” thx"],
        slip: &["no wait", "oops i meant"],
        correction: &["scrap the {} i gave u", "wrong {} before sry"],
        again: &["like i said"],
        small: true,
        misspelt: 0.12,
    },
];

/// The bank of this name; the first one for an unknown name.
pub fn named(name: &str) -> &'static Bank {
    BANKS.iter().find(|bank| bank.name == name).unwrap_or(&BANKS[0])
}

/// How users tell a plan of their work that wants a record, by three hands.
pub(super) const PLANS: &[&str] = &[
    "we are planning a study: {}. which data could we start from?",
    "my experiment needs this: {}",
    "the method section says {}; is there published data to compare with?",
    "I want to repeat work of this kind, {}, and need its data",
    "{} - that is what the proposal promises, so what exists already?",
    "baseline wanted for: {}",
];

/// How users tell when a record was published.
pub(super) const PUBLISHED: &[&str] = &["It was published in {}.", "published in {}", "publication year {}"];
