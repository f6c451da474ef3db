//! `fetch`: a workspace's branch home, as a bundle that its container writes.
//!
//! Everything in there is hostile: its git, its configuration, its objects, every word of its output, and it lives
//! meanwhile. So nothing of it chooses a reference, a path or an option here; what came is judged in a quarantine; and all
//! that changes on the host is a pack, a reference of ours, and the recorded branch, forward only.

mod changed;
mod error;
mod git;
mod held;
mod host;
mod quarantine;
mod receive;

use std::path::Path;

use orca_container_core::HostFile;

pub use error::ImportError;
pub use held::Held;

use crate::store::{Store, WorkspaceRecord};
use crate::workspace::{Runner, Ui, WorkspaceError, remove_leftovers};
use host::{At, Host};
use quarantine::Quarantine;
use receive::{Received, receive};

/// What became of the branch on the host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It has all that the workspace has.
    AlreadyThere,
    /// It was moved forward.
    Moved,
    /// It began in the workspace, and is in the repository now.
    Made,
    /// A worktree holds it, so it was left.
    Held(Held),
    /// Both sides have commits that the other lacks, so it was left.
    Diverged,
    /// It is not there, so it was left so.
    Gone,
}

/// What a fetch did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// The branch.
    pub branch: String,
    /// Where it was on the host.
    pub from: Option<String>,
    /// Where it is in the workspace.
    pub to: String,
    /// The reference that keeps what came.
    pub kept: String,
    /// Commits that the branch on the host lacked.
    pub commits: u64,
    /// Changed files that are run on the host.
    pub changed: Vec<HostFile>,
    /// What became of the branch.
    pub outcome: Outcome,
}

/// Brings a workspace's branch to the host's repository.
pub fn fetch(record: &WorkspaceRecord, store: &Store, ui: &mut dyn Ui) -> Result<Fetched, WorkspaceError> {
    let name = || orca_container_core::quoted(&record.workspace.name);
    remove_leftovers(store);
    let _lock = store.lock(record.file_name())?;
    let record = store.record(record.file_name())?.ok_or_else(|| WorkspaceError::NotFound(name()))?;
    if record.progress.is_unfinished() {
        return Err(WorkspaceError::Unfinished(name()));
    }
    let host = host_of(&record)?;
    let mut runner = Runner::new(store, record, true);
    runner.observe();
    runner.require_container()?;
    if !runner.is_running() {
        return Err(ImportError::NotRunning(runner.record.workspace.name).into());
    }
    Ok(Import { host, record: &runner.record, root: store.root() }.run(ui)?)
}

/// Takes away what a workspace that is removed needs no more: what a killed fetch left, and the reference of what came,
/// where the branch has all of it. What it does not have stays.
pub fn forget(record: &WorkspaceRecord, store: &Store) {
    quarantine::remove_left(store.root(), record.file_name());
    crate::gather::branch::let_go(&record.workspace, record.file_name());
    // Nothing of it stands in the way of a removal.
    let _ = host_of(record).and_then(|host| host.forget());
}

fn host_of(record: &WorkspaceRecord) -> Result<Host, ImportError> {
    let workspace = &record.workspace;
    let (Some(common), Some(branch)) = (&workspace.git_common_dir, &workspace.branch) else {
        return Err(ImportError::NoRepository);
    };
    Host::open(Path::new(common), branch, record.file_name())
}

struct Import<'i> {
    host: Host,
    record: &'i WorkspaceRecord,
    root: &'i Path,
}

impl Import<'_> {
    fn run(&self, ui: &mut dyn Ui) -> Result<Fetched, ImportError> {
        let branch = self.record.workspace.branch.clone().unwrap_or_default();
        let (old, kept) = (self.host.branch()?, self.host.kept()?);
        let quarantine = Quarantine::new(self.root, self.record.file_name(), self.host.objects())?;
        let referenced: Vec<String> =
            [&old, &kept].into_iter().filter_map(At::commit).map(String::from).collect();
        let known = self.known(&quarantine, &referenced)?;
        ui.progress("Having the workspace write its branch");
        let received = receive(self.record, &branch, &known, &quarantine, self.root)?;
        ui.progress("Judging what came");
        let (new, pack) = match received {
            Received::Bundle(mut bundle, head) => {
                let pack = quarantine.take(&mut bundle, &head)?;
                (head.commit, Some(pack))
            }
            Received::Nothing(commit) => {
                quarantine.require_within(&commit, &known)?;
                (commit, None)
            }
        };
        // What a reference reaches is whole; a commit that only the record names need not be.
        quarantine.require_history(&new, &referenced)?;
        let mut fetched = self.judged(&quarantine, &old, new, branch)?;
        if fetched.outcome == Outcome::AlreadyThere {
            return Ok(fetched);
        }
        if let Some(pack) = pack {
            self.host.take(pack)?;
        }
        self.host.keep(&kept, &fetched.to)?;
        if matches!(fetched.outcome, Outcome::Moved | Outcome::Made) {
            match held::holder(self.host.git(), &fetched.branch)? {
                Some(held) => fetched.outcome = Outcome::Held(held),
                None => self.host.advance(&old, &fetched.to)?,
            }
        }
        Ok(fetched)
    }

    /// Commits that the container need not send: where the branch is, what came last, what was cloned.
    fn known(&self, quarantine: &Quarantine, referenced: &[String]) -> Result<Vec<String>, ImportError> {
        let mut known = referenced.to_vec();
        if let Some(cloned) = &self.record.workspace.commit
            && quarantine.is_commit(cloned)?
        {
            known.push(cloned.clone());
        }
        known.sort();
        known.dedup();
        Ok(known)
    }

    /// How what came stands to the branch, and what of it runs on the host.
    fn judged(
        &self,
        quarantine: &Quarantine,
        old: &At,
        new: String,
        branch: String,
    ) -> Result<Fetched, ImportError> {
        let (outcome, base) = match old.commit() {
            None => match self.cloned(quarantine, &new)? {
                Some(cloned) if self.record.workspace.new_branch => (Outcome::Made, Some(cloned)),
                cloned => (Outcome::Gone, cloned),
            },
            Some(old) if quarantine.is_ancestor(&new, old)? => (Outcome::AlreadyThere, Some(new.clone())),
            Some(old) if quarantine.is_ancestor(old, &new)? => (Outcome::Moved, Some(old.to_owned())),
            Some(old) => (Outcome::Diverged, quarantine.shared(old, &new)?),
        };
        let commits = quarantine.count(base.as_deref(), &new)?;
        let changed = changed::changed(quarantine.git(), base.as_deref(), &new)?;
        let (from, kept) = (old.commit().map(String::from), self.host.kept_name().to_owned());
        Ok(Fetched { branch, from, to: new, kept, commits, changed, outcome })
    }

    /// The commit that was cloned, where it is in the history of what came.
    fn cloned(&self, quarantine: &Quarantine, new: &str) -> Result<Option<String>, ImportError> {
        let Some(cloned) = &self.record.workspace.commit else { return Ok(None) };
        let there = quarantine.is_commit(cloned)? && quarantine.is_ancestor(cloned, new)?;
        Ok(there.then(|| cloned.clone()))
    }
}
