//! Rule-based model behind the port: needs no key and no network, and streams its whole reply at once.

use sortie_offline::{Calls, Request};
use sortie_protocol::{Part, Reply};

use crate::{BoxFuture, Model, ModelError, ModelEvent, ModelRequest, ToolChoice};

pub use sortie_offline::MODEL_ID;

/// The route's name.
pub const ROUTE: &str = "offline";

/// A deterministic, stateless model made of rules.
#[derive(Debug, Clone, Copy, Default)]
pub struct OfflineModel;

impl Model for OfflineModel {
    fn call<'a>(
        &'a self,
        request: ModelRequest<'a>,
        observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(async move {
            let ModelRequest { system, tools, messages, tool_choice, .. } = request;
            let calls = match tool_choice {
                ToolChoice::Auto => Calls::Allowed,
                ToolChoice::None => Calls::Forbidden,
            };
            let reply = sortie_offline::reply(&Request { system, tools, messages, calls });
            for part in &reply.parts {
                match part {
                    Part::Text { text } => text.split_inclusive('\n').for_each(|line| observe(ModelEvent::Text(line))),
                    Part::Call(call) => observe(ModelEvent::CallBegan { tool: &call.tool }),
                    Part::Reasoning(_) => {}
                }
            }
            Ok(reply)
        })
    }
}
