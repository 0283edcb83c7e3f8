//! Guards: a further say in which places may be used, besides where they lie.
//!
//! The sandbox has no opinion of its own here: it asks about every place that it is about to use, by the name under
//! which that place is known once all links are worked out, and does what it is told.

use std::fmt::Debug;
use std::path::Path;
use std::sync::Arc;

use crate::paths::error::{AccessError, shown};
use crate::paths::roots::Place;

/// What is to be done with a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// To open, look at or list it.
    Read,
    /// To make or replace it.
    Write,
}

/// Says whether a place may be used. It is asked often; it should be quick.
pub trait Guard: Send + Sync + Debug {
    /// `path` is relative to the workspace (empty for its root), absolute in an added directory; links, `.` and `..`
    /// are worked out. The error says in words why not.
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

    /// An error if the `place`, which was asked for as `path`, may not be used.
    pub(crate) fn require(&self, path: &str, place: &Place<'_>, access: Access) -> Result<(), AccessError> {
        if self.is_empty() {
            return Ok(());
        }
        self.check(&place.name(), access).map_err(|reason| AccessError::Refused { path: shown(path), reason })
    }
}
