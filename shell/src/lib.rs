//! The effect shell around the pure core: it reads the world, carries out what was decided, decides nothing.

pub mod gather;
