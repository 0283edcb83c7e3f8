//! Which program a hook means, whether it may be run, and what it answers.
//!
//! Agents must not be able to say what runs with the user's rights. So nothing in the workspace is run but what lies in
//! `.sortie/hooks`, which no agent can change, and of that only what the user trusts, byte by byte.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sortie_engine::TrustCheck;
use sortie_sandbox::process::{Environment, How, Stopper};
use sortie_sandbox::{OwnProgram, OwnProgramEnded};

use crate::render::{neutral, width};
use crate::settings::{Hook, HookProgram, Seam};
use crate::trust::file::{HOOKS, MAX_BYTES};

/// Exit code of a start that is refused.
const VETO: i32 = 2;
/// What is kept of a program's words, in columns.
const MOST_COLUMNS: usize = 1_000;

/// Variables of the session beside the harmless ones, so that a hook can show something to the person, and finds the state
/// and the settings of this program where it has them.
const SESSION: [&str; 8] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "SORTIE_HOME",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_CONFIG_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
];

/// Where hooks run.
pub(crate) struct Ground {
    /// Their working directory.
    workspace: PathBuf,
    /// What agents can change: the workspace, and the directories that were added to it. Canonical.
    changeable: Vec<PathBuf>,
    environment: Environment,
    trust: TrustCheck,
}

/// What comes of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Fine,
    /// The exit code that refuses a start, and why.
    Veto(String),
    /// How it failed, as the end of a sentence.
    Broken(String),
}

impl Ground {
    /// `variables` are those of this process; no key among them reaches a hook.
    pub(crate) fn new(
        workspace: PathBuf,
        added: impl IntoIterator<Item = PathBuf>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        trust: TrustCheck,
    ) -> Self {
        let changeable: Vec<PathBuf> = [workspace.clone()].into_iter().chain(added).collect();
        let variables: Vec<(OsString, OsString)> = variables.into_iter().collect();
        let untrusted: Vec<&Path> = changeable.iter().map(PathBuf::as_path).collect();
        let mut environment = Environment::scrubbed(variables.iter().cloned(), &untrusted);
        for (name, value) in variables {
            if SESSION.iter().any(|session| name == *session) {
                environment.set(name, value);
            }
        }
        Self { workspace, changeable, environment, trust }
    }

    /// The program that is run; else why there is none.
    fn program(&self, hook: &Hook) -> Result<PathBuf, String> {
        let named = match &hook.program {
            HookProgram::Named(name) => {
                self.environment.program(name).ok_or("was not run: there is no such program in your PATH")?
            }
            HookProgram::At(path) => path.clone(),
        };
        let real = named.canonicalize().map_err(|error| format!("was not run: {}: {error}", named.display()))?;
        let is_changeable = |path: &Path| self.changeable.iter().any(|root| path.starts_with(root));
        if !is_changeable(&named) && !is_changeable(&real) {
            // By its name: some programs look at what they are called.
            return Ok(named);
        }
        let relative = real.strip_prefix(&self.workspace).ok().and_then(Path::to_str);
        let Some(relative) = relative.filter(|relative| Path::new(relative).starts_with(HOOKS)) else {
            return Err(format!("was not run: agents could change it where it lies; move it to {HOOKS}, or elsewhere"));
        };
        if self.is_trusted(&real, relative) {
            return Ok(real);
        }
        Err(format!("was not run: {relative} is new or has changed; look at it, then run `sortie trust`"))
    }

    fn is_trusted(&self, real: &Path, relative: &str) -> bool {
        let mut bytes = Vec::new();
        let read = File::open(real).and_then(|file| file.take(MAX_BYTES).read_to_end(&mut bytes));
        read.is_ok() && (self.trust)(relative, &bytes)
    }
}

/// Runs it to its end. Whoever drops this ends it.
pub(super) async fn run(hook: &Hook, ground: &Ground, input: Vec<u8>) -> Answer {
    let program = match ground.program(hook) {
        Ok(program) => program,
        Err(why) => return Answer::Broken(why),
    };
    let program = OwnProgram {
        program,
        arguments: hook.arguments.clone(),
        directory: ground.workspace.clone(),
        environment: ground.environment.clone(),
        input,
        time: hook.time,
    };
    let stopper = match Stopper::new() {
        Ok(stopper) => stopper,
        Err(error) => return Answer::Broken(format!("was not run: {error}")),
    };
    let _ends_with_us = EndOnDrop(stopper.clone());
    match tokio::task::spawn_blocking(move || program.run(&stopper)).await {
        Ok(Ok(ended)) => answer(hook, &ended),
        Ok(Err(error)) => Answer::Broken(format!("was not run: {error}")),
        Err(_) => Answer::Broken("broke down; this is a bug in Sortie".to_owned()),
    }
}

fn answer(hook: &Hook, ended: &OwnProgramEnded) -> Answer {
    let words = width::cut(&neutral::line(String::from_utf8_lossy(&ended.errors).trim()), MOST_COLUMNS);
    let said = if words.is_empty() { String::new() } else { format!(": {words}") };
    match ended.how {
        How::Exited { code: 0 } => Answer::Fine,
        How::Exited { code: VETO } if hook.on == Seam::Started => {
            Answer::Veto(if words.is_empty() { format!("{} gave no reason", hook.shown) } else { words })
        }
        How::Exited { code } => Answer::Broken(format!("failed with exit code {code}{said}")),
        How::Signalled { signal } => Answer::Broken(format!("was killed by signal {signal}{said}")),
        How::TimedOut => Answer::Broken(format!("was ended after {}s", hook.time.as_secs())),
        How::Cancelled | How::Lost => Answer::Broken("was ended early".to_owned()),
    }
}

/// Ends a program when nobody waits for it any more.
struct EndOnDrop(Stopper);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
