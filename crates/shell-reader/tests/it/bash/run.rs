//! Runs many lines in one `bash`, which finds no programs but the shims.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One command that a line executed.
pub(super) struct Executed {
    /// Number of the line.
    pub(super) line: usize,
    pub(super) words: Vec<String>,
}

/// A directory in which lines run, with nothing of value in reach.
pub(super) struct Batch {
    folder: tempfile::TempDir,
}

/// Each record is a single write, so it must not contain newlines. Loops end: `w` succeeds and `u` fails only a few
/// times per line. A spoiled loop runs out of calls or time, and functions that call themselves do not get deep.
const PRELUDE: &str = r#"
ulimit -t 100
PATH=/nonexistent HOME=$BASE/home FUNCNEST=7
exec 9>>"$LOG"
__r() { ((++__c > 60)) && exit; local IFS=$'\x1f'; local s="$*"; printf '%s\x1f%s\x1e' "$__n" "${s//$'\n'/$'\x1d'}" >&9; }
a() { __r a "$@"; }
b() { __r b "$@"; }
c() { __r c "$@"; return 1; }
w() { __r w "$@"; __w=$((__w + 1)); [ $__w -lt 3 ]; }
u() { __r u "$@"; __w=$((__w + 1)); [ $__w -gt 2 ]; }
command_not_found_handle() { __r "$@"; return 127; }
x='v w' y='-o'
__n=-1
while IFS= read -r -u 8 -d '' __l; do
    __n=$((__n + 1)) __w=0 __c=0
    cd "$BASE"
    if [[ $__l == i* ]]; then
        (ulimit -t 1; eval "${__l:1}") </dev/null >/dev/null 2>&1
    else
        eval "${__l:1}" </dev/null >/dev/null 2>&1
    fi
    wait
done
"#;

impl Batch {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        for directory in ["base/sub/deep", "base/home"] {
            std::fs::create_dir_all(folder.path().join(directory)).expect("an empty directory");
        }
        Self { folder }
    }

    /// Working directory of every line.
    pub(super) fn directory(&self) -> PathBuf {
        self.folder.path().join("base")
    }

    /// Runs lines one after the other and returns every command they executed. With `apart`, each line gets a shell of
    /// its own, since it may change the shell.
    pub(super) fn run(&self, lines: &[&str], apart: bool) -> Vec<Executed> {
        let (log, input) = (self.folder.path().join("log"), self.folder.path().join("lines"));
        let mut file = std::fs::File::create(&input).expect("a file");
        for line in lines {
            let alone = apart || ["exec", "exit", "while", "until"].iter().any(|word| line.contains(word));
            write!(file, "{}{line}\0", if alone { 'i' } else { 'n' }).expect("room on the disk");
        }
        let status = Command::new("bash")
            .args(["--norc", "--noprofile", "-c", &format!("exec 8<\"$LINES_OF_TEST\"\n{PRELUDE}")])
            .env_clear()
            .env("BASE", self.directory())
            .env("LOG", &log)
            .env("LINES_OF_TEST", &input)
            .current_dir(self.directory())
            .stdin(Stdio::null())
            .status()
            .expect("bash, which this test is about");
        assert!(status.code().is_some(), "a line took too long, or broke the shell: {status}");
        executed(&std::fs::read(&log).expect("the log"))
    }

    /// Every file that the lines have written.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        collect(&self.directory(), &mut files);
        files
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).expect("a directory of ours") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { collect(&path, files) } else { files.push(path) }
    }
}

fn executed(log: &[u8]) -> Vec<Executed> {
    let records = log.split(|byte| *byte == 0x1e).filter(|record| !record.is_empty());
    records
        .map(|record| {
            let mut fields =
                record.split(|byte| *byte == 0x1f).map(|field| String::from_utf8_lossy(field).replace('\x1d', "\n"));
            let line = fields.next().and_then(|number| number.parse().ok()).expect("the number of a line");
            Executed { line, words: fields.collect() }
        })
        .collect()
}
