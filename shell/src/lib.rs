//! The effect shell around the pure core: it reads the world, carries out what was decided, decides nothing.

pub mod cli;
pub mod gather;
pub mod settings;

mod render;
