//! Command lines checked against `bash` itself: every command it executes was judged, whatever the line.
//!
//! Lines are generated from a grammar, and some are spoiled. `bash` runs them with shims that log their arguments.
//! `SORTIE_CASES` sets the number of lines (default 100,000); `SORTIE_SEED` replays a failure.

mod grammar;
mod run;
mod wrappers;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use sortie_shell_reader::{Analysis, Part, Target, Word, analyse};

use self::grammar::line;
use self::run::{Batch, Executed};
use super::draw::Draw;

const CASES: u64 = 100_000;
/// Number of lines for one process.
const BATCH: u64 = 2_000;

struct Case {
    seed: u64,
    line: String,
    analysis: Analysis,
}

impl Case {
    fn new(seed: u64, number: usize, directory: &Path) -> Self {
        let line = line(&mut Draw(seed), number);
        let analysis = analyse(&line, Some(directory));
        Self { seed, line, analysis }
    }

    /// True if the analysis cannot bound what the line executes.
    fn could_run_anything(&self) -> bool {
        self.analysis.parts.iter().any(|part| part.words.first() == Some(&Word::Unknown))
    }

    fn says(&self, what: &str) -> String {
        let Self { seed, line, analysis } = self;
        format!("{what}\nfor the line {line:?}, read as {analysis:#?}\nreplay it with SORTIE_SEED={seed}")
    }
}

/// True if the executed command was judged: word for word, up to the first unknown word.
fn was_judged(part: &Part, executed: &[String]) -> bool {
    let known: Vec<&str> = part.words.iter().map_while(Word::text).collect();
    let all_known = known.len() == part.words.len();
    executed.len() >= known.len()
        && executed.iter().zip(&known).all(|(executed, known)| executed == known)
        && (!all_known || executed.len() == known.len())
}

/// Runs cases in one shell and compares. Returns the number of executed commands.
fn check(cases: &[&Case], batch: &Batch) -> usize {
    let lines: Vec<&str> = cases.iter().map(|case| case.line.as_str()).collect();
    let executed = batch.run(&lines, cases.iter().any(|case| !case.analysis.understood));
    for Executed { line, words } in &executed {
        let case = cases[*line];
        let judged = case.analysis.parts.iter().any(|part| was_judged(part, words));
        assert!(judged, "{}", case.says(&format!("{words:?} was executed and not judged")));
    }
    for file in batch.files() {
        let wrote = |case: &&&Case| case.analysis.writes.iter().any(|target| is(target, &file));
        if cases.iter().all(|case| case.analysis.understood) && !cases.iter().any(|case| wrote(&case)) {
            let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let suspects = cases.iter().filter(|case| case.line.contains(&name));
            let said: Vec<String> = suspects.map(|case| case.says("suspect")).collect();
            panic!("{} was written and not judged\n{}", file.display(), said.join("\n"));
        }
    }
    executed.len()
}

fn is(target: &Target, file: &Path) -> bool {
    matches!(target, Target::Path(path) if path == file)
}

/// Results of one batch.
#[derive(Default)]
struct Counts {
    understood: AtomicU64,
    unclear: AtomicU64,
    executed: AtomicU64,
}

fn run_batch(seeds: impl Iterator<Item = u64>, counts: &Counts) {
    let (understood, unclear) = (Batch::new(), Batch::new());
    let directory: PathBuf = understood.directory();
    let mut cases: Vec<Case> = seeds.enumerate().map(|(number, seed)| Case::new(seed, number, &directory)).collect();
    cases.retain(|case| !case.could_run_anything());
    let (known, rest): (Vec<&Case>, Vec<&Case>) = cases.iter().partition(|case| case.analysis.understood);
    counts.understood.fetch_add(known.len() as u64, Ordering::Relaxed);
    counts.unclear.fetch_add(rest.len() as u64, Ordering::Relaxed);
    let executed = check(&known, &understood) + check(&rest, &unclear);
    counts.executed.fetch_add(executed as u64, Ordering::Relaxed);
}

#[test]
fn every_command_that_bash_executes_was_judged() {
    // S30
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().expect("a number"));
    let counts = Counts::default();
    if let Some(seed) = number("SORTIE_SEED") {
        run_batch([seed].into_iter(), &counts);
        return;
    }
    let lines = number("SORTIE_CASES").unwrap_or(CASES);
    let next = AtomicU64::new(0);
    let work = || loop {
        let first = next.fetch_add(BATCH, Ordering::Relaxed);
        if first >= lines {
            return;
        }
        run_batch((first..lines.min(first + BATCH)).map(|index| Draw(index).number()), &counts);
    };
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
    // If no line were understood, or none ran, the test would prove nothing.
    let [understood, unclear, executed] =
        [counts.understood, counts.unclear, counts.executed].map(AtomicU64::into_inner);
    assert!(understood * 4 > lines, "only {understood} of {lines} lines are understood");
    assert!(unclear * 10 > lines, "only {unclear} of {lines} lines are judged and not understood");
    assert!(executed > lines, "only {executed} commands were executed by {lines} lines");
}
