//! `sortie cost`, and the cost in a run's figures.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_protocol::Usage;
use sortie_testkit::{Script, ScriptedReply, ScriptedServer, reply, when};

use crate::world::{Invocation, World};

const PRICES: &str = "\
[[models]]
id = \"test-model\"
input = 10
output = 50
cache_read = 1
cache_write = 12.5
";

/// World that knows the price of `test-model`.
pub(crate) fn priced_world() -> World {
    let world = World::new();
    world.write("home/.config/sortie/models.toml", PRICES);
    world
}

fn spending(reply: ScriptedReply, [input, cached, output]: [u64; 3]) -> ScriptedReply {
    let usage = Usage { input_tokens: input, cache_read_tokens: cached, output_tokens: output, ..Usage::default() };
    reply.usage(usage)
}

/// Main agent with two sub-agents that look, one of them on the light route.
fn looking() -> Script {
    let task = |prompt: &str, model: Option<&str>| {
        let mut call = json!({"description": "Look", "prompt": prompt, "subagent_type": "explore"});
        if let Some(model) = model {
            call["model"] = json!(model);
        }
        reply::call("Task", call)
    };
    let ls = || reply::calls([reply::call("LS", json!({}))]);
    Script::new()
        .on(when::prompt_contains("QUESTION").turn(0), spending(reply::calls([task("ONE", None)]), [2000, 0, 100]))
        .on(
            when::prompt_contains("QUESTION").turn(1),
            spending(reply::calls([task("TWO", Some("light"))]), [500, 2000, 100]),
        )
        .on(when::prompt_contains("QUESTION"), spending(reply::text("Done."), [100, 2500, 20]))
        .on(when::prompt_contains("ONE").turn(0), spending(ls(), [1000, 0, 30]))
        .on(when::prompt_contains("ONE"), spending(reply::text("Here."), [1100, 0, 10]))
        .otherwise(spending(reply::text("There."), [800, 0, 10]))
}

/// Adds a light route at the same server, with a model of unknown price.
fn with_light(invocation: Invocation, server: &ScriptedServer) -> Invocation {
    let url = server.base_url();
    invocation.on(server, "anthropic").envs([
        ("LIGHT_LLM_BASE_URL", &*url),
        ("LIGHT_LLM_WIRE", "anthropic"),
        ("LIGHT_LLM_API_KEY", "key"),
        ("LIGHT_LLM_MODEL_ID", "small"),
    ])
}

/// Output for people, without the error of estimates, which depends on the size of prompts and tools.
fn told(world: &World, args: &[&str]) -> String {
    let told = world.sortie([&["cost"], args].concat()).run().transcript();
    let (estimates, others): (Vec<&str>, Vec<&str>) =
        told.lines().partition(|line| line.starts_with("estimates of the input"));
    assert_eq!(estimates.len(), 1, "{told}");
    others.join("\n") + "\n"
}

#[test]
fn the_cost_of_a_run_is_shown_by_task_and_by_model() {
    let (world, server) = (priced_world(), ScriptedServer::start(looking()).unwrap());
    let ran = with_light(world.sortie(["run", "QUESTION"]), &server).run();
    assert_eq!(ran.code, 0, "{ran:#?}");
    assert!(ran.stderr.lines().last().unwrap().contains(" · 10.3k tokens · $0.0645+ · "), "{}", ran.stderr);
    expect![[r#"
        exit 0
        --- stdout
        main agent-1___________ completed · QUESTION

        task                          calls  input  cached  output     cost  with all below
        main agent-1___________           3   <n>k    <n>k     220  $0.0415        $0.0645+
          explore agent-2___________      2   <n>k       0      40  $0.0230         $0.0230
          explore agent-3___________      1    800       0      10  unknown         unknown

        model              calls  input  cached  output      cost
        light (small)          1    800       0      10   unknown
        main (test-model)      5   <n>k    <n>k     260   $0.0645
        all                    6  <n>k    <n>k     270  $0.0645+

        45 % of the input was read from a cache
        88 % of the input after each task's first request repeats the request before it: a cache can serve that
        the price of small is unknown, so 810 tokens are not in the cost; set it in models.toml
    "#]]
    .assert_eq(&told(&world, &[]));
    let root = world.sortie(["cost", "--json"]).run().stdout_json();
    let id = root["task"]["task_id"].as_str().unwrap();
    let below = root["task"]["children"][1]["task_id"].as_str().unwrap();
    expect![[r#"
        exit 0
        --- stdout
        explore agent-1___________ completed · Look

        task                        calls  input  cached  output     cost
        explore agent-1___________      1    800       0      10  unknown

        model          calls  input  cached  output     cost
        light (small)      1    800       0      10  unknown

        0 % of the input was read from a cache
        the price of small is unknown, so 810 tokens are not in the cost; set it in models.toml
    "#]]
    .assert_eq(&told(&world, &[below]));
    let shown = world.sortie(["tasks", "show", id]).run().stdout;
    assert!(shown.contains(" · 10.3k tokens · $0.0645+ · "), "{shown}");
}

#[test]
fn costs_as_json_are_a_tree_with_sums() {
    let (world, server) = (priced_world(), ScriptedServer::start(looking()).unwrap());
    let ran = with_light(world.sortie(["run", "--output-format", "json", "QUESTION"]), &server).run().stdout_json();
    let told = world.sortie(["cost", "--json"]).run().stdout_json();
    let task = &told["task"];
    assert_eq!(
        (&task["agent"], &task["status"], &task["title"]),
        (&json!("main"), &json!("completed"), &json!("QUESTION"))
    );
    assert_eq!(task["own"]["cost_usd"], 0.0415);
    assert_eq!(task["with_all_below"], told["total"]);
    let children = task["children"].as_array().unwrap();
    assert_eq!(
        (children[0]["own"]["cost_usd"].as_f64(), children[0]["children"].as_array().unwrap().len()),
        (Some(0.023), 0)
    );
    assert_eq!((children[1]["own"].get("cost_usd"), &children[1]["own"]["unpriced_tokens"]), (None, &json!(810)));
    for figure in ["input_tokens", "output_tokens", "cache_read_tokens", "total_tokens", "cost_usd", "unpriced_tokens"]
    {
        assert_eq!(told["total"][figure], ran["usage"][figure], "{figure}, as the outcome has it: {ran}");
    }
    assert_eq!(told["input"]["from_cache"], 0.45);
    assert_eq!(told["input"]["repeated"], (2000. + 2500. + 1000.) / (2500. + 2600. + 1100.));
    assert!(told["input"]["estimates_off_by"].as_f64().unwrap() > 0.0, "{told}");
    let models: Vec<&Value> = told["models"].as_array().unwrap().iter().map(|model| &model["model"]["id"]).collect();
    assert_eq!(models, ["small", "test-model"]);
}

#[test]
fn costs_of_all_runs_are_added_up_by_model() {
    let (world, server) = (priced_world(), ScriptedServer::start(looking()).unwrap());
    world.sortie(["run", "OTHER"]).on(&server, "anthropic").run();
    with_light(world.sortie(["run", "QUESTION"]), &server).run();
    expect![[r#"
        exit 0
        --- stdout
        4 tasks

        model              calls  input  cached  output      cost
        light (small)          1    800       0      10   unknown
        main (test-model)      6  <n>k    <n>k     270   $0.0730
        all                    7  <n>k    <n>k     280  $0.0730+

        41 % of the input was read from a cache
        88 % of the input after each task's first request repeats the request before it: a cache can serve that
        the price of small is unknown, so 810 tokens are not in the cost; set it in models.toml
    "#]]
    .assert_eq(&told(&world, &["--all"]));
    let told = world.sortie(["cost", "--all", "--json"]).run().stdout_json();
    assert_eq!((&told["tasks"], &told["total"]["calls"]), (&json!(4), &json!(7)));
}

#[test]
fn without_runs_there_is_no_cost() {
    let world = World::new();
    expect![[r#"
        exit 1
        --- stderr
        error: nothing has run in this project yet
        hint: `sortie cost --all` adds up all projects
    "#]]
    .assert_eq(&world.sortie(["cost"]).run().transcript());
    assert_eq!(world.sortie(["cost", "nobody"]).run().code, 1);
    assert_eq!(world.sortie(["cost", "nobody", "--all"]).run().code, 2);
    world.sortie(["run", "--model", "offline", "Where is login?"]).run();
    let told = world.sortie(["cost", "--json"]).run().stdout_json();
    assert_eq!(told["total"]["cost_usd"], 0.0, "the built-in model is free: {told}");
}

/// Conversation in a request, without cache marks.
fn conversation(body: &Value) -> Vec<Value> {
    fn without_marks(value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.remove("cache_control");
                fields.values_mut().for_each(without_marks);
            }
            Value::Array(items) => items.iter_mut().for_each(without_marks),
            _ => {}
        }
    }
    let messages = ["messages", "input", "contents"].iter().find_map(|name| body[*name].as_array());
    let mut messages = messages.unwrap().clone();
    messages.iter_mut().for_each(without_marks);
    messages
}

#[test]
fn a_cache_can_serve_more_than_nine_tenths_of_a_run_of_ten_turns_on_each_wire() {
    for wire in ["anthropic", "openai-chat", "openai-responses", "gemini"] {
        let world = World::new();
        let read = reply::calls([reply::call("Read", json!({"file_path": "src/auth.rs"}))]);
        let script = (0..9).fold(Script::new(), |script, turn| {
            let grep = json!({"pattern": format!("pattern {turn}")});
            let look = if turn == 0 { read.clone() } else { reply::calls([reply::call("Grep", grep)]) };
            script.on(when::turn(turn), look)
        });
        let server = ScriptedServer::start(script.otherwise(reply::text("Found."))).unwrap();
        let ran = world.sortie(["run", "QUESTION"]).on(&server, wire).run();
        assert_eq!((ran.code, ran.stdout.as_str()), (0, "Found.\n"), "{wire}: {}", ran.stderr);
        let conversations: Vec<Vec<Value>> =
            server.requests().iter().map(|request| conversation(&request.body)).collect();
        assert_eq!(conversations.len(), 10, "{wire}");
        for pair in conversations.windows(2) {
            assert!(pair[1].starts_with(&pair[0]), "{wire}: a request repeats the one before");
        }
        let share = world.sortie(["cost", "--json"]).run().stdout_json()["input"]["repeated"].as_f64().unwrap();
        assert!(share > 0.9 && share < 1.0, "{wire}: {share}");
    }
}
