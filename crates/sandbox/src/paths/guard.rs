//! Guards: decide which places may be used, beyond where they lie.
//!
//! The sandbox has no opinion of its own here. It asks about every place that it is about to use, by the name that the
//! place has with all links resolved, and obeys.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use crate::paths::error::{AccessError, shown};
use crate::paths::roots::Place;

/// The intended use of a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Open, stat or list it.
    Read,
    /// Create or replace it.
    Write,
}

/// Decides whether a place may be used. Called often, so it should be fast.
pub trait Guard: Send + Sync + Debug {
    /// `path` is relative to the workspace (empty for its root), absolute in an added directory; links, `.` and `..`
    /// are resolved. The error is the reason for a refusal.
    fn check(&self, path: &Path, access: Access) -> Result<(), String>;
}

/// Guards that must all agree.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guards(Vec<Arc<dyn Guard>>);

impl Guards {
    pub(crate) fn and(&self, guard: Arc<dyn Guard>) -> Self {
        Self(self.0.iter().cloned().chain([guard]).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn check(&self, path: &Path, access: Access) -> Result<(), String> {
        self.0.iter().try_for_each(|guard| guard.check(path, access))
    }

    pub(crate) fn admit(&self, place: &Place<'_>, access: Access) -> bool {
        self.is_empty() || self.check(&place.name(), access).is_ok()
    }

    /// Fails if the `place`, requested as `path`, may not be used.
    pub(crate) fn require(&self, path: &str, place: &Place<'_>, access: Access) -> Result<(), AccessError> {
        if self.is_empty() {
            return Ok(());
        }
        self.check(&place.name(), access).map_err(|reason| AccessError::Refused { path: shown(path), reason })
    }
}
