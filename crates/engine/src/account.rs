//! What a task and all below it have spent, changed and started, counted at every ancestor, so that no branch goes round a limit.

use std::collections::BTreeSet;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_protocol::{Failure, Limits, Usage};

/// What a task with all below it has come to so far.
#[derive(Debug, Clone, Default)]
pub struct Footprint {
    pub usage: Usage,
    pub files_changed: BTreeSet<String>,
    /// Tasks that were started.
    pub(crate) started: u32,
}

impl AddAssign for Footprint {
    fn add_assign(&mut self, other: Self) {
        self.usage += other.usage;
        self.files_changed.extend(other.files_changed);
        self.started += other.started;
    }
}

/// The account of one task, linked to those of its ancestors.
pub(crate) struct Account {
    limits: Limits,
    /// Of the task with its descendants.
    spent: Mutex<Usage>,
    files_changed: Mutex<BTreeSet<String>>,
    /// Tasks that it and its descendants have started.
    started: AtomicU32,
    above: Option<Arc<Account>>,
}

impl Account {
    pub(crate) fn of_root(limits: Limits) -> Arc<Self> {
        Self::open(limits, None)
    }

    pub(crate) fn below(above: &Arc<Self>, limits: Limits) -> Arc<Self> {
        Self::open(limits, Some(Arc::clone(above)))
    }

    /// Of a task that goes on: what it and all below it have used stands in the log, and is booked above already.
    pub(crate) fn restored(limits: Limits, so_far: Footprint, above: Option<Arc<Self>>) -> Arc<Self> {
        let Footprint { usage, files_changed, started } = so_far;
        let (spent, files_changed) = (Mutex::new(usage), Mutex::new(files_changed));
        Arc::new(Self { limits, spent, files_changed, started: AtomicU32::new(started), above })
    }

    fn open(limits: Limits, above: Option<Arc<Self>>) -> Arc<Self> {
        Self::restored(limits, Footprint::default(), above)
    }

    /// Books spending here and at every ancestor.
    pub(crate) fn spend(&self, usage: Usage) {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner) += usage;
        if let Some(above) = &self.above {
            above.spend(usage);
        }
    }

    /// Books what a try used that brought no reply. It is no turn.
    pub(crate) fn spend_on_broken_try(&self, usage: Usage) {
        self.spend(Usage { turns: 0, tool_calls: 0, ..usage });
    }

    pub(crate) fn spent(&self) -> Usage {
        *self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Books changed files here and at every ancestor.
    pub(crate) fn change(&self, files: &[String]) {
        self.changed().extend(files.iter().cloned());
        if let Some(above) = &self.above {
            above.change(files);
        }
    }

    /// All files that the task and its descendants have changed.
    pub(crate) fn files_changed(&self) -> Vec<String> {
        self.changed().iter().cloned().collect()
    }

    fn changed(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.files_changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the tokens of this task, or of one above it, are used up.
    pub(crate) fn is_empty(&self) -> bool {
        let own = self.limits.max_tokens.is_some_and(|max| self.spent().total_tokens() >= max);
        own || self.above.as_ref().is_some_and(|above| above.is_empty())
    }

    /// Counts one more task here and at every ancestor; if one of them has had all that it may have, at none.
    pub(crate) fn admit_child(&self) -> Result<(), Failure> {
        let max = self.limits.max_children;
        let one_more = |started: u32| max.is_none_or(|max| started < max).then_some(started + 1);
        if self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
            let max = max.unwrap_or_default();
            let message = format!("all {max} sub-agents that may be started here have been started; go on without");
            return Err(Failure::new("max_children", message));
        }
        let admitted_above = self.above.as_ref().map_or(Ok(()), |above| above.admit_child());
        if admitted_above.is_err() {
            self.started.fetch_sub(1, Ordering::Relaxed);
        }
        admitted_above
    }

    /// One that was counted has not been started after all.
    pub(crate) fn take_back_child(&self) {
        self.started.fetch_sub(1, Ordering::Relaxed);
        if let Some(above) = &self.above {
            above.take_back_child();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn children(max_children: Option<u32>) -> Limits {
        Limits { max_children, ..Limits::default() }
    }

    #[test]
    fn children_of_a_branch_count_against_every_ancestor() {
        let root = Account::of_root(children(Some(3)));
        let branch = Account::below(&root, children(Some(2)));
        let leaf = Account::below(&branch, children(None));
        assert!(leaf.admit_child().is_ok());
        assert!(branch.admit_child().is_ok());
        assert!(leaf.admit_child().is_err(), "the branch has had its two");
        assert!(root.admit_child().is_ok(), "the refused one was not counted at the root");
        assert!(root.admit_child().is_err(), "the root has had its three");
        leaf.take_back_child();
        assert!(branch.admit_child().is_ok(), "one was not started");
        assert!(root.admit_child().is_err());
    }

    #[test]
    fn tokens_of_a_branch_are_the_ancestors_tokens_too() {
        let tokens = |max_tokens| Limits { max_tokens, ..Limits::default() };
        let root = Account::of_root(tokens(Some(100)));
        let (one, other) = (Account::below(&root, tokens(Some(80))), Account::below(&root, tokens(None)));
        let spend = |account: &Account, input_tokens| account.spend(Usage { input_tokens, ..Usage::default() });
        spend(&one, 79);
        assert!(!one.is_empty());
        spend(&one, 1);
        assert!(one.is_empty() && !other.is_empty());
        spend(&other, 20);
        assert!(other.is_empty() && root.is_empty(), "what is left to the root is left to nobody");
        assert_eq!(root.spent().input_tokens, 100);
    }
}
