//! One Task call of a host: from its arguments to a task without a parent, and from the task's end to the answer.
//! Arguments and answer are in the words of the contract.
//!
//! A host that knows the Tasks extension gets a handle at once and asks later (`tasks`); any other host waits here and
//! receives progress (`progress`). A call that is cancelled ends its whole tree. A host that is gone interrupts the
//! trees that it waited for, to be resumed.

use std::convert::Infallible;
use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CreateTaskResult};
use rmcp::service::{Peer, RoleServer};
use sortie_engine::Running;
use sortie_protocol::{Failure, FailureCode, ModelChoice, TaskId, TaskOutcome, TaskRequest};
use tokio_util::sync::CancellationToken;

use crate::server::answer::{answer, launched};
use crate::server::model_hint::with_model_hint;
use crate::server::office::Office;
use crate::server::progress::{self, Progress};
use crate::server::tasks;
use crate::session::arrivals::Place;

/// The agent of a call that only reads, if it names none.
const READER: &str = "explore";

/// Context of one call.
pub(super) struct Caller<'a> {
    /// Recipient of progress, if the caller wants any.
    pub(super) progress: Option<Progress<'a>>,
    /// True if it accepts a handle in place of an answer.
    pub(super) takes_handles: bool,
    /// The host, which may have a person to ask.
    pub(super) peer: &'a Peer<RoleServer>,
    /// True if nothing but reading was asked for.
    pub(super) reads_only: bool,
    /// The model that it lends, if one is borrowed.
    pub(super) lent_model: Option<ModelChoice>,
    /// Cancelled with the call, or when the host is gone.
    pub(super) cancel: &'a CancellationToken,
    /// Cancelled when the host is gone.
    pub(super) gone: &'a CancellationToken,
    /// Cancelled only with the call; background work does not depend on the host's presence.
    pub(super) withdrawn: &'a CancellationToken,
    /// Place among the calls of its session, if they arrive one after the other.
    pub(super) place: Option<Arc<Place>>,
}

/// Runs one call. Everything that the contract can express is an answer; an error means a bug on our side.
pub(super) async fn run(
    office: &Office,
    arguments: &str,
    mut caller: Caller<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let answered = |started| answer(office.contract.as_ref(), arguments, &office.engine_host.answer_parts(), started);
    let request = match office.contract.decode(arguments) {
        Ok(request) => of_caller(request, &caller),
        Err(failure) => return Ok(answered(Err(failure)).into()),
    };
    let is_apart = request.background;
    let is_kept = is_apart || caller.takes_handles;
    let place = caller.place.take();
    let cancel = if is_kept { caller.withdrawn } else { caller.cancel };
    let started = tokio::select! {
        started = start(office, request, place, caller.peer, cancel) => started,
        never = progress::while_starting(caller.progress.as_ref()) => match never {},
    };
    let running = match started {
        Ok(running) => running,
        Err(failure) => return Ok(answered(Err(with_model_hint(failure, caller.peer))).into()),
    };
    if caller.takes_handles {
        let task = running.task;
        office.engine_host.keep(running);
        return tasks::handle(office, task).await.map(|task| CreateTaskResult::new(task).into());
    }
    if is_apart {
        return Ok(launched(office.contract.as_ref(), &office.engine_host.keep(running)).into());
    }
    let task = running.task;
    let ended = wait(office, running, &caller).await;
    office.people.detach(task);
    ended.map(|outcome| answered(Ok(outcome)).into())
}

/// Adds what the contract does not know: the host's model, and the tool that was called.
fn of_caller(request: TaskRequest, caller: &Caller<'_>) -> TaskRequest {
    let agent = if caller.reads_only && request.agent_is_usual { READER.to_owned() } else { request.agent };
    TaskRequest { agent, lent_model: caller.lent_model.clone(), reads_only: caller.reads_only, ..request }
}

/// Starts the task once all earlier calls of the session have started theirs. If the call is cancelled meanwhile, the
/// task ends as soon as it has begun.
async fn start(
    office: &Office,
    request: TaskRequest,
    place: Option<Arc<Place>>,
    peer: &Peer<RoleServer>,
    cancel: &CancellationToken,
) -> Result<Running, Failure> {
    let engine_host = office.engine_host.clone();
    let (people, peer) = (office.people.clone(), peer.clone());
    // Spawned, because an aborted start would leave work that nobody can stop.
    let started = tokio::spawn(async move {
        if let Some(place) = &place {
            place.is_due().await;
        }
        engine_host.start_after(request, |task: TaskId| people.attach(task, &peer)).await
    });
    tokio::select! {
        started = started => started.unwrap_or_else(|error| Err(Failure::new(FailureCode::Internal, error.to_string()))),
        () = cancel.cancelled() => Err(Failure::new(FailureCode::Cancelled, "the call was cancelled before its task began")),
    }
}

async fn wait(office: &Office, running: Running, caller: &Caller<'_>) -> Result<TaskOutcome, ErrorData> {
    let (task, job, stop) = (running.task, running.job(), running.stopper());
    let telling = progress::while_waiting(caller.progress.as_ref(), &office.engine_host, vec![task]);
    let stopping = async {
        tokio::select! {
            biased;
            // First, because the library cancels the calls of a host that is gone.
            () = caller.gone.cancelled() => office.engine_host.interrupt(&job).await,
            () = caller.withdrawn.cancelled() => stop.cancel(),
        }
        std::future::pending::<Infallible>().await
    };
    let ended = tokio::select! {
        ended = running.outcome() => ended,
        never = telling => match never {},
        never = stopping => match never {},
    };
    ended.map_err(|error| {
        let message = format!("{task} has ended, but its result could not be recorded: {error}");
        ErrorData::internal_error(message, None)
    })
}
