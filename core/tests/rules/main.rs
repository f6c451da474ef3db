//! The rules of the core, each file one subject, each test one statement.
#![expect(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

mod approvals;
mod arbitrary;
mod argv;
mod attest;
mod boundary;
mod bundle_out;
mod canary;
mod ceiling;
mod confinement;
mod devcontainer;
mod golden;
mod launch;
mod names;
mod operators;
mod precedence;
mod sequencer;
mod shim;
mod ssh;
mod standing;
mod support;
mod waiting;
mod yaml;
