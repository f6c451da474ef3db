//! The real binary in real repositories: how it ends, what it prints, what it never prints.
#![cfg(unix)]

#[cfg(test)]
mod branches;
#[cfg(test)]
mod canary;
#[cfg(test)]
mod devcontainer;
#[cfg(test)]
mod doctor;
mod ends;
#[cfg(test)]
mod example;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod hostile_git;
#[cfg(test)]
mod launch;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod person;
#[cfg(test)]
mod readme;
mod recipe;
#[cfg(test)]
mod runs;
#[cfg(test)]
mod schemas;
#[cfg(test)]
mod settings;
#[cfg(test)]
#[cfg(not(feature = "fault-injection"))]
mod shipped;
