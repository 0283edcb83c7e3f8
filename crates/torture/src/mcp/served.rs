//! A listening server, with its token, until it is ended.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process};

use super::place::Place;
use super::suite::Who;
use super::{Findings, Stage};

/// Time limit for the server to name its address, and to end after a request to terminate.
const PATIENCE: Duration = Duration::from_secs(30);
const PERIOD: Duration = Duration::from_millis(10);
/// Token of the fixture. `sortie mcp` makes its own.
const TOKEN: &str = "the-token-of-the-fixture-which-nobody-else-has";
/// Exit code of a program that ends by a request to terminate.
const TERMINATED: i32 = 143;

pub(super) struct Served {
    who: Who,
    child: Child,
    place: Place,
    url: String,
    token_file: PathBuf,
}

impl Served {
    pub(super) fn start(stage: &Stage, who: Who) -> Result<Self> {
        let place = Place::new(&stage.programs, &[])?;
        let token_file = place.path("state/mcp-token");
        let mut command = match who {
            Who::Fixture => {
                std::fs::write(&token_file, TOKEN)?;
                let mut command = Command::new(&stage.programs.fixture);
                command.arg(&token_file).stdin(Stdio::piped());
                command
            }
            Who::Client => bail!("the client serves nobody"),
            Who::Sortie => {
                let mut command = place.sortie();
                command.args(["mcp", "--http", "127.0.0.1:0"]);
                command
            }
        };
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().context("cannot run a server")?;
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|stream| Box::new(stream) as _),
            child.stderr.take().map(|stream| Box::new(stream) as _),
        ];
        let url = address(streams.into_iter().flatten());
        // Made before anything can fail, so that the process ends with it.
        let mut served = Self { who, child, place, url: String::new(), token_file };
        served.url = url.with_context(|| format!("{who} does not say where it listens"))?;
        Ok(served)
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn token_file(&self) -> &Path {
        &self.token_file
    }

    pub(super) fn token(&self) -> Result<String> {
        let token = std::fs::read_to_string(&self.token_file).context("there is no token")?;
        Ok(token.trim().to_owned())
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Path below its folder.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.place.path(name)
    }

    /// Ends the server as its user would, and returns what went wrong.
    pub(super) fn end(mut self) -> Result<Findings> {
        // The fixture ends with its input, `sortie mcp` by a signal.
        drop(self.child.stdin.take());
        if self.who == Who::Sortie {
            let process = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
            kill_process(process.context("the server has no process id")?, Signal::TERM)?;
        }
        let expected = if self.who == Who::Sortie { TERMINATED } else { 0 };
        let who = self.who;
        Ok(match self.ended()? {
            Some(status) if status.code() == Some(expected) => Findings::new(),
            Some(status) => vec![format!("{who} ended with {status}, not with {expected}")],
            None => vec![format!("{who} did not end within {} s", PATIENCE.as_secs())],
        })
    }

    fn ended(&mut self) -> Result<Option<ExitStatus>> {
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait()? {
                return Ok(Some(status));
            }
            std::thread::sleep(PERIOD);
        }
        Ok(None)
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended already, and then there is nothing to do.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// Returns the first address in a server's output. All of its output is read, or the server would block one day.
fn address(streams: impl Iterator<Item = Box<dyn Read + Send>>) -> Result<String> {
    let (sender, lines) = mpsc::channel();
    for stream in streams {
        let sender = sender.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                // Nobody listens any more once there is an address.
                sender.send(line).ok();
            }
        });
    }
    drop(sender);
    let began = Instant::now();
    let mut said = String::new();
    while let Ok(line) = lines.recv_timeout(PATIENCE.saturating_sub(began.elapsed())) {
        if let Some(url) = line.split([' ', ',', ';']).find(|word| word.starts_with("http://")) {
            return Ok(url.to_owned());
        }
        said.push_str(&line);
        said.push('\n');
    }
    bail!("it said:\n{said}")
}
