//! Asks the indexes, fuses what they find, and says why: join (on one column or several), union and text search.
//!
//! Every answer carries the evidence it was ranked by. Nothing here prints, runs SQL or needs a language model.

mod alignment;
pub mod augment;
pub mod candidates;
pub mod channels;
pub mod cite;
pub mod column_search;
pub mod composite;
pub mod copies;
pub mod correlate;
pub mod fuse;
pub mod join;
pub mod late;
pub mod likeness;
mod lists_of_all;
pub mod matching;
pub mod named_values;
pub mod new_rows;
pub mod query_table;
mod ranker;
pub mod record_search;
mod request_words;
pub mod task_search;
pub mod text_search;
pub mod union;
pub mod weights;
pub mod world;

pub use candidates::{Candidate, ChannelWeights, HeldValue, Relevance, RelevanceWeights};
pub use candidates::{SearchedText, TableAnswers, TableRequest, TextAnswers, TextRequest};
pub use column_search::ColumnAnswer;
pub use composite::{CompositeAnswers, CompositeOptions};
pub use copies::CopyGroup;
pub use correlate::{CorrelateOptions, CorrelationAnswer, CorrelationAnswers};
pub use join::{JoinAnswer, JoinOptions};
pub use named_values::NamedValue;
pub use query_table::{QueryColumn, QueryTable};
pub use record_search::{RecordAnswer, RecordAnswers, RecordQuery};
pub use text_search::{SearchAnswer, SearchOptions};
pub use union::{UnionAnswer, UnionOptions};
pub use weights::RankingWeights;
