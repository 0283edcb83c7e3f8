//! A contract's decisions beyond wording, seen in the children's input and their parents' outputs.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_protocol::{Message, Status, ToolOutput};
use sortie_testkit::{Script, ScriptedPart, reply, when};
use sortie_tools::{CallContext, TypedTool};

use crate::support::{Plan, World, ask};

fn call(tool: &str, arguments: Value) -> ScriptedPart {
    reply::call(tool, arguments)
}

fn task(agent: &str, prompt: &str) -> ScriptedPart {
    call("Task", json!({"description": "a piece", "prompt": prompt, "subagent_type": agent}))
}

/// A main agent that makes these calls at once and then ends; every child says `Found.`.
fn delegating(calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    Script::new()
        .on(when::prompt_contains("The question").turn(0), reply::calls(calls))
        .on(when::prompt_contains("The question"), reply::text("Done."))
}

/// The main agent's outputs, in call order, parsed.
fn answers(world: &World) -> Vec<Value> {
    let request = world.seen_by("The question").pop().expect("a request of the main agent");
    let Some(Message::Outputs { outputs }) = request.messages.last() else { panic!("no outputs in {request}") };
    outputs.iter().map(|output| serde_json::from_str(&output.output.for_model).unwrap_or_default()).collect()
}

#[tokio::test]
async fn envelope_puts_the_title_behind_the_role_and_gives_five_tools() {
    let script = delegating([task("Explore", "  Look at b.\n")]).otherwise(reply::text("Found."));
    let world = Plan::script(script).contract("envelope").build();
    world.run(ask("The question")).await;
    let child = world.seen_by("Look at b").remove(0);
    assert!(child.system.ends_with("\n\n# Task\na piece"), "S0-42: {:?}", child.system);
    assert_eq!(child.tools.join(" "), "Read LS Glob Grep TodoWrite", "S0-56");
    assert!(child.to_string().contains(r#"user: "  Look at b.\n""#), "S0-43");
    let answer = answers(&world).remove(0);
    assert_eq!((&answer["data"]["result"], &answer["data"]["subagent_type"]), (&json!("Found."), &json!("explore")));
    assert_eq!(
        answer["context"],
        json!({"cwd": ".", "params_input":
        {"description": "a piece", "prompt": "  Look at b.\n", "subagent_type": "Explore"}}),
        "S0-36, S0-37"
    );
}

#[tokio::test]
async fn envelope_runs_children_one_after_another() {
    let script = delegating([task("explore", "one"), task("explore", "two")]).otherwise(reply::text("Found."));
    let world = Plan::script(script).contract("envelope").build();
    world.run(ask("The question")).await;
    let transcript = world.transcript();
    let order: Vec<&str> = transcript
        .lines()
        .filter_map(|line| {
            let line = line.trim();
            (line.contains("task_admitted") || line.contains("task_ended")).then_some(line)
        })
        .collect();
    assert_eq!(answers(&world).len(), 2, "{order:?}");
}

const A: (&str, &str) =
    (".sortie/agents/a.md", "---\nname: a\ndescription: reviews typescript code\n---\nYou are a.\n");
const B: (&str, &str) = (".sortie/agents/b.md", "---\nname: b\ndescription: writes documents\n---\nYou are b.\n");

#[tokio::test]
async fn result_refuses_circles_by_name_before_depth() {
    let script = delegating([task("a", "go a")])
        .on(when::prompt_contains("go a").turn(0), reply::calls([task("b", "go b"), task("a", "self")]))
        .on(when::prompt_contains("go b").turn(0), reply::calls([task("a", "back")]))
        .otherwise(reply::text("Found."));
    let world = Plan::script(script).files(&[A, B]).agent_files().contract("result").build();
    world.run(ask("The question")).await;
    let seen_by_b = world.seen_by("go b").pop().expect("b continues").to_string();
    assert!(seen_by_b.contains("Circular delegation prevented: a -> b -> a"), "S1-19: {seen_by_b}");
    let seen_by_a = world.seen_by("go a").pop().expect("a continues").to_string();
    assert!(seen_by_a.contains("Circular delegation prevented: a -> a"), "S1-44: {seen_by_a}");
}

#[tokio::test]
async fn result_finds_the_agent_that_fits_best_and_names_it() {
    let review = call(
        "Task",
        json!({"description": "review typescript code", "prompt": "go", "subagent_type": "reviewer-thing"}),
    );
    let nonsense = call("Task", json!({"description": "paint it", "prompt": "go", "subagent_type": "wizard"}));
    let script = delegating([review, nonsense]).otherwise(reply::text("Found. "));
    let world = Plan::script(script).files(&[A, B]).agent_files().contract("result").build();
    world.run(ask("The question")).await;
    expect![[r#"
        [
          {
            "success": true,
            "content": "Found. ",
            "shortResult": "Task completed by a"
          },
          {
            "success": false,
            "content": "",
            "error": "Subagent 'wizard' not found. Available: a, b",
            "shortResult": "Task delegation failed"
          }
        ]"#]]
    .assert_eq(&format!("{:#}", Value::from(answers(&world))));
}

#[tokio::test]
async fn result_without_agent_files_has_no_agents() {
    let script = delegating([task("explore", "go")]);
    let world = Plan::script(script).agent_files().contract("result").build();
    world.run(ask("The question")).await;
    assert_eq!(answers(&world)[0]["error"], "No subagents available for delegation", "S1-15");
}

#[tokio::test]
async fn result_refuses_an_agent_whose_tools_its_parent_lacks() {
    let reader = (".sortie/agents/reader.md", "---\nname: reader\ndescription: reads\ntools: Read, Task\n---\nRead.\n");
    let writer = (".sortie/agents/lister.md", "---\nname: lister\ndescription: lists\ntools: LS\n---\nList.\n");
    let script = delegating([task("reader", "read")])
        .on(when::prompt_contains("read").turn(0), reply::calls([task("lister", "list")]))
        .otherwise(reply::text("Found."));
    let world = Plan::script(script).files(&[reader, writer]).agent_files().contract("result").build();
    world.run(ask("The question")).await;
    let seen = world.seen_by("read").pop().expect("the reader continues").to_string();
    assert!(seen.contains("Subagent lacks permission for required tools: LS"), "S1-20: {seen}");
}

#[tokio::test]
async fn delegate_keeps_its_tool_at_the_depth_limit_and_refuses_the_call() {
    let deeper = |text: &str| call("task", json!({"task": text}));
    let script = delegating([deeper("level one")])
        .on(when::prompt_contains("level one").turn(0), reply::calls([deeper("level two")]))
        .on(when::prompt_contains("level two").turn(0), reply::calls([deeper("level three")]))
        .otherwise(reply::text("Found."));
    let world = Plan::script(script).contract("delegate").build();
    world.run(ask("The question")).await;
    let last = world.seen_by("level two").pop().expect("it resumes");
    assert!(last.tools.contains(&"task".to_owned()), "{last}");
    assert!(last.to_string().contains("maximum sub-agent depth exceeded"), "S2-32: {last}");
    assert!(world.seen_by("level three").is_empty(), "S2-46");
    let first = world.seen_by("level one").remove(0);
    let pointer = "\n\n# Task\nYour task is the first message, whole and word for word. ";
    assert!(first.system.contains(pointer) && !first.system.contains("level one"), "S2-09");
    assert_eq!(answers(&world)[0]["success"], true, "S2-35");
}

#[tokio::test]
async fn typed_cuts_by_characters_with_the_mark_inside() {
    let long = "ä".repeat(5000);
    let script =
        delegating([task("Explore", "explore"), task("general-purpose", "general")]).otherwise(reply::text(long));
    let world = Plan::script(script).contract("typed").build();
    world.run(ask("The question")).await;
    let lengths: Vec<usize> =
        answers(&world).iter().map(|answer| answer["result"].as_str().unwrap_or_default().chars().count()).collect();
    // The offset in the mark has at most as many digits as the length of the whole.
    assert!((998..=1000).contains(&lengths[0]) && (1998..=2000).contains(&lengths[1]), "S3-27: {lengths:?}");
    let tools = world.seen_by("explore").remove(0).tools.join(" ");
    assert_eq!(tools, "Read LS Glob Grep WebFetch", "S3-15");
}

#[tokio::test]
async fn child_has_neither_task_nor_todowrite() {
    let script =
        delegating([call("task", json!({"description": "x", "prompt": "the piece"}))]).otherwise(reply::text("Found."));
    let world = Plan::script(script).contract("child").build();
    let outcome = world.run(ask("The question")).await;
    assert_eq!(outcome.status, Status::Completed);
    assert_eq!(
        world.seen_by("the piece").remove(0).tools.join(" "),
        "Read LS Glob Grep WebFetch Write Edit MultiEdit",
        "S4-12"
    );
    assert_eq!(answers(&world)[0]["summary"], "Found.", "S4-15");
}

/// A tool of the host's own, under this name.
struct Own<const SPAWNS: bool>;

impl<const SPAWNS: bool> TypedTool for Own<SPAWNS> {
    type Input = Value;

    const NAME: &'static str = if SPAWNS { "spawn_agent" } else { "create_todo" };
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "A tool of the host.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    async fn run(&self, _input: Value, _context: CallContext<'_>) -> ToolOutput {
        ToolOutput::done("it ran", "it ran")
    }
}

#[tokio::test]
async fn s4_17_a_child_is_refused_what_its_host_calls_spawn_agent_and_create_todo() {
    for contract in ["child", "child-recipe"] {
        let forced = || ["spawn_agent", "create_todo"].map(|tool| call(tool, json!({})));
        let task = call("task", json!({"description": "x", "prompt": "the piece"}));
        let script = delegating(forced().into_iter().chain([task]))
            .on(when::prompt_contains("the piece").turn(0), reply::calls(forced()))
            .otherwise(reply::text("Found."));
        let world = Plan::script(script).tool(Own::<true>).tool(Own::<false>).contract(contract).build();
        world.run(ask("The question")).await;
        let outputs = |brief: &str| {
            let request = world.seen_by(brief).pop().expect("a last request");
            let Some(Message::Outputs { outputs }) = request.messages.last() else { panic!("no outputs in {request}") };
            outputs.iter().take(2).map(|output| output.output.for_model.clone()).collect::<Vec<_>>()
        };
        assert_eq!(outputs("The question"), ["it ran", "it ran"], "{contract}: the parent has both");
        for (text, tool) in outputs("the piece").iter().zip(["spawn_agent", "create_todo"]) {
            let refused = format!("{tool} is not granted to this task (by the contract).");
            assert!(text.starts_with(&refused), "S4-17 {contract}: {text}");
        }
        assert_eq!(
            world.seen_by("the piece").remove(0).tools.join(" "),
            "Read LS Glob Grep WebFetch Write Edit MultiEdit",
            "S4-12, S4-17"
        );
        let answer: Value = answers(&world).pop().expect("the answer of the child");
        assert_eq!((&answer["summary"], &answer["toolCalls"]), (&json!("Found."), &json!(0)), "S4-15");
    }
}

#[tokio::test]
async fn c_01_a_file_that_denies_spawn_agent_denies_delegation_and_a_host_tool_of_that_name() {
    let loner = (
        ".sortie/agents/loner.md",
        "---\nname: loner\ndescription: works alone\ndisallowedTools: [spawn_agent, create_todo]\n---\nAlone.\n",
    );
    let script = delegating([task("loner", "the piece")]).otherwise(reply::text("Found."));
    let world = Plan::script(script).files(&[loner]).agent_files().tool(Own::<true>).tool(Own::<false>).build();
    world.run(ask("The question")).await;
    assert_eq!(
        world.seen_by("the piece").remove(0).tools.join(" "),
        "Read LS Glob Grep WebFetch Write Edit MultiEdit Ask Note",
        "C-01"
    );
    let main = world.seen_by("The question").remove(0);
    assert!(["Task", "TodoWrite", "spawn_agent"].iter().all(|tool| main.tools.contains(&(*tool).to_owned())), "{main}");
}
