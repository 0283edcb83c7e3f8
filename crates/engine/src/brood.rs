//! How many tasks a task and its descendants may start: counted at every ancestor, so that no branch goes round it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use sortie_protocol::Failure;

/// The count of one task's descendants, linked to its ancestors'.
pub(crate) struct Brood {
    started: AtomicU32,
    max: Option<u32>,
    above: Option<Arc<Brood>>,
}

impl Brood {
    pub(crate) fn of_root(max: u32) -> Arc<Self> {
        Arc::new(Self { started: AtomicU32::new(0), max: Some(max), above: None })
    }

    pub(crate) fn below(above: &Arc<Self>, max: Option<u32>) -> Arc<Self> {
        Arc::new(Self { started: AtomicU32::new(0), max, above: Some(Arc::clone(above)) })
    }

    /// Counts one more task here and at every ancestor; if one of them has had all that it may have, at none.
    pub(crate) fn admit(&self) -> Result<(), Failure> {
        let one_more = |started: u32| self.max.is_none_or(|max| started < max).then_some(started + 1);
        if self.started.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_more).is_err() {
            let max = self.max.unwrap_or_default();
            let message = format!("all {max} sub-agents that may be started here have been started; go on without");
            return Err(Failure::new("max_children", message));
        }
        let admitted_above = self.above.as_ref().map_or(Ok(()), |above| above.admit());
        if admitted_above.is_err() {
            self.started.fetch_sub(1, Ordering::Relaxed);
        }
        admitted_above
    }
}

#[cfg(test)]
mod tests {
    use super::Brood;

    #[test]
    fn a_branch_counts_against_every_ancestor() {
        let root = Brood::of_root(3);
        let branch = Brood::below(&root, Some(2));
        let leaf = Brood::below(&branch, None);
        assert!(leaf.admit().is_ok());
        assert!(branch.admit().is_ok());
        assert!(leaf.admit().is_err(), "the branch has had its two");
        assert!(root.admit().is_ok(), "the refused one was not counted at the root");
        assert!(root.admit().is_err(), "the root has had its three");
    }
}
