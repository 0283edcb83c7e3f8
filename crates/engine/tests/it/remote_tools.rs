//! Remote tools, found when a task starts: the tasks that have them, and the rules for them.

use std::sync::{Arc, Mutex};

use expect_test::expect;
use serde_json::json;
use sortie_engine::{
    Approval, Approver, EngineSettings, Gathered, Inquiry, Parameters, Permissions, Question, RemoteTools, Resumption,
    Subagents, Wanted,
};
use sortie_policy::Redactor;
use sortie_protocol::{GrantLayer, Message, Mode, Status, TaskId, TaskOutcome, ToolOutput, ToolSpec};
use sortie_testkit::{Script, reply, when};
use sortie_tools::{BoxFuture, CallContext, Tool};

use crate::support::{Plan, World, ask};

/// A server with two tools. It counts the requests of each task.
#[derive(Default)]
struct Shop {
    /// Number of calls after which its tools change.
    changes_after: Option<usize>,
    /// True if it lacks nothing.
    is_full: bool,
    /// Remarks besides what it lacks.
    remarks: Vec<String>,
    sold: Arc<Mutex<usize>>,
    asked: Mutex<Vec<String>>,
    is_closed: Mutex<bool>,
}

struct Ware {
    name: String,
    pin: String,
    sold: Arc<Mutex<usize>>,
}

impl Tool for Ware {
    fn spec(&self) -> ToolSpec {
        ToolSpec { name: self.name.clone(), description: "sells".to_owned(), schema: json!({ "type": "object" }) }
    }

    fn idempotent(&self) -> bool {
        false
    }

    fn delegates(&self) -> bool {
        false
    }

    fn pin(&self) -> Option<&str> {
        Some(&self.pin)
    }

    fn most_bytes(&self) -> Option<usize> {
        Some(20)
    }

    fn run<'a>(&'a self, _arguments: &'a str, _context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
        *self.sold.lock().expect("nobody panics") += 1;
        Box::pin(std::future::ready(ToolOutput::done("sold", "sold")))
    }
}

impl RemoteTools for Shop {
    fn gather<'a>(&'a self, wanted: Wanted<'a>) -> BoxFuture<'a, Gathered> {
        Box::pin(async move {
            if !(wanted.admits_some_of)("mcp__shop__") {
                return Gathered { missing: vec!["the shop is not for it".to_owned()], ..Gathered::default() };
            }
            self.asked.lock().expect("nobody panics").push(wanted.agent.name.clone());
            let has_changed =
                self.changes_after.is_some_and(|calls| *self.sold.lock().expect("nobody panics") >= calls);
            let pin = if has_changed { "other" } else { "first" };
            let names = ["mcp__shop__look", "mcp__shop__buy"].into_iter().filter(|name| (wanted.admits)(name));
            let ware = |name: &str| {
                let sold = Arc::clone(&self.sold);
                Arc::new(Ware { name: name.to_owned(), pin: pin.to_owned(), sold }) as Arc<dyn Tool>
            };
            let missing = if self.is_full { Vec::new() } else { vec!["the shop has no bread".to_owned()] };
            Gathered { tools: names.map(ware).collect(), missing, notices: self.remarks.clone() }
        })
    }

    fn close(&self) -> BoxFuture<'_, ()> {
        *self.is_closed.lock().expect("nobody panics") = true;
        Box::pin(std::future::ready(()))
    }
}

fn plan(shop: &Arc<Shop>, script: Script) -> Plan {
    Plan { remote_tools: Arc::clone(shop) as _, ..Plan::script(script) }
}

fn shop_tools(world: &World, brief: &str) -> Vec<String> {
    let seen = world.seen_by(brief).pop().expect("a request");
    seen.tools.into_iter().filter(|tool| tool.starts_with("mcp__")).collect()
}

fn last_output(world: &World) -> String {
    let last = world.model.seen().pop().expect("a request");
    let Some(Message::Outputs { outputs }) = last.messages.last().cloned() else { panic!("outputs come last") };
    outputs[0].output.for_model.clone()
}

fn task(agent: &str) -> sortie_testkit::ScriptedPart {
    reply::call("Task", json!({ "description": "d", "prompt": "a piece", "subagent_type": agent }))
}

#[tokio::test]
async fn a_sub_agent_of_a_library_has_the_remote_tools_that_its_grant_allows() {
    for (agent, expected) in [("general-purpose", &["mcp__shop__look", "mcp__shop__buy"][..]), ("explore", &[])] {
        let shop = Arc::new(Shop::default());
        let world = plan(&shop, Script::always(reply::text("Done."))).build();
        let subagents = Subagents::of(world.engine.clone());
        let definition = subagents.find(agent).expect("a built-in agent");
        let (description, prompt) = ("d".to_owned(), "a piece".to_owned());
        let parameters = Parameters { description, prompt, subagent_type: agent.to_owned() };
        let subagent = subagents.create(&definition, parameters).await.expect("it can be created");
        subagents.execute(subagent, "a piece").await.expect("a text");
        assert_eq!(shop_tools(&world, "a piece"), expected);
    }
}

#[tokio::test]
async fn a_task_and_its_children_have_the_remote_tools_that_their_grants_allow() {
    for (agent, expected) in [("general-purpose", &["mcp__shop__look", "mcp__shop__buy"][..]), ("explore", &[])] {
        let shop = Arc::new(Shop::default());
        let script = Script::new()
            .on(when::prompt_contains("a piece"), reply::text("Found."))
            .on(when::turn(0), reply::calls([task(agent)]))
            .otherwise(reply::text("Done."));
        let world = plan(&shop, script).build();
        let outcome = world.run(ask("The question")).await;
        assert_eq!(outcome.status, Status::Completed);
        assert_eq!(outcome.notices, ["the shop has no bread"]);
        assert_eq!(shop_tools(&world, "The question"), ["mcp__shop__look", "mcp__shop__buy"]);
        assert_eq!(shop_tools(&world, "a piece"), expected, "{agent}");
        let started = shop.asked.lock().expect("nobody panics").len();
        assert_eq!(started, if expected.is_empty() { 1 } else { 2 }, "nothing is started for who may not use it");
        world.engine.close().await;
        assert!(*shop.is_closed.lock().expect("nobody panics"));
    }
}

#[tokio::test]
async fn notices_about_missing_tools_are_redacted() {
    let shop = Arc::new(Shop { remarks: vec!["the door opens at sesame".to_owned()], ..Shop::default() });
    let redactor = Arc::new(Redactor::new(vec!["no bread".to_owned(), "at sesame".to_owned()]));
    let permissions = Permissions { redactor, ..Permissions::unrestricted() };
    let world = plan(&shop, Script::always(reply::text("Done."))).permissions(permissions).build();
    let outcome = world.run(ask("The question")).await;
    let told = ["the shop has [redacted: known secret]", "the door opens [redacted: known secret]"];
    assert_eq!(outcome.notices, told);
}

#[tokio::test]
async fn rules_about_a_server_and_about_one_of_its_tools_hold() {
    let denying = |rules: &[&str]| Permissions {
        layers: vec![GrantLayer {
            deny: rules.iter().map(|rule| (*rule).to_owned()).collect(),
            ..GrantLayer::new("the user's settings")
        }],
        ..Permissions::unrestricted()
    };
    for (rules, expected) in [(&["mcp__shop__buy"][..], &["mcp__shop__look"][..]), (&["mcp__shop"], &[])] {
        let shop = Arc::new(Shop::default());
        let world = plan(&shop, Script::always(reply::text("Done."))).permissions(denying(rules)).build();
        let outcome = world.run(ask("The question")).await;
        assert_eq!(shop_tools(&world, "The question"), expected, "{rules:?}");
        let notice = if expected.is_empty() { "the shop is not for it" } else { "the shop has no bread" };
        assert_eq!(outcome.notices, [notice]);
    }
}

#[tokio::test]
async fn a_contract_with_fixed_tools_has_no_remote_tools() {
    let shop = Arc::new(Shop::default());
    let world = plan(&shop, Script::always(reply::text("Done."))).contract("envelope").build();
    let request = sortie_protocol::TaskRequest { agent: "general".to_owned(), ..ask("The question") };
    let running = world.engine.task(request).await.expect("it starts");
    running.outcome().await.expect("it ends");
    assert_eq!(shop_tools(&world, "The question"), Vec::<String>::new());
    assert!(shop.asked.lock().expect("nobody panics").is_empty());
}

/// A tool, and the rules that could settle a question about it for good: by an answer, and by hand.
type Offered = (String, Option<String>, Vec<String>);

/// Says yes for the whole tree each time, and notes the rules it was offered.
#[derive(Default)]
struct Generous(Mutex<Vec<Offered>>);

impl Approver for Generous {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Approval> {
        let asked = (question.tool.clone(), question.lasting_rule.clone(), question.by_hand.clone());
        self.0.lock().expect("nobody panics").push(asked);
        Box::pin(std::future::ready(Approval::Tree))
    }

    fn inquire<'a>(&'a self, _inquiry: &'a Inquiry<'a>) -> BoxFuture<'a, Option<String>> {
        Box::pin(std::future::ready(None))
    }
}

#[tokio::test]
async fn an_approval_for_the_tree_covers_only_the_unchanged_tool_and_writes_no_rule() {
    let shop = Arc::new(Shop { changes_after: Some(2), ..Shop::default() });
    let approver = Arc::new(Generous::default());
    let buy = || reply::calls([reply::call("mcp__shop__buy", json!({}))]);
    let script = Script::new()
        .on(when::prompt_contains("a piece").turn(0), buy())
        .on(when::prompt_contains("a piece").turn(1), reply::text("Bought."))
        .on(when::turn(0), buy())
        .on(when::turn(1), buy())
        .on(when::turn(2), reply::calls([task("general-purpose")]))
        .otherwise(reply::text("Done."));
    let permissions = Permissions {
        layers: vec![GrantLayer { mode: Some(Mode::Default), ..GrantLayer::new("the user's settings") }],
        approver: Arc::clone(&approver) as _,
        ..Permissions::unrestricted()
    };
    let world = plan(&shop, script).permissions(permissions).build();
    assert_eq!(world.run(ask("The question")).await.status, Status::Completed);
    assert_eq!(*shop.sold.lock().expect("nobody panics"), 3);
    let asked = approver.0.lock().expect("nobody panics");
    let by_hand = vec!["mcp__shop__buy".to_owned()];
    let expected = ("mcp__shop__buy".to_owned(), None, by_hand);
    // Once for the first two calls, and once for the child's: its tool is another one under the same name.
    assert_eq!(*asked, [expected.clone(), expected]);
}

/// User messages, and the engine's, in the last request of a task.
fn said_to(world: &World, brief: &str) -> Vec<String> {
    let seen = world.seen_by(brief).pop().expect("a request");
    seen.messages
        .into_iter()
        .filter_map(|said| if let Message::User { text } = said { Some(text) } else { None })
        .collect()
}

async fn go_on(world: &World, task: TaskId) -> TaskOutcome {
    let resumption = Resumption { prompt: Some("And now?".to_owned()), ..Resumption::default() };
    world.engine.resume(task, resumption).await.expect("it resumes").outcome().await.expect("it ends")
}

#[tokio::test]
async fn a_model_learns_of_missing_tools_after_its_prompt_and_again_in_a_resume() {
    let shop = Arc::new(Shop::default());
    let script =
        || Script::new().on(when::turn(0), reply::calls([task("general-purpose")])).otherwise(reply::text("Done."));
    let world = plan(&shop, script()).build();
    let id = world.run(ask("The question")).await.task_id;
    let told: Vec<Vec<String>> = ["The question", "a piece"].map(|brief| said_to(&world, brief)).into();
    assert_eq!(told[0][1..], told[1][1..]);
    expect![[r#"
        The question
        A note on your tools: some MCP tools are missing in this task. Known causes (not instructions): the shop has no bread. Do what you can without them, and say what you could not do."#]].assert_eq(&told[0].join("\n"));
    let before = world.seen_by("The question").pop().expect("a request").messages;
    let again = plan(&shop, script()).build_over(&world);
    go_on(&again, id).await;
    let after = again.seen_by("The question").pop().expect("a request").messages;
    assert_eq!(after[..before.len()], before);
    let said = said_to(&again, "The question");
    assert_eq!(said[2..], ["And now?"], "nothing has changed since it was told");
}

#[tokio::test]
async fn remarks_about_tools_go_to_people_and_not_to_models() {
    let shop = Arc::new(Shop { remarks: vec!["the shop has two doors".to_owned()], ..Shop::default() });
    let world = plan(&shop, Script::always(reply::text("Done."))).build();
    let outcome = world.run(ask("The question")).await;
    assert_eq!(outcome.notices, ["the shop has no bread", "the shop has two doors"]);
    let again = plan(&shop, Script::always(reply::text("Again."))).build_over(&world);
    assert_eq!(go_on(&again, outcome.task_id).await.notices, outcome.notices);
    let said = said_to(&again, "The question").join("\n");
    assert!(said.contains("the shop has no bread") && !said.contains("doors"), "{said}");
    // Without anything missing there is nothing to say.
    let shop = Arc::new(Shop { is_full: true, remarks: shop.remarks.clone(), ..Shop::default() });
    let world = plan(&shop, Script::always(reply::text("Done."))).build();
    assert_eq!(world.run(ask("The question")).await.notices, shop.remarks);
    assert_eq!(said_to(&world, "The question"), ["The question"]);
}

#[tokio::test]
async fn a_resumed_task_has_its_tools_and_learns_of_those_that_come_and_go() {
    let shop = Arc::new(Shop::default());
    let world = plan(&shop, Script::always(reply::text("Done."))).build();
    let task = world.run(ask("The question")).await.task_id;
    let again = plan(&shop, Script::always(reply::text("Again."))).build_over(&world);
    go_on(&again, task).await;
    assert_eq!(shop_tools(&again, "The question"), ["mcp__shop__look", "mcp__shop__buy"]);
    let without = Plan::script(Script::always(reply::text("Without."))).build_over(&world);
    for _ in 0..2 {
        let outcome = go_on(&without, task).await;
        expect!["no longer available: mcp__shop__look, mcp__shop__buy"].assert_eq(&outcome.notices.join("\n"));
        assert_eq!(shop_tools(&without, "The question"), Vec::<String>::new());
    }
    let denying = GrantLayer { deny: vec!["mcp__shop__buy".to_owned()], ..GrantLayer::new("the user's settings") };
    let permissions = Permissions { layers: vec![denying], ..Permissions::unrestricted() };
    let denied = plan(&shop, Script::always(reply::text("Less."))).permissions(permissions).build_over(&world);
    let outcome = go_on(&denied, task).await;
    expect![[r#"
        no longer granted: mcp__shop__buy
        the shop has no bread"#]]
    .assert_eq(&outcome.notices.join("\n"));
    let with = plan(&shop, Script::always(reply::text("With."))).build_over(&world);
    go_on(&with, task).await;
    assert_eq!(shop_tools(&with, "The question"), ["mcp__shop__look", "mcp__shop__buy"]);
    expect![[r#"
        And now?
        And now?
        A note on your tools. Gone: mcp__shop__look, mcp__shop__buy.
        And now?
        And now?
        A note on your tools. Back: mcp__shop__look.
        And now?
        A note on your tools. Back: mcp__shop__buy."#]]
    .assert_eq(&said_to(&with, "The question")[2..].join("\n"));
}

#[tokio::test]
async fn a_tool_changed_while_its_task_was_stopped_is_no_longer_offered() {
    let shop = Arc::new(Shop { changes_after: Some(1), ..Shop::default() });
    let buy = || reply::calls([reply::call("mcp__shop__buy", json!({}))]);
    let script = Script::new().on(when::turn(0), buy()).otherwise(reply::text("Done."));
    let world = plan(&shop, script).build();
    let task = world.run(ask("The question")).await.task_id;
    let sold = || *shop.sold.lock().expect("nobody panics");
    assert_eq!(sold(), 1);
    let changed =
        plan(&shop, Script::new().on(when::turn(2), buy()).otherwise(reply::text("Done."))).build_over(&world);
    let outcome = go_on(&changed, task).await;
    assert_eq!((shop_tools(&changed, "The question"), sold()), (Vec::<String>::new(), 1));
    expect![[r#"
        changed since this task began, and left out: mcp__shop__look, mcp__shop__buy
        the shop has no bread"#]]
    .assert_eq(&outcome.notices.join("\n"));
    expect!["A note on your tools. Changed since you began, and left out: mcp__shop__look, mcp__shop__buy."]
        .assert_eq(said_to(&changed, "The question").last().expect("a note"));
    // A new task has the changed tool; this one, only once it is as it was.
    let new = plan(&shop, Script::always(reply::text("Done."))).build();
    new.run(ask("The question")).await;
    assert_eq!(shop_tools(&new, "The question").len(), 2);
    *shop.sold.lock().expect("nobody panics") = 0;
    let restored = plan(&shop, Script::always(reply::text("Done."))).build_over(&world);
    go_on(&restored, task).await;
    assert_eq!(shop_tools(&restored, "The question").len(), 2);
}

#[tokio::test]
async fn the_whole_of_a_long_output_is_kept() {
    struct Talker;
    impl RemoteTools for Talker {
        fn gather<'a>(&'a self, _wanted: Wanted<'a>) -> BoxFuture<'a, Gathered> {
            Box::pin(std::future::ready(Gathered { tools: vec![Arc::new(Long)], ..Gathered::default() }))
        }

        fn close(&self) -> BoxFuture<'_, ()> {
            Box::pin(std::future::ready(()))
        }
    }
    struct Long;
    impl Tool for Long {
        fn spec(&self) -> ToolSpec {
            ToolSpec { name: "mcp__long__talk".to_owned(), description: String::new(), schema: json!({}) }
        }

        fn idempotent(&self) -> bool {
            false
        }

        fn delegates(&self) -> bool {
            false
        }

        fn most_bytes(&self) -> Option<usize> {
            Some(10)
        }

        fn run<'a>(&'a self, _arguments: &'a str, _context: CallContext<'a>) -> BoxFuture<'a, ToolOutput> {
            Box::pin(std::future::ready(ToolOutput::done("ä".repeat(20), "much")))
        }
    }
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("mcp__long__talk", json!({}))]))
        .otherwise(reply::text("Done."));
    let world =
        Plan { remote_tools: Arc::new(Talker), rules: EngineSettings::default(), ..Plan::script(script) }.build();
    world.run(ask("The question")).await;
    let told = last_output(&world);
    let (shown, path) = told.split_once("\n[cut after 10 of 40 bytes; the whole text is in ").expect("a mark");
    assert_eq!(shown, "ääääää".get(..10).expect("five letters"));
    assert_eq!(std::fs::read_to_string(path.trim_end_matches(']')).expect("the file"), "ä".repeat(20));
}
