//! `Background`: a command that keeps running while its task does other things.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_sandbox::process::KeeperMark;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::finished::FinishedCommand;
use super::foreground::went_wrong;
use super::launcher::{CommandRequest, Launcher, Started};
use super::recent_output::{Filter, OutputPage, RecentOutput};
use crate::answer::tool_error::ToolError;

/// Maximum number of background commands per task.
pub(super) const MAX_BACKGROUND: usize = 16;

/// A background command. Dropping it ends the command.
pub(crate) struct Background {
    number: u32,
    name: String,
    /// The command as shown to people.
    line: String,
    recent: Arc<Mutex<RecentOutput>>,
    cancel: CancellationToken,
    _on_drop: DropGuard,
    end: watch::Receiver<Option<Arc<FinishedCommand>>>,
    /// True once a call has reported its end.
    is_told: AtomicBool,
}

/// A look at a background command.
pub(crate) struct Look {
    pub(crate) page: OutputPage,
    /// Its end, once all of its output has been read.
    pub(crate) finished: Option<Arc<FinishedCommand>>,
    /// True if its end was reported before.
    pub(crate) is_told: bool,
}

impl Background {
    /// Starts it and reports its keeper.
    pub(super) async fn start(
        launcher: &Arc<Launcher>,
        number: u32,
        order: CommandRequest,
        call_cancel: &CancellationToken,
    ) -> Result<(Self, Option<KeeperMark>), ToolError> {
        let Ok(slot) = Arc::clone(&launcher.setup.background).try_acquire_owned() else {
            let why = "the command was not run: too many commands of this process run in the background; run it in the \
                 foreground";
            return Err(ToolError::new(None, why));
        };
        let cancel = CancellationToken::new();
        let on_drop = cancel.clone().drop_guard();
        let line = shortened(&order.line);
        let started = started(launcher, order, &cancel, call_cancel).await?;
        let keeper = started.keeper();
        let recent = Arc::new(Mutex::new(RecentOutput::default()));
        let (sender, end) = watch::channel(None);
        let written = Arc::clone(&recent);
        tokio::task::spawn_blocking(move || {
            let finished = started.finish(&mut |bytes| lock(&written).push(bytes));
            lock(&written).is_over = true;
            sender.send_replace(Some(Arc::new(finished)));
            drop(slot);
        });
        let name = shell_name(number);
        let command =
            Self { number, name, line, recent, cancel, _on_drop: on_drop, end, is_told: AtomicBool::new(false) };
        Ok((command, keeper))
    }

    pub(crate) fn number(&self) -> u32 {
        self.number
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn line(&self) -> &str {
        &self.line
    }

    /// Returns everything new since the last look.
    pub(crate) fn look(&self, is_wanted: Option<Filter<'_>>) -> Look {
        // The order matters: output written before the end is present when the end is.
        let finished = self.end.borrow().clone();
        let page = lock(&self.recent).page(is_wanted);
        let finished = finished.filter(|_| page.n_left == 0);
        let is_told = finished.is_some() && !self.tell();
        Look { page, finished, is_told }
    }

    /// Stops it. Has no effect on a command that has ended.
    pub(crate) fn stop(&self) {
        self.cancel.cancel();
    }

    /// Waits for the end. Returns nothing if the work that watches it failed.
    pub(crate) async fn ended(&self) -> Option<Arc<FinishedCommand>> {
        self.end.clone().wait_for(Option::is_some).await.ok()?.clone()
    }

    /// Marks its end as reported. Returns true if this is the first time.
    pub(crate) fn tell(&self) -> bool {
        !self.is_told.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.end.borrow().is_some()
    }

    pub(super) fn is_told(&self) -> bool {
        self.is_told.load(Ordering::Relaxed)
    }

    /// Waits for the end. Returns the files it changed, unless they were reported before.
    pub(super) async fn untold_changes(&self) -> Vec<String> {
        let finished = self.ended().await.filter(|_| self.tell());
        finished.map(|finished| finished.files_changed()).unwrap_or_default()
    }
}

/// The name of a background command for a model.
pub fn shell_name(number: u32) -> String {
    format!("bash_{number}")
}

/// The beginning of a command, in one line.
fn shortened(line: &str) -> String {
    const MAX_CHARS: usize = 60;
    let line = line.replace(char::is_control, " ");
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

async fn started(
    launcher: &Arc<Launcher>,
    order: CommandRequest,
    cancel: &CancellationToken,
    call_cancel: &CancellationToken,
) -> Result<Started, ToolError> {
    if call_cancel.is_cancelled() {
        return Err(ToolError::new(None, "cancelled before it began"));
    }
    let (launcher, token) = (Arc::clone(launcher), cancel.clone());
    let mut starting = tokio::task::spawn_blocking(move || launcher.start(order, &token));
    let started = tokio::select! {
        biased;
        started = &mut starting => started,
        () = call_cancel.cancelled() => {
            cancel.cancel();
            // A command that has started after all is reported: it may do something before it ends now.
            starting.await
        }
    };
    started.unwrap_or_else(went_wrong)
}

fn lock(recent: &Mutex<RecentOutput>) -> MutexGuard<'_, RecentOutput> {
    recent.lock().unwrap_or_else(PoisonError::into_inner)
}
