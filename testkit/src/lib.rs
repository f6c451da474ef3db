//! What the tests of all crates share: the canary that finds a value in whatever an output became.

mod canary;
pub mod golden;

pub use canary::Canary;
