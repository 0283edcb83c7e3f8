//! The status of a working tree: its branch, and the number of changed files.

/// The arguments that make git print the status of a working tree.
pub(super) const QUESTION: [&str; 6] =
    ["status", "--porcelain=v2", "-z", "--branch", "--no-ahead-behind", "--untracked-files=normal"];

/// A working tree, compared with its last commit.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GitStatus {
    /// `None` if no branch is checked out.
    pub branch: Option<String>,
    /// The last commit; `None` before the first.
    pub commit: Option<String>,
    /// Tracked files that differ.
    pub changed: usize,
    /// Untracked files, and directories with nothing else.
    pub untracked: usize,
}

/// Parses the output for [`QUESTION`].
pub(super) fn parse(output: &[u8]) -> GitStatus {
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
                // The old name of a renamed file is an entry of its own.
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
    fn a_renamed_file_counts_once_whatever_its_old_name() {
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
