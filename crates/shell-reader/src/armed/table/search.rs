//! Programs that search, show, sort and compare.

use crate::armed::sheet::{Nature, Sheet, sheet};

pub(super) const SHEETS: &[Sheet] = &[
    // What `-exec` runs is judged as a command of its own.
    Sheet { spills: "-delete -fprint -fls", turns: "-exec -ok -files0-from", ..sheet("find gfind") },
    Sheet { runs: "-x -X --exec --exec-batch", ..sheet("fd fdfind") },
    Sheet { runs: "--pre --hostname-bin", turns: "-z --pre-glob --search-zip", ..sheet("rg") },
    Sheet { runs: "--pager --lessopen", turns: "--ackrc --env --config", ..sheet("ag ack bat batcat delta") },
    Sheet {
        runs: "--preview --bind --with-shell --listen --listen-unsafe --become",
        writes: "--history",
        ..sheet("fzf sk")
    },
    Sheet {
        runs: "--compress-program",
        writes: "-o --output",
        turns: "-T --temporary-directory --files0-from",
        ..sheet("sort gsort")
    },
    Sheet { writes: "-o --output", ..sheet("iconv shuf tree") },
    Sheet { runs: "--diff-program", ..sheet("diff3") },
    Sheet { runs: "--diff-program", writes: "-o --output", ..sheet("sdiff") },
    Sheet { spills: "-i -s --inplace --split-exp", ..sheet("yq") },
    Sheet { runs: "--filter", nature: Nature::Spills, excuses: "--version --help", ..sheet("split gsplit") },
    Sheet { nature: Nature::Spills, excuses: "--version --help", ..sheet("csplit gcsplit") },
    Sheet { spills: "-C --compile", ..sheet("file") },
    Sheet { runs: "--plugin ^@", ..sheet("ar nm objdump ranlib") },
    Sheet {
        runs: "^+ -k --lesskey-file --lesskey-src --lesskey-content",
        writes: "-o -O --log-file --LOG-FILE",
        turns: "-t -T --tag --tag-file",
        ..sheet("less more")
    },
    Sheet {
        runs: "-P -H -C --pager --html --config-file --preprocessor",
        turns: "-p -T -t --troff-device",
        ..sheet("man")
    },
    Sheet { turns: "-f -F -s --file --set", ..sheet("date hostname") },
    Sheet { runs: "-e -f < --expression --file", nature: Nature::RunsInputAlone, excuses: "-h -V", ..sheet("dc") },
    Sheet { runs: "=exec -b --batch", ..sheet("ip") },
];
