//! Drives one run from its start to its end: starts it, shows it, and stops it when someone asks.

use std::pin::pin;
use std::process::ExitCode;

use sortie_engine::{EngineError, Running};
use sortie_protocol::{Failure, TaskOutcome, TaskRequest};
use tokio::runtime::Builder;

use crate::error::{CommandError, ErrorKind};
use crate::exit;
use crate::render::{Display, FollowError, Follower, Pace};
use crate::signal::{Signal, Signals};
use crate::wiring::Wired;

/// What is to be started.
pub(crate) enum Start {
    /// A main agent.
    Main(TaskRequest),
    /// One delegation without a parent model.
    Delegated(TaskRequest),
}

/// Runs it and shows it. The inner failure means that nothing was started.
pub(crate) fn drive(
    wired: Wired,
    start: Start,
    pace: Pace,
    display: Box<dyn Display>,
) -> Result<Result<ExitCode, Failure>, CommandError> {
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandError::internal(format!("the runtime could not be started: {error}")))?;
    let driven = runtime.block_on(steer(wired, start, pace, display));
    // A search that does not look up from its work must not hold the end.
    runtime.shutdown_background();
    driven
}

async fn steer(
    wired: Wired,
    start: Start,
    pace: Pace,
    display: Box<dyn Display>,
) -> Result<Result<ExitCode, Failure>, CommandError> {
    let Wired { engine, journal } = wired;
    let mut signals =
        Signals::listen().map_err(|error| CommandError::internal(format!("signals cannot be listened to: {error}")))?;
    let before = journal.end()?;
    let started = match start {
        Start::Main(request) => engine.run(request).await,
        Start::Delegated(request) => engine.task(request).await,
    };
    let running = match started {
        Ok(running) => running,
        Err(failure) => return Ok(Err(failure)),
    };
    let follower = Follower::start(journal, before, running.task, pace, display)
        .map_err(|error| CommandError::internal(format!("the display could not be started: {error}")))?;
    let (outcome, signal) = match watch(running, &follower, &mut signals).await {
        Ok(ended) => ended,
        Err(error) => {
            // Ends the display first, so that nothing is drawn over the message.
            drop(follower.join());
            return Err(error.into());
        }
    };
    let status = outcome.status;
    let mut finished = tokio::task::spawn_blocking(move || finish(follower, &outcome));
    tokio::select! {
        shown = &mut finished => match shown {
            Ok(Err(error)) if error.kind != ErrorKind::OutputClosed => return Err(error),
            Ok(_) => {}
            Err(_) => return Err(CommandError::internal("the result could not be shown")),
        },
        // The run is over; only a reader that does not read can hold us here.
        signal = signals.next() => end_now(signal),
    }
    Ok(Ok(exit::of_outcome(status, signal)))
}

/// Waits for the end. The first signal asks for it, a second one does not wait for it.
async fn watch(
    running: Running,
    follower: &Follower,
    signals: &mut Signals,
) -> Result<(TaskOutcome, Option<Signal>), EngineError> {
    let stop = running.stopper();
    let mut ended = pin!(running.outcome());
    let mut received = None;
    loop {
        tokio::select! {
            outcome = &mut ended => return Ok((outcome?, received)),
            signal = signals.next() => match received {
                None => {
                    received = Some(signal);
                    stop.cancel();
                }
                Some(_) => end_now(signal),
            },
            // Nobody would see the rest.
            () = follower.failed(), if !stop.is_cancelled() => stop.cancel(),
        }
    }
}

fn finish(follower: Follower, outcome: &TaskOutcome) -> Result<(), CommandError> {
    match follower.join() {
        Ok(display) => Ok(display.finish(outcome)?),
        Err(FollowError::Output(error)) => Err(error.into()),
        Err(FollowError::Journal(error)) => Err(error.into()),
        Err(FollowError::Broken) => Err(CommandError::internal("the display broke down; this is a bug in Sortie")),
    }
}

#[expect(clippy::exit, reason = "a second signal asks for the end at once, whatever is still under way")]
fn end_now(signal: Signal) -> ! {
    std::process::exit(i32::from(signal.exit_code()))
}
