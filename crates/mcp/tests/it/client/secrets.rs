//! Keys of servers, and servers that are switched off.

use std::sync::Arc;

use serde_json::{Value, json};
use sortie_agents::{AgentDefinition, Registry, ServerDefinition, ServerUse};
use sortie_engine::{Gathered, RemoteTools as _, Wanted};
use sortie_mcp::Connections;
use tempfile::TempDir;

use super::world::{ground, server_with};

fn home() -> TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("workspace")).unwrap();
    home
}

/// Notices for an agent that requests servers of its own and may use all of them.
async fn told(connections: &Connections, servers: Vec<ServerUse>) -> Vec<String> {
    let main = Registry::builtin().get("main").unwrap().clone();
    let agent = AgentDefinition { servers, ..main };
    let wanted = Wanted { agent: &agent, admits: &|_| true, admits_some_of: &|_| true, names_some_of: &|_| true };
    let Gathered { missing, notices, .. } = connections.gather(wanted).await;
    [missing, notices].concat()
}

#[tokio::test]
async fn the_keys_of_an_agents_own_server_are_masked_from_its_start() {
    let home = home();
    let ground = ground(&home);
    let redactor = Arc::clone(&ground.redactor);
    let connections = Connections::new([], ground);
    let definition = json!({ "env": { "API_TOKEN": "own-tok-zyxwvutsrq" } });
    let own = server_with("own", "broken", &definition);
    assert_eq!(redactor.redact("own-tok-zyxwvutsrq").count, 0);
    // It exits during its start, and has had every chance to complain.
    assert_eq!(told(&connections, vec![ServerUse::Own(own)]).await.len(), 1);
    assert_eq!(redactor.redact("own-tok-zyxwvutsrq").text, "[redacted: known secret]");
    connections.close().await;
}

#[tokio::test]
async fn a_server_that_is_off_is_not_started_and_naming_it_gives_a_notice() {
    let home = home();
    // If one were started, a notice would say that its tools are missing.
    let off = |name: &str, switch: Value| -> ServerDefinition { server_with(name, "broken", &switch) };
    let connections = Connections::new([off("a", json!({ "disabled": true }))], ground(&home));
    assert_eq!(told(&connections, Vec::new()).await, Vec::<String>::new());
    let uses = vec![
        ServerUse::Named("a".to_owned()),
        ServerUse::Own(server_with("a", "broken", &json!({}))),
        ServerUse::Own(off("own", json!({ "enabled": false }))),
    ];
    let notice = "the agent `main` asks for the MCP server `a`, which is switched off";
    assert_eq!(told(&connections, uses).await, [notice; 2]);
    connections.close().await;
}
