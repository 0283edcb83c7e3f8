//! One model call: streamed, watched by the deadline and by cancellation, and recorded.
//!
//! What it used is booked here: that of tries without a reply as far as their provider has said it, or else, where a limit
//! is to be kept, as much as they are taken to have used.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_llm::{Model, ModelEvent, ModelRequest, Terms, ToolChoice, estimate};
use sortie_policy::Redactor;
use sortie_protocol::{Fact, Failure, Job, Limit, Reply, ToolSpec, Usage};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::account::{Account, Lease};
use crate::deadline::Deadline;
use crate::end::Ending;
use crate::history::History;
use crate::secrets::redacted;
use crate::sink::Sink;

/// The way to one task's model, with what never changes from turn to turn.
pub(crate) struct Speaker {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) terms: Terms,
    pub(crate) tools: Arc<[ToolSpec]>,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) account: Arc<Account>,
    /// Providers repeat what they were sent when they refuse it.
    pub(crate) redactor: Arc<Redactor>,
}

/// A call that may be made.
pub(crate) struct Turn {
    pub(crate) number: u32,
    /// It is no turn of its own: nothing of it joins the conversation as it is.
    pub(crate) is_beside: bool,
    pub(crate) tool_choice: ToolChoice,
    /// About how much the model has to read.
    pub(crate) input_tokens: u64,
    pub(crate) lease: Lease,
}

impl Speaker {
    /// Asks for one reply, which is paid for when it comes. `Err` inside is how the task ends because none came.
    pub(crate) async fn call(
        &self,
        job: &Job,
        history: &History,
        turn: Turn,
        sink: &Sink,
        cancel: &CancellationToken,
    ) -> Result<Result<Reply, Ending>, JournalError> {
        let Turn { number, is_beside, tool_choice, input_tokens, lease } = turn;
        if cancel.is_cancelled() {
            lease.settle(Usage::default());
            return Ok(Err(Ending::Cancelled { text: history.last_text() }));
        }
        let called = Fact::ModelCalled { turn: number, input_tokens, reserved: lease.reserved() };
        if lease.reserved().is_nothing() {
            sink.append(called).await?;
        } else {
            // What may be spent is on disk before it is.
            sink.append_synced(called).await?;
        }
        point("model.called");
        let request = ModelRequest {
            model: &job.config.model.id,
            system: &job.config.system,
            tools: &self.tools,
            messages: history.messages(),
            tool_choice,
            max_output: lease.max_output(),
            deadline: self.deadline.at(),
            idle: job.config.limits.idle,
        };
        let (retries, mut retried) = mpsc::unbounded_channel();
        let unreported = (!lease.reserved().is_nothing()).then_some(input_tokens);
        let watch = Watch { turn: number, speaker: self, unreported, running: Mutex::default(), retries };
        let mut observe = |event: ModelEvent<'_>| watch.see(&event);
        let mut call = self.model.call(request, &mut observe);
        let stopped = loop {
            tokio::select! {
                biased;
                Some(fact) = retried.recv() => {
                    sink.append(fact).await?;
                    if let Some(limit) = self.account.overdrawn() {
                        break Some(limit);
                    }
                }
                () = cancel.cancelled() => break None,
                () = self.deadline.passes() => break Some(Limit::Deadline),
                answer = &mut call => {
                    drop(call);
                    return match answer {
                        Ok(mut reply) => {
                            reply.usage = self.terms.prices.priced(reply.usage);
                            // Turns and calls are counted here, whatever a model says of itself.
                            lease.settle(Usage { turns: u64::from(!is_beside), tool_calls: 0, ..reply.usage });
                            Ok(Ok(reply))
                        }
                        Err(error) => {
                            let usage = watch.used(*error.usage, error.kind.may_have_cost(), &error.partial);
                            self.lose(number, lease, usage, sink).await?;
                            let message = redacted(&self.redactor, error.message);
                            let text = history.last_text_with(error.partial);
                            Ok(Err(Ending::model_failed((error.kind, message), text)))
                        }
                    };
                }
            }
        };
        drop(call); // closes the connection
        let broken_off = std::mem::take(&mut *watch.running());
        // Where tries before it have used up what there was, the next one has not begun.
        let has_begun = !matches!(stopped, Some(Limit::Tokens | Limit::Cost));
        self.lose(number, lease, watch.used(broken_off.used, has_begun, &broken_off.text), sink).await?;
        let text = history.last_text_with(broken_off.text);
        Ok(Err(match stopped {
            // What was set aside for a report is still there.
            Some(limit @ (Limit::Tokens | Limit::Cost)) => Ending::Limited { limit, text },
            Some(limit) => Ending::limited(limit, text),
            None => Ending::Cancelled { text },
        }))
    }

    /// A call is over that brought no reply. It is no turn.
    async fn lose(&self, turn: u32, lease: Lease, usage: Usage, sink: &Sink) -> Result<(), JournalError> {
        let is_told = !usage.is_nothing() || !lease.reserved().is_nothing();
        lease.settle(Usage { turns: 0, tool_calls: 0, ..usage });
        if is_told {
            sink.append(Fact::ModelLost { turn, usage }).await?;
        }
        Ok(())
    }
}

/// Keeps an eye on the tries of one call.
struct Watch<'a> {
    turn: u32,
    speaker: &'a Speaker,
    /// What a try is taken to have read whose provider says nothing; `None` where no limit is to be kept.
    unreported: Option<u64>,
    running: Mutex<Try>,
    /// To be recorded. The receiver lives as long as the call that reports here.
    retries: mpsc::UnboundedSender<Fact>,
}

/// What is known of a try while it runs.
#[derive(Default)]
struct Try {
    text: String,
    used: Usage,
}

impl Watch<'_> {
    fn running(&self) -> MutexGuard<'_, Try> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a try has used that brought no reply, with its price. Where a limit is to be kept and its provider has not said
    /// it, that is estimated.
    fn used(&self, reported: Usage, may_have_cost: bool, written: &str) -> Usage {
        let unreported = self.unreported.filter(|_| may_have_cost && reported.total_tokens() == 0);
        let usage = unreported.map_or(reported, |input_tokens| Usage {
            input_tokens,
            output_tokens: estimate::tokens(written.len()),
            ..Usage::default()
        });
        self.speaker.terms.prices.priced(usage)
    }

    fn see(&self, event: &ModelEvent<'_>) {
        let mut running = self.running();
        match event {
            ModelEvent::Text(text) => running.text.push_str(text),
            ModelEvent::Used(usage) => running.used = *usage,
            ModelEvent::Retrying { attempt, wait, error } => {
                *running = Try::default();
                let usage = self.used(*error.usage, error.kind.may_have_cost(), &error.partial);
                self.speaker.account.spend_on_broken_try(usage);
                let message = redacted(&self.speaker.redactor, error.message.clone());
                drop(self.retries.send(Fact::ModelRetried {
                    turn: self.turn,
                    attempt: *attempt,
                    wait_ms: wait.as_millis() as u64,
                    error: Failure::new(error.kind.code(), message),
                    usage,
                }));
            }
            ModelEvent::Reasoning(_) | ModelEvent::CallBegan { .. } => {}
        }
    }
}

/// Sleeps until the deadline; for ever if there is none.
pub(crate) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
