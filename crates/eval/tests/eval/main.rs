//! Searches and turns on benchmarks of the folder `LAKEWARD_BENCH`, and their baselines.

mod augment;
mod baselines;
mod benchmark;
mod model_check;
mod quality;
mod record_quality;
mod turns;
