//! What the tests of all crates share: the golden corpus, hostile texts, and the canary that finds a value in
//! whatever an output became.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a helper of tests fails by panicking"
)]

mod canary;
mod floods;
pub mod golden;

pub use canary::Canary;
pub use floods::floods;
