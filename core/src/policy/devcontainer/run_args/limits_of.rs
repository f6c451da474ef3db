//! Flags with sizes and numbers: never more than the plan's own.

use super::{
    Judge,
    ask::{Ask, UlimitName},
};
use crate::{limits, parse::quantity, text::quoted_name};
use alloc::format;

impl Judge<'_> {
    pub(super) fn shm_size(&mut self, text: &str) -> Option<Ask> {
        match quantity::bytes(text) {
            None | Some(0) => self.dropped("a size is a number of bytes above zero, perhaps with k, m or g"),
            Some(asked) if asked > limits::MEMORY_FILES_BYTES => {
                let most = limits::MEMORY_FILES_BYTES;
                self.cap(&format!("/dev/shm has at most {most} bytes"));
                Some(Ask::ShmSize(most))
            }
            Some(asked) => Some(Ask::ShmSize(asked)),
        }
    }

    /// 0 would mean without a limit.
    pub(super) fn memory(&mut self, text: &str) -> Option<Ask> {
        match quantity::bytes(text) {
            None | Some(0) => self.dropped("memory stays limited; a limit is a number of bytes above zero"),
            Some(asked) if asked < limits::LEAST_MEMORY_BYTES => {
                self.dropped("with so little memory no workspace works")
            }
            Some(asked) => Some(Ask::Memory(asked)),
        }
    }

    pub(super) fn cpus(&mut self, text: &str) -> Option<Ask> {
        match quantity::nano_cpus(text) {
            None | Some(0) => self.dropped("CPUs stay limited; a limit is a number above zero"),
            Some(asked) if asked < limits::LEAST_NANO_CPUS => {
                self.dropped("with so little of a CPU no workspace works")
            }
            Some(asked) => Some(Ask::NanoCpus(asked)),
        }
    }

    pub(super) fn pids(&mut self, text: &str) -> Option<Ask> {
        match number(text).and_then(|asked| u32::try_from(asked).ok()) {
            None | Some(0) => {
                self.dropped("the number of processes stays limited; a limit is a number above zero")
            }
            Some(asked) if asked < limits::LEAST_PIDS => {
                self.dropped("with so few processes no workspace works")
            }
            Some(asked) => Some(Ask::Pids(asked)),
        }
    }

    pub(super) fn ulimit(&mut self, text: &str) -> Option<Ask> {
        let (name, values) = text.split_once('=').unwrap_or((text, ""));
        let name = match name {
            "nofile" => UlimitName::Nofile,
            "core" => UlimitName::Core,
            "nproc" => {
                self.note(
                    "it counts the processes of the same user number in all containers and on the host",
                );
                return None;
            }
            other => {
                let why = format!("{} is not among the limits nofile, core and nproc", quoted_name(other));
                return self.dropped(why);
            }
        };
        let (soft, hard) = values.split_once(':').unwrap_or((values, values));
        let (Some(soft), Some(hard)) = (limit(soft), limit(hard)) else {
            return self.dropped("a limit is \"name=soft\" or \"name=soft:hard\" with numbers, -1 for none");
        };
        if name == UlimitName::Nofile && soft < u64::from(limits::LEAST_NOFILE) {
            return self.dropped("with so few open files no workspace works");
        }
        if soft > hard {
            return self.dropped("a soft limit is at most the hard one");
        }
        let most = match name {
            UlimitName::Nofile => u64::from(limits::NOFILE),
            // Core dumps hold the memory of processes, values of variables included.
            UlimitName::Core => 0,
        };
        if hard > most {
            self.cap(&format!("\"{}\" is at most {most}", name.as_str()));
        }
        Some(Ask::Ulimit { name, soft: soft.min(most), hard: hard.min(most) })
    }
}

/// A limit of the kernel's, where -1 is none.
fn limit(text: &str) -> Option<u64> {
    if text == "-1" { Some(u64::MAX) } else { number(text) }
}

fn number(text: &str) -> Option<u64> {
    text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}
