//! Trust in a project's own files, which lets them do more than narrow the user's settings.
//!
//! Only the user gives it, by `sortie trust` or for one run by `--trust`; a project cannot claim it. A project is its
//! canonical path, not its git metadata. Trust covers bytes, not names: a new or changed file is not covered. The
//! reader of a covered file decides what it may do.

mod digest;
pub(crate) mod project_files;
mod store;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use sortie_engine::TrustCheck;
use sortie_mutant::is_out;

pub(crate) use digest::Digest;
pub(crate) use project_files::{Powerful, PowerfulFile, Unread};
pub(crate) use store::{Store, Trusted};

use crate::environment::Places;
use crate::error::CommandError;

/// Extent of the user's trust in one project.
#[derive(Debug, Clone, Default)]
pub(crate) struct Trust {
    standing: Standing,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Standing {
    #[default]
    None,
    /// Everything, for this run.
    ThisRun,
    /// These files, as they were.
    Files(Arc<BTreeMap<String, Digest>>),
}

/// Standing of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Covered,
    /// The project is not trusted.
    Untrusted,
    /// The project is trusted, but this file is new since.
    New,
    /// The project is trusted, but this file has changed since.
    Changed,
}

impl Trust {
    /// Trust in everything that the project holds, for one run.
    pub(crate) fn for_this_run() -> Self {
        Self { standing: Standing::ThisRun }
    }

    /// Recalls the user's trust in the project, and says why it is ignored if it is. An unusable list stops nobody: it
    /// trusts nothing.
    pub(crate) fn recall(places: &Places) -> (Self, Option<String>) {
        // A list inside a project may come from the project.
        if let Some(project) = places.project_with_home() {
            let doubt = Store::exists(&places.home).then(|| {
                let (home, project) = (places.home.display(), project.display());
                format!(
                    "the list of trusted projects in {home} is ignored, because {project} could have written it; \
                     set SORTIE_HOME to a directory outside of any project"
                )
            });
            return (Self::default(), doubt);
        }
        let store = match Store::read(&places.home) {
            Ok(store) => store,
            Err(error) => return (Self::default(), Some(error.in_one_line())),
        };
        let standing = match store.get(&places.workspace) {
            Some(trusted) => Standing::Files(Arc::new(trusted.files.clone())),
            None => Standing::None,
        };
        (Self { standing }, None)
    }

    /// Judges the file at `path`, which is relative to the project with `/` between its parts.
    pub(crate) fn judge(&self, path: &str, bytes: &[u8]) -> Verdict {
        match &self.standing {
            Standing::None => Verdict::Untrusted,
            Standing::ThisRun => Verdict::Covered,
            Standing::Files(files) => match files.get(path) {
                Some(digest) if *digest == Digest::of(bytes) || is_out("trust-digest") => Verdict::Covered,
                Some(_) => Verdict::Changed,
                None => Verdict::New,
            },
        }
    }

    pub(crate) fn covers(&self, path: &str, bytes: &[u8]) -> bool {
        self.judge(path, bytes) == Verdict::Covered
    }

    /// A reusable check for callers that judge many files.
    pub(crate) fn check(&self) -> TrustCheck {
        let trust = self.clone();
        Arc::new(move |path, bytes| trust.covers(path, bytes))
    }

    /// Standing of the project, in words.
    pub(crate) fn summary(&self) -> String {
        match &self.standing {
            Standing::None => "not trusted; its files can only narrow settings".to_owned(),
            Standing::ThisRun => "trusted for this run".to_owned(),
            Standing::Files(files) => match files.len() {
                1 => "trusted, 1 file".to_owned(),
                count => format!("trusted, {count} files"),
            },
        }
    }
}

impl Verdict {
    /// Reason why the file at `path` is not covered, and what to do; `None` if it is covered.
    pub(crate) fn complaint(self, path: &str) -> Option<String> {
        match self {
            Self::Covered => None,
            Self::Untrusted => Some(format!("this project is not trusted; look at {path}, then run `sortie trust`")),
            Self::New => {
                Some(format!("{path} is new since you trusted this project; look at it and run `sortie trust` again"))
            }
            Self::Changed => {
                Some(format!("{path} has changed since you trusted it; look at it and run `sortie trust` again"))
            }
        }
    }
}

/// Path of a project as written in the list of trusted projects.
fn listed_root(root: &Path) -> Result<&str, CommandError> {
    root.to_str().ok_or_else(|| {
        CommandError::config(format!("{} cannot be trusted: its path is not valid UTF-8", root.display()))
            .hint("`--trust` trusts it for one run")
    })
}
