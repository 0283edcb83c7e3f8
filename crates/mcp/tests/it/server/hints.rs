//! Annotations, which follow from the rules of the session, and the tool that only reads.

use rmcp::ClientHandler;
use rmcp::model::{ClientCapabilities, ClientConfig, ElicitationCapability, FormElicitationCapability, Implementation};
use serde_json::json;
use sortie_contract::contract;
use sortie_protocol::{GrantLayer, Mode};
use sortie_testkit::{Script, reply, when};

use crate::site::{Client, Site, call};

/// A host whose person can be asked.
struct Asking;

impl ClientHandler for Asking {
    fn get_info(&self) -> ClientConfig {
        let forms = ElicitationCapability::new().with_form(FormElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(forms);
        ClientConfig::new(capabilities, Implementation::new("asking", "1"))
    }
}

fn rules(mode: Mode, allow: &[&str], deny: &[&str]) -> GrantLayer {
    let owned = |rules: &[&str]| rules.iter().map(|&rule| rule.to_owned()).collect();
    GrantLayer { mode: Some(mode), allow: owned(allow), deny: owned(deny), ..GrantLayer::new("the user") }
}

/// `readOnlyHint` and `openWorldHint` of the first tool.
async fn hints<C: ClientHandler>(client: &Client<C>) -> (Option<bool>, Option<bool>) {
    let tools = client.list_all_tools().await.unwrap();
    let hints = tools[0].annotations.clone().unwrap();
    (hints.read_only_hint, hints.open_world_hint)
}

#[tokio::test]
async fn the_hint_says_reading_only_exactly_where_nothing_else_is_possible() {
    let (default, plan) = (Mode::Default, Mode::Plan);
    let (edits, web) = (["Edit", "Bash"], ["WebFetch"]);
    for (rules, to_nobody, to_a_person) in [
        // Without a person, what would need approval is refused.
        (rules(default, &[], &[]), (true, false), (false, true)),
        (rules(plan, &[], &[]), (true, false), (true, true)),
        (rules(plan, &["Edit"], &[]), (true, false), (true, true)),
        (rules(default, &[], &edits), (true, false), (true, true)),
        (rules(default, &[], &["Edit", "Bash", "WebFetch"]), (true, false), (true, false)),
        (rules(default, &["WebFetch"], &edits), (true, true), (true, true)),
        (rules(default, &["Edit(docs/**)"], &web), (false, true), (false, true)),
        (rules(default, &["Bash(cargo test:*)"], &["Edit"]), (true, false), (true, true)),
        (rules(Mode::AcceptEdits, &[], &[]), (false, true), (false, true)),
        (rules(Mode::Bypass, &[], &edits), (true, true), (true, true)),
    ] {
        let site = Site::under(rules.clone(), contract("sortie").unwrap(), Script::new());
        let some = |(read_only, open_world)| (Some(read_only), Some(open_world));
        assert_eq!(hints(&site.connect(()).await).await, some(to_nobody), "nobody: {rules:?}");
        assert_eq!(hints(&site.connect(Asking).await).await, some(to_a_person), "a person: {rules:?}");
    }
}

#[tokio::test]
async fn a_contract_whose_agents_only_read_says_so_whatever_the_rules() {
    for (name, read_only) in [("envelope", true), ("typed", false)] {
        let site = Site::under(rules(Mode::Bypass, &[], &[]), contract(name).unwrap(), Script::new());
        assert_eq!(hints(&site.connect(()).await).await.0, Some(read_only), "{name}");
    }
}

/// A sub-agent that edits, delegates an edit, and reports.
fn editing() -> Script {
    let write = |path: &str| reply::call("Write", json!({"file_path": path, "content": "new"}));
    let child = json!({"description": "x", "prompt": "inner", "subagent_type": "general-purpose"});
    Script::new()
        .on(when::prompt_contains("inner").turn(0), reply::calls([write("inner.txt")]))
        .on(when::prompt_contains("again").turn(2), reply::calls([write("again.txt")]))
        .on(when::turn(0), reply::calls([write("outer.txt"), reply::call("Task", child)]))
        .otherwise(reply::text("done"))
}

#[tokio::test]
async fn the_reading_tool_reads_whatever_the_rules_allow_below_it_and_when_resumed() {
    let site = Site::under(rules(Mode::Bypass, &[], &[]), contract("sortie").unwrap(), editing());
    let client = site.connect(()).await;
    let tools = client.list_all_tools().await.unwrap();
    let explore = tools.iter().find(|tool| tool.name == "Explore").unwrap();
    let hints = explore.annotations.clone().unwrap();
    assert_eq!((hints.read_only_hint, hints.open_world_hint), (Some(true), Some(false)));
    let asked = json!({"description": "x", "prompt": "outer", "subagent_type": "general-purpose"});
    let answer = call(&client, "Explore", asked.clone()).await;
    let outcome = answer.structured_content.unwrap();
    assert_eq!(outcome["status"], "completed", "{outcome:#}");
    assert!(outcome["refused"].to_string().contains("Write"), "{outcome:#}");
    // A later message does not widen what it may do.
    let id = outcome["task_id"].as_str().unwrap();
    call(&client, "SubagentMessage", json!({"to": id, "message": "again"})).await;
    call(&client, "SubagentOutput", json!({"task_id": id})).await;
    for path in ["outer.txt", "inner.txt", "again.txt"] {
        assert!(!site.path(path).exists(), "{path}");
    }
    // The other tool may do all that.
    call(&client, "Task", asked).await;
    for path in ["outer.txt", "inner.txt"] {
        assert!(site.path(path).exists(), "{path}");
    }
}

#[tokio::test]
async fn the_reading_tool_resumes_no_task_and_is_served_by_a_reader_if_nobody_is_named() {
    let site = Site::new(Script::always(reply::text("done")), &[]);
    let client = site.connect(()).await;
    let answer = call(&client, "Explore", json!({"description": "x", "prompt": "y"})).await;
    let outcome = answer.structured_content.unwrap();
    assert_eq!(outcome["agent"], "explore", "{outcome:#}");
    let again = json!({"description": "x", "prompt": "y", "resume": outcome["task_id"]});
    let answer = call(&client, "Explore", again).await;
    assert_eq!(answer.structured_content.unwrap()["error"]["code"], "invalid_arguments");
}
