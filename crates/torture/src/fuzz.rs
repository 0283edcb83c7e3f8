//! `cargo xtask fuzz`: coverage-guided fuzzing of the readers of other people's texts, on the ordinary toolchain.
//!
//! The seeds of a target are the files of the tests' corpus. A run on its own keeps its finds in the target folder and
//! tries them first the next time. So a crash stays a failure until it is mended. The run within all tests never
//! varies.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use sortie_workshop::process::{self, Finished};
use sortie_workshop::{Verdict, Workspace, cargo, host};

/// Long enough for some hundred thousand inputs.
const USUAL_SECONDS: u64 = 60;
/// Inputs within a run of all tests: the same ones every time, so that a change is judged by what it changed. A run on
/// its own finds new ones, and its finds join the corpus.
const SHORT_RUNS: u64 = 120_000;
/// The seeds are tried before the clock counts, and the last input may take a while.
const GRACE: Duration = Duration::from_mins(1);

/// Effort of a run, and the inputs that it begins with.
#[derive(Clone, Copy)]
enum Effort {
    /// Run for this long: new inputs each time, and the finds of earlier runs.
    Seconds(u64),
    /// This many inputs, made from the seeds alone, equal in every run.
    Same(u64),
}

/// Coverage counters for libFuzzer. They need no sanitizer, and so no nightly compiler.
const INSTRUMENTATION: [&str; 7] = [
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Ccodegen-units=1",
    "--cfg",
    "fuzzing",
];

/// One program that is fed with texts.
struct Target {
    /// The name of its program, its dictionary and its folder.
    name: &'static str,
    /// Folders of texts to start from. Inputs that break the target also belong there.
    seeds: &'static [&'static str],
    max_bytes: usize,
}

const TARGETS: [Target; 2] = [
    Target {
        name: "front_matter",
        seeds: &["crates/agents/tests/corpus/ours", "crates/agents/tests/corpus/foreign"],
        max_bytes: 70_000,
    },
    Target { name: "command_line", seeds: &["crates/policy/tests/corpus/lines"], max_bytes: 12_000 },
];

/// `[--seconds N]`, for each target; `--fixed`: a fixed number of inputs, as in a run of all tests.
pub(crate) fn run(flags: &[String]) -> Result<Verdict> {
    let effort = match flags {
        [] => Some(Effort::Seconds(USUAL_SECONDS)),
        [flag] if flag == "--fixed" => Some(Effort::Same(SHORT_RUNS)),
        [flag, number] if flag == "--seconds" => {
            number.parse().ok().filter(|&seconds| seconds > 0).map(Effort::Seconds)
        }
        _ => None,
    };
    match effort {
        Some(effort) => Ok(Verdict::good_if(finds_nothing(&Workspace::load()?, effort)?)),
        None => Ok(Verdict::WrongUsage),
    }
}

/// Fuzzes every target this much. `false`, with the reason on the screen, when an input broke something.
fn finds_nothing(workspace: &Workspace, effort: Effort) -> Result<bool> {
    let programs = build(workspace)?;
    let mut good = true;
    for target in &TARGETS {
        good &= target.finds_nothing(workspace, &programs, effort)?;
    }
    Ok(good)
}

impl Target {
    fn finds_nothing(&self, workspace: &Workspace, programs: &Path, effort: Effort) -> Result<bool> {
        let folder = workspace.target.join("fuzz").join(self.name);
        let (found, crashes) = (folder.join("corpus"), folder.join("crashes"));
        for folder in [&found, &crashes] {
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        }
        let mut fuzzer = Command::new(programs.join(self.name));
        fuzzer
            .arg(format!("-artifact_prefix={}/", crashes.display()))
            .arg(format!("-dict={}", workspace.root.join("fuzz").join(format!("{}.dict", self.name)).display()))
            .arg(format!("-max_len={}", self.max_bytes))
            .args(["-timeout=5", "-print_final_stats=1"]);
        let time = match effort {
            Effort::Seconds(seconds) => {
                fuzzer.arg(format!("-max_total_time={seconds}")).args([found, crashes.clone()]);
                fuzzer.args(self.seeds.iter().map(|seeds| workspace.root.join(seeds)));
                Duration::from_secs(seconds) + GRACE
            }
            Effort::Same(runs) => {
                let seeds = folder.join("seeds");
                std::fs::write(&seeds, self.seed_list(workspace)?)
                    .with_context(|| format!("cannot write {}", seeds.display()))?;
                let seeds = format!("-seed_inputs=@{}", seeds.display());
                fuzzer.args([format!("-runs={runs}"), "-seed=1".to_owned(), seeds]);
                GRACE * 5
            }
        };
        self.judge(&process::within(fuzzer, time)?, &crashes)
    }

    /// The seeds by name, in an order that does not depend on the file system.
    fn seed_list(&self, workspace: &Workspace) -> Result<String> {
        let mut seeds = Vec::new();
        for folder in self.seeds.iter().map(|seeds| workspace.root.join(seeds)) {
            let entries = std::fs::read_dir(&folder).with_context(|| format!("cannot list {}", folder.display()))?;
            for entry in entries {
                seeds.push(entry?.path().display().to_string());
            }
        }
        seeds.sort_unstable();
        Ok(seeds.join(","))
    }

    /// True if a run found nothing. That takes a run with inputs and with coverage counters.
    fn judge(&self, finished: &Finished, crashes: &Path) -> Result<bool> {
        let name = self.name;
        if finished.overran || !finished.status.success() {
            println!("{}", finished.output);
            println!("{name}: an input broke it ({}); it is kept in {}", finished.status, crashes.display());
            println!("  add it to {}, mend what reads it, and delete it there", self.seeds[0]);
            return Ok(false);
        }
        let tried = executed(&finished.output).filter(|&tried| tried > 0);
        let Some(tried) = tried.filter(|_| finished.output.contains("inline 8-bit counters")) else {
            bail!("{name} ran without trying anything, or without coverage counters:\n{}", finished.output);
        };
        println!("{name}: {tried} inputs in {:.0} s, none broke it", finished.elapsed.as_secs_f64());
        Ok(true)
    }
}

/// The folder of the instrumented programs. Flags for one target only, so that build scripts are left as they are.
fn build(workspace: &Workspace) -> Result<PathBuf> {
    let target = workspace.target.join("fuzz");
    let host = host()?;
    let mut command = cargo();
    command
        .args(["build", "--quiet", "--release", "--locked", "--target", &host, "--bins", "--manifest-path"])
        .arg(workspace.root.join("fuzz/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .env("CARGO_ENCODED_RUSTFLAGS", INSTRUMENTATION.join("\u{1f}"))
        .env_remove("RUSTFLAGS");
    if !process::succeeds(&mut command)? {
        bail!("the fuzz targets do not compile; they need a C++ compiler beside Rust");
    }
    Ok(target.join(host).join("release"))
}

/// Number of inputs that the fuzzer reports as tried.
fn executed(output: &str) -> Option<u64> {
    let number = output.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"))?;
    number.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn judged(output: &str, wait_status: i32) -> Option<bool> {
        let status = ExitStatus::from_raw(wait_status);
        let finished = Finished { status, output: output.to_owned(), elapsed: Duration::ZERO, overran: false };
        TARGETS[0].judge(&finished, Path::new("crashes")).ok()
    }

    #[test]
    fn a_run_is_good_only_if_it_tried_inputs_with_counters() {
        let counters = "INFO: Loaded 1 modules   (11 inline 8-bit counters)\n";
        assert_eq!(judged(&format!("{counters}stat::number_of_executed_units: 812\n"), 0), Some(true));
        assert_eq!(judged(&format!("{counters}stat::number_of_executed_units: 0\n"), 0), None);
        assert_eq!(judged("stat::number_of_executed_units: 812\n", 0), None);
        assert_eq!(judged(counters, 0), None);
        assert_eq!(judged(&format!("{counters}stat::number_of_executed_units: 812\n"), 77 << 8), Some(false));
    }
}
