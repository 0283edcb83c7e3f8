//! Benchmark of the walls: commands in ours, and in bubblewrap's with the same view of files and the same namespaces.
//!
//! Runs one command over and over, in each kind of walls in turn, one at a time and eight at a time. Prints a JSON
//! list: kind, concurrency, commands per second, and the 50th and 99th percentile in milliseconds. The argument is a
//! program that calls `enter`; the default is this example itself.
//!
//! Bubblewrap can close the network only with a namespace, so it has one. Its rate with an open network is also listed,
//! and that of `bash` without any walls. It has no Landlock, no limits and no system-call filter.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use sortie_sandbox::process::{Environment, How, OutputCaps, Program, Shell, Tier, Walls, enter, spawn};

/// Rounds after a warm-up, which starts long-lived processes and fills caches.
const ROUNDS: usize = 8;
const CALLS_PER_ROUND: usize = 25;
const COMMAND: &str = "echo done";
const PROTECTED: [&str; 3] = [".git/hooks", ".git/config", ".sortie"];

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    enter();
    let program = match std::env::args_os().nth(1) {
        Some(path) => Program::at(PathBuf::from(path)),
        None => Program::this()?,
    };
    let directory = tempfile::tempdir_in(std::env::current_dir()?)?;
    let root = directory.path().canonicalize()?;
    std::fs::create_dir_all(root.join(".git/hooks"))?;
    std::fs::create_dir(root.join(".sortie"))?;
    std::fs::write(root.join(".git/config"), "")?;
    let place = Place { program, root, environment: Environment::scrubbed(std::env::vars_os(), &[]) };

    let mut series = Who::ALL.map(|who| Series::new(who, 1)).to_vec();
    series.extend([Who::Ours, Who::Bubblewrap].map(|who| Series::new(who, 8)));
    for round in 0..=ROUNDS {
        for series in &mut series {
            let (times, elapsed) = series.round(&place)?;
            if round > 0 {
                series.times.extend(times);
                series.elapsed += elapsed;
            }
        }
    }
    let lines: Vec<String> = series.iter_mut().map(Series::json).collect();
    println!("[{}]", lines.join(","));
    Ok(())
}

#[derive(Debug, Clone, Copy)]
enum Who {
    Ours,
    Bubblewrap,
    /// Bubblewrap without a network of its own.
    Open,
    /// No walls at all.
    Plain,
}

impl Who {
    const ALL: [Self; 4] = [Self::Ours, Self::Bubblewrap, Self::Open, Self::Plain];
}

/// Shared by all commands.
struct Place {
    program: Program,
    root: PathBuf,
    environment: Environment,
}

impl Place {
    /// Runs the command once and reads its output.
    fn call(&self, who: Who) -> Result<Duration, Failure> {
        let began = Instant::now();
        let output = match who {
            Who::Ours => self.ours()?,
            Who::Bubblewrap => self.run(bubblewrap(&self.root).arg("--unshare-net"), &["/bin/bash"])?,
            Who::Open => self.run(&mut bubblewrap(&self.root), &["/bin/bash"])?,
            Who::Plain => self.run(Command::new("/bin/bash").current_dir(&self.root), &[])?,
        };
        let elapsed = began.elapsed();
        if output != b"done\n" {
            return Err(format!("{who:?}: `{COMMAND}` printed {:?}", String::from_utf8_lossy(&output)).into());
        }
        Ok(elapsed)
    }

    fn ours(&self) -> Result<Vec<u8>, Failure> {
        let mut walls = Walls::writing(self.root.clone());
        walls.protected = PROTECTED.map(|path| self.root.join(path)).to_vec();
        let shell = Shell { command: COMMAND, directory: &self.root, environment: &self.environment, deadline: None };
        let mut output = Vec::new();
        let caps = OutputCaps { unspilled: 1000, spill: None };
        let running = spawn(&self.program, Tier::Namespaces, &walls, &shell)?;
        let ended = running.finish(caps, &mut |bytes| output.extend_from_slice(bytes))?;
        if ended.how == (How::Exited { code: 0 }) { Ok(output) } else { Err(format!("{ended:?}").into()) }
    }

    /// Appends these words and the command to a command line, and runs it.
    fn run(&self, command: &mut Command, words: &[&str]) -> Result<Vec<u8>, Failure> {
        command.args(words).args(["--noprofile", "--norc", "-c", COMMAND]);
        command.env_clear().envs(self.environment.variables());
        let output = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
        if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(format!("{command:?} ended with {}", output.status).into())
        }
    }
}

/// Bubblewrap with as many of our walls as it offers. Unless run by root, it creates a user namespace by itself, as
/// ours does.
fn bubblewrap(root: &Path) -> Command {
    let mut command = Command::new("bwrap");
    command.args(["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--new-session", "--cap-drop", "ALL"]);
    command.args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"]);
    command.arg("--bind").arg(root).arg(root);
    for protected in PROTECTED {
        command.arg("--ro-bind").arg(root.join(protected)).arg(root.join(protected));
    }
    command.arg("--chdir").arg(root);
    command
}

/// All measurements of one kind of walls at one concurrency.
#[derive(Clone)]
struct Series {
    who: Who,
    parallel: usize,
    times: Vec<Duration>,
    elapsed: Duration,
}

impl Series {
    fn new(who: Who, parallel: usize) -> Self {
        Self { who, parallel, times: Vec::new(), elapsed: Duration::ZERO }
    }

    /// Runs calls one after another on several threads: the time of each, and of all of them.
    fn round(&self, place: &Place) -> Result<(Vec<Duration>, Duration), Failure> {
        let began = Instant::now();
        let one = || (0..CALLS_PER_ROUND).map(|_| place.call(self.who)).collect::<Result<Vec<_>, _>>();
        let times = thread::scope(|scope| {
            let threads: Vec<_> = (0..self.parallel).map(|_| scope.spawn(one)).collect();
            let joined = threads.into_iter().map(|thread| thread.join().map_err(|_| "a thread panicked")?);
            joined.collect::<Result<Vec<_>, Failure>>()
        })?;
        Ok((times.concat(), began.elapsed()))
    }

    fn json(&mut self) -> String {
        self.times.sort();
        let percentile = |percent: usize| self.times[self.times.len() * percent / 100].as_secs_f64() * 1e3;
        let per_second = self.times.len() as f64 / self.elapsed.as_secs_f64();
        format!(
            "{{\"who\":\"{:?}\",\"parallel\":{},\"per_second\":{per_second:.1},\"p50_ms\":{:.3},\"p99_ms\":{:.3}}}",
            self.who,
            self.parallel,
            percentile(50),
            percentile(99),
        )
    }
}
