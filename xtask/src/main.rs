//! The commands of a contributor: `cargo xtask quick`, `cargo xtask test` and the others in the usage.
//!
//! They drive cargo and read the repository as text. None of the program's crates is linked here, so that this builds
//! at once and still works while one of them does not compile. Benchmarks and trials are programs of their own.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is for the person who runs it")]

mod conformance;
mod coverage;
mod program;
mod test;
mod tidy;

use std::process::ExitCode;

use anyhow::Result;
use sortie_workshop::Verdict;

const USAGE: &str = "\
Usage: cargo xtask <command>

  quick             Format, tidy, clippy, and the suites of all crates but the cli, with fewer made-up cases and without
                    the longest loops: two minutes on two cores, when warm.
      --write       Put the table of times into docs/test-times.md.
  test [SUITE...]   Format, tidy, clippy, every crate's tests within its time budget, examples, doc tests, guards
                    taken out, 200 kills, a fixed number of fuzzed inputs, and programs by others (`mcp`).
                    With names (`journal`, `cli`), the tests of these crates only.
      --write       Put the table of times into docs/test-times.md.
  tidy              Check the rules that no compiler checks: walls between crates and rooms, sizes, names, doors.
      --write       Put the tables of rooms into ARCHITECTURE.md, and lower the numbers in left.toml.
  conformance       List every statement of the five contracts: passed, or what it waits for.
      --write       Put the table into docs/conformance.md.
  coverage          Measure the lines that the tests run, in instrumented runs (minutes).
      --write       Put the table into docs/test-times.md.
  mutants [GUARD]…  Take out one guard after the other; a test must fail each time. A build of its own.
  crash             Kill the program 200 times at random instants, and at each named point with each tool, and check
                    that nothing is lost; a build of its own.
      --cycles N    Kill N times at random instants.
      --seed N      Other agents, other instants (default 1).
      --round N     This round alone.
      --no-points   Random instants alone.
      --point NAME  One named point alone: TOOL/POINT/PASSING.
  soak              Keep one program under random load for an hour, and check that it neither grows nor loses anything.
      --minutes N   For about N minutes.
      --seed N      Another load (default 1).
  fuzz              Feed arbitrary bytes to the readers of agent files and command lines, for a minute.
      --seconds N   For N seconds.
      --fixed       The fixed number of inputs that `test` tries.
  mcp               Let other people's programs that speak the Model Context Protocol use ours, and ours theirs:
                    the official conformance suite, Inspector, the Python SDK, reference servers.
      --write       Put the list of what does not apply into docs/mcp.md.
  hosts             Drive Claude Code, Codex, gemini-cli and opencode with scripted models, and check that delegation to
                    Sortie works in each. Installs them from npm once.
      --only NAMES  Some hosts only: claude, codex, gemini, opencode.
      --write       Put the table into docs/mcp.md.
  practice          Play the five manual tests of delegation on the configured model, which must be a real one.
      --only N      Play scenario N alone.
      --minutes N   Time of each command (default 10).
      --write       Put verdicts and transcripts into docs/practice.md.
  bench             Measure the release build against its targets.
      --check       Exit with an error when a target is missed.
      --write       Put the table into docs/benchmarks.md.
      --cold        Measure a build from nothing as well (minutes).
      --runs N      Repeat each measurement N times (default 20).
      --only NAMES  Some parts only: start, delegation, parallel, wake, mcp, live, journal, resume, search,
                    match, grants, shell, tokens, size.
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    Verdict::exit_code(dispatch(&arguments), USAGE)
}

fn dispatch(arguments: &[String]) -> Result<Verdict> {
    let Some((name, rest)) = arguments.split_first() else {
        return Ok(Verdict::WrongUsage);
    };
    if matches!(name.as_str(), "help" | "--help" | "-h") {
        print!("{USAGE}");
        return Ok(Verdict::Good);
    }
    command(name).map_or(Ok(Verdict::WrongUsage), |run| run(rest))
}

/// A command, given the words after its name.
type Command = fn(&[String]) -> Result<Verdict>;

/// Finds the command of a name.
fn command(name: &str) -> Option<Command> {
    let run: Command = match name {
        "quick" => test::quick,
        "test" => test::run,
        "tidy" => tidy::run,
        "conformance" => conformance::run,
        "coverage" => coverage::run,
        "bench" => program::bench,
        "crash" => |words| program::trial("crash", words),
        "fuzz" => |words| program::trial("fuzz", words),
        "hosts" => |words| program::trial("hosts", words),
        "mcp" => |words| program::trial("mcp", words),
        "mutants" => |words| program::trial("mutants", words),
        "practice" => |words| program::trial("practice", words),
        "soak" => |words| program::trial("soak", words),
        _ => return None,
    };
    Some(run)
}
