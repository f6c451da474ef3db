//! Orca's recipes: the contract by which today's Orca lets a command provide a workspace over ssh.
//!
//! Takes Orca's environment variables or its lifecycle payload; gives the one JSON object that Orca reads. Nothing is decided
//! here: the workspace is made, started, stopped and removed like any other. Source of the contract: Orca's guide to
//! per-workspace environments, result schema version 2.

mod asked;
mod handover;
mod result;

pub use asked::{Asked, AskedError, resource_of};
pub use handover::{HandoverError, Maker, hand_over};
pub use result::{Reached, ResultError, result};
