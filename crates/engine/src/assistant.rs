//! The small model that tools may ask about a text. It has no tools and no history; its task pays for it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use sortie_llm::offline;
use sortie_llm::route::LIGHT_ROUTE;
use sortie_llm::{ModelEvent, ModelRequest, Models, ToolChoice};
use sortie_protocol::{Fact, Failure, Message, Usage};
use sortie_tools::{Assistant, BoxFuture};

use crate::account::Account;
use crate::deadline::Deadline;
use crate::sink::Sink;

/// The `light` route, for one task.
pub(crate) struct LightModel {
    pub(crate) models: Arc<dyn Models>,
    pub(crate) account: Arc<Account>,
    pub(crate) sink: Sink,
    pub(crate) deadline: Arc<Deadline>,
    /// What the outcome should say of who answered.
    pub(crate) notices: Mutex<BTreeSet<String>>,
}

impl Assistant for LightModel {
    fn answer<'a>(
        &'a self,
        system: &'a str,
        text: &'a str,
        question: &'a str,
    ) -> BoxFuture<'a, Result<String, Failure>> {
        Box::pin(self.ask(system, format!("{text}\n\n{question}")))
    }
}

impl LightModel {
    /// All that was noticed so far.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    async fn ask(&self, system: &str, text: String) -> Result<String, Failure> {
        let chosen = self.models.choose(Some(LIGHT_ROUTE), None);
        let chosen = chosen.map_err(|error| Failure::new("unknown_model", error.to_string()))?;
        if chosen.choice.route == offline::ROUTE {
            return Err(Failure::new("no_model", "no model is set that could answer a question"));
        }
        if self.account.is_empty() {
            return Err(Failure::new("limit_tokens", "the tokens of this task are used up"));
        }
        if let Some(text) = chosen.notice
            && self.notices.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone())
        {
            self.record(Fact::Noticed { text }).await?;
        }
        let failed = |error: sortie_llm::ModelError| (*error.usage, Failure::new(error.kind.code(), error.message));
        let model = self.models.open(&chosen.choice).map_err(|error| failed(error).1)?;
        let messages = [Message::User { text }];
        let request = ModelRequest {
            model: &chosen.choice.id,
            system,
            tools: &[],
            messages: &messages,
            tool_choice: ToolChoice::Auto,
            deadline: self.deadline.at(),
        };
        let broken_tries = Mutex::new(Usage::default());
        let mut observe = |event: ModelEvent<'_>| {
            if let ModelEvent::Retrying { error, .. } = event {
                *broken_tries.lock().unwrap_or_else(PoisonError::into_inner) += *error.usage;
            }
        };
        let answer = model.call(request, &mut observe).await.map_err(failed);
        let mut usage = broken_tries.into_inner().unwrap_or_else(PoisonError::into_inner);
        usage += match &answer {
            Ok(reply) => reply.usage,
            Err((used, _)) => *used,
        };
        // It is no turn of the task: nothing of it joins the conversation but the answer.
        self.account.spend(Usage { turns: 0, tool_calls: 0, ..usage });
        self.record(Fact::Assisted { model: chosen.choice, usage }).await?;
        Ok(answer.map_err(|(_, failure)| failure)?.text())
    }

    async fn record(&self, fact: Fact) -> Result<(), Failure> {
        self.sink.append(fact).await.map_err(|error| Failure::new("journal", error.to_string()))
    }
}
