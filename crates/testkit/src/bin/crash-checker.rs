//! The checker as a program: compares the traces of a run in a folder with the invariants.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use sortie_journal::TaskState;
use sortie_testkit::checker::{Evidence, Findings, Stage, check, left_below};

const HELP: &str = "\
Usage: crash-checker FOLDER [--ended]

Reads what a run of sortie left in FOLDER and writes one object of JSON: how much there was, what is wrong with it, and
whether the run's task is `absent`, `open` or `ended`. With --ended nothing may be missing any more.
Exit codes: 0 nothing is wrong, 1 something is, 2 wrong usage.
";

/// Time after its end in which traces of a run's processes may remain.
const GONE_WITHIN: Duration = Duration::from_secs(2);

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let ended = words.iter().position(|word| word == "--ended").map(|index| words.remove(index)).is_some();
    let [folder] = &words[..] else {
        drop(io::stderr().write_all(HELP.as_bytes()));
        return ExitCode::from(2);
    };
    let (findings, root) = examine(Path::new(folder), if ended { Stage::Ended } else { Stage::Killed });
    let verdict = json!({ "breaches": findings.breaches, "count": findings.count, "root": root });
    // A caller that does not read it sees the exit code.
    drop(writeln!(io::stdout(), "{verdict}"));
    ExitCode::from(u8::from(!findings.breaches.is_empty()))
}

fn examine(folder: &Path, stage: Stage) -> (Findings, &'static str) {
    let left = left_in_time(folder);
    let (mut findings, root) = match Evidence::gather(folder) {
        Ok(evidence) => (check(&evidence, stage), root(&evidence)),
        Err(error) => (Findings { breaches: vec![error.to_string()], ..Findings::default() }, "unknown"),
    };
    findings.breaches.extend(left.into_iter().map(|process| format!("N6 still there: {process}")));
    (findings, root)
}

/// Processes that remain when all should be gone.
fn left_in_time(folder: &Path) -> Vec<String> {
    let began = Instant::now();
    loop {
        let left = left_below(folder);
        if left.is_empty() || began.elapsed() > GONE_WITHIN {
            return left;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

fn root(evidence: &Evidence) -> &'static str {
    let mut roots = evidence.tasks.iter().filter(|task| task.events.first().is_some_and(|event| event.depth == 0));
    match roots.next_back().map(|root| root.state) {
        None => "absent",
        Some(TaskState::Ended(_)) => "ended",
        Some(TaskState::Running | TaskState::Interrupted) => "open",
    }
}
