//! One model call: streamed, watched by the deadline and by cancellation, and recorded.

use std::sync::{Arc, Mutex, PoisonError};

use sortie_journal::JournalError;
use sortie_llm::{Model, ModelEvent, ModelRequest, ToolChoice};
use sortie_protocol::{Fact, Failure, Job, Limit, Reply, ToolSpec};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::end::Ending;
use crate::history::History;
use crate::sink::Sink;

/// The way to one task's model, with what never changes from turn to turn.
pub(crate) struct Speaker {
    pub(crate) model: Arc<dyn Model>,
    pub(crate) tools: Arc<[ToolSpec]>,
    pub(crate) deadline: Option<Instant>,
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
        let request = ModelRequest {
            model: &job.config.model.id,
            system: &job.config.system,
            tools: &self.tools,
            messages: history.messages(),
            tool_choice,
            deadline: self.deadline,
        };
        let (retries, mut retried) = mpsc::unbounded_channel();
        let streamed = Mutex::new(String::new());
        let mut observe = |event: ModelEvent<'_>| watch(&event, turn, &streamed, &retries);
        let mut call = self.model.call(request, &mut observe);
        let stopped = loop {
            tokio::select! {
                biased;
                Some(fact) = retried.recv() => sink.append(fact).await?,
                () = cancel.cancelled() => break None,
                () = until(self.deadline) => break Some(Limit::Deadline),
                answer = &mut call => {
                    return Ok(answer.map_err(|error| Ending::model_failed(error, history.last_text())));
                }
            }
        };
        drop(call); // closes the connection
        let text = non_empty(streamed).unwrap_or_else(|| history.last_text());
        Ok(Err(match stopped {
            Some(limit) => Ending::limited(limit, text),
            None => Ending::Cancelled { text },
        }))
    }
}

/// Keeps the text of the running try, and passes retries on to be recorded.
fn watch(event: &ModelEvent<'_>, turn: u32, streamed: &Mutex<String>, retries: &mpsc::UnboundedSender<Fact>) {
    let mut streamed = streamed.lock().unwrap_or_else(PoisonError::into_inner);
    match event {
        ModelEvent::Text(text) => streamed.push_str(text),
        ModelEvent::Retrying { attempt, wait, error } => {
            streamed.clear();
            let error = Failure::new(error.kind.code(), error.message.clone());
            let fact = Fact::ModelRetried { turn, attempt: *attempt, wait_ms: wait.as_millis() as u64, error };
            // The receiver lives as long as the call that reports here.
            drop(retries.send(fact));
        }
        ModelEvent::Reasoning(_) | ModelEvent::CallBegan { .. } => {}
    }
}

fn non_empty(text: Mutex<String>) -> Option<String> {
    Some(text.into_inner().unwrap_or_else(PoisonError::into_inner)).filter(|text| !text.trim().is_empty())
}

/// Sleeps until the deadline; for ever if there is none.
pub(crate) async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => tokio::time::sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}
