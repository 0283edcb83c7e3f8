//! One run from start to end: start, display, approvals, detaching, and interruption by a signal.

mod approval_prompt;
mod detach;
pub(crate) mod early_signals;
pub(crate) mod own_process;
pub(crate) mod presentation;

use std::pin::pin;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use sortie_engine::{Engine, EngineError, Hooks, Resumption, Running, TaskKind};
use sortie_protocol::{Failure, FailureCode, Job, Status, TaskId, TaskOutcome, TaskRequest};

use crate::error::long_wait::LONG_WAIT;
use crate::error::signal::{Signal, Signals};
use crate::error::{self, CommandError, ErrorKind, exit_code};
use crate::render::{FollowError, Follower};
use crate::wiring::agent_warnings::complain;
use crate::wiring::retention::Retention;
use crate::wiring::{Plan, Wired, hooks};
use detach::Detachment;
use early_signals::{EarlySignals, LastWords};
use presentation::Presentation;

/// Time for which a result waits for its reader after a signal.
const PATIENCE_WITH_READERS: Duration = Duration::from_secs(3);

const MEMORY_TENDED: Duration = Duration::from_secs(30);

/// Start of a run.
#[expect(clippy::large_enum_variant, reason = "a process has one")]
pub(crate) enum SessionStart {
    New { kind: TaskKind, request: TaskRequest },
    Resume { task: TaskId, resumption: Resumption },
}

/// Runs and shows a task. With a detachment, the command leaves once only background sub-agents work. The inner failure
/// means that nothing was started.
pub(crate) fn run(
    plan: Plan<'_>,
    start: SessionStart,
    presentation: Presentation,
    early: EarlySignals,
) -> Result<Result<ExitCode, Failure>, CommandError> {
    complain(&plan.agents());
    plan.rules_about_nobody().iter().for_each(|warning| error::warn(warning));
    if let SessionStart::New { kind, request } = &start
        && let Err(failure) = plan.check(request, *kind)?
    {
        return Ok(Err(failure));
    }
    let retention = plan.retention();
    let wired = plan.open(Arc::clone(&presentation.approver))?;
    let (runtime, signals, last_words) = early.hand_over()?;
    runtime.spawn(tend_memory());
    let ended = runtime.block_on(steer(wired, start, presentation, retention, signals, last_words));
    // A search that does not look up from its work must not delay the end.
    runtime.shutdown_background();
    ended
}

/// Returns free memory to the system now and then: a run may live for days, parked for most of them.
pub(crate) async fn tend_memory() {
    loop {
        tokio::time::sleep(MEMORY_TENDED).await;
        tokio::task::spawn_blocking(sortie_sandbox::give_memory_back).await.ok();
    }
}

async fn steer(
    wired: Wired,
    start: SessionStart,
    presentation: Presentation,
    retention: Retention,
    mut signals: Signals,
    last_words: LastWords,
) -> Result<Result<ExitCode, Failure>, CommandError> {
    let Wired { engine, journal, hooks, .. } = wired;
    let Presentation { mut view, detachment, .. } = presentation;
    let before = journal.end()?;
    if let SessionStart::Resume { task, .. } = start {
        // Events after `before` are followed, older ones recalled, whatever is written in between.
        view.display.recall(journal.as_ref(), task)?;
    }
    let mut starting = pin!(hooks::while_they_run(hooks.as_ref(), begin(&engine, start)));
    let started = tokio::select! {
        biased;
        started = &mut starting => started,
        // A slow hook at the start can be cut short by a signal.
        signal = signals.next() => {
            hooks::tell_who_was_ended(hooks.as_ref());
            last_words.say()?;
            return Ok(Ok(signal.exit_code()));
        }
    };
    let running = match started {
        Ok(running) => running,
        Err(failure) => {
            unless_signalled(hooks::settle(hooks.as_ref()), hooks.as_ref(), &mut signals, None).await;
            return Ok(Err(failure));
        }
    };
    let job = running.job();
    let follower = Follower::start(Arc::clone(&journal), before, &job, view)
        .map_err(|error| CommandError::internal(format!("the display could not be started: {error}")))?;
    // Leaves while the run is alive: dropping it would stop it.
    let (ended, signal) = tokio::select! {
        watched = watch(&engine, running, &follower, &mut signals) => watched,
        never = Detachment::leave_when_parked(detachment.as_ref(), journal.as_ref(), hooks.as_ref(), job.task) => never,
    };
    let mut finished = tokio::task::spawn_blocking(move || {
        let status = finish(follower, ended, &job);
        // After a signal, nobody waits for old tasks to be removed.
        if signal.is_none() {
            retention.tend(&journal);
        }
        status
    });
    let mut impatience = pin!(tokio::time::sleep(PATIENCE_WITH_READERS));
    // The run is over; only a reader that does not read can delay us here.
    let finished = loop {
        tokio::select! {
            finished = &mut finished => break finished.unwrap_or_else(|_| Err(unshown())),
            () = &mut impatience, if signal.is_some() => break Err(unread()),
            another = signals.next() => if another.is_meant_after(signal) { end_now(another) },
        }
    };
    let settling = async { tokio::join!(hooks::settle(hooks.as_ref()), engine.close()) };
    unless_signalled(settling, hooks.as_ref(), &mut signals, signal).await;
    match (finished, signal) {
        (Ok(status), signal) => Ok(Ok(exit_code::of_outcome(status, signal))),
        // The signal may mean that the terminal has gone as well.
        (Err(CommandError { kind: ErrorKind::OutputLost, .. }), Some(signal)) => Ok(Ok(signal.exit_code())),
        (Err(error @ CommandError { kind: ErrorKind::OutputLost, .. }), None) => {
            // A closed terminal fails before its signal arrives.
            match tokio::time::timeout(LONG_WAIT, signals.next()).await {
                Ok(signal) => Ok(Ok(signal.exit_code())),
                Err(_) => Err(error),
            }
        }
        (Err(error), _) => Err(error),
    }
}

fn unshown() -> CommandError {
    CommandError::internal("the result could not be shown")
}

/// Error for a result that a signalled program could not get rid of. The journal has it.
fn unread() -> CommandError {
    CommandError::new(ErrorKind::OutputLost, "nobody read the result")
}

async fn begin(engine: &Engine, start: SessionStart) -> Result<Running, Failure> {
    match start {
        SessionStart::New { kind: TaskKind::Main, request } => engine.run(request).await,
        SessionStart::New { kind: TaskKind::Delegated, request } => engine.task(request).await,
        SessionStart::Resume { task, resumption } => engine.resume(task, resumption).await,
    }
}

/// Waits for the end. The first signal interrupts the whole tree, to be resumed; a second one waits for nothing.
async fn watch(
    engine: &Engine,
    running: Running,
    follower: &Follower,
    signals: &mut Signals,
) -> (Result<TaskOutcome, EngineError>, Option<Signal>) {
    let mut ended = pin!(running.outcome());
    let mut received = tokio::select! {
        ended = &mut ended => return (ended, None),
        signal = signals.next() => Some(signal),
        // Nobody would see the rest.
        () = follower.failed() => None,
    };
    let mut interrupted = pin!(async { tokio::join!(engine.interrupt(), ended).1 });
    loop {
        tokio::select! {
            ended = &mut interrupted => return (ended, received),
            signal = signals.next() => {
                if received.is_some() && signal.is_meant_after(received) {
                    end_now(signal);
                }
                received.get_or_insert(signal);
            }
        }
    }
}

/// Waits for hooks and servers, each of which ends in its own time, unless a signal cuts the wait short. The result of
/// the run is the same either way. `before` is the signal that ended the run.
async fn unless_signalled<T>(
    settling: impl Future<Output = T>,
    hooks: &dyn Hooks,
    signals: &mut Signals,
    before: Option<Signal>,
) {
    let mut settling = pin!(settling);
    loop {
        tokio::select! {
            _ = &mut settling => return,
            another = signals.next() => if another.is_meant_after(before) {
                return hooks::tell_who_was_ended(hooks);
            },
        }
    }
}

/// Shows the ending in the run's own format. There is always one, even after a failure of the engine.
fn finish(follower: Follower, ended: Result<TaskOutcome, EngineError>, job: &Job) -> Result<Status, CommandError> {
    let broken = || CommandError::internal("the display broke down; this is a bug in Sortie");
    let (display, followed) = follower.join().ok_or_else(broken)?;
    let mut outcome = ended.unwrap_or_else(|error| outcome_of_broken(job, &error));
    let shown = match followed {
        Ok(()) => display.finish(&outcome),
        Err(FollowError::Output(error)) => Err(error),
        Err(FollowError::Journal(error)) => {
            outcome.status = Status::Failed;
            outcome.error.get_or_insert(Failure::new(FailureCode::Journal, error.to_string()));
            display.finish(&outcome)
        }
    };
    match shown.map_err(CommandError::from) {
        Err(error) if error.kind != ErrorKind::OutputClosed => Err(error),
        _ => Ok(outcome.status),
    }
}

/// Outcome of a run that its engine could not record.
fn outcome_of_broken(job: &Job, error: &EngineError) -> TaskOutcome {
    let code = match error {
        EngineError::Journal(_) => FailureCode::Journal,
        EngineError::Aborted => FailureCode::Internal,
    };
    let (agent, model) = (job.config.agent.clone(), job.config.model.clone());
    let mut outcome = TaskOutcome::failed(job.task, agent, model, Failure::new(code, error.to_string()));
    outcome.notices.push("what it did and spent is not in these figures".to_owned());
    outcome
}

#[expect(clippy::exit, reason = "a second signal asks for the end at once, whatever is still under way")]
fn end_now(signal: Signal) -> ! {
    std::process::exit(i32::from(signal.code()))
}
