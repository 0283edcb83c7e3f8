//! Every named point of the code, tried with every tool, and with all that tasks do together, at every passing.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;

use anyhow::{Context, Result};

use super::errand::Errand;
use super::programs::Programs;
use super::rounds::{complain, go_on};
use super::scenario;
use super::tally::Tally;
use super::workers::{all_good, locked};
use super::world::{Life, Start, World};

/// Points in the life of a task and of its calls, as the code names them.
const ALONE: &[&str] = &[
    // A leg.
    "task.begun",
    "task.before-end",
    "task.ended",
    // A model call.
    "model.called",
    "model.replied",
    "model.recorded",
    // A tool call.
    "call.before-start",
    "call.started",
    "call.ran",
    "call.finished",
    "command.spawned",
    "write.before-rename",
    "write.renamed",
    // Every durable step.
    "journal.before-commit",
    "journal.after-commit",
];

/// Points between tasks. What they leave behind is all in the journal, so each of its transactions is one more place
/// to be killed at.
const TOGETHER: &[&str] = &[
    "task.parked",
    "task.released",
    "task.adopted",
    "mail.arrived",
    "mail.read",
    "question.asked",
    "note.posted",
    "call.ran",
    "journal.after-commit",
];

fn all_points() -> impl Iterator<Item = &'static str> {
    ALONE.iter().chain(TOGETHER).copied()
}

/// One kill: in this run, at this point, on its Nth passing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Crash {
    tool: String,
    point: String,
    passing: u64,
}

/// Result of a run that was to be killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Came {
    /// It was killed, resumed and ended well.
    Through,
    /// The point was passed fewer times.
    NotThere,
    /// Something is wrong, and the screen says so.
    ToGrief,
}

/// Tries all of them. A point that no run passes is also a failure.
pub(super) fn all_survive(programs: &Programs, tally: &Mutex<Tally>) -> Result<bool> {
    let passed = Mutex::new(BTreeSet::new());
    let alone = scenario::alone().flat_map(|run| ALONE.iter().map(move |&point| (run, point)));
    let together = scenario::together().flat_map(|run| TOGETHER.iter().map(move |&point| (run, point)));
    let good = all_good(alone.chain(together), |(tool, point)| {
        for passing in 1.. {
            match (Crash { tool: tool.to_owned(), point: point.to_owned(), passing }).try_out(programs, tally)? {
                Came::Through => locked(&passed).insert(point),
                Came::NotThere => break,
                Came::ToGrief => return Ok(false),
            };
        }
        Ok(true)
    })?;
    let passed = locked(&passed);
    let unseen: BTreeSet<&str> = all_points().filter(|point| good && !passed.contains(point)).collect();
    for point in &unseen {
        println!("no run survived a kill at `{point}`, because none came there");
    }
    Ok(good && unseen.is_empty())
}

pub(super) fn survives_one(programs: &Programs, crash: &Crash, tally: &Mutex<Tally>) -> Result<bool> {
    let came = crash.try_out(programs, tally)?;
    if came == Came::NotThere {
        println!("nothing was killed: {crash} is not passed");
    }
    Ok(came == Came::Through)
}

impl Crash {
    fn try_out(&self, programs: &Programs, total: &Mutex<Tally>) -> Result<Came> {
        let mut tally = Tally::default();
        let came = self.come(programs, &mut tally);
        *locked(total) += tally;
        came
    }

    fn come(&self, programs: &Programs, tally: &mut Tally) -> Result<Came> {
        let script = scenario::script(&self.tool).with_context(|| format!("no tool {}", self.tool))?;
        let mut world = World::new(programs, &script)?;
        let replay = format!("--point {self}");
        let choice = format!("{}:{}", self.point, self.passing);
        let errands: [Vec<Errand>; 2] =
            [1, 2].map(|number| script.errand.into_iter().map(|deed| Errand::at_once(deed, number)).collect());
        let crashing = |start, errands| Life { crash: Some(choice.as_str()), errands, ..Life::whole(start) };
        let was_killed = world.live(&crashing(Start::Run, &errands[0]))?.was_killed();
        tally.crashes += u64::from(was_killed);
        if was_killed {
            // The way back passes this point as well.
            let again = world.live(&crashing(Start::Resume, &errands[1]))?;
            tally.crashes += u64::from(again.was_killed());
            if let Err(error) = go_on(&mut world, tally) {
                complain(world, &[format!("{error:#}")], &replay);
                return Ok(Came::ToGrief);
            }
        }
        let verdict = world.check(true)?;
        tally.checks += 1;
        tally.count += verdict.count;
        if !verdict.breaches.is_empty() {
            complain(world, &verdict.breaches, &replay);
            return Ok(Came::ToGrief);
        }
        Ok(if was_killed { Came::Through } else { Came::NotThere })
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.tool, self.point, self.passing)
    }
}

impl FromStr for Crash {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let mut parts = text.split('/').map(str::to_owned);
        let mut next = || parts.next().context("a crash is TOOL/POINT/PASSING");
        Ok(Self { tool: next()?, point: next()?, passing: next()?.parse()? })
    }
}

/// Points in the code that are not on the list, and points on the list that no code has.
pub(super) fn strays(root: &Path) -> Result<Vec<String>> {
    let mut named = BTreeSet::new();
    for source in sources(&root.join("crates"))? {
        let text = std::fs::read_to_string(source)?;
        let calls = text.split("point(\"").skip(1).filter_map(|rest| rest.split_once('"'));
        named.extend(calls.map(|(name, _)| name.to_owned()));
    }
    let listed: BTreeSet<String> = all_points().map(str::to_owned).collect();
    let untried = named.difference(&listed).map(|point| format!("the point `{point}` is not on the list of crashes"));
    let absent =
        listed.difference(&named).map(|point| format!("the point `{point}` on the list is nowhere in the code"));
    Ok(untried.chain(absent).collect())
}

/// The Rust files of all crates' `src`, but for the one that defines a point and the one that kills at it.
fn sources(crates: &Path) -> Result<Vec<PathBuf>> {
    let mut ahead = Vec::new();
    for krate in std::fs::read_dir(crates)? {
        let krate = krate?;
        ahead
            .extend((krate.file_name() != "crash" && krate.file_name() != "torture").then(|| krate.path().join("src")));
    }
    let mut files = Vec::new();
    while let Some(path) = ahead.pop() {
        if path.is_dir() {
            for entry in std::fs::read_dir(&path)? {
                ahead.push(entry?.path());
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_and_the_code_agree() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        assert_eq!(strays(&root).unwrap(), [""; 0]);
    }

    #[test]
    fn a_crash_reads_as_it_is_written() {
        let crash: Crash = "Edit/write.renamed/1".parse().unwrap();
        assert_eq!(crash.to_string(), "Edit/write.renamed/1");
        assert!("Edit/write.renamed".parse::<Crash>().is_err());
    }
}
