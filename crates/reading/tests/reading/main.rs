//! What turns of conversations say.

mod meanings;
mod taken;
mod turns;
