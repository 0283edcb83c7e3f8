//! The side model: a small model that tools may ask about a text. It has no tools and no history, and its task pays for
//! it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use sortie_llm::offline;
use sortie_llm::route::LIGHT_ROUTE;
use sortie_llm::{ModelEvent, ModelRequest, Models, Terms, ToolChoice, estimate};
use sortie_protocol::{Fact, Failure, FailureCode, Message, Usage};
use sortie_tools::{Assistant, BoxFuture};

use crate::budget::account::{Account, Bid, Lease};
use crate::budget::deadline::Deadline;
use crate::log::writer::FactWriter;

/// Longest answer if there is a limit to keep.
const ANSWER_OUTPUT: u64 = 4096;

const HIGH: &str = "the usage of the `light` route's model is more than can be expected; it counts as its provider reported \
    it";

const ESTIMATED: &str = "the usage of the `light` route's model is an estimate: its provider reported no plausible \
    usage";

/// The `light` route, for one task.
pub(crate) struct SideModel {
    pub(crate) models: Arc<dyn Models>,
    pub(crate) account: Arc<Account>,
    pub(crate) sink: FactWriter,
    pub(crate) deadline: Arc<Deadline>,
    /// Notices about the answering model.
    pub(crate) notices: Mutex<BTreeSet<String>>,
}

impl Assistant for SideModel {
    fn answer<'a>(
        &'a self,
        system: &'a str,
        text: &'a str,
        question: &'a str,
    ) -> BoxFuture<'a, Result<String, Failure>> {
        Box::pin(self.ask(system, format!("{text}\n\n{question}")))
    }
}

impl SideModel {
    async fn ask(&self, system: &str, text: String) -> Result<String, Failure> {
        let chosen = self.models.choose(Some(LIGHT_ROUTE), None);
        let chosen = chosen.map_err(|error| Failure::new(FailureCode::UnknownModel, error.to_string()))?;
        if chosen.choice.route == offline::ROUTE {
            return Err(Failure::new(FailureCode::NoModel, "no model is set that could answer a question"));
        }
        if let Some(text) = chosen.notice {
            self.notice(text).await?;
        }
        let failed = |error: sortie_llm::ModelError| (*error.usage, Failure::new(error.kind.code(), error.message));
        let model = self.models.open(&chosen.choice).map_err(|error| failed(error).1)?;
        let messages = [Message::User { text }];
        let terms = self.models.terms(&chosen.choice);
        self.account.check_prices(&chosen.choice, &terms.prices)?;
        let lease = self.reserve(system, &messages, &terms).await?;
        let request = ModelRequest {
            model: &chosen.choice.id,
            system,
            tools: &[],
            messages: &messages,
            tool_choice: ToolChoice::Auto,
            max_output: lease.max_output(),
            deadline: self.deadline.at(),
            idle: None,
            retries_made: 0,
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
        // This is not a turn: only the answer joins the conversation.
        let usage = terms.prices.priced(Usage { turns: 0, tool_calls: 0, ..usage });
        lease.settle(usage);
        self.record(Fact::Assisted { model: chosen.choice, usage }).await?;
        if answer.as_ref().is_ok_and(|reply| reply.usage_doubted) {
            self.notice(ESTIMATED.to_owned()).await?;
        }
        if answer.as_ref().is_ok_and(|reply| reply.usage_high) {
            self.notice(HIGH.to_owned()).await?;
        }
        Ok(answer.map_err(|(_, failure)| failure)?.text())
    }

    /// Reserves the answer's maximum.
    async fn reserve(&self, system: &str, messages: &[Message], terms: &Terms) -> Result<Lease, Failure> {
        let bid = Bid {
            input_tokens: estimate::prefix_tokens(system, &[])
                + messages.iter().map(estimate::message_tokens).sum::<u64>(),
            max_output: terms.output_cap.unwrap_or(ANSWER_OUTPUT).min(ANSWER_OUTPUT),
            prices: terms.prices,
            is_report: false,
        };
        let used_up = |limit| Failure::new(FailureCode::Limit(limit), format!("the {limit} of this task are used up"));
        self.account.reserve_beside(bid).await.map_err(used_up)
    }

    /// Adds a notice to the outcome, once.
    async fn notice(&self, text: String) -> Result<(), Failure> {
        let is_new = self.notices.lock().unwrap_or_else(PoisonError::into_inner).insert(text.clone());
        if is_new { self.record(Fact::Noticed { text }).await } else { Ok(()) }
    }

    async fn record(&self, fact: Fact) -> Result<(), Failure> {
        self.sink.append(fact).await.map_err(|error| Failure::new(FailureCode::Journal, error.to_string()))
    }
}
