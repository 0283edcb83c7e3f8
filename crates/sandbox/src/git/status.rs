//! What a working tree is about: its branch, and whether something in it has changed.

use std::path::Path;

use super::{Git, GitError};

/// A working tree, compared with its last commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitStatus {
    /// None where no branch is checked out.
    pub branch: Option<String>,
    /// The last commit; none where there is none yet.
    pub commit: Option<String>,
    /// Files that git knows and that differ.
    pub changed: usize,
    /// Files, and directories of nothing else, that git does not know.
    pub untracked: usize,
}

impl Git {
    /// Compares the working tree at `top`; submodules are not looked into. It changes nothing, not even git's index.
    pub fn status(&self, top: &Path) -> Result<GitStatus, GitError> {
        let arguments = ["status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=normal"];
        Ok(parse(&self.run_to_bytes(top, &arguments)?))
    }
}

fn parse(output: &[u8]) -> GitStatus {
    let mut status = GitStatus::default();
    let mut entries = output.split(|byte| *byte == 0).map(String::from_utf8_lossy);
    while let Some(entry) = entries.next() {
        let (kind, rest) = entry.split_once(' ').unwrap_or_default();
        match kind {
            "#" => status.take_header(rest),
            "?" => status.untracked += 1,
            "1" | "u" => status.changed += 1,
            "2" => {
                status.changed += 1;
                // What it was called before stands by itself.
                entries.next();
            }
            _ => {}
        }
    }
    status
}

impl GitStatus {
    fn take_header(&mut self, header: &str) {
        match header.split_once(' ') {
            Some(("branch.head", "(detached)") | ("branch.oid", "(initial)")) | None => {}
            Some(("branch.head", name)) => self.branch = Some(name.to_owned()),
            Some(("branch.oid", name)) => self.commit = Some(name.to_owned()),
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_renamed_counts_once_whatever_it_was_called() {
        let output = b"# branch.oid 1234\0# branch.head main\0# stash 3\0\
            1 .M N... 100644 100644 100644 a b changed\0\
            2 R. N... 100644 100644 100644 a b R100 new\0? old\0\
            u UU N... 100644 100644 100644 100644 a b c both\0? untracked\0";
        let expected = GitStatus { branch: Some("main".into()), commit: Some("1234".into()), changed: 3, untracked: 1 };
        assert_eq!(parse(output), expected);
    }

    #[test]
    fn there_may_be_neither_branch_nor_commit() {
        assert_eq!(parse(b"# branch.oid (initial)\0# branch.head (detached)\0"), GitStatus::default());
    }
}
