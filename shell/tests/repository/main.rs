//! The worktree finder against git itself, on repositories that git made, and its refusals.
#![cfg(unix)]

#[cfg(test)]
mod git;
#[cfg(test)]
mod refusals;
#[cfg(test)]
mod same_as_git;
