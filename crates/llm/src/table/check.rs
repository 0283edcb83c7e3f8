//! Check of a route: one tiny call over the ordinary path, tried once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sortie_protocol::{Message, ToolSpec};
use tokio::time::timeout;

use super::route_table::RouteTable;
use crate::call::WireModel;
use crate::route::{CallSettings, Route};
use crate::{ErrorKind, Model, ModelError, ModelEvent, ModelRequest, Models as _, ToolChoice, WireKind};

/// Reasoning models spend tokens before their first word, and some reject a cap that leaves no room for them.
const MAX_OUTPUT: u64 = 1024;

/// Every task has tools, so a route whose model takes none does not work.
fn tools() -> [ToolSpec; 1] {
    let schema = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    [ToolSpec { name: "Note".to_owned(), description: "Takes a note.".to_owned(), schema }]
}

/// A working route.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The name of the model that answered, as reported by its provider.
    pub model_said: String,
    pub duration: Duration,
}

/// Makes the call; see [`RouteTable::check`].
pub(super) async fn check(table: &RouteTable, name: &str) -> Result<Checked, ModelError> {
    let chosen = table.choose(Some(name), None);
    let choice = chosen.map_err(|unknown| ModelError::new(ErrorKind::Setup, unknown.to_string()))?.choice;
    let model = match table.get(&choice.route) {
        Some(route) if route.missing_key().is_none() => tried_once(table, route),
        _ => table.open(&choice)?,
    };
    let (tools, messages) = (tools(), [Message::user("Reply with OK.")]);
    let request = ModelRequest {
        model: &choice.id,
        system: "",
        tools: &tools,
        messages: &messages,
        tool_choice: ToolChoice::Auto,
        max_output: None,
        deadline: None,
        idle: None,
        retries_made: 0,
    };
    let (started, mut spoke) = (Instant::now(), false);
    let mut observe = |event: ModelEvent<'_>| spoke |= !matches!(event, ModelEvent::Sending);
    let reply = timeout(table.settings.idle_timeout, model.call(request, &mut observe)).await;
    let duration = started.elapsed();
    match reply {
        Ok(reply) => reply.map(|reply| Checked { model_said: reply.model, duration }),
        Err(_) if spoke => Ok(Checked { model_said: choice.id, duration }),
        Err(_) => {
            let seconds = table.settings.idle_timeout.as_secs_f64();
            let message = format!("`{}` did not answer within {seconds} s (route {})", choice.id, choice.route);
            Err(ModelError::new(ErrorKind::Stalled, message))
        }
    }
}

/// Builds a model of the same route over the same connections, with a small cap and without retries. Chat servers
/// disagree on the name of the cap, so a chat route gets one only if all its calls have one.
fn tried_once(table: &RouteTable, route: &Route) -> Arc<dyn Model> {
    let usual = (route.wire != WireKind::OpenAiChat).then_some(MAX_OUTPUT);
    let max_output = route.max_output.map(|cap| cap.min(MAX_OUTPUT)).or(usual);
    let route = Route { max_output, ..route.clone() };
    let settings = CallSettings { max_retries: 0, ..table.settings };
    Arc::new(WireModel::new(route, Arc::clone(&table.shared), settings))
}
