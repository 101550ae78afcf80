//! Searches and turns on benchmarks of the folder `LAKEWARD_BENCH`, and their baselines.

mod augment;
mod baselines;
mod benchmark;
#[path = "../../../models/tests/models/chat_behaviour.rs"]
mod chat_behaviour;
mod model_check;
mod quality;
mod record_quality;
mod stand_ins;
mod turns;
