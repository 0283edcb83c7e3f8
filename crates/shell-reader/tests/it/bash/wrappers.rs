//! Installed programs that run others: every command they run was judged.

use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sortie_shell_reader::analyse;

use super::was_judged;

const SHIM: &str = "#!/bin/bash\nIFS=$'\\x1f'\nprintf '%s\\x1f%s\\x1e' \"${0##*/}\" \"$*\" >>\"$LOG\"\n";

const REAL: [&str; 10] = ["bash", "env", "find", "nice", "nohup", "setsid", "sh", "stdbuf", "timeout", "xargs"];

const LINES: [&str; 37] = [
    "a 1",
    "command a 1",
    "command -p a 1; a 2",
    "exec a 1",
    "exec -a b a 1",
    "env a 1",
    "env -i LOG=$LOG PATH=$PATH a 1",
    "env -u HOME a 1",
    "env K=v a 1",
    "env -- a 1",
    "timeout 5 a 1",
    "timeout -k 1 -s KILL 5 a 1",
    "timeout -k1 5s a 1",
    "nice a 1",
    "nice -n 5 a 1",
    "nice -5 a 1",
    "nohup a 1",
    "setsid -w a 1",
    "stdbuf -oL -e0 a 1",
    "nice timeout 5 env K=v a 1",
    "printf 'x y' | xargs a 1",
    "printf 'x\\ny' | xargs -n 1 a",
    "printf 'x' | xargs -I % a 1 % b%",
    "printf 'x' | xargs -0r nice a",
    "find . -maxdepth 0 -exec a {} \\;",
    "find . -maxdepth 0 -exec a 1 {} + -exec b 1 x{} \\;",
    "find . -maxdepth 0 -execdir a 1 ';' -o -exec b \\;",
    "find . -maxdepth 0 -exec a + b \\;",
    "bash -c 'a 1; b 2'",
    "bash -ec 'a 1'",
    "bash -c -e 'a 1'",
    "bash -o pipefail -c 'a 1 | b 2'",
    "bash -c 'a \"$0\" $1' b c",
    "sh -c \"a 1 && sh -c 'b 2'\"",
    "./sub/../a 1",
    "time a 1",
    "! a 1 || time -p b",
];

/// A directory with the shims `a` and `b` and some real programs.
fn programs(folder: &Path) -> PathBuf {
    let programs = folder.join("programs");
    std::fs::create_dir_all(folder.join("sub")).expect("a directory");
    std::fs::create_dir(&programs).expect("a directory");
    for shim in [programs.join("a"), programs.join("b"), folder.join("a")] {
        std::fs::write(&shim, SHIM).expect("a file");
        std::fs::set_permissions(&shim, std::fs::Permissions::from_mode(0o755)).expect("a file of ours");
    }
    for name in REAL {
        let found = ["/usr/bin", "/bin"].iter().map(|place| Path::new(place).join(name)).find(|path| path.exists());
        symlink(found.expect("a program that every system has"), programs.join(name)).expect("a link");
    }
    programs
}

fn executed(log: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let records = text.split('\x1e').filter(|record| !record.is_empty());
    // A shim without arguments logs an empty one.
    records.map(|record| record.split('\x1f').filter(|word| !word.is_empty()).map(str::to_owned).collect()).collect()
}

#[test]
fn every_command_that_wrappers_run_was_judged() {
    let folder = tempfile::tempdir().expect("a temporary directory");
    let (programs, log) = (programs(folder.path()), folder.path().join("log"));
    for line in LINES {
        _ = std::fs::remove_file(&log);
        Command::new("/bin/bash")
            .args(["--norc", "-c", line])
            .env_clear()
            .env("PATH", &programs)
            .env("LOG", &log)
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .expect("bash, which this test is about");
        let analysis = analyse(line, Some(folder.path()));
        let executed = executed(&log);
        assert!(!executed.is_empty(), "{line}: nothing ran, so nothing is proved");
        for words in executed {
            let by_name = analysis.parts.iter().any(|part| was_judged(part, &words));
            let by_path = ["./sub/../a", "b"].map(|name| [&[name.to_owned()], &words[1..]].concat());
            let judged =
                by_name || by_path.iter().any(|words| analysis.parts.iter().any(|part| was_judged(part, words)));
            assert!(judged, "{line}: {words:?} was executed and not judged: {analysis:#?}");
        }
    }
}
