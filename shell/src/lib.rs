//! The effect shell around the pure core: it reads the world, carries out what was decided, decides nothing.

pub mod cli;
#[cfg(unix)]
pub mod copy;
#[cfg(unix)]
pub mod deliver;
#[cfg(unix)]
pub mod doctor;
#[cfg(unix)]
pub mod engine;
#[cfg(unix)]
mod fault;
pub mod gather;
#[cfg(unix)]
pub mod import;
#[cfg(unix)]
mod own_program;
#[cfg(unix)]
pub mod recipe;
pub mod redact;
pub mod secrets;
pub mod settings;
#[cfg(unix)]
pub mod ssh;
#[cfg(unix)]
pub mod store;
#[cfg(unix)]
pub mod workspace;

#[cfg(unix)]
pub mod trace;

mod render;

/// The README's Rust, compiled and run with the other tests.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
