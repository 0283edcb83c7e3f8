//! One model call: streamed, watched by the deadline and by cancellation, and recorded.
//!
//! Its usage is booked here. An attempt without a reply counts with the provider's figures; if these are missing and a
//! limit is to be kept, with an estimate.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_llm::{ErrorKind, Model, ModelError, ModelEvent, ModelRequest, Terms, ToolChoice, estimate};
use sortie_policy::Redactor;
use sortie_protocol::{Fact, Failure, Job, Limit, Reply, ToolSpec, Usage};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::budget::account::{Account, Lease};
use crate::budget::deadline::Deadline;
use crate::conversation::history::History;
use crate::conversation::outcome::Ending;
use crate::conversation::request_size::TokenCounts;
use crate::log::writer::FactWriter;
use crate::ports::redaction::redacted;

/// Access to one task's model, with everything that stays the same from turn to turn.
pub(crate) struct ModelCaller {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) terms: Terms,
    pub(crate) tools: Arc<[ToolSpec]>,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) account: Arc<Account>,
    pub(crate) counting: Arc<TokenCounts>,
    /// Needed because providers quote the request when they refuse it.
    pub(crate) redactor: Arc<Redactor>,
}

/// A call with permission to be made.
pub(crate) struct ModelCall {
    pub(crate) number: u32,
    /// True if it is not a turn: its reply does not join the conversation as it is.
    pub(crate) is_beside: bool,
    pub(crate) tool_choice: ToolChoice,
    /// Estimated input.
    pub(crate) input_tokens: u64,
    /// Cap on the reply.
    pub(crate) max_output: Option<u64>,
    /// Retries in earlier calls that were overdrawn.
    pub(crate) retries_made: u32,
    pub(crate) lease: Lease,
}

/// Ending of a call.
#[derive(Debug)]
pub(crate) enum CallEnd<T> {
    Reply(T),
    /// Its attempts have used up its reservation. The due retry may be another call, with what is left.
    Overdrawn(Retry),
    NoReply(NoReply),
}

/// The reason why no reply came. `text` is the model's text in this leg, complete or not.
#[derive(Debug)]
pub(crate) enum NoReply {
    /// A limit forbids the call.
    Limit(Limit),
    Cancelled {
        text: String,
    },
    OutOfTime {
        text: String,
    },
    /// The model could not answer.
    Failed {
        kind: ErrorKind,
        message: String,
        text: String,
    },
}

impl NoReply {
    /// Returns the ending of a leg that makes no further call.
    pub(crate) fn ending(self) -> Ending {
        match self {
            Self::Limit(limit) => Ending::limited(limit, String::new()),
            Self::Cancelled { text } => Ending::Cancelled { text },
            Self::OutOfTime { text } => Ending::limited(Limit::Deadline, text),
            Self::Failed { kind, message, text } => Ending::model_failed(kind, message, text),
        }
    }

    /// True if the conversation does not fit the model's window.
    pub(crate) fn is_too_long(&self) -> bool {
        matches!(self, Self::Failed { kind: ErrorKind::ContextLength, .. })
    }
}

/// A retry that is due.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Retry {
    /// Number of retries, including this one.
    pub(crate) made: u32,
    pub(crate) wait: Duration,
}

/// Result of watching a call.
enum Watched {
    Answered(Result<Reply, ModelError>),
    Overdrawn(Retry),
    OutOfTime,
    Cancelled,
}

impl ModelCaller {
    /// Asks for one reply, and books its usage.
    pub(crate) async fn call(
        &self,
        job: &Job,
        history: &History,
        turn: ModelCall,
        sink: &FactWriter,
        cancel: &CancellationToken,
    ) -> Result<CallEnd<Reply>, JournalError> {
        let ModelCall { number, is_beside, tool_choice, input_tokens, max_output, retries_made, lease } = turn;
        if cancel.is_cancelled() {
            lease.settle(Usage::default());
            return Ok(CallEnd::NoReply(NoReply::Cancelled { text: history.last_text() }));
        }
        let called = Fact::ModelCalled { turn: number, input_tokens, reserved: lease.reserved() };
        if lease.reserved().is_nothing() {
            sink.append(called).await?;
        } else {
            // A reservation must be on disk before anything is spent.
            sink.append_synced(called).await?;
        }
        point("model.called");
        let request = ModelRequest {
            model: &job.config.model.id,
            system: &job.config.system,
            tools: &self.tools,
            messages: history.messages(),
            tool_choice,
            max_output,
            deadline: self.deadline.at(),
            idle: job.config.limits.idle,
            retries_made,
        };
        let (retries, mut retried) = mpsc::unbounded_channel();
        let unreported = (!lease.reserved().is_nothing()).then_some(input_tokens);
        let watch = Watch { turn: number, model_caller: self, unreported, running: Mutex::default(), retries };
        let (usage, end) = match self.watch(request, &watch, &mut retried, sink, cancel).await? {
            Watched::Answered(Ok(mut reply)) => {
                reply.usage = self.terms.prices.priced(reply.usage);
                // Turns and calls are counted here, whatever the model reports.
                lease.settle(Usage { turns: u64::from(!is_beside), tool_calls: 0, ..reply.usage });
                return Ok(CallEnd::Reply(reply));
            }
            Watched::Answered(Err(error)) => {
                let usage = watch.used_by(&error);
                let message = redacted(&self.redactor, error.message);
                let text = history.last_text_with(error.partial);
                (usage, CallEnd::NoReply(NoReply::Failed { kind: error.kind, message, text }))
            }
            Watched::Overdrawn(retry) => (Usage::default(), CallEnd::Overdrawn(retry)),
            Watched::OutOfTime => {
                let (usage, text) = watch.broken_off();
                (usage, CallEnd::NoReply(NoReply::OutOfTime { text: history.last_text_with(text) }))
            }
            Watched::Cancelled => {
                let (usage, text) = watch.broken_off();
                (usage, CallEnd::NoReply(NoReply::Cancelled { text: history.last_text_with(text) }))
            }
        };
        self.lose(number, lease, usage, sink).await?;
        Ok(end)
    }

    /// Makes the call, and breaks it off at the deadline or on cancellation, which closes its connection.
    async fn watch(
        &self,
        request: ModelRequest<'_>,
        watch: &Watch<'_>,
        retried: &mut mpsc::UnboundedReceiver<(Fact, Retry)>,
        sink: &FactWriter,
        cancel: &CancellationToken,
    ) -> Result<Watched, JournalError> {
        let mut observe = |event: ModelEvent<'_>| watch.see(&event);
        let mut call = self.model.call(request, &mut observe);
        loop {
            tokio::select! {
                biased;
                Some((fact, retry)) = retried.recv() => {
                    sink.append(fact).await?;
                    if self.account.overdrawn().is_some() {
                        return Ok(Watched::Overdrawn(retry));
                    }
                }
                () = cancel.cancelled() => return Ok(Watched::Cancelled),
                () = self.deadline.passes() => return Ok(Watched::OutOfTime),
                answer = &mut call => return Ok(Watched::Answered(answer)),
            }
        }
    }

    /// Ends a call without a reply. It is not a turn.
    async fn lose(&self, turn: u32, lease: Lease, usage: Usage, sink: &FactWriter) -> Result<(), JournalError> {
        let is_told = !usage.is_nothing() || !lease.reserved().is_nothing();
        lease.settle(Usage { turns: 0, tool_calls: 0, ..usage });
        if is_told {
            sink.append(Fact::ModelLost { turn, usage }).await?;
        }
        Ok(())
    }
}

/// Observer of the attempts of one call.
struct Watch<'a> {
    turn: u32,
    model_caller: &'a ModelCaller,
    /// Assumed input of an attempt without figures from its provider; `None` if there is no limit to keep.
    unreported: Option<u64>,
    /// The attempt in progress.
    running: Mutex<Option<Try>>,
    /// Facts to be recorded. The receiver lives as long as the call that reports here.
    retries: mpsc::UnboundedSender<(Fact, Retry)>,
}

/// State of an attempt while it runs.
#[derive(Default)]
struct Try {
    text: String,
    used: Usage,
}

impl Watch<'_> {
    fn running(&self) -> MutexGuard<'_, Option<Try>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns usage and text of the last attempt, which was broken off. Between attempts there is nothing to pay for.
    fn broken_off(&self) -> (Usage, String) {
        match self.running().take() {
            Some(Try { text, used }) => (self.used(used, true, &text), text),
            None => Default::default(),
        }
    }

    /// Returns the usage of an attempt that failed with this error; nothing if none was in progress.
    fn used_by(&self, error: &ModelError) -> Usage {
        let is_under_way = self.running().take().is_some();
        if is_under_way {
            self.used(*error.usage, error.kind.may_have_cost(), &error.partial)
        } else {
            Usage::default()
        }
    }

    /// Returns the usage of an attempt without a reply, with its price. It is estimated if the provider has not
    /// reported it and a limit is to be kept.
    fn used(&self, reported: Usage, may_have_cost: bool, written: &str) -> Usage {
        let unreported = self.unreported.filter(|_| may_have_cost && reported.total_tokens() == 0);
        let usage = unreported.map_or(reported, |input_tokens| Usage {
            input_tokens,
            output_tokens: estimate::tokens(written.len()),
            ..Usage::default()
        });
        self.model_caller.terms.prices.priced(usage)
    }

    fn see(&self, event: &ModelEvent<'_>) {
        match event {
            ModelEvent::Sending => *self.running() = Some(Try::default()),
            ModelEvent::Text(text) => self.running().get_or_insert_default().text.push_str(text),
            ModelEvent::Used(usage) => self.running().get_or_insert_default().used = *usage,
            ModelEvent::Retrying { attempt, retries_made, wait, error } => {
                let usage = self.used_by(error);
                self.model_caller.account.spend_on_broken_try(usage);
                let message = redacted(&self.model_caller.redactor, error.message.clone());
                let fact = Fact::ModelRetried {
                    turn: self.turn,
                    attempt: *attempt,
                    wait_ms: wait.as_millis() as u64,
                    error: Failure::new(error.kind.code(), message),
                    usage,
                };
                drop(self.retries.send((fact, Retry { made: *retries_made, wait: *wait })));
            }
            ModelEvent::Reasoning(_) | ModelEvent::CallBegan { .. } => {}
        }
    }
}
