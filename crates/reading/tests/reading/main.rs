//! What turns of conversations say.

mod turns;
