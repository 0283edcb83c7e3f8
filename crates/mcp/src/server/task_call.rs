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
use sortie_protocol::{Failure, FailureCode, Launched, Loan, ModelChoice, TaskId, TaskOutcome, TaskRequest};
use tokio_util::sync::CancellationToken;

use crate::server::answer::{answer, launched, with_model_hint};
use crate::server::nested;
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
    /// Limits that the call carries.
    pub(super) loan: Option<Loan>,
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
    let decoded = match &office.refusal {
        Some(refusal) => Err(refusal.clone()),
        None => office.contract.decode(arguments),
    };
    let mut request = match decoded {
        Ok(request) => of_caller(request, &caller),
        Err(failure) if office.is_nested => {
            return Ok(nested::repaid(office, answered(Err(failure)), None).await.into());
        }
        Err(failure) => return Ok(answered(Err(failure)).into()),
    };
    request.notices.extend(office.take_notices());
    if office.is_nested {
        return run_nested(office, arguments, request, caller).await;
    }
    let is_apart = request.background;
    let is_kept = is_apart || caller.takes_handles;
    let place = caller.place.take();
    if is_kept {
        let begun = tokio::select! {
            begun = launch(office, request, place, &caller) => begun,
            never = progress::while_starting(caller.progress.as_ref()) => match never {},
        };
        let begun = match begun {
            Ok(begun) => begun,
            Err(failure) => return Ok(answered(Err(with_model_hint(failure, caller.peer))).into()),
        };
        if caller.takes_handles {
            return tasks::handle(office, begun.task_id).await.map(|task| CreateTaskResult::new(task).into());
        }
        return Ok(launched(office.contract.as_ref(), &begun).into());
    }
    match start(office, request, place, &caller).await {
        Ok(running) => wait(office, running, &caller).await.map(|outcome| answered(Ok(outcome)).into()),
        Err(failure) => Ok(answered(Err(with_model_hint(failure, caller.peer))).into()),
    }
}

/// Runs the call of another Sortie within the limits that it carries.
async fn run_nested(
    office: &Office,
    arguments: &str,
    request: TaskRequest,
    mut caller: Caller<'_>,
) -> Result<CallToolResponse, ErrorData> {
    let answered = |started| answer(office.contract.as_ref(), arguments, &office.engine_host.answer_parts(), started);
    let place = caller.place.take();
    let started = match nested::within(request, caller.loan) {
        Ok(request) => start(office, request, place, &caller).await,
        Err(failure) => Err(failure),
    };
    let (outcome, result) = match started {
        Ok(running) => {
            let outcome = wait(office, running, &caller).await?;
            (Some(outcome.clone()), answered(Ok(outcome)))
        }
        Err(failure) => (None, answered(Err(with_model_hint(failure, caller.peer)))),
    };
    Ok(nested::repaid(office, result, outcome.as_ref()).await.into())
}

/// Starts a background task once all earlier calls of the session have started theirs. If the call is withdrawn
/// meanwhile, the task ends as soon as it has begun. If only its host has gone, the task works on.
async fn launch(
    office: &Office,
    request: TaskRequest,
    place: Option<Arc<Place>>,
    caller: &Caller<'_>,
) -> Result<Launched, Failure> {
    let engine_host = office.engine_host.clone();
    let (withdrawn, gone, end) = (caller.withdrawn.clone(), caller.gone.clone(), CancellationToken::new());
    let ending = end.clone();
    let (people, peer) = (office.people.clone(), caller.peer.clone());
    // Spawned, because an aborted start would leave work that nobody can stop. Counted as background work at once, so
    // that a server whose host leaves waits for it.
    let launched = office.engine_host.spawn(async move {
        if let Some(place) = &place {
            place.is_due().await;
        }
        engine_host.launch(request, &ending, |task: TaskId| people.attach(task, &peer)).await
    });
    tokio::select! {
        launched = launched => {
            launched.unwrap_or_else(|error| Err(Failure::new(FailureCode::Internal, error.to_string())))
        }
        () = withdrawn.cancelled() => {
            if !gone.is_cancelled() {
                end.cancel();
            }
            Err(Failure::new(FailureCode::Cancelled, "the call was cancelled before its task began"))
        }
    }
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
    caller: &Caller<'_>,
) -> Result<Running, Failure> {
    let engine_host = office.engine_host.clone();
    let (people, peer) = (office.people.clone(), caller.peer.clone());
    // Spawned, because an aborted start would leave work that nobody can stop.
    let started = tokio::spawn(async move {
        if let Some(place) = &place {
            place.is_due().await;
        }
        engine_host.start_after(request, |task: TaskId| people.attach(task, &peer)).await
    });
    tokio::select! {
        started = started => started.unwrap_or_else(|error| Err(Failure::new(FailureCode::Internal, error.to_string()))),
        () = caller.cancel.cancelled() => {
            Err(Failure::new(FailureCode::Cancelled, "the call was cancelled before its task began"))
        }
        never = progress::while_starting(caller.progress.as_ref()) => match never {},
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
    office.people.detach(task);
    ended.map_err(|error| {
        let message = format!("{task} has ended, but its result could not be recorded: {error}");
        ErrorData::internal_error(message, None)
    })
}
