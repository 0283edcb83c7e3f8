//! `git` and its subcommands.

use crate::armed::profile::{Profile, in_front, of_subcommands, one_of, profile};
use crate::findings::Arming;

/// Built-in commands that do no more than their words say. Any other may be an alias or another program.
const KNOWN: &str = "add am annotate apply blame branch cat-file check-attr check-ignore check-mailmap check-ref-format \
    checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree count-objects describe diff \
    diff-files diff-index diff-tree fast-export fetch for-each-ref format-patch fsck gc grep hash-object init log \
    ls-files ls-remote ls-tree merge merge-base merge-tree mktree mv name-rev notes pack-refs patch-id prune pull push \
    range-diff read-tree rebase reflog remote repack replace reset restore rev-list rev-parse revert rm shortlog show \
    show-branch show-ref sparse-checkout stash status stripspace switch symbolic-ref tag update-index update-ref var \
    verify-commit verify-pack verify-tag version whatchanged write-tree";

/// Commands that change settings or write unknown files, but execute nothing by themselves.
const TURNING: &str = "archive bisect bundle config credential fast-import help maintenance submodule worktree";

pub(super) const PROFILES: &[Profile] = &[
    Profile {
        runs: "-c --config-env --exec-path",
        turns: "-C -p --paginate --git-dir --work-tree --namespace --super-prefix --attr-source --bare",
        ..in_front("git")
    },
    Profile {
        runs: "^ext:: ^fd:: --exec --upload-pack --receive-pack --upload-archive --open-files-in-pager --config \
               --strategy",
        spills: "--output-directory",
        writes: "--output",
        turns: "--ext-diff --textconv --template --gpg-sign --separate-git-dir --git-dir --work-tree",
        ..profile("git")
    },
    Profile { turns: "--directory --unsafe-paths", ..of_subcommands("git", "am apply") },
    Profile { writes: "-o --add-file", ..of_subcommands("git", "archive") },
    Profile { runs: "=run =view =visualize", ..of_subcommands("git", "bisect") },
    Profile { spills: "=create", ..of_subcommands("git", "bundle") },
    Profile { spills: "--prefix --temp", ..of_subcommands("git", "checkout-index") },
    Profile { runs: "-c -u", ..of_subcommands("git", "clone") },
    Profile { runs: "-t -x --tool --extcmd", ..of_subcommands("git", "difftool mergetool") },
    Profile { writes: "--export-marks", ..of_subcommands("git", "fast-export") },
    Profile { runs: "^-", ..of_subcommands("git", "filter-branch") },
    Profile { spills: "-o", ..of_subcommands("git", "bugreport diagnose format-patch mailsplit") },
    Profile { runs: "-O", ..of_subcommands("git", "grep") },
    Profile { runs: "-s", ..of_subcommands("git", "merge pull") },
    Profile { writes: "--index-output", ..of_subcommands("git", "read-tree") },
    Profile { runs: "-s -x", ..of_subcommands("git", "rebase") },
    Profile { runs: "=foreach", ..of_subcommands("git", "submodule") },
];

/// The arming of a word that is git's subcommand.
pub(super) fn subcommand(text: Option<&str>) -> Option<Arming> {
    let is_one_of = |list: &'static str| text.is_some_and(|text| one_of(list).any(|subcommand| subcommand == text));
    match () {
        () if is_one_of(KNOWN) => None,
        () if is_one_of(TURNING) => Some(Arming::Turns),
        () => Some(Arming::Runs),
    }
}
