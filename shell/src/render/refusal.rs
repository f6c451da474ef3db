//! A refusal: every reason at once, so that nobody has to run into one after the other.

use orca_container_core::Refusal;

use super::Look;
use super::page::{Mark, Page};
use super::problems;

/// The refusal as text.
pub(crate) fn refusal(refusal: &Refusal, look: Look) -> String {
    let mut page = Page::new(look);
    page.title(&format!("Refused: {}", refusal.message), Mark::Refused);
    problems::groups(&mut page, &refusal.problems);
    page.into_text()
}
