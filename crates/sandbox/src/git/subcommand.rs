//! The git commands that this program calls. Any other name could be an alias of the repository's.

/// One of git's commands, and its options.
#[derive(Debug)]
pub(super) struct Subcommand {
    name: &'static str,
    /// True if it reads, writes, compares or merges files of the working tree: a repository's configuration can
    /// delegate all of that to programs.
    pub(super) may_run_programs: bool,
    /// Always follows its name. Submodules are left out, since their own configuration has not been checked.
    pub(super) options: &'static [&'static str],
}

const ALL: &[Subcommand] = &[
    Subcommand::harmless("config"),
    Subcommand::harmless("rev-parse"),
    Subcommand::harmless("version"),
    Subcommand::checked("checkout", &["--no-recurse-submodules"]),
    Subcommand::checked("diff", &["--no-ext-diff", "--no-textconv", "--ignore-submodules=all"]),
    Subcommand::checked("log", &["--no-ext-diff", "--no-textconv", "--no-show-signature", "--submodule=short"]),
    Subcommand::checked("merge", &["--no-verify-signatures"]),
    Subcommand::checked("status", &["--ignore-submodules=all"]),
    Subcommand::checked("worktree", &[]),
];

impl Subcommand {
    const fn harmless(name: &'static str) -> Self {
        Self { name, may_run_programs: false, options: &[] }
    }

    const fn checked(name: &'static str, options: &'static [&'static str]) -> Self {
        Self { name, may_run_programs: true, options }
    }

    pub(super) fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|subcommand| subcommand.name == name)
    }
}
