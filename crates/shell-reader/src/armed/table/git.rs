//! What arms `git`.

use crate::analysis::Arming;
use crate::armed::sheet::{Sheet, in_front, of_verbs, one_of, sheet};

/// Its own commands that keep to what their words say. Any other may be an alias, or another program.
const KNOWN: &str = "add am annotate apply blame branch cat-file check-attr check-ignore check-mailmap check-ref-format \
    checkout checkout-index cherry cherry-pick clean clone commit commit-graph commit-tree count-objects describe diff \
    diff-files diff-index diff-tree fast-export fetch for-each-ref format-patch fsck gc grep hash-object init log \
    ls-files ls-remote ls-tree merge merge-base merge-tree mktree mv name-rev notes pack-refs patch-id prune pull push \
    range-diff read-tree rebase reflog remote repack replace reset restore rev-list rev-parse revert rm shortlog show \
    show-branch show-ref sparse-checkout stash status stripspace switch symbolic-ref tag update-index update-ref var \
    verify-commit verify-pack verify-tag version whatchanged write-tree";

/// Those that change settings, or write what is not known, and execute nothing by themselves.
const TURNING: &str = "archive bisect bundle config credential fast-import help maintenance submodule worktree";

pub(super) const SHEETS: &[Sheet] = &[
    Sheet {
        runs: "-c --config-env --exec-path",
        turns: "-C -p --paginate --git-dir --work-tree --namespace --super-prefix --attr-source --bare",
        ..in_front("git")
    },
    Sheet {
        runs: "^ext:: ^fd:: --exec --upload-pack --receive-pack --upload-archive --open-files-in-pager --config \
               --strategy",
        spills: "--output-directory",
        writes: "--output",
        turns: "--ext-diff --textconv --template --gpg-sign --separate-git-dir --git-dir --work-tree",
        ..sheet("git")
    },
    Sheet { turns: "--directory --unsafe-paths", ..of_verbs("git", "am apply") },
    Sheet { writes: "-o --add-file", ..of_verbs("git", "archive") },
    Sheet { runs: "=run =view =visualize", ..of_verbs("git", "bisect") },
    Sheet { spills: "=create", ..of_verbs("git", "bundle") },
    Sheet { spills: "--prefix --temp", ..of_verbs("git", "checkout-index") },
    Sheet { runs: "-c -u", ..of_verbs("git", "clone") },
    Sheet { runs: "-t -x --tool --extcmd", ..of_verbs("git", "difftool mergetool") },
    Sheet { writes: "--export-marks", ..of_verbs("git", "fast-export") },
    Sheet { runs: "^-", ..of_verbs("git", "filter-branch") },
    Sheet { spills: "-o", ..of_verbs("git", "bugreport diagnose format-patch mailsplit") },
    Sheet { runs: "-O", ..of_verbs("git", "grep") },
    Sheet { runs: "-s", ..of_verbs("git", "merge pull") },
    Sheet { writes: "--index-output", ..of_verbs("git", "read-tree") },
    Sheet { runs: "-s -x", ..of_verbs("git", "rebase") },
    Sheet { runs: "=foreach", ..of_verbs("git", "submodule") },
];

/// What a word does as its verb.
pub(super) fn verb(text: Option<&str>) -> Option<Arming> {
    let is_one_of = |list: &'static str| text.is_some_and(|text| one_of(list).any(|verb| verb == text));
    match () {
        () if is_one_of(KNOWN) => None,
        () if is_one_of(TURNING) => Some(Arming::Turns),
        () => Some(Arming::Runs),
    }
}
