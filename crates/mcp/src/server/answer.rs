//! The answer to a Task call, in the words of its contract.
//!
//! Some hosts give their model the text alone, some the object alone. Each form has everything that a model needs; the
//! full outcome is for programs. A refusal for lack of a model says how that host gets one.

use rmcp::model::{CallToolResult, ContentBlock, JsonObject, MetaObject};
use rmcp::service::{Peer, RoleServer};
use serde_json::Value;
use sortie_contract::{Call, Contract, HostAnswer, kept_of, outcome_object};
use sortie_protocol::{Failure, FailureCode, Launched, TaskOutcome};
use sortie_tools::AnswerParts;

/// Place of the full outcome, which no host shows to its model.
const OUTCOME: &str = "sortie/outcome";

/// Builds the answer to a call, for the host's model and for programs.
pub(super) fn answer(
    contract: &dyn Contract,
    arguments: &str,
    parts: &AnswerParts<'_>,
    started: Result<TaskOutcome, Failure>,
) -> CallToolResult {
    let call = Call { arguments, cwd: parts.cwd, spare_id: parts.spare_id };
    let answer = contract.encode_for_host(&call, started.as_ref(), &parts.mark);
    let rest = started.as_ref().ok().filter(|_| !contract.defaults().companions.allow_background()).and_then(rest);
    let mut result = result(answer.noting(rest));
    result.is_error = Some(contract.is_error(started.as_ref()));
    result.meta = started.ok().map(|outcome| full(&outcome));
    result
}

/// Builds the answer to a call whose task works in the background.
pub(super) fn launched(contract: &dyn Contract, launched: &Launched) -> CallToolResult {
    let mut result = result(contract.encode_launched_for_host(launched));
    result.meta = Some(meta(serde_json::to_value(launched).unwrap_or_default()));
    result
}

fn result(HostAnswer { text, object, notices }: HostAnswer) -> CallToolResult {
    let notices = notices.into_iter().map(|notice| ContentBlock::text(format!("notice: {notice}")));
    let mut result = CallToolResult::success([ContentBlock::text(text)].into_iter().chain(notices).collect());
    result.structured_content = Some(object);
    result
}

/// The place of a whole report that was cut, in contracts without a tool that returns it.
fn rest(outcome: &TaskOutcome) -> Option<String> {
    kept_of(outcome)?;
    Some(format!("the report was cut; the resource sortie://tasks/{}/report has all of it", outcome.task_id))
}

/// The whole outcome but the report, which the answer has.
fn full(outcome: &TaskOutcome) -> MetaObject {
    let mut object = outcome_object(outcome);
    if let Some(fields) = object.as_object_mut() {
        fields.shift_remove("text");
        fields.shift_remove("structured");
    }
    meta(object)
}

fn meta(outcome: Value) -> MetaObject {
    MetaObject(JsonObject::from_iter([(OUTCOME.to_owned(), outcome)]))
}

/// Adds to the refusal of a server without a model how to set one.
pub(super) fn with_model_hint(failure: Failure, peer: &Peer<RoleServer>) -> Failure {
    if failure.code != FailureCode::NoModel {
        return failure;
    }
    let client = peer.peer_info().map(|client| client.client_info.name.to_ascii_lowercase()).unwrap_or_default();
    Failure { message: format!("{}. {}", failure.message, hint(&client)), ..failure }
}

/// A host is known by the beginning of its name.
const HOSTS: [(&str, &str); 4] = [
    (
        "claude",
        "Claude Code passes no key of a subscription on: `claude mcp add sortie -e ANTHROPIC_API_KEY=\u{2026} -- sortie mcp`",
    ),
    (
        "codex",
        "Codex passes no variables on by itself: add `env_vars = [\"OPENAI_API_KEY\"]` to `[mcp_servers.sortie]` in \
         ~/.codex/config.toml",
    ),
    ("gemini", "add `\"env\": {\"GEMINI_API_KEY\": \"$GEMINI_API_KEY\"}` to the server in gemini-cli's settings.json"),
    (
        "opencode",
        "add `\"environment\": {\"ANTHROPIC_API_KEY\": \"{env:ANTHROPIC_API_KEY}\"}` to the server in opencode.json",
    ),
];

fn hint(client: &str) -> String {
    let known = HOSTS.iter().find(|(name, _)| client.starts_with(name)).map(|(_, hint)| *hint);
    let here =
        known.unwrap_or("pass a key such as ANTHROPIC_API_KEY to the server in your host's configuration (`env`)");
    format!(
        "To set one, {here}; or set `[routes.main]` in Sortie's own configuration (`sortie models --help`). The \
         built-in rules answer on request only: `\"model\": \"offline\"` in a call that can name one, or `sortie mcp \
         --offline`"
    )
}
