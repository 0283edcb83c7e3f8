//! A model lent by a host: one request is sent, awaited, and withdrawn when nobody waits any more.
#![expect(deprecated, reason = "see `host_model`")]

use std::time::Duration;

use rmcp::model::{ClientResult, CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, ServerRequest};
use rmcp::service::{Peer, RoleServer};
use sortie_llm::{BoxFuture, ErrorKind, Model, ModelError, ModelEvent, ModelRequest};
use sortie_protocol::{Part, Reply};

use crate::host_model::sampling_answer::{failure, garbage, reply};
use crate::host_model::sampling_request::question;
use crate::session::host_request::HostRequest;

/// A person may have to approve each request, and nothing arrives before the whole answer.
const LONGEST_WAIT: Duration = Duration::from_mins(10);

/// The model of one host.
pub(super) struct HostModel {
    /// The host's name in messages.
    client: String,
    peer: Peer<RoleServer>,
}

impl HostModel {
    pub(super) fn new(client: String, peer: Peer<RoleServer>) -> Self {
        Self { client, peer }
    }

    async fn ask(&self, asked: CreateMessageRequestParams) -> Result<CreateMessageResult, ModelError> {
        let request = ServerRequest::CreateMessageRequest(CreateMessageRequest::new(asked));
        let sent = HostRequest::send(&self.peer, request).await;
        let mut sent = sent.map_err(|error| failure(&self.client, error))?;
        let answered = tokio::time::timeout(LONGEST_WAIT, sent.answer()).await.map_err(|_| self.silent())?;
        match answered.map_err(|error| failure(&self.client, error))? {
            ClientResult::CreateMessageResult(result) => Ok(*result),
            _ => Err(garbage(&self.client, "something other than a message")),
        }
    }

    fn silent(&self) -> ModelError {
        let minutes = LONGEST_WAIT.as_secs() / 60;
        let message = format!("the host `{}` did not answer with its model within {minutes} minutes", self.client);
        ModelError::new(ErrorKind::Stalled, message)
    }
}

impl Model for HostModel {
    fn call<'a>(
        &'a self,
        request: ModelRequest<'a>,
        observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            observe(ModelEvent::Sending);
            let said = self.ask(question(&request)).await?;
            let reply = reply(&request, &self.client, said)?;
            for part in &reply.parts {
                match part {
                    Part::Text { text } => observe(ModelEvent::Text(text)),
                    Part::Call(call) => observe(ModelEvent::CallBegan { tool: &call.tool }),
                    Part::Reasoning(_) => {}
                }
            }
            Ok(reply)
        })
    }
}
