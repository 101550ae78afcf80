//! The lake as a service: its tools for other agents, and HTTP.

mod hostile_lake;
mod mcp;
