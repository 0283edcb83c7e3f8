//! One run's world: a workspace, a home, a server, and the program started, killed and looked at in it.

use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::death::Death;
use super::errand::Errand;
use super::live::{Ended, Live, PATIENCE};
use super::programs::Programs;
use super::script::Script;
use super::site::{Site, Verdict};

/// Files that no agent touches: their path in the workspace, their content and their mode.
const KEPT: &[(&str, &[u8], u32)] = &[
    ("kept/unsaved.txt", b"work that is in no commit yet\n", 0o600),
    ("kept/tool.sh", b"#!/bin/sh\nexit 0\n", 0o755),
    ("kept/not-text.bin", b"\xff\xfe\0\r\n\x80", 0o444),
    ("kept/empty", b"", 0o664),
];
/// Mode of the files that agents work on, to see that it is kept.
const WORKED_ON: u32 = 0o640;

/// Prompt of the main agent.
pub(super) const PROMPT: &str = "Have all of it done.";
/// Its prompt after it has reported.
pub(super) const FOLLOW_UP: &str = "Have a little more of it done.";
/// Sub-agents at work at the same time, where a script does not say otherwise.
const MAX_CONCURRENT: u64 = 64;

/// More than all of them use.
const LIMITED: &[&str] = &["--set", "task_tool.max_tokens=1000000000"];

pub(super) struct World {
    site: Site,
    flags: &'static [&'static str],
    max_concurrent: u64,
    has_limit: bool,
    n_started: u32,
}

/// Ways to start the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    Run,
    Resume,
    FollowUp,
}

/// One process of a run, with its fate.
#[derive(Debug)]
pub(super) struct Life<'a> {
    pub(super) start: Start,
    /// The point and the passing at which it kills itself.
    pub(super) crash: Option<&'a str>,
    /// True if the process is left as soon as only background sub-agents work.
    pub(super) detach: bool,
    /// Time after which it dies.
    pub(super) time: Duration,
    pub(super) death: Death,
    /// Acts of other processes meanwhile.
    pub(super) errands: &'a [Errand],
}

impl Life<'_> {
    /// A process that ends by itself.
    pub(super) fn whole(start: Start) -> Self {
        Self { start, crash: None, detach: false, time: PATIENCE, death: Death::Kill, errands: &[] }
    }
}

impl World {
    pub(super) fn new(programs: &Programs, script: &Script) -> Result<Self> {
        let site = Site::new(programs, &script.rules(), &["--bodies"])?;
        let worked_on = script.files.iter().map(|(path, text)| (path.as_str(), text.as_bytes(), WORKED_ON));
        for (path, bytes, mode) in worked_on.chain(KEPT.iter().copied()) {
            // Once for the run, and once for the checker, to see what became of it.
            for folder in ["workspace", "before"] {
                put(&site.path(folder).join(path), bytes, mode)?;
            }
        }
        let max_concurrent = script.max_concurrent.unwrap_or(MAX_CONCURRENT);
        Ok(Self { site, flags: script.flags, max_concurrent, has_limit: script.has_limit, n_started: 0 })
    }

    /// Keeps the folder for a look into a failure.
    pub(super) fn keep(self) -> PathBuf {
        self.site.keep()
    }

    /// Starts the program and lets it live its life. When this returns, all other processes have ended as well.
    pub(super) fn live(&mut self, life: &Life<'_>) -> Result<Ended> {
        let live = self.start(life)?;
        let (world, over) = (&*self, AtomicBool::new(false));
        let (ended, receipts) = thread::scope(|scope| {
            let errands: Vec<_> = life.errands.iter().map(|errand| scope.spawn(|| errand.run(world, &over))).collect();
            let ended = live.end_after(life.time, life.death);
            over.store(true, Ordering::Relaxed);
            let receipts = errands.into_iter().map(|errand| errand.join().ok().context("an errand panicked").flatten());
            (ended, receipts.collect::<Result<Vec<_>>>())
        });
        let path = self.site.path("receipts.jsonl");
        let mut file = File::options().create(true).append(true).open(path)?;
        for receipt in receipts?.into_iter().flatten() {
            writeln!(file, "{receipt}")?;
        }
        ended
    }

    /// Starts the program, without a time.
    pub(super) fn start(&mut self, life: &Life<'_>) -> Result<Live> {
        self.n_started += 1;
        let stderr = self.site.path(&format!("stderr-{}", self.n_started));
        let mut command = self.program();
        match life.start {
            Start::Run => command.args(["run", PROMPT]).args(self.flags),
            Start::Resume => command.arg("resume"),
            Start::FollowUp => {
                let main = self.shown("\"depth\":0", |event| event["depth"] == 0)?.pop();
                command.args(["resume", &main.context("nobody has shown the main agent")?, FOLLOW_UP])
            }
        };
        // A process that leaves a run says so in words.
        let (told, flags): (_, &[&str]) = if life.detach {
            (format!("told-{}", self.n_started), &["--detach"])
        } else {
            (format!("shown/{}.jsonl", self.n_started), &["--output-format", "stream-json"])
        };
        command
            .args(flags)
            .args(["--allow", "Bash", "--permission-mode", "accept-edits"])
            .args(["--set", &format!("task_tool.max_concurrent={}", self.max_concurrent)])
            .args(if self.has_limit { LIMITED } else { &[] })
            .envs(life.crash.map(|crash| ("CRASH_OF_SORTIE", crash)))
            .stdout(File::create(self.site.path(&told))?);
        Ok(Live::start(&mut command, stderr)?.printing_to(self.site.path(&told)))
    }

    /// The command that starts the program in this world.
    pub(super) fn program(&self) -> Command {
        self.site.program()
    }

    /// A path for the output of a process.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.site.path(name)
    }

    /// The sub-agents that processes have shown so far.
    pub(super) fn workers(&self) -> Result<Vec<String>> {
        self.shown("\"task_started\"", |event| event["depth"] != 0)
    }

    /// The tasks of such events that processes have shown; their lines have these words.
    fn shown(&self, words: &str, is_it: impl Fn(&Value) -> bool) -> Result<Vec<String>> {
        let mut tasks = Vec::new();
        for entry in fs::read_dir(self.site.path("shown"))? {
            let shown = String::from_utf8_lossy(&fs::read(entry?.path())?).into_owned();
            // The last line of a process that was killed may be torn.
            let events = shown.lines().filter(|line| line.contains(words)).flat_map(serde_json::from_str);
            let events = events.filter(|event: &Value| is_it(event));
            tasks.extend(events.filter_map(|event| event["task_id"].as_str().map(str::to_owned)));
        }
        Ok(tasks)
    }

    /// Has the checker look at everything.
    pub(super) fn check(&self, ended: bool) -> Result<Verdict> {
        self.site.check(ended)
    }
}

fn put(path: &Path, bytes: &[u8], mode: u32) -> Result<()> {
    fs::create_dir_all(path.parent().context("a file lies in a directory")?)?;
    fs::write(path, bytes)?;
    Ok(fs::set_permissions(path, Permissions::from_mode(mode))?)
}
