//! What both benches plan, and the floor that planning is compared with.

pub mod floor;
pub mod requests;
