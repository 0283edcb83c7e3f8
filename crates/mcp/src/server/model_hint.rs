//! Advice on giving this server a model, in the words of the host that started it.

use rmcp::service::{Peer, RoleServer};
use sortie_protocol::{Failure, FailureCode};

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
