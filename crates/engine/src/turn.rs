//! One model call: streamed, watched by the deadline and by cancellation, and recorded.
//!
//! Tries that bring no reply are paid for here, as far as their provider says what they used. The reply itself is booked by
//! the loop, which counts turns.

use std::sync::{Arc, Mutex, PoisonError};

use sortie_crash::point;
use sortie_journal::JournalError;
use sortie_llm::{Model, ModelEvent, ModelRequest, ToolChoice};
use sortie_policy::Redactor;
use sortie_protocol::{Fact, Failure, Job, Limit, Reply, ToolSpec, Usage};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::account::Account;
use crate::deadline::Deadline;
use crate::end::Ending;
use crate::history::History;
use crate::secrets::redacted;
use crate::sink::Sink;

/// The way to one task's model, with what never changes from turn to turn.
pub(crate) struct Speaker {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) tools: Arc<[ToolSpec]>,
    pub(crate) deadline: Arc<Deadline>,
    pub(crate) account: Arc<Account>,
    /// Providers repeat what they were sent when they refuse it.
    pub(crate) redactor: Arc<Redactor>,
}

impl Speaker {
    /// Asks for one reply. `Err` inside is how the task ends because no reply came.
    pub(crate) async fn call(
        &self,
        job: &Job,
        history: &History,
        (turn, tool_choice): (u32, ToolChoice),
        sink: &Sink,
        cancel: &CancellationToken,
    ) -> Result<Result<Reply, Ending>, JournalError> {
        if cancel.is_cancelled() {
            return Ok(Err(Ending::Cancelled { text: history.last_text() }));
        }
        sink.append(Fact::ModelCalled { turn }).await?;
        point("model.called");
        let request = ModelRequest {
            model: &job.config.model.id,
            system: &job.config.system,
            tools: &self.tools,
            messages: history.messages(),
            tool_choice,
            deadline: self.deadline.at(),
        };
        let (retries, mut retried) = mpsc::unbounded_channel();
        let watch = Watch { turn, speaker: self, running: Mutex::default(), retries };
        let mut observe = |event: ModelEvent<'_>| watch.see(&event);
        let mut call = self.model.call(request, &mut observe);
        let stopped = loop {
            tokio::select! {
                biased;
                Some(fact) = retried.recv() => {
                    sink.append(fact).await?;
                    // The one call at a limit may try again: it is the last.
                    if tool_choice == ToolChoice::Auto && self.account.is_empty() {
                        break Some(Limit::Tokens);
                    }
                }
                () = cancel.cancelled() => break None,
                () = self.deadline.passes() => break Some(Limit::Deadline),
                answer = &mut call => {
                    return Ok(answer.map_err(|error| {
                        self.account.spend_on_broken_try(*error.usage);
                        let message = redacted(&self.redactor, error.message);
                        let text = history.last_text_with(error.partial);
                        Ending::model_failed((error.kind, message), text)
                    }));
                }
            }
        };
        drop(call); // closes the connection
        let broken_off = watch.running.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.account.spend_on_broken_try(broken_off.used);
        let text = history.last_text_with(broken_off.text);
        Ok(Err(match stopped {
            Some(limit) => Ending::limited(limit, text),
            None => Ending::Cancelled { text },
        }))
    }
}

/// Keeps an eye on the tries of one call.
struct Watch<'a> {
    turn: u32,
    speaker: &'a Speaker,
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
    fn see(&self, event: &ModelEvent<'_>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            ModelEvent::Text(text) => running.text.push_str(text),
            ModelEvent::Used(usage) => running.used = *usage,
            ModelEvent::Retrying { attempt, wait, error } => {
                *running = Try::default();
                self.speaker.account.spend_on_broken_try(*error.usage);
                let message = redacted(&self.speaker.redactor, error.message.clone());
                drop(self.retries.send(Fact::ModelRetried {
                    turn: self.turn,
                    attempt: *attempt,
                    wait_ms: wait.as_millis() as u64,
                    error: Failure::new(error.kind.code(), message),
                    usage: *error.usage,
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
