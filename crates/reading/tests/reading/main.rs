//! What turns of conversations say.

mod taken;
mod turns;
