//! What turns of conversations say.

mod languages;
mod meanings;
mod taken;
mod turns;
