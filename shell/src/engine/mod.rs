//! The engine: run its client, ask what it is, carry commands out, read what it made.
//!
//! Takes commands that the core rendered; gives outputs, facts and observations. It decides nothing.

mod bounds;
mod bundle;
mod carry_out;
mod client;
mod detect;
mod disk;
mod feed;
mod image;
mod inspect;
mod pace;
mod take_out;
mod usage;

pub use bounds::Bounds;
pub(crate) use bounds::QUESTION_MEMORY;
pub use carry_out::{CarryOut, CarryOutError, Supplies};
pub use client::{Client, ClientError, Output, Wanted, run as run_bounded};
pub use detect::{Detected, EngineDetails, EngineError, detect};
pub(crate) use detect::{host_path, host_program, in_debug_mode, knows_runtime};
pub use disk::{DISK_FLOOR, DiskLow, Space, check_floor, check_room, free_bytes, gibibytes, spaces};
pub(crate) use feed::NO_PROGRESS;
pub use feed::{Input, Writer};
pub use image::{ImageError, has_triggers, image_configuration, image_facts, remove_helper};
pub use inspect::{Inspector, KernelChecks};
pub use take_out::{OutBounds, TakeOutError, take_out};
pub use usage::{Usage, usage};
