//! The commands of git that this program calls. Any other name could be an alias of the repository's.

/// One of git's commands, and how it is called.
#[derive(Debug)]
pub(super) struct Subcommand {
    name: &'static str,
    /// Whether it reads or writes files of the working tree, compares them or joins them, all of which a repository's
    /// configuration can give to programs.
    pub(super) may_run_programs: bool,
    /// What always follows its name. A submodule has a configuration of its own, which nobody has looked at.
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
