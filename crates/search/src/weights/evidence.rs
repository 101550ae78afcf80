//! What the evidence of join and union search is made of, before the features are weighed.

use super::section;

section! {
    /// How a pair of columns is judged for a join.
    JoinEvidenceWeights in join_evidence {
        /// How much an agreement of values counts by rarity …
        by_rarity: f64,
        /// … and by the plain share of values.
        by_share: f64,
        /// What a variant of a value (cut short, misspelt) counts beside an equal value.
        variant: f64,
        /// What is left of every feature where either column may join by accident.
        accidental: f64,
        /// Vectors up to this cosine mean nothing alike.
        least_meaning: f64,
        /// Vectors less alike than this propose no column.
        least_cosine: f32,
        /// How much a column of text that repeats its values counts as a key …
        repeating_text: f64,
        /// … and any other column that does.
        repeating_other: f64,
        /// What is left of that where the column may join by accident.
        repeating_accidental: f64,
        /// Columns of one name stand in the place of others of a table that may join by accident, from this containment on.
        equal_names: f64,
    }
}

section! {
    /// What a join on several columns is scored by.
    TupleWeights in tuples {
        /// Tables that hold a smaller share of the query's combinations …
        least_containment: f64,
        /// … and of whose own a smaller share is the query's, are no answers.
        least_of_candidate: f64,
        /// How much an agreement counts by rarity …
        by_rarity: f64,
        /// … and by the plain share of combinations.
        by_share: f64,
        /// Share of the candidate's combinations found.
        of_candidate: f64,
        /// Different combinations a row.
        uniqueness: f64,
        /// Likeness of the names, where values agree.
        names_and_values: f64,
        /// Likeness of the names.
        names: f64,
        /// The greatest sum of these, which is a score of 1.
        greatest: f64,
        /// What is left of the score where every pair of columns may join by accident.
        accidental: f64,
    }
}

section! {
    /// How a pair of columns is judged for a union.
    AlignmentWeights in alignment {
        /// Pairs that fit less are left unaligned.
        least_fit: f64,
        /// How much names count beside contents.
        names: f64,
        /// How much contents count where a name says nothing: a little less than with a name that agrees as well.
        without_names: f64,
        /// What a pair of the same name over other types of values scores.
        same_name_other_type: f64,
        /// What is left of a pair's names where one of the columns is empty.
        empty: f64,
        /// Added to the number of values of the smaller column, of which those in both are a share: few values that agree tell little.
        few_values: f64,
        /// Share of the missing fit that a like meaning makes good, for kinds of values of which a table seldom has two columns.
        same_meaning: f64,
        /// Of the contents of numbers: how near the ranges are, …
        numbers_closeness: f64,
        /// … how much of them is shared, …
        numbers_range: f64,
        /// … the likeness of their shapes.
        numbers_shape: f64,
        /// What is left of that where one column holds years and the other does not.
        years_and_others: f64,
        /// Of the contents of texts: equal values, …
        texts_values: f64,
        /// … their meaning, …
        texts_meaning: f64,
        /// … their shape.
        texts_shape: f64,
        /// Of the contents of dates and the like: equal values, …
        dates_values: f64,
        /// … the shared range, …
        dates_range: f64,
        /// … the likeness of their shapes.
        dates_shape: f64,
    }
}
