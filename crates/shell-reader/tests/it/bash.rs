//! The reading of command lines against `bash` itself: what it executes was judged, whatever the line.
//!
//! Lines are drawn from a grammar and spoiled now and then. `bash` runs them with shims that log what they are called
//! with. `SORTIE_CASES` says how many lines (100,000 unless said otherwise); `SORTIE_SEED` replays one that failed.

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
/// Lines for one process.
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

    /// Whether nothing can be said of what it executes.
    fn could_run_anything(&self) -> bool {
        self.analysis.parts.iter().any(|part| part.words.first() == Some(&Word::Unknown))
    }

    fn says(&self, what: &str) -> String {
        let Self { seed, line, analysis } = self;
        format!("{what}\nfor the line {line:?}, read as {analysis:#?}\nreplay it with SORTIE_SEED={seed}")
    }
}

/// Whether a command is one that was judged: word for word, up to a word that was not known.
fn was_judged(part: &Part, executed: &[String]) -> bool {
    let known: Vec<&str> = part.words.iter().map_while(Word::text).collect();
    let all_known = known.len() == part.words.len();
    executed.len() >= known.len()
        && executed.iter().zip(&known).all(|(executed, known)| executed == known)
        && (!all_known || executed.len() == known.len())
}

/// Runs cases in one shell and compares. Returns how many commands were executed.
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

/// What one batch came to.
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
fn what_bash_executes_was_judged() {
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
    // A test in which nothing is understood, or nothing runs, would prove nothing.
    let [understood, unclear, executed] =
        [counts.understood, counts.unclear, counts.executed].map(AtomicU64::into_inner);
    assert!(understood * 4 > lines, "only {understood} of {lines} lines are understood");
    assert!(unclear * 10 > lines, "only {unclear} of {lines} lines are judged and not understood");
    assert!(executed > lines, "only {executed} commands were executed by {lines} lines");
}
