//! Programs that search, show, sort and compare.

use crate::armed::profile::{Nature, Profile, profile};

pub(super) const PROFILES: &[Profile] = &[
    // The command of `-exec` is judged on its own.
    Profile { spills: "-delete -fprint -fls", turns: "-exec -ok -files0-from", ..profile("find gfind") },
    Profile { runs: "-x -X --exec --exec-batch", ..profile("fd fdfind") },
    Profile { runs: "--pre --hostname-bin", turns: "-z --pre-glob --search-zip", ..profile("rg") },
    Profile { runs: "--pager --lessopen", turns: "--ackrc --env --config", ..profile("ag ack bat batcat delta") },
    Profile {
        runs: "--preview --bind --with-shell --listen --listen-unsafe --become",
        writes: "--history",
        ..profile("fzf sk")
    },
    Profile {
        runs: "--compress-program",
        writes: "-o --output",
        turns: "-T --temporary-directory --files0-from",
        ..profile("sort gsort")
    },
    Profile { writes: "-o --output", ..profile("iconv shuf tree") },
    Profile { runs: "-shell", writes: "=-o -output", turns: "-catalogs -path", ..profile("xmllint") },
    Profile { writes: "=-o -output", turns: "-catalogs -path -writesubtree", ..profile("xsltproc") },
    Profile { runs: "--diff-program", ..profile("diff3") },
    Profile { runs: "--diff-program", writes: "-o --output", ..profile("sdiff") },
    Profile { spills: "-i -s --inplace --split-exp", ..profile("yq") },
    Profile { runs: "--filter", nature: Nature::Spills, excuses: "--version --help", ..profile("split gsplit") },
    Profile { nature: Nature::Spills, excuses: "--version --help", ..profile("csplit gcsplit") },
    Profile { spills: "-C --compile", ..profile("file") },
    Profile { runs: "--plugin ^@", ..profile("ar nm objdump ranlib") },
    Profile {
        runs: "^+ -k --lesskey-file --lesskey-src --lesskey-content",
        writes: "-o -O --log-file --LOG-FILE",
        turns: "-t -T --tag --tag-file",
        ..profile("less more")
    },
    Profile {
        runs: "-P -H -C --pager --html --config-file --preprocessor",
        turns: "-p -T -t --troff-device",
        ..profile("man")
    },
    Profile { turns: "-f -F -s --file --set", ..profile("date hostname") },
    Profile { runs: "-e -f < --expression --file", nature: Nature::RunsInputAlone, excuses: "-h -V", ..profile("dc") },
    Profile { runs: "=exec -b --batch", ..profile("ip") },
];
