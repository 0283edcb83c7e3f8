//! What walls cost: commands per second in ours, and in bubblewrap's with the same isolation where it is installed.
//!
//! Runs `true` by `bash`, one after the other, by turns with bubblewrap; then eight at a time in ours. Prints one line
//! of JSON: calls per second of each, how many times as many ours are, and the 99th percentile in milliseconds.
//! Bubblewrap cannot shut the network without a network namespace, so it has one; its rate without is printed too, and
//! so is the rate of `bash` without any walls.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sortie_sandbox::process::{Environment, How, OutputCaps, Program, Shell, Tier, Walls, enter, spawn};

const ROUNDS: usize = 8;
const CALLS_PER_ROUND: usize = 25;
const PROTECTED: [&str; 3] = [".git/hooks", ".git/config", ".sortie"];
const PARALLEL: usize = 8;
const PARALLEL_CALLS: usize = 100;

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    enter();
    let directory = tempfile::tempdir_in(std::env::current_dir()?)?;
    let root = directory.path().canonicalize()?;
    std::fs::create_dir_all(root.join(".git/hooks"))?;
    std::fs::create_dir(root.join(".sortie"))?;
    std::fs::write(root.join(".git/config"), "")?;
    let program = Program::this()?;
    let bubblewrap = Command::new("bwrap").arg("--version").output().is_ok();
    let mut total = [Duration::ZERO; 4];
    for _ in 0..ROUNDS {
        total[0] += time(|| ours(&program, &root).map(|_| ()))?;
        total[1] += time(|| run(Command::new("/bin/bash").args(["--noprofile", "--norc", "-c", "true"])))?;
        if bubblewrap {
            total[2] += time(|| run(&mut theirs(&root, true)))?;
            total[3] += time(|| run(&mut theirs(&root, false)))?;
        }
    }
    let [ours_rate, plain, theirs_rate, theirs_with_network] =
        total.map(|total| if total.is_zero() { 0.0 } else { (ROUNDS * CALLS_PER_ROUND) as f64 / total.as_secs_f64() });
    let p99 = parallel(&program, &root)?;
    let ratio = if bubblewrap { format!("{:.2}", ours_rate / theirs_rate) } else { "null".to_owned() };
    println!(
        "{{\"ours_per_second\":{ours_rate:.0},\"bubblewrap_per_second\":{theirs_rate:.0},\"ratio\":{ratio},\
         \"bubblewrap_with_network_per_second\":{theirs_with_network:.0},\"no_walls_per_second\":{plain:.0},\
         \"p99_of_eight_ms\":{:.1}}}",
        p99.as_secs_f64() * 1e3,
    );
    Ok(())
}

fn time(mut call: impl FnMut() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let began = Instant::now();
    for _ in 0..CALLS_PER_ROUND {
        call()?;
    }
    Ok(began.elapsed())
}

fn ours(program: &Program, root: &Path) -> Result<Duration, Failure> {
    let began = Instant::now();
    let mut walls = Walls::writing(root.to_owned());
    walls.protected = PROTECTED.map(|path| root.join(path)).to_vec();
    let environment = Environment::scrubbed([], &[]);
    let output = OutputCaps { shown: 1000, spill: None };
    let shell = Shell { command: "true", directory: root, environment: &environment, deadline: None };
    let ended = spawn(program, Tier::Namespaces, &walls, &shell)?.finish(output, &mut |_| {})?;
    if ended.how != (How::Exited { code: 0 }) {
        return Err(format!("`true` ended with {:?}", ended.how).into());
    }
    Ok(began.elapsed())
}

/// The same in bubblewrap, as far as it goes: it has neither Landlock nor limits, and no filter of its own.
fn theirs(root: &Path, network_shut: bool) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    command
        .args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--bind"])
        .arg(root)
        .arg(root);
    for protected in PROTECTED {
        command.arg("--ro-bind").arg(root.join(protected)).arg(root.join(protected));
    }
    if network_shut {
        command.arg("--unshare-net");
    }
    command.arg("--chdir").arg(root).args(["--clearenv", "/bin/bash", "--noprofile", "--norc", "-c", "true"]);
    command
}

fn run(command: &mut Command) -> Result<(), Failure> {
    let status = command.stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} ended with {status}").into()) }
}

/// The 99th percentile with eight at a time.
fn parallel(program: &Program, root: &Path) -> Result<Duration, Failure> {
    let mut times = std::thread::scope(|scope| {
        let one = || (0..PARALLEL_CALLS).map(|_| ours(program, root)).collect::<Result<Vec<_>, _>>();
        let threads: Vec<_> = (0..PARALLEL).map(|_| scope.spawn(one)).collect();
        let mut times = Vec::new();
        for thread in threads {
            times.extend(thread.join().map_err(|_| "a thread panicked")??);
        }
        Ok::<_, Failure>(times)
    })?;
    times.sort();
    Ok(times[times.len() * 99 / 100])
}
