//! What people read: answers of the core as text for a terminal.
//!
//! Takes answers that hold no value; gives text that fits a width. What a repository wrote is shown escaped
//! only, since a terminal obeys some characters.

mod check;
mod command;
mod doctor;
mod environment;
mod look;
mod page;
mod plan;
mod problems;
mod refusal;
mod sarif;

pub(crate) use check::check;
pub(crate) use command::quote as shell_word;
pub(crate) use doctor::doctor;
pub(crate) use environment::{
    drift_line, environment, markdown, sentences, workspace_environment, workspace_markdown,
};
pub use look::Look;
pub(crate) use plan::plan;
pub(crate) use refusal::refusal;
pub(crate) use sarif::sarif;
