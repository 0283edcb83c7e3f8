//! Selection of servers for a task, and of their tools.

use std::sync::Arc;
use std::time::Duration;

use expect_test::expect;
use serde_json::json;
use sortie_agents::{AgentDefinition, Registry, ServerDefinition, ServerUse};
use sortie_engine::{Gathered, RemoteTools as _, Wanted};
use sortie_mcp::{Connections, ServerGround};
use sortie_tools::Tool;

use super::faults::is_running;
use super::world::{ground, server, server_with};

pub(super) struct Found {
    pub(super) names: Vec<String>,
    pub(super) missing: Vec<String>,
    pub(super) notices: Vec<String>,
}

/// Result for an agent with these servers of its own, if rules admit what `admits` accepts.
pub(super) async fn gathered(connections: &Connections, servers: Vec<ServerUse>, admits: fn(&str) -> bool) -> Found {
    let main = Registry::builtin().get("main").unwrap().clone();
    let agent = AgentDefinition { servers, ..main };
    let wanted = Wanted { agent: &agent, admits: &admits, admits_some_of: &admits, names_some_of: &admits };
    let Gathered { tools, missing, notices } = connections.gather(wanted).await;
    Found { names: tools.iter().map(|tool| tool.spec().name).collect(), missing, notices }
}

pub(super) fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("workspace")).unwrap();
    home
}

#[tokio::test]
async fn a_server_that_a_task_cannot_use_is_not_started() {
    let home = home();
    // If it were started, there would be a notice.
    let connections = Connections::new([server("b", "broken"), server("t", "sound")], ground(&home));
    let found = gathered(&connections, Vec::new(), |name| name.starts_with("mcp__t__") && !name.ends_with("die")).await;
    assert_eq!((found.missing, found.notices), (Vec::new(), Vec::new()));
    assert!(found.names.contains(&"mcp__t__echo".to_owned()) && !found.names.contains(&"mcp__t__die".to_owned()));
    connections.close().await;
}

#[tokio::test]
async fn only_the_wanted_ones_of_a_thousand_tools_are_offered_with_a_notice() {
    let home = home();
    let connections = Connections::new([server("c", "crowd")], ground(&home));
    let found = gathered(&connections, Vec::new(), |_| true).await;
    assert_eq!((found.names.len(), found.missing), (100, Vec::new()));
    expect!["the MCP server `c` has 1000 tools; 900 are left out, because at most 100 are offered. Name the ones you need in an agent's `tools`"]
        .assert_eq(&found.notices.join("\n"));
    let found = gathered(&connections, Vec::new(), |name| "mcp__c__tool_999".starts_with(name)).await;
    assert_eq!((found.names, found.notices), (vec!["mcp__c__tool_999".to_owned()], Vec::new()));
    connections.close().await;
}

#[tokio::test]
async fn an_unchanged_tool_is_recognised_in_another_process() {
    let main = Registry::builtin().get("main").unwrap().clone();
    let admits: fn(&str) -> bool = |_| true;
    let mut pins = Vec::new();
    for _ in 0..2 {
        let home = home();
        let server = server_with("t", "sound", &json!({ "env": { "ONE": "1", "TWO": "2", "THREE": "3" } }));
        let connections = Connections::new([server], ground(&home));
        let found = connections
            .gather(Wanted { agent: &main, admits: &admits, admits_some_of: &admits, names_some_of: &admits })
            .await;
        let pin = |tool: &Arc<dyn Tool>| (tool.spec().name, tool.pin().unwrap().to_owned());
        pins.push(found.tools.iter().map(pin).collect::<Vec<_>>());
        connections.close().await;
    }
    assert!(!pins[0].is_empty());
    assert_eq!(pins[0], pins[1]);
}

#[tokio::test]
async fn an_agent_has_its_own_servers_besides_the_configured_ones() {
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
        the agent `main` asks for the MCP server `unknown`, which is not configured
        the agent `main` brings an MCP server `t`, but another one of that name is configured and is used instead"#]]
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
            tokio::spawn(async move { gathered(&connections, Vec::new(), |_| true).await.missing })
        })
        .collect();
    for start in starts {
        assert_eq!(start.await.unwrap(), Vec::<String>::new());
    }
    assert_eq!(std::fs::read_dir(marks.path()).unwrap().count(), 1, "each server that is started leaves a mark");
    connections.close().await;
}

#[tokio::test]
async fn failures_are_missing_tools_and_the_rest_are_notices() {
    let home = home();
    let servers = [server("b", "broken"), server("e", "toolless"), server("o", "odd")];
    let off = server_with("off", "sound", &json!({ "disabled": true }));
    let connections = Connections::new(servers.into_iter().chain([off]), ground(&home));
    let uses = vec![ServerUse::Named("off".to_owned()), ServerUse::Own(server("e", "crowd"))];
    let found = gathered(&connections, uses, |_| true).await;
    expect![[r#"
        its tools are missing: mcp_unreachable: the MCP server `b` did not answer as one: it closed the connection (exit code 4); it said: no licence found
        the MCP server `o` has tools that cannot be read and are left out: `bare`"#]]
    .assert_eq(&found.missing.join("\n"));
    expect![[r#"
        the agent `main` asks for the MCP server `off`, which is switched off
        the agent `main` brings an MCP server `e`, but another one of that name is configured and is used instead
        the MCP server `e` has no tools
        the MCP server `o` has a tool without a name, which is left out"#]]
    .assert_eq(&found.notices.join("\n"));
    connections.close().await;
}

/// An agent that brings servers of its own.
fn bringing(name: &str, servers: impl IntoIterator<Item = ServerDefinition>) -> AgentDefinition {
    let main = Registry::builtin().get("main").unwrap().clone();
    AgentDefinition { name: name.to_owned(), servers: servers.into_iter().map(ServerUse::Own).collect(), ..main }
}

#[tokio::test]
async fn an_agents_own_server_ends_once_no_agent_or_task_needs_it() {
    let home = home();
    let mark = |number: usize| format!("own-{number}-of-{}", home.path().display());
    let own = |number: usize| server_with("own", "sound", &json!({ "env": { "MARK": mark(number) } }));
    let running = || (0..4).filter(|number| is_running(&mark(*number))).collect::<Vec<_>>();
    let connections =
        Connections::new([own(3)].map(|server| ServerDefinition { name: "t".to_owned(), ..server }), ground(&home));
    let everything: fn(&str) -> bool = |_| true;
    let tools = async |agent: &AgentDefinition, admits: fn(&str) -> bool| {
        connections
            .gather(Wanted { agent, admits: &admits, admits_some_of: &admits, names_some_of: &admits })
            .await
            .tools
    };
    let held = tools(&bringing("a", [own(0)]), everything).await;
    drop(tools(&bringing("b", [own(1)]), everything).await);
    assert_eq!(running(), [0, 1, 3]);
    // A task still has the first one of `a`, and `b` still brings its own of the same name.
    drop(tools(&bringing("a", [own(2)]), everything).await);
    assert_eq!(running(), [0, 1, 2, 3]);
    // This task may not use it, but the agent's next one may.
    drop(tools(&bringing("b", [own(1)]), |_| false).await);
    assert_eq!(running(), [0, 1, 2, 3]);
    drop(held);
    drop(tools(&bringing("b", []), everything).await);
    assert_eq!(running(), [2, 3], "that of `a` as it was, and that which `b` brought");
    // A dropped server can be started again.
    let again = tools(&bringing("a", [own(0)]), everything).await;
    assert!(again.iter().any(|tool| tool.spec().name == "mcp__own__echo"));
    assert_eq!(running(), [0, 3]);
    connections.close().await;
}

#[tokio::test]
async fn only_a_task_for_which_a_server_is_named_waits_for_it() {
    let (home, marks) = (home(), tempfile::tempdir().unwrap());
    // It answers nothing until there is a file.
    let slow = server_with("slow", "patient", &json!({ "env": { "MARKS": marks.path() } }));
    let ground = ServerGround { grace: Duration::ZERO, ..ground(&home) };
    let connections = Arc::new(Connections::new([slow, server("t", "sound")], ground));
    let main = Registry::builtin().get("main").unwrap().clone();
    let gathered = async |named: fn(&str) -> bool| {
        let admits = |_: &str| true;
        let wanted = Wanted { agent: &main, admits: &admits, admits_some_of: &admits, names_some_of: &named };
        let found = connections.gather(wanted).await;
        let has = |server: &str| found.tools.iter().any(|tool| tool.spec().name.starts_with(server));
        (has("mcp__slow__"), has("mcp__t__"), found.missing)
    };
    let (has_slow, has_named, missing) = gathered(|prefix| prefix == "mcp__t__").await;
    assert_eq!((has_slow, has_named), (false, true));
    let told = "its tools are missing: mcp_timeout: the MCP server `slow` is still starting; tasks that begin later can \
                have its tools";
    assert_eq!(missing, [told]);
    let (waiting, ()) = tokio::join!(gathered(|prefix| prefix == "mcp__slow__"), async {
        std::fs::write(marks.path().join("go"), "").unwrap();
    });
    assert!(waiting.0, "{:?}", waiting.2);
    // Both are there now, and nobody waits.
    let (has_slow, has_other, missing) = gathered(|_| false).await;
    assert_eq!((has_slow, has_other, missing), (true, true, Vec::new()));
    connections.close().await;
}
