//! What turns of conversations say.

mod languages;
mod taken;
mod turns;
