//! Foreground commands: run to their end while their call waits.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use tokio_util::sync::CancellationToken;

use super::excerpt::Excerpt;
use super::finished::FinishedCommand;
use super::launcher::{CommandRequest, Launcher};
use crate::answer::tool_error::ToolError;
use crate::port::progress::Progress;

/// Interval of progress lines for people.
const PERIOD: Duration = Duration::from_secs(1);

/// Runs a command to its end. A cancellation ends it early; so does dropping the future.
pub(super) async fn run(
    launcher: &Arc<Launcher>,
    order: CommandRequest,
    cancel: &CancellationToken,
    progress: Option<&dyn Progress>,
) -> Result<(FinishedCommand, Excerpt), ToolError> {
    let cancel = cancel.child_token();
    let _on_drop = cancel.clone().drop_guard();
    let slot = tokio::select! {
        biased;
        () = cancel.cancelled() => return Err(ToolError::new(None, "cancelled before it began")),
        slot = Arc::clone(&launcher.setup.foreground).acquire_owned() => slot,
    };
    let output = Arc::new(Mutex::new(Excerpt::default()));
    let (launcher, shown) = (Arc::clone(launcher), Arc::clone(&output));
    let (tell_keeper, keeper) = oneshot::channel();
    let mut running = tokio::task::spawn_blocking(move || {
        let started = launcher.start(order, &cancel)?;
        // The receiver may have stopped listening.
        tell_keeper.send(started.keeper()).ok();
        let finished = started.finish(&mut |bytes| lock(&shown).push(bytes));
        drop(slot);
        Ok(finished)
    });
    if let (Some(progress), Ok(Some(keeper))) = (progress, keeper.await) {
        progress.runs_under(keeper).await;
    }
    let finished = match progress {
        Some(progress) => watched(&mut running, &output, progress).await,
        None => running.await,
    };
    let finished = finished.unwrap_or_else(went_wrong)?;
    let output = std::mem::take(&mut *lock(&output));
    Ok((finished, output))
}

/// Waits for the end, and shows each new last line of the output.
async fn watched<T>(
    running: &mut JoinHandle<T>,
    output: &Mutex<Excerpt>,
    progress: &dyn Progress,
) -> Result<T, JoinError> {
    let mut ticks = interval_at(Instant::now() + PERIOD, PERIOD);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut told = None;
    loop {
        tokio::select! {
            biased;
            finished = &mut *running => return finished,
            _ = ticks.tick() => {}
        }
        let line = lock(output).last_line();
        if let Some(line) = line.filter(|line| told.as_ref() != Some(line)) {
            progress.tell(line.clone()).await;
            told = Some(line);
        }
    }
}

/// Propagates a panic. There is no other cause: nothing aborts this work.
pub(super) fn went_wrong<T>(error: JoinError) -> Result<T, ToolError> {
    match error.try_into_panic() {
        Ok(panic) => std::panic::resume_unwind(panic),
        Err(_) => Err(ToolError::new(None, "cancelled before it began")),
    }
}

fn lock(output: &Mutex<Excerpt>) -> std::sync::MutexGuard<'_, Excerpt> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use sortie_policy::Redactor;
    use sortie_protocol::TaskId;
    use sortie_sandbox::process::{Environment, Program, Walls};
    use sortie_sandbox::{SpillDir, Workspace};

    use super::*;
    use crate::port::shell_reach::{NetworkReach, Repositories, ShellReach, Writable};
    use crate::shell::setup::ShellSetup;

    struct Nothing;

    impl ShellReach for Nothing {
        fn writable(&self, _: &Workspace) -> Writable {
            unreachable!("nothing starts")
        }

        fn walls(&self, _: &Workspace, _: &[PathBuf], _: &Repositories) -> Result<Walls, String> {
            unreachable!("nothing starts")
        }

        fn reads_only(&self) -> Option<String> {
            None
        }

        fn network(&self) -> NetworkReach {
            NetworkReach::None
        }

        fn may_reach(&self, _: &str) -> Result<(), String> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_command_that_waits_for_its_turn_can_be_cancelled() {
        let directory = tempfile::tempdir().unwrap();
        let spill = Arc::new(SpillDir::open(&directory.path().join("spill")).unwrap());
        let setup = ShellSetup::new(Program::at("/bin/false".into()), Environment::default(), spill);
        let setup = Arc::new(setup);
        let n_slots = u32::try_from(setup.foreground.available_permits()).unwrap();
        let _others = Arc::clone(&setup.foreground).acquire_many_owned(n_slots).await.unwrap();
        let (redactor, task) = (Arc::new(Redactor::new(Vec::new())), TaskId::from_random([0; 12]));
        let launcher = Arc::new(Launcher::new(setup, Arc::new(Nothing), Arc::default(), redactor, task));
        let order = CommandRequest {
            line: "true".to_owned(),
            directory: None,
            time: Some(Duration::from_millis(1)),
            workspace: Arc::new(Workspace::open(directory.path()).unwrap()),
            unspilled: 0,
        };
        let cancel = CancellationToken::new();
        let waiting = run(&launcher, order, &cancel, None);
        let cancelling = async {
            tokio::task::yield_now().await;
            cancel.cancel();
        };
        let (waited, ()) = tokio::join!(waiting, cancelling);
        assert_eq!(waited.unwrap_err().text, "cancelled before it began");
    }
}
