//! Which servers are started for which task, and which of their tools it has.

use std::sync::Arc;

use expect_test::expect;
use serde_json::json;
use sortie_agents::{AgentDefinition, Registry, ServerUse};
use sortie_engine::{RemoteTools as _, Wanted};
use sortie_mcp::Connections;
use sortie_tools::Tool;

use super::world::{ground, server, server_with};

pub(super) struct Found {
    pub(super) names: Vec<String>,
    pub(super) notices: Vec<String>,
}

/// What an agent with these servers of its own gets, if rules admit what `admits` says.
pub(super) async fn gathered(connections: &Connections, servers: Vec<ServerUse>, admits: fn(&str) -> bool) -> Found {
    let main = Registry::builtin().get("main").unwrap().clone();
    let agent = AgentDefinition { servers, ..main };
    let wanted = Wanted { agent: &agent, admits: &admits, admits_some_of: &admits };
    let found = connections.gather(wanted).await;
    Found { names: found.tools.iter().map(|tool| tool.spec().name).collect(), notices: found.notices }
}

pub(super) fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("workspace")).unwrap();
    home
}

#[tokio::test]
async fn a_server_that_a_task_cannot_use_is_not_started() {
    let home = home();
    // Were it started, it would be told of.
    let connections = Connections::new([server("b", "broken"), server("t", "sound")], ground(&home));
    let found = gathered(&connections, Vec::new(), |name| name.starts_with("mcp__t__") && !name.ends_with("die")).await;
    assert_eq!(found.notices, Vec::<String>::new());
    assert!(found.names.contains(&"mcp__t__echo".to_owned()) && !found.names.contains(&"mcp__t__die".to_owned()));
    connections.close().await;
}

#[tokio::test]
async fn of_a_thousand_tools_the_wanted_ones_are_offered_and_the_rest_is_told() {
    let home = home();
    let connections = Connections::new([server("c", "crowd")], ground(&home));
    let found = gathered(&connections, Vec::new(), |_| true).await;
    assert_eq!(found.names.len(), 100);
    expect!["the MCP server `c` has 1000 tools; 900 are left out, since at most 100 are offered: name those that are wanted in an agent's `tools`"]
        .assert_eq(&found.notices.join("\n"));
    let found = gathered(&connections, Vec::new(), |name| "mcp__c__tool_999".starts_with(name)).await;
    assert_eq!((found.names, found.notices), (vec!["mcp__c__tool_999".to_owned()], Vec::new()));
    connections.close().await;
}

#[tokio::test]
async fn a_tool_that_has_not_changed_is_known_as_such_in_another_process() {
    let main = Registry::builtin().get("main").unwrap().clone();
    let admits: fn(&str) -> bool = |_| true;
    let mut pins = Vec::new();
    for _ in 0..2 {
        let home = home();
        let server = server_with("t", "sound", &json!({ "env": { "ONE": "1", "TWO": "2", "THREE": "3" } }));
        let connections = Connections::new([server], ground(&home));
        let found = connections.gather(Wanted { agent: &main, admits: &admits, admits_some_of: &admits }).await;
        let pin = |tool: &Arc<dyn Tool>| (tool.spec().name, tool.pin().unwrap().to_owned());
        pins.push(found.tools.iter().map(pin).collect::<Vec<_>>());
        connections.close().await;
    }
    assert!(!pins[0].is_empty());
    assert_eq!(pins[0], pins[1]);
}

#[tokio::test]
async fn an_agent_has_its_own_servers_beside_those_that_are_set_up() {
    let home = home();
    let connections = Connections::new([server("t", "sound")], ground(&home));
    let uses = vec![
        ServerUse::Named("t".to_owned()),
        ServerUse::Named("unknown".to_owned()),
        ServerUse::Own(server("own", "sound")),
        ServerUse::Own(server_with("t", "crowd", &json!({}))),
    ];
    let found = gathered(&connections, uses, |name| "mcp__own__echo mcp__t__echo".contains(name)).await;
    assert_eq!(found.names, ["mcp__t__echo", "mcp__own__echo"]);
    expect![[r#"
        the agent `main` asks for the MCP server `unknown`, which nobody has set up
        the agent `main` brings an MCP server `t`, and another one of that name is set up, which serves"#]]
    .assert_eq(&found.notices.join("\n"));
    connections.close().await;
}

#[tokio::test]
async fn many_tasks_that_start_at_once_share_one_server() {
    let home = home();
    let marks = tempfile::tempdir().unwrap();
    let server = server_with("t", "sound", &json!({ "env": { "MARKS": marks.path() } }));
    let connections = Arc::new(Connections::new([server], ground(&home)));
    let starts: Vec<_> = (0..20)
        .map(|_| {
            let connections = Arc::clone(&connections);
            tokio::spawn(async move { gathered(&connections, Vec::new(), |_| true).await.notices })
        })
        .collect();
    for start in starts {
        assert_eq!(start.await.unwrap(), Vec::<String>::new());
    }
    assert_eq!(std::fs::read_dir(marks.path()).unwrap().count(), 1, "each server that is started leaves a mark");
    connections.close().await;
}
