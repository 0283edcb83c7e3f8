//! The two models: S0-04, S0-09, S0-20, S0-46 to S0-52.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply};

use super::errand::{answer, answers, arguments, delegating, run, run_with, task};
use crate::protocol::conforming;
use crate::world::{World, heard, main_agent_calls};

fn with_model(subagent_type: &str, model: &str) -> Value {
    let mut arguments = arguments(subagent_type);
    arguments["model"] = json!(model);
    arguments
}

fn answering() -> ScriptedServer {
    ScriptedServer::start(Script::always(reply::text("FINAL"))).unwrap()
}

#[test]
fn s0_04_s0_20_s0_30_s0_35_s0_48_the_call_chooses_between_two_endpoints() {
    let world = World::new();
    let calls = ["main", "light"].map(|model| {
        task(
            json!({"description": "d", "prompt": format!("CHILD on {model}"), "subagent_type": "plan", "model": model}),
        )
    });
    let main = ScriptedServer::start(main_agent_calls(calls).otherwise(reply::text("FINAL"))).unwrap();
    let light = answering();
    let ended = world
        .sortie(["run", "--contract", "envelope", crate::world::QUESTION])
        .on(&main, "anthropic")
        .envs([("LIGHT_LLM_BASE_URL", &*light.base_url()), ("LIGHT_LLM_MODEL_ID", "small"), ("LIGHT_LLM_API_KEY", "l")])
        .env("LIGHT_LLM_WIRE", "openai-chat")
        .run();
    assert_eq!(ended.code, 0, "{ended:#?}");
    let prompts = |server: &ScriptedServer| -> Vec<String> {
        let prompts = heard(server).into_iter().map(|heard| heard.prompt);
        prompts.filter(|prompt| prompt.contains("CHILD")).collect()
    };
    assert_eq!((prompts(&main), prompts(&light)), (vec!["CHILD on main".into()], vec!["CHILD on light".into()]));
    let run = crate::world::Run { ended, server: main };
    let told = |answer: &Value| (answer["data"]["model_used"].clone(), answer["stats"]["model"].clone());
    let told: Vec<_> = answers(&run).iter().map(told).collect();
    assert_eq!(told, [(json!("main"), json!("main")), (json!("light"), json!("light"))]);
}

#[test]
fn s0_09_s0_46_only_main_and_light_can_be_chosen_even_where_there_are_more_routes() {
    let world = World::new();
    world.config("[routes.third]\nmodel = \"third-model\"\n");
    for model in ["gpt-x", "third", "test-model", "haiku", "Main", ""] {
        let run = run(&world, "anthropic", delegating(with_model("general", model)));
        let error = &answer(&run)["error"];
        assert_eq!(error["code"], "INVALID_PARAM", "{model}");
        assert!(error["message"].as_str().unwrap().contains("`model`"), "{error}");
        assert!(run.sub_agents().is_empty(), "{model}");
    }
    for (model, id) in [("main", "test-model"), ("light", "light-model")] {
        let run = run(&world, "anthropic", delegating(with_model("general", model)).otherwise(reply::text("FINAL")));
        assert_eq!(run.sub_agents()[0].model, id);
    }
}

/// User configuration with both routes.
fn config(main: &ScriptedServer, light: &ScriptedServer) -> String {
    let route = |name: &str, model: &str, key: &str, url: String| {
        format!("[routes.{name}]\nmodel = \"{model}\"\napi_key = \"{key}\"\nbase_url = \"{url}\"\n")
    };
    route("main", "big", "main-key", main.base_url()) + &route("light", "small", "light-key", light.base_url())
}

#[test]
fn s0_47_editing_a_file_moves_light_to_another_endpoint() {
    let (world, main) = (World::new(), answering());
    let json = with_model("explore", "light").to_string();
    let [first, second] = [(), ()].map(|()| answering());
    for (light, expected) in [(&first, (1, 0)), (&second, (1, 1))] {
        world.config(&config(&main, light));
        let result = world.sortie(["task", "--contract", "envelope", "--json", &json]).run().stdout_json();
        assert_eq!(conforming(result)["data"]["model_used"], "light");
        assert_eq!((first.requests().len(), second.requests().len()), expected);
    }
    assert_eq!(main.requests().len(), 0);
}

/// Content of a route's request: model, path, key and the whole body.
fn received(server: &ScriptedServer) -> (String, String, Option<String>, Value) {
    let request = server.requests().last().unwrap().clone();
    let model = request.body["model"].as_str().unwrap().to_owned();
    let key = request.header("authorization").map(str::to_owned);
    (model, request.path().to_owned(), key, request.body.clone())
}

#[test]
fn s0_50_s0_51_six_values_lead_each_route_to_its_own_model_key_and_host_whatever_the_format() {
    let (main, light) = (answering(), answering());
    let (main_url, light_url) = (main.base_url(), light.base_url());
    let variables = [
        ("LLM_MODEL_ID", "big"),
        ("LLM_API_KEY", "main-key"),
        ("LLM_BASE_URL", &*main_url),
        ("LIGHT_LLM_MODEL_ID", "small"),
        ("LIGHT_LLM_API_KEY", "light-key"),
        ("LIGHT_LLM_BASE_URL", &*light_url),
    ];
    let lines = variables.map(|(name, value)| format!("{name}={value}")).join("\n");
    let mut seen = Vec::new();
    for format in ["environment", "TOML", "env file", "trusted .env"] {
        let world = World::new();
        for (model, server) in [("main", &main), ("light", &light)] {
            let json = with_model("explore", model).to_string();
            let task = world.sortie(["task", "--contract", "envelope", "--json", &json]);
            let task = match format {
                "environment" => task.envs(variables),
                "TOML" => {
                    world.config(&config(&main, &light));
                    task
                }
                "env file" => task.arg("--env-file").arg(world.write("variables", &lines)),
                _ => {
                    world.write("workspace/.env", &lines);
                    task.arg("--trust")
                }
            };
            let ended = task.run();
            assert_eq!(ended.code, 0, "{format}: {ended:#?}");
            assert_eq!(conforming(ended.stdout_json())["data"]["model_used"], model, "{format}");
            seen.push(received(server));
        }
    }
    let (big, small) = (&seen[0], &seen[1]);
    let named = |(model, path, key, _): &(String, String, Option<String>, Value)| {
        format!("{model} {path} {}", key.as_deref().unwrap_or_default())
    };
    assert_eq!(named(big), "big /v1/chat/completions Bearer main-key");
    assert_eq!(named(small), "small /v1/chat/completions Bearer light-key");
    assert!(seen.iter().step_by(2).all(|one| one == big), "{seen:#?}");
    assert!(seen.iter().skip(1).step_by(2).all(|one| one == small), "{seen:#?}");
    assert_eq!((main.requests().len(), light.requests().len()), (4, 4));
}

#[test]
fn s0_52_the_type_chooses_the_model_only_if_the_call_does_not() {
    let world = World::new();
    for (subagent_type, by_type) in [("general", "main"), ("plan", "main"), ("explore", "light"), ("summary", "light")]
    {
        let other = if by_type == "main" { "light" } else { "main" };
        for (arguments, expected) in [(arguments(subagent_type), by_type), (with_model(subagent_type, other), other)] {
            let run = run(&world, "anthropic", delegating(arguments).otherwise(reply::text("FINAL")));
            assert_eq!(answer(&run)["data"]["model_used"], expected);
            let id = if expected == "main" { "test-model" } else { "light-model" };
            assert_eq!(run.sub_agents()[0].model, id);
        }
    }
}

#[test]
fn s0_49_s0_60_the_main_agent_is_told_when_to_delegate_and_which_model_to_prefer() {
    let run = run(&World::new(), "anthropic", Script::always(reply::text("ok")));
    let description = run.main_agent()[0].tool("Task").description.clone();
    for said in [
        "Use Task for complex or parallelizable work.",
        "Prefer model `light` for simpler tasks: summaries, quick lookups.",
        "Prefer model `main` for complex reasoning or plan-heavy tasks.",
    ] {
        assert!(description.contains(said), "{said}: {description}");
    }
}

#[test]
fn s0_46_a_call_may_be_forbidden_to_choose() {
    let script = delegating(with_model("explore", "main"));
    let run = run_with(&World::new(), "anthropic", script, &["--set", "task_tool.allow_model_override=false"]);
    assert_eq!(answer(&run)["error"]["code"], "INVALID_PARAM");
    assert!(run.sub_agents().is_empty());
}

#[test]
fn s0_30_s0_32_the_model_used_is_the_route_that_served_also_where_a_file_names_one_of_its_own() {
    let (world, other) = (World::new(), ScriptedServer::start(Script::always(reply::text("FINAL"))).unwrap());
    let route = format!("model = \"oo\"\nbase_url = \"{}\"\nwire = \"openai-chat\"\napi_key = \"k\"", other.base_url());
    world.config(&format!("[routes.other]\n{route}\n"));
    for agent in ["explore", "plan"] {
        let text = format!("---\nname: {agent}\ndescription: Mine\nmodel: other\n---\nMINE\n");
        world.write(&format!("home/.config/sortie/agents/{agent}.md"), &text);
        let json = arguments(agent).to_string();
        let ended = world.sortie(["task", "--contract", "envelope", "--json", &json]).on(&other, "anthropic").run();
        let answer = ended.stdout_json();
        assert_eq!(
            (&answer["status"], &answer["data"]["model_used"]),
            (&json!("success"), &json!("other")),
            "{answer:#}"
        );
        assert_eq!(other.requests().last().unwrap().body["model"], "oo");
    }
}
