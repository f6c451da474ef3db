//! What the tests of all crates share: the canary that finds a value in whatever an output became.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of tests fails by panicking"
)]

mod canary;
pub mod golden;

pub use canary::Canary;
