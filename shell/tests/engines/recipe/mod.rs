//! Orca's recipes, driven as Orca drives them.

mod ends;
mod life;
mod orca;

pub use ends::{given_up, killed, killed_between, removed, stopped_inside};
pub use life::{after_a_start, failures, five, one_connection, trial, variables, whole_life};
