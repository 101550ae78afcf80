//! What makes Lakeward an agent: it reads what a request asks for. So far the signals of a single request ([`signals`]).

pub mod signals;
