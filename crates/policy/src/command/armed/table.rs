//! Which words arm which program. All lists are separated by blanks.

use super::Program;

const fn program(names: &'static str) -> Program {
    Program { names, long: "", short: "", starts: "", verbs: "", leading: "", variables: false, bundle: false }
}

/// Programs that search, show and sort.
const READING: &[Program] = &[
    Program { starts: "-exec -ok -delete -fprint -fls", ..program("find gfind") },
    Program { long: "exec exec-batch", short: "xX", ..program("fd fdfind") },
    Program { long: "pre pre-glob hostname-bin search-zip", short: "z", ..program("rg") },
    Program { long: "pager", ..program("ag ack bat batcat delta") },
    Program { long: "output compress-program temporary-directory", short: "oT", ..program("sort gsort") },
    Program { long: "output", short: "o", ..program("shuf tree") },
    Program { long: "inplace", short: "i", ..program("yq") },
    Program { long: "filter", ..program("split gsplit") },
    Program {
        long: "log-file LOG-FILE lesskey-file lesskey-src tag-file",
        short: "oOkTt",
        starts: "+",
        ..program("less more")
    },
    Program { long: "pager html config-file preprocessor troff-device", short: "PHCpTt", ..program("man") },
    Program { long: "file set", short: "fFs", ..program("date hostname") },
];

/// Programs that keep, build and pack.
const BUILDING: &[Program] = &[
    Program {
        long: "output output-directory ext-diff textconv exec exec-path upload-pack receive-pack upload-archive template \
               open-files-in-pager config config-env strategy gpg-sign separate-git-dir git-dir work-tree",
        short: "O",
        starts: "ext:: -x",
        verbs: "archive bisect bundle config credential daemon difftool fast-import filter-branch help hook instaweb \
                maintenance mergetool p4 send-email shell submodule svn upload-pack web--browse worktree",
        leading: "-c -C -p --paginate --namespace --super-prefix --attr-source",
        ..program("git")
    },
    Program { long: "config debugger", ..program("hg") },
    Program { long: "config-option config-dir editor-cmd diff-cmd diff3-cmd", ..program("svn") },
    Program {
        long: "eval file makefile directory include-dir environment-overrides",
        short: "fCIeE",
        variables: true,
        ..program("make gmake")
    },
    Program { short: "PE", ..program("cmake") },
    Program { long: "config", starts: "+", leading: "-C -Z", ..program("cargo") },
    Program { starts: "-toolexec -exec -overlay -o --toolexec --exec --overlay", ..program("go") },
    Program { verbs: "exec x explore config set dlx", ..program("npm pnpm yarn") },
    Program { long: "option config-file", short: "oc", ..program("apt apt-get") },
    Program { long: "output", short: "o", ..program("patch") },
    Program {
        long: "checkpoint-action use-compress-program to-command info-script new-volume-script rsh-command rmt-command \
               extract get create append update delete index-file",
        short: "IFxcruC",
        bundle: true,
        ..program("tar gtar bsdtar")
    },
    Program { long: "unzip-command test move output-file", short: "TmOb", ..program("zip") },
    Program { short: "d", ..program("unzip") },
];

/// Languages and editors.
const RUNNING: &[Program] = &[
    Program { short: "cmiX", ..program("python python2 python3 pypy pypy3") },
    Program {
        long: "eval print require import loader experimental-loader env-file inspect",
        short: "epr",
        verbs: "eval repl x",
        ..program("node nodejs deno bun tsx")
    },
    Program { short: "eEiMmIxXdD", ..program("perl") },
    Program { long: "require", short: "eirRIxCS", ..program("ruby irb") },
    Program { long: "run process-code process-begin process-end define", short: "rBREFdza", ..program("php") },
    Program { long: "expr", short: "eil", ..program("lua luajit Rscript osascript groovy scala") },
    Program {
        long: "cmd startuptime servername remote",
        short: "cSsuUwWo",
        starts: "+",
        ..program("vim vi nvim view ex vimdiff")
    },
    Program { long: "eval execute load script funcall batch", short: "lf", ..program("emacs") },
    Program {
        long: "file command execute output log-file set init-command",
        short: "cefoLvi",
        starts: ".",
        ..program("psql mysql sqlite3")
    },
    Program { short: "f", verbs: "new new-session run-shell source-file", ..program("tmux screen") },
];

/// Programs that reach other machines.
const REACHING: &[Program] = &[
    Program { starts: "-", ..program("ssh scp sftp slogin mosh") },
    Program {
        long: "rsh rsync-path write-batch only-write-batch log-file backup-dir temp-dir partial-dir remote-option \
               early-input password-file daemon config delete remove-source-files",
        short: "eMT",
        ..program("rsync")
    },
    Program {
        long: "output output-dir remote-name remote-name-all config upload-file dump-header cookie-jar trace trace-ascii \
               stderr libcurl etag-save hsts alt-svc netrc-file unix-socket write-out engine",
        short: "oOKTDcw",
        ..program("curl")
    },
    Program {
        long: "output-document output-file append-output execute use-askpass directory-prefix config post-file body-file \
               input-file save-cookies warc-file mirror recursive",
        short: "OoaePimr",
        ..program("wget")
    },
    Program { long: "exec sh-exec lua-exec output hex-dump", short: "ceo", ..program("nc ncat netcat") },
    Program { starts: "EXEC: SYSTEM: exec: system: OPEN: open: CREATE: create:", ..program("socat") },
    Program { short: "zw", ..program("tcpdump") },
    Program { long: "script", starts: "-o -s", ..program("nmap") },
    Program { long: "pinentry-program output exec-path photo-viewer", short: "o", ..program("gpg gpg2") },
];

pub(super) fn find(name: &str) -> Option<&'static Program> {
    let tables = [READING, BUILDING, RUNNING, REACHING];
    tables.into_iter().flatten().find(|program| program.names.split(' ').any(|own| own == name))
}

/// Programs that fetch others and run them.
pub(super) const FETCHING: [&str; 4] = ["bunx", "npx", "pipx", "uvx"];
