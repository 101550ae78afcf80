//! The lake as a service: its tools for other agents, and HTTP.
#![cfg(unix)]

mod addresses;
mod attacks;
mod browser;
mod chinese;
mod hostile_lake;
mod http;
mod jobs;
#[cfg(target_os = "linux")]
mod load;
mod mcp;
mod page;
mod scripts;
mod server;
mod usage;
mod visit;
