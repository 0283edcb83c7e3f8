//! Trust in a project's own files: which of them may do more than narrow the user's settings.
//!
//! It is the user's own word, given by `sortie trust` or for one run by `--trust`, never found out from the project: a
//! project is its canonical path, not what its git metadata say. It covers bytes, not names: a file that is new or
//! has changed since is not covered. What a covered file may then do is decided by its reader.

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

/// What the user's trust in one project covers.
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

/// How a file stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Covered,
    /// The project is not trusted.
    Untrusted,
    /// The project is trusted, but this file was not there then.
    New,
    /// The project is trusted, but this file was another one then.
    Changed,
}

impl Trust {
    /// Trust in whatever the project holds, for one run.
    pub(crate) fn for_this_run() -> Self {
        Self { standing: Standing::ThisRun }
    }

    /// What the user said of the project before, and why that is not believed where it is not. A list that cannot be
    /// used stops nobody: it trusts nothing.
    pub(crate) fn recall(places: &Places) -> (Self, Option<String>) {
        // A list that lies in a project may come from the project.
        if let Some(project) = places.project_with_home() {
            let doubt = Store::exists(&places.home).then(|| {
                let (home, project) = (places.home.display(), project.display());
                format!(
                    "the list of trusted projects in {home} is not believed, because {project} could have written it; \
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

    /// How the file at `path`, relative to the project and with `/` between its parts, stands.
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

    /// The same question for those who keep asking it.
    pub(crate) fn check(&self) -> TrustCheck {
        let trust = self.clone();
        Arc::new(move |path, bytes| trust.covers(path, bytes))
    }

    /// Where the project stands, in words.
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
    /// Why the file at `path` is not covered, and what to do; `None` for one that is.
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

/// A project's path as the list of trusted projects has it.
fn listed_root(root: &Path) -> Result<&str, CommandError> {
    root.to_str().ok_or_else(|| {
        CommandError::config(format!("{} cannot be trusted: its path is not valid UTF-8", root.display()))
            .hint("`--trust` trusts it for one run")
    })
}
