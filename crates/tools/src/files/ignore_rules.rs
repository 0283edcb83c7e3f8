//! `IgnoreRules`: the patterns of `.gitignore` and `.ignore`, from the root down, the nearest first.
//!
//! Only files of the workspace count: nothing above its root, no user-wide file, and nothing behind a link.

use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use sortie_sandbox::{AccessError, FileKind, Workspace};

/// Later files take precedence over earlier ones in the same directory.
pub(crate) const IGNORE_FILES: [&str; 2] = [".gitignore", ".ignore"];
/// Larger ignore files are not used: compiled, their patterns can take hundreds of times their size.
const MAX_FILE_BYTES: u64 = 64 * 1024;

/// The rules of one directory.
#[derive(Default)]
pub(crate) struct IgnoreRules {
    above: Option<Arc<IgnoreRules>>,
    own: Option<Gitignore>,
}

impl IgnoreRules {
    /// Returns the rules for `directory` from its ancestors' ignore files, and the number of unusable files.
    ///
    /// No rules apply if they ignore `directory` itself: a model that names an ignored directory wants to see its
    /// contents.
    pub(crate) fn above(workspace: &Workspace, directory: &Path) -> (Arc<Self>, usize) {
        let (mut rules, mut n_unusable) = (Arc::new(Self::default()), 0);
        let mut ancestors: Vec<&Path> = directory.ancestors().collect();
        ancestors.reverse();
        for pair in ancestors.windows(2) {
            let [ancestor, below] = pair else { continue };
            let (entered, n_more) = rules.enter(workspace, ancestor, &IGNORE_FILES);
            (rules, n_unusable) = (entered, n_unusable + n_more);
            if rules.ignores(below, FileKind::Directory) {
                return (Arc::default(), 0);
            }
        }
        (rules, n_unusable)
    }

    /// Returns the rules in `directory`, which has these `files` among the [`IGNORE_FILES`], and the number of unusable
    /// files.
    pub(crate) fn enter(
        self: &Arc<Self>,
        workspace: &Workspace,
        directory: &Path,
        files: &[&str],
    ) -> (Arc<Self>, usize) {
        let mut builder = GitignoreBuilder::new(directory);
        let (mut n_used, mut n_unusable) = (0, 0);
        for file in files {
            match read(workspace, &directory.join(file)) {
                Lines::Text(text) => {
                    n_used += 1;
                    for line in text.trim_start_matches('\u{feff}').lines() {
                        // An invalid line has no effect, as in Git.
                        builder.add_line(None, line).ok();
                    }
                }
                Lines::Absent => {}
                Lines::Unusable => n_unusable += 1,
            }
        }
        if n_used == 0 {
            return (Arc::clone(self), n_unusable);
        }
        match builder.build() {
            Ok(own) => (Arc::new(Self { above: Some(Arc::clone(self)), own: Some(own) }), n_unusable),
            Err(_) => (Arc::clone(self), n_unusable + n_used),
        }
    }

    /// True if `path`, relative to the root, is ignored. Its parents are not.
    pub(crate) fn ignores(&self, path: &Path, kind: FileKind) -> bool {
        let mut level = Some(self);
        while let Some(rules) = level {
            match rules.own.as_ref().map_or(Match::None, |own| own.matched(path, kind == FileKind::Directory)) {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => level = rules.above.as_deref(),
            }
        }
        false
    }
}

enum Lines {
    Text(String),
    Absent,
    Unusable,
}

fn read(workspace: &Workspace, path: &Path) -> Lines {
    let file = match workspace.open_relative(path) {
        Ok(file) => file,
        Err(AccessError::Denied { .. } | AccessError::Io { .. }) => return Lines::Unusable,
        // Missing, or not an ignore file: a link, a directory, a pipe.
        Err(_) => return Lines::Absent,
    };
    let mut bytes = Vec::new();
    match file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 <= MAX_FILE_BYTES => Lines::Text(String::from_utf8_lossy(&bytes).into_owned()),
        _ => Lines::Unusable,
    }
}
