//! Program of a hook: finding it, checking that it may run, running it, and reading its answer.
//!
//! Agents must not decide what runs with the user's rights. In the workspace, only files in `.sortie/hooks` can run,
//! which no agent can change, and only those that the user trusts, byte by byte.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie_engine::TrustCheck;
use sortie_policy::Redactor;
use sortie_sandbox::process::{Environment, How, Stopper};
use sortie_sandbox::{OwnProgram, OwnProgramEnded};

use crate::settings::{Hook, HookProgram, Seam};
use crate::text::{neutral, width};
use crate::trust::project_files::{HOOKS, MAX_BYTES};

/// Exit code that refuses a start.
const VETO: i32 = 2;
/// Columns kept of a program's words.
const MOST_COLUMNS: usize = 1_000;

/// Variables of the session, in addition to the harmless ones. With them a hook can show something to the user, and
/// find Sortie's state and settings.
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

/// Environment of hooks.
pub(crate) struct HookGround {
    /// Working directory of hooks.
    workspace: PathBuf,
    /// Directories that agents can change: the workspace and the added ones. Canonical.
    changeable: Vec<PathBuf>,
    environment: Environment,
    trust: TrustCheck,
    redactor: Arc<Redactor>,
}

/// Result of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Answer {
    Fine,
    /// Refusal of a start, with its reason.
    Veto(String),
    Broken(Breakdown),
}

/// Failure of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Breakdown {
    /// End of our sentence about it.
    pub(super) how: String,
    /// Its own last words, for people; may be empty.
    pub(super) words: String,
}

impl From<String> for Breakdown {
    fn from(how: String) -> Self {
        Self { how, words: String::new() }
    }
}

impl HookGround {
    /// Creates the environment. `variables` are those of this process; no key among them reaches a hook.
    pub(crate) fn new(
        workspace: PathBuf,
        added: impl IntoIterator<Item = PathBuf>,
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        trust: TrustCheck,
        redactor: Arc<Redactor>,
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
        Self { workspace, changeable, environment, trust, redactor }
    }

    /// Program to run, or why there is none.
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
            // By its own name: some programs look at it.
            return Ok(named);
        }
        let relative = real.strip_prefix(&self.workspace).ok().and_then(Path::to_str);
        let Some(relative) = relative.filter(|relative| Path::new(relative).starts_with(HOOKS)) else {
            return Err(format!("was not run: agents could change it there; move it to {HOOKS}, or elsewhere"));
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

/// Runs the hook to its end. Dropping the future ends the program.
pub(super) async fn run(hook: &Hook, ground: &HookGround, input: Vec<u8>) -> Answer {
    let program = match ground.program(hook) {
        Ok(program) => program,
        Err(why) => return Answer::Broken(why.into()),
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
        Err(error) => return Answer::Broken(format!("was not run: {error}").into()),
    };
    let _ends_with_us = EndOnDrop(stopper.clone());
    match tokio::task::spawn_blocking(move || program.run(&stopper)).await {
        Ok(Ok(ended)) => answer(hook, &ended, &ground.redactor),
        Ok(Err(error)) => Answer::Broken(format!("was not run: {error}").into()),
        Err(_) => Answer::Broken("broke down; this is a bug in Sortie".to_owned().into()),
    }
}

fn answer(hook: &Hook, ended: &OwnProgramEnded, redactor: &Redactor) -> Answer {
    let broken = |how: String, words: String| Answer::Broken(Breakdown { how, words });
    let words = words(&ended.errors, redactor);
    match ended.how {
        How::Exited { code: 0 } => Answer::Fine,
        How::Exited { code: VETO } if hook.on == Seam::Started => {
            Answer::Veto(if words.is_empty() { format!("{} gave no reason", hook.shown) } else { words })
        }
        How::Exited { code } => broken(format!("failed with exit code {code}"), words),
        How::Signalled { signal } => broken(format!("was killed by signal {signal}"), words),
        How::TimedOut => broken(format!("was ended after {}s", hook.time.as_secs()), words),
        How::Cancelled | How::Lost => broken("was ended early".to_owned(), words),
    }
}

/// Stderr of a program without secrets, on one line of bounded length. Secrets are found before it is cut.
fn words(errors: &[u8], redactor: &Redactor) -> String {
    let errors = String::from_utf8_lossy(errors);
    width::cut(&neutral::line(redactor.redact(errors.trim()).text.as_ref()), MOST_COLUMNS)
}

/// Ends a program when nobody waits for it any more.
struct EndOnDrop(Stopper);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}
