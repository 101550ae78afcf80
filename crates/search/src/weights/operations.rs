//! The order of the operations that a turn proposes, and their probabilities: plain data here, used by the agent.

use super::section;

section! {
    /// How well an operation can be done with a table, whoever asks for it.
    FeasibilityWeights in feasibility {
        /// A join or a union where there is nothing yet to combine a table with.
        first_part: f64,
        /// A filter.
        filter: f64,
        /// An aggregate of any table …
        aggregate: f64,
        /// … and what columns to group by, and columns to compute figures of, add each.
        aggregate_columns: f64,
    }
}

section! {
    /// The order of the operations that could come next.
    OperationWeights in operations {
        /// Share of an operation's score that preconditions can take away.
        at_stake: f64,
        /// Columns wanted are those of a table that are called this much alike.
        wanted_column: f64,
        /// How much of the doubt between the other operations speaks for asking.
        doubt: f64,
        /// Signals at least this sure leave nothing to ask.
        clear: f64,
        /// A request clearly asks for one kind of operation from this probability on.
        clearly: f64,
        /// Added to the probability of each operation where asking is none of them, and twice to that of looking at one table.
        likeliest_left: f64,
        /// A join at which a row meets more rows than this is in doubt.
        rows_met: f64,
        /// A question that tells less than this, in bits, is not asked.
        least_bits: f64,
    }
}

section! {
    /// How likely an operation is what is wanted: fitted on turns and requests that no model was trained on (eval/turns.md).
    LikelihoodWeights in likelihood {
        /// Taken off the log-odds that a turn is read right where something of it is not applied.
        lost: f64,
        /// How often columns that were found for words are those that are wanted, without a doubt …
        named: f64,
        /// … and with one.
        named_in_doubt: f64,
        /// How often what fits best is what is wanted, of requests of its kind.
        fits: f64,
        /// A turn that is less likely read right is uncertain, which is a doubt about its plan.
        uncertain: f64,
        /// What else a turn may mean is proposed from this probability on.
        other: f64,
        /// How far the reading of a model is trusted that was not measured.
        unmeasured: f64,
    }
}

section! {
    /// When a request is for a prediction, so that columns of other tables go first.
    PredictionWeights in prediction {
        /// From this probability of a prediction on …
        sure: f64,
        /// … and from this one words that the table at hand does not explain may name features …
        suspected: f64,
        /// … but where another operation than a join is this likely.
        other_kind: f64,
    }
}
