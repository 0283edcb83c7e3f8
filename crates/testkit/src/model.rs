//! A model in memory that follows a script: no sockets, no wires, and only tokio's clock.
//!
//! It enforces the rules common to all providers (see `pairing`), records its requests, and counts calls in flight. It
//! turns its faults into the typed errors that a wire would make of them.

mod delivery;
mod models;

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::json;
use sortie_llm::{BoxFuture, ErrorKind, Model, ModelError, ModelEvent, ModelRequest};
use sortie_protocol::{Message, Part, Reasoning, Reply};

use crate::gate::{Gate, Gates, Meetings};
use crate::pairing;
use crate::script::{Asked, Composition, Playback, Script, ScriptedReply, compose, tasks_for};
use crate::seen::Seen;
use crate::traffic::{Traffic, TrafficCounter};

pub use models::ScriptedModels;

type ReplyFunction = dyn Fn(&ModelRequest<'_>) -> ScriptedReply + Send + Sync;

/// Wire name of reasoning from this model.
pub const WIRE: &str = "scripted";

/// Implements [`Model`] from a script or a function.
pub struct ScriptedModel {
    source: Source,
    max_retries: u32,
    gates: Gates,
    meetings: Meetings,
    traffic: TrafficCounter,
    /// Absent if recording is off.
    seen: Option<Mutex<Vec<Seen>>>,
}

enum Source {
    Script(Playback),
    Function(Box<ReplyFunction>),
}

impl ScriptedModel {
    pub fn new(script: Script) -> Self {
        Self::from_source(Source::Script(Playback::new(script)))
    }

    /// Calls `answer` for each reply; for scripts beyond the power of rules, and for many calls.
    pub fn answering(answer: impl Fn(&ModelRequest<'_>) -> ScriptedReply + Send + Sync + 'static) -> Self {
        Self::from_source(Source::Function(Box::new(answer)))
    }

    fn from_source(source: Source) -> Self {
        Self {
            source,
            max_retries: 0,
            gates: Gates::default(),
            meetings: Meetings::default(),
            traffic: TrafficCounter::new(),
            seen: Some(Mutex::default()),
        }
    }

    /// Turns recording off, for runs whose requests would not fit in memory.
    #[must_use]
    pub fn without_recording(self) -> Self {
        Self { seen: None, ..self }
    }

    /// Retries after faults that a wire would retry, and announces it as a wire does.
    #[must_use]
    pub fn retrying(self, max_retries: u32) -> Self {
        Self { max_retries, ..self }
    }

    /// Returns the requests so far, in order of arrival. Empty if recording is off.
    pub fn seen(&self) -> Vec<Seen> {
        self.seen.as_ref().map(|seen| seen.lock().unwrap_or_else(PoisonError::into_inner).clone()).unwrap_or_default()
    }

    /// Returns the gate that a script names with `held_by`.
    pub fn gate(&self, name: &str) -> Gate {
        self.gates.gate(name)
    }

    pub fn traffic(&self) -> Traffic {
        self.traffic.counts()
    }

    /// Waits until the counts are as wanted, e.g. `|traffic| traffic.in_flight == 3`.
    pub async fn traffic_reaches(&self, wanted: impl FnMut(&Traffic) -> bool) -> Traffic {
        self.traffic.reaches(wanted).await
    }

    fn record(&self, request: &ModelRequest<'_>) {
        if let Some(seen) = &self.seen {
            seen.lock().unwrap_or_else(PoisonError::into_inner).push(Seen::from(request));
        }
    }

    async fn answer(
        &self,
        request: &ModelRequest<'_>,
        observe: &mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        const USUAL_WAIT: Duration = Duration::from_millis(10);
        let mut attempt = request.retries_made;
        loop {
            observe(ModelEvent::Sending);
            match self.answer_once(request, observe).await {
                Err(error) if error.kind.is_retryable() && attempt < self.max_retries => {
                    attempt += 1;
                    let wait = error.retry_after.unwrap_or(USUAL_WAIT);
                    observe(ModelEvent::Retrying { attempt, retries_made: attempt, wait, error: &error });
                    tokio::time::sleep(wait).await;
                }
                result => return result,
            }
        }
    }

    async fn answer_once(
        &self,
        request: &ModelRequest<'_>,
        observe: &mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> Result<Reply, ModelError> {
        let refused = |message: String| ModelError::new(ErrorKind::BadRequest, message);
        pairing::check(request.messages)
            .map_err(|problem| refused(format!("no provider would accept this history: {problem}")))?;
        let asked = Asked::from(request);
        let computed;
        let scripted = match &self.source {
            Source::Script(playback) => playback.choose(&asked).map_err(|error| refused(error.to_string()))?,
            Source::Function(answer) => {
                computed = answer(request);
                &computed
            }
        };
        if scripted.delay_ms > 0 {
            tokio::time::sleep(Duration::from_millis(scripted.delay_ms)).await;
        }
        if let Some(name) = &scripted.gate {
            self.gates.gate(name).pass().await;
        }
        if let Some(meeting) = &scripted.meeting {
            self.meetings.join(meeting).await.map_err(|missed| refused(missed.to_string()))?;
        }
        let tasks = tasks_for(scripted, || serde_json::to_string(request.messages).unwrap_or_default());
        let composition = Composition {
            model: request.model,
            turn: asked.turn,
            input_bytes: request.system.len() + request.messages.iter().map(size).sum::<usize>(),
            id_prefix: "call",
            reasoning,
            tasks: &tasks,
            me: asked.me(),
        };
        delivery::deliver(scripted, compose(scripted, composition), observe).await
    }
}

impl Model for ScriptedModel {
    fn call<'a>(
        &'a self,
        request: ModelRequest<'a>,
        observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let call = self.traffic.begin_call();
            self.record(&request);
            let result = self.answer(&request, observe).await;
            call.answered();
            result
        })
    }
}

fn reasoning(text: &str) -> Reasoning {
    Reasoning { wire: WIRE.to_owned(), item: json!({ "text": text }) }
}

fn size(message: &Message) -> usize {
    match message {
        Message::User { text } => text.len(),
        Message::Outputs { outputs } => outputs.iter().map(|output| output.output.for_model.len()).sum(),
        Message::Assistant { parts } => parts
            .iter()
            .map(|part| match part {
                Part::Text { text } => text.len(),
                Part::Reasoning(_) => 0,
                Part::Call(call) => call.tool.len() + call.arguments.len(),
            })
            .sum(),
    }
}
