//! What a turn of the agent makes of the searches, before operations are put in order: plain data here, used by the agent.

use super::section;

section! {
    /// How what was found for a turn is put together.
    TurnWeights in turn {
        /// Share of the request, counted by how rare its words are, that one of the best tables must say for its words to be
        /// enough to search by.
        covered: f64,
        /// How much the request's own words count where no table has them and others were found in their stead.
        uncovered_words: f64,
        /// The most that a text searched for besides the request counts where no table has the request's words …
        further_texts: f64,
        /// … and in the search for records.
        further_record_texts: f64,
        /// How much a table that served a task just like the request gains, as a share of what the best table says of itself, where
        /// no table says a word of the request; `eval/task_search.md` has what other weights give.
        tasks: f64,
        /// What relevance to a join loses where a row of the query meets ten rows or more; proportionally less for fewer.
        fan_out: f64,
        /// A request is put with the table at hand from this probability of a join or a union on, whenever the table was named.
        combining: f64,
        /// A join or a union without a working table is looked for from this probability on.
        pairing: f64,
        /// From this probability of a join or a union on a table is wanted that goes with the one at hand …
        combines: f64,
        /// … and from this one on what was read of the rows at hand is not what is wanted.
        surely_combines: f64,
        /// A turn is about another table than the one at hand from this probability on.
        other_table: f64,
        /// Tables that align at least this much of what the best one does are of its kind.
        nearly_aligned: f64,
        /// How much the words of a request count by themselves where it was put with a table, so that one they name stands before
        /// what is hardly alike …
        words_with_table: f64,
        /// … and their share where the table at hand is from an earlier turn.
        words_later: f64,
        /// How much a table is relevant to a join by the columns it brings alone.
        brings_columns: f64,
        /// What is left of a table's worth as the other part of a join where it adds no column.
        no_new_columns: f64,
    }
}

section! {
    /// Which table is joined or appended where words describe one, or name columns of one. What is chosen has the greatest sum of how
    /// well words name it, its columns, what a search for the words finds and the fit of its keys, each in 0..=1.
    PartnerWeights in partner {
        /// How much its name counts beside the others.
        named: f64,
        /// How well a table is named by its id, where 1 is all of its words.
        named_by_id: f64,
        /// How well a column is named by one word of several.
        one_word: f64,
        /// What is taken off for a key that repeats rows, for each power of ten …
        repeats: f64,
        /// … and for one that is not all of the keys that are named.
        without_keys: f64,
        /// Of a table that nobody named, what the score of a column is multiplied by that is called as one at hand and not as the words
        /// are, …
        called_as_own: f64,
        /// … of one whose name the request spells out where that is no ordinary word (`2010`, `iso_a3`), …
        spelt: f64,
        /// … of one whose name has words of what is wanted: of two that are as near, `built` is the year in which a boat was built, …
        called: f64,
        /// … and of a table that has all keys which are named.
        all_keys: f64,
        /// How well it joins counts to this power there, …
        joins: f64,
        /// … and its rows for a key to minus this one: a table that has one row a key was made for it.
        rows_a_key: f64,
        /// A table is taken for words that describe it from this likeness of names, columns or meaning on.
        least: f64,
        /// A column is one that is wanted of it from this likeness on.
        wanted: f64,
        /// Columns of one name in both tables are one key where a single one repeats rows, from this likeness on …
        same_name: f64,
        /// … and where it is named in words.
        named_key: f64,
        /// Rows of a partner for one row at hand, above which further keys are looked for.
        several_rows: f64,
        /// A column is what is wanted "of" a table that the words name, from this likeness of names on …
        owned: f64,
        /// … and words name that table from this share of them on.
        owner: f64,
        /// Another column at hand joins as well that has this share of the values.
        as_well: f64,
        /// A table that fits no better than this is taken for the other of joining and appending: shares of key values that meet, of
        /// columns that are aligned …
        little_fit: f64,
        /// … where that fits at least as well as this.
        other_fit: f64,
    }
}

section! {
    /// When a table meets a task specification (AIDEN's Eq. 3), and how well.
    FitWeights in fit {
        /// Informative columns that are many.
        many_columns: usize,
        /// Rows that are many: single things are graded by the logarithm of their number.
        many_rows: f64,
        /// Containment of keys from which a join makes sense.
        least_containment: f64,
        /// Alignment from which a union makes sense.
        least_alignment: f64,
        /// What is left of a key that may agree by accident.
        accidental_key: f64,
        /// A column called this much alike is the one that was asked for.
        same_name: f64,
        /// The grade of a constraint about which the table tells nothing.
        unknown: f64,
        /// The grade from which a check is met.
        met: f64,
    }
}

section! {
    /// Columns of other tables that words name.
    NamedColumnWeights in named_columns {
        /// The score of a column that words name, at least …
        least: f64,
        /// … and where they were not read as what is wanted.
        plainly: f64,
        /// One that answers its words less well is told to be a guess.
        guess: f64,
        /// A column is meant from this share of the score of the one that the words name best, whether that can be joined or not.
        meant: f64,
        /// Columns of a table are added beside its best one from this share of its score on.
        beside: f64,
        /// The best column of another table is tried where the best of all cannot be added, from this share of its score on.
        nearly: f64,
        /// Share of the sampled keys that a table has for its columns to be looked at.
        shared: f64,
        /// A number of things is a number of rows only of a table that answers the words this well, as a share of the best of the lake.
        counted_table: f64,
        /// What a column of numbers of such a table is called this much like is counted in it: people in `population`.
        counted_in: f64,
        /// Rows a key, on average, that are worth counting.
        rows_counted: f64,
    }
}

section! {
    /// Whether the search of a turn goes on after a plain search.
    SufficiencyWeights in sufficiency {
        /// Words rarer than this tell something, and have to be found.
        telling: f64,
        /// The best answer must serve with this probability; where that is not known …
        likely: f64,
        /// … one table must hold this share of the request …
        coverage: f64,
        /// … and the channels agree on this share of the first tables.
        agreement: f64,
    }
}
