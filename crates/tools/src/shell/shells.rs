//! `Shells`: the commands of one task, as its tools and the engine see them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_policy::Redactor;
use sortie_protocol::{Fault, TaskId};

use super::background::{Background, MAX_BACKGROUND, shell_name};
use super::excerpt::Excerpt;
use super::finished::FinishedCommand;
use super::foreground;
use super::launcher::{CommandRequest, Launcher};
use super::setup::ShellSetup;
use crate::answer::tool_error::ToolError;
use crate::changes::concurrent::Changes;
use crate::changes::concurrent::EditSpan;
use crate::port::progress::Progress;
use crate::port::shell_reach::ShellReach;
use tokio_util::sync::CancellationToken;

/// The commands of one task. Dropping it ends those that still run; [`close`](Self::close) also waits for their end.
pub struct Shells {
    launcher: Arc<Launcher>,
    background: Mutex<Shelf>,
}

/// Background commands that the task started before, in other processes or in earlier legs. None of them runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierShells {
    /// Number of the newest one; later commands get other names.
    pub newest: u32,
    /// Those that ran when their process was stopped, by number.
    pub lost: BTreeSet<u32>,
}

/// The background commands, oldest first.
#[derive(Default)]
struct Shelf {
    earlier: EarlierShells,
    /// Number of the newest one, earlier legs included.
    newest: u32,
    commands: Vec<Arc<Background>>,
    is_closed: bool,
}

impl Shells {
    /// `redactor` removes secrets from outputs kept in files. The names of these files begin with the task's id.
    pub fn new(
        setup: Arc<ShellSetup>,
        reach: Arc<dyn ShellReach>,
        changes: Arc<Changes>,
        redactor: Arc<Redactor>,
        task: TaskId,
    ) -> Self {
        Self { launcher: Arc::new(Launcher::new(setup, reach, changes, redactor, task)), background: Mutex::default() }
    }

    /// Notices for the outcome, in order and without repeats. They are about walls, files to check, files that may be
    /// other tasks', and commands ended with the task.
    pub fn notices(&self) -> Vec<String> {
        self.launcher.notices()
    }

    /// Ends all background commands and waits until they are gone. No further one can start. Returns the files they
    /// changed that no call has reported, sorted and without repeats.
    pub async fn close(&self) -> Vec<String> {
        let commands = {
            let mut shelf = self.shelf();
            shelf.is_closed = true;
            std::mem::take(&mut shelf.commands)
        };
        if let Some(notice) = ended_with_the_task(&commands) {
            self.launcher.notice(notice);
        }
        for command in &commands {
            command.stop();
        }
        let mut changed = Vec::new();
        for command in commands {
            changed.extend(command.untold_changes().await);
        }
        changed.sort_unstable();
        changed.dedup();
        changed
    }

    /// Hold this while a tool other than a command edits a file.
    pub(crate) fn edit(&self, path: &Path) -> EditSpan {
        self.launcher.changes.edit(self.launcher.owner, path)
    }

    /// Runs a command to its end.
    pub(crate) async fn run(
        &self,
        order: CommandRequest,
        cancel: &CancellationToken,
        progress: Option<&dyn Progress>,
    ) -> Result<(FinishedCommand, Excerpt), ToolError> {
        foreground::run(&self.launcher, order, cancel, progress).await
    }

    /// Starts a command that keeps running after the call is answered.
    pub(crate) async fn start(
        &self,
        order: CommandRequest,
        cancel: &CancellationToken,
        progress: Option<&dyn Progress>,
    ) -> Result<Arc<Background>, ToolError> {
        let number = {
            let mut shelf = self.shelf();
            shelf.make_room()?;
            shelf.newest += 1;
            shelf.newest
        };
        let (command, keeper) = Background::start(&self.launcher, number, order, cancel).await?;
        let command = Arc::new(command);
        if let (Some(progress), Some(keeper)) = (progress, keeper) {
            progress.runs_under(keeper).await;
        }
        let mut shelf = self.shelf();
        // Others may have started in the meantime.
        shelf.make_room()?;
        shelf.commands.push(Arc::clone(&command));
        Ok(command)
    }

    /// Adds the commands that the task started earlier.
    #[must_use]
    pub fn after(self, earlier: EarlierShells) -> Self {
        let shelf = Shelf { newest: earlier.newest, earlier, ..Shelf::default() };
        Self { background: Mutex::new(shelf), ..self }
    }

    /// Returns the background command with this name.
    pub(crate) fn background(&self, name: &str) -> Result<Arc<Background>, ToolError> {
        let shelf = self.shelf();
        if let Some(command) = shelf.commands.iter().find(|command| command.name() == name) {
            return Ok(Arc::clone(command));
        }
        if let Some(end) = shelf.earlier.end_of(name) {
            return Err(ToolError::new(Fault::NotFound, end));
        }
        let known: Vec<&str> = shelf.commands.iter().map(|command| command.name()).collect();
        let known = if known.is_empty() {
            "there is none; start one with Bash and run_in_background".to_owned()
        } else {
            format!("there are {}", known.join(", "))
        };
        Err(ToolError::new(Fault::NotFound, format!("no background command is called `{name}`: {known}")))
    }

    fn shelf(&self) -> MutexGuard<'_, Shelf> {
        // No update can be left half done.
        self.background.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Names the commands that still run, if any.
fn ended_with_the_task(commands: &[Arc<Background>]) -> Option<String> {
    let running: Vec<&Arc<Background>> = commands.iter().filter(|command| !command.has_ended()).collect();
    let shown = |command: &&Arc<Background>| format!("{} `{}`", command.name(), command.line());
    let names: Vec<String> = running.iter().map(shown).collect();
    let (commands, were) = if running.len() == 1 { ("command", "was") } else { ("commands", "were") };
    let n_running = running.len();
    (n_running > 0)
        .then(|| format!("{n_running} {commands} in the background {were} ended with the task: {}", names.join(", ")))
}

impl EarlierShells {
    /// Says how an earlier command of this name ended, if there was one.
    fn end_of(&self, name: &str) -> Option<String> {
        let number = (1..=self.newest).find(|number| shell_name(*number) == name)?;
        Some(if self.lost.contains(&number) {
            format!(
                "{name} was ended when the program was stopped: its effects are unknown and its output is lost; check \
                 the state of things, and start it again if you need it"
            )
        } else {
            format!("{name} has ended, and its output can no longer be read")
        })
    }
}

impl Shelf {
    /// Forgets the oldest command with a reported end if there is no room for another; an error if there is none.
    fn make_room(&mut self) -> Result<(), ToolError> {
        if self.is_closed {
            return Err(ToolError::new(None, "the command was not run: its task is ending"));
        }
        if self.commands.len() < MAX_BACKGROUND {
            return Ok(());
        }
        let Some(told) = self.commands.iter().position(|command| command.is_told()) else {
            return Err(ToolError::new(
                None,
                format!(
                    "the command was not run: {MAX_BACKGROUND} run in the background or have ended unread; use \
                     BashOutput or KillShell"
                ),
            ));
        };
        self.commands.remove(told);
        Ok(())
    }
}
