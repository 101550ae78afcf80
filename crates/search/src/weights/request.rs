//! What searches for the words of a request weigh beside their features: fusion, text search, records, late interaction.

use super::section;

section! {
    /// How ranked lists of several channels become one.
    FusionWeights in fusion {
        /// The constant of reciprocal rank fusion: how little the first ranks stand out.
        rank_constant: f64,
    }
}

section! {
    /// Text search, beside the weights of its features.
    TextWeights in text {
        /// A table that shares no word with the request must be at least this close in meaning.
        least_cosine: f32,
        /// The same with what tables are about, by the model that reads whole texts.
        least_about: f32,
        /// How much phrases, whole cells and names of a table without title and description count, where those of others count by how
        /// much of the text any table says.
        bare: f64,
        /// How many of the best tables say how much of a request the lake says.
        deciding_tables: usize,
    }
}

section! {
    /// Column search, beside the weights of its features.
    ColumnSearchWeights in column_search {
        /// Columns of one table among the answers: a table with a column for each year is not the whole answer.
        of_one_table: usize,
    }
}

section! {
    /// How much the order of candidates that several queries found counts beside that of text search, in the search loop.
    RerankWeights in rerank {
        /// For a request of one word, the fused score as a share of the best …
        prior: f64,
        /// … and how soon that fades, as a power of the number of words: what other queries found tells much of a request that says
        /// little. The same weight for all requests gained on keywords (ACORDAR) and cost .02 on questions about cells (FeTaQA, OTT-QA).
        fading: f64,
    }
}

section! {
    /// How likely an answer of text search serves: the logistic function of a sum, learned on judged questions (eval/search.md).
    CalibrationWeights in calibration {
        /// The best cosine of the request and what a table is about …
        about: f64,
        /// … among so many of the best tables.
        best_tables: usize,
        /// That of the request and the nearest of many datasets that the lake need not have ([`crate::world`]), taken off …
        world: f64,
        /// … which is this where the model's vectors are not those of the datasets, -1..=1.
        usual_world: f64,
        /// How far the answer's score is behind the best one's, taken off.
        behind: f64,
        /// Taken off whatever the answer.
        offset: f64,
        /// A less likely answer is none, 0..=1 …
        least: f64,
        /// … unless it says at least this share of the request, 0..=1.
        said: f64,
    }
}

section! {
    /// What a record or table that meets demands is scored by.
    RecordWeights in records {
        /// Strength of length normalisation in the words of a record, 0..=1.
        text_length: f32,
        /// The cosine of request and title.
        meaning: f32,
        /// The cosine of what the request and a record are about, by the model that reads whole texts, where records have such vectors.
        about: f32,
        /// The share of the words of what was said that it says, to the power 1.5 …
        words: f32,
        /// … and where records have vectors of what they are about.
        words_about: f32,
        /// A word of an earlier topic, or of a turn that changed nothing, beside one of what is looked for, 0..=1.
        earlier: f32,
        /// What it says side by side as it was said, of the weight of the words.
        neighbours: f32,
        /// Late interaction with the title.
        late: f64,
        /// A demand that was stated, read from words, and is met.
        stated_demand: f32,
        /// One that was only inferred.
        soft_demand: f32,
        /// A value that is not in a list which its publisher cut short.
        perhaps_cut_off: f32,
        /// A record that covers the year in which it should begin or end.
        reached_year: f32,
    }
}

section! {
    /// θ and φ of late interaction ([`crate::late`]) for one kind of token vectors.
    LateWeights {
        /// θ, 0..1: pieces less alike count as not alike at all.
        threshold: f32,
        /// φ, 0..=1: how much the body counts beside the title.
        body: f32,
    }
}

section! {
    /// Late interaction with the vectors of each model.
    LateModels in late {
        /// The model in the program.
        builtin: LateWeights,
        /// A sentence model.
        sentence_model: LateWeights,
    }
}
