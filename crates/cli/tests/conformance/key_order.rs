//! Order of the keys that callers read, on every way to them: a run's own model, the command line and MCP.
//!
//! A value keeps the order of the bytes that it was read from, so its keys are compared as they came.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::session::Session;
use crate::world::{Run, World, main_agent_calls};

/// One contract: its tool and a call, the keys of its schema, and those of its answers to that call.
struct Case {
    contract: &'static str,
    tool: &'static str,
    arguments: Value,
    schema: &'static str,
    completed: &'static str,
    refused: &'static str,
}

fn cases() -> [Case; 7] {
    let typed = |agent: &str| json!({"description": "Find it", "prompt": "CHILD looks", "subagent_type": agent});
    [
        Case {
            contract: "envelope",
            tool: "Task",
            arguments: typed("explore"),
            schema: "type properties{description{type description} prompt{type description} \
                     subagent_type{type enum description} model{type enum description}} required",
            completed: "status data{status result tool_summary[{tool count}] model_used subagent_type} text \
                        stats{time_ms tool_calls model} context{cwd params_input{description prompt subagent_type}}",
            refused: "status data{} text error{code message} stats{time_ms tool_calls} context{cwd params_input{}}",
        },
        Case {
            contract: "result",
            tool: "Task",
            arguments: typed("reviewer"),
            schema: "type properties{description{type description} prompt{type description} \
                     subagent_type{type description}} required additionalProperties $schema",
            completed: "success content shortResult",
            refused: "success content error shortResult",
        },
        Case {
            contract: "delegate",
            tool: "task",
            arguments: json!({"task": "CHILD looks"}),
            schema: "type properties{task{type description} model{type description}} required",
            completed: "success files_modified summary tokens_used",
            refused: "error",
        },
        Case {
            contract: "typed",
            tool: "Task",
            arguments: typed("Explore"),
            schema: "type properties{description{type minLength description} prompt{type minLength description} \
                     subagent_type{type enum description} model{type enum description} \
                     run_in_background{type description} resume{type description} \
                     max_turns{type exclusiveMinimum description}} required",
            completed: "success result agentId",
            refused: "success agentId error",
        },
        Case {
            contract: "child",
            tool: "task",
            arguments: typed("explore"),
            schema: "type properties{description{type description} prompt{type description} \
                     subagent_type{type enum default}} required",
            completed: "summary toolCalls tokensUsed",
            refused: "error",
        },
        Case {
            contract: "child-recipe",
            tool: "task",
            arguments: json!({"description": "Find it", "prompt": "CHILD looks"}),
            schema: "type properties{description{type description} prompt{type description}} required",
            completed: "summary toolCalls tokens",
            refused: "error",
        },
        Case {
            contract: "sortie",
            tool: "Task",
            arguments: typed("explore"),
            schema: "type properties{description{type description} prompt{type description} \
                     subagent_type{type enum default} model{type description} \
                     run_in_background{type description} resume{type description} limits{type description} \
                     output_schema{type description} fork{description} context_files{type items{type}}} required",
            completed: "task_id agent status text tool_summary[{tool count}] model{route id} \
                        usage{input_tokens output_tokens cache_read_tokens cache_write_tokens total_tokens \
                        turns tool_calls duration_ms}",
            refused: "status error{code message}",
        },
    ]
}

/// World with an agent for the contract that has none of its own.
fn world() -> World {
    let world = World::new();
    let file = "---\nname: reviewer\ndescription: Reviews code\n---\nYou review.\n";
    world.write("home/.config/sortie/agents/reviewer.md", file);
    world
}

/// The keys of an object in their order, with those of the objects and of the lists in it.
fn keys(value: &Value) -> String {
    let inner = |value: &Value| match value {
        Value::Object(_) => format!("{{{}}}", keys(value)),
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let items: Vec<String> = items.iter().map(|item| format!("{{{}}}", keys(item))).collect();
            format!("[{}]", items.join(" "))
        }
        _ => String::new(),
    };
    let fields = value.as_object().unwrap_or_else(|| panic!("no object: {value}"));
    fields.iter().map(|(key, value)| key.clone() + &inner(value)).collect::<Vec<_>>().join(" ")
}

/// Sub-agent that looks at one file and reports.
fn working(script: Script) -> Script {
    let look = reply::calls([reply::call("Read", json!({"file_path": "src/main.rs"}))]);
    script.on(when::turn(0), look).otherwise(reply::text("FINAL"))
}

const LIGHT: [&str; 2] = ["--set", "routes.light.model=light-model"];

#[test]
fn s0_38_s1_08_s2_13_s3_09_s4_02_answers_on_the_command_line_and_over_mcp_have_the_documents_order() {
    for Case { contract, tool, arguments, completed, refused, .. } in cases() {
        for (arguments, expected) in [(arguments, completed), (json!({}), refused)] {
            let (world, server) = (world(), ScriptedServer::start(working(Script::new())).unwrap());
            let request = arguments.to_string();
            let args = [&["task", "--contract", contract], &LIGHT[..], &["--json", &request]].concat();
            let printed = world.sortie(args).on(&server, "anthropic").run().stdout_json();
            assert_eq!(keys(&printed), expected, "{contract}: {printed}");

            let server = ScriptedServer::start(working(Script::new())).unwrap();
            let args = [&["mcp", "--contract", contract], &LIGHT[..]].concat();
            let mut session = Session::open(world.sortie(args).on(&server, "anthropic"), &json!({}));
            let answer = session.ask("tools/call", json!({"name": tool, "arguments": arguments}));
            let object = &answer["result"]["structuredContent"];
            // Our own contract has a shorter object for hosts.
            let is_short = contract == "sortie" && object["status"] == "completed";
            let expected = if is_short { "task_id agent status spent about_text text" } else { expected };
            assert_eq!(keys(object), expected, "{contract} over MCP: {answer}");
            session.close();
        }
    }
}

#[test]
fn s0_38_s1_08_s2_13_s3_09_s4_02_answers_to_a_runs_model_have_the_documents_order() {
    // The model of `sortie` reads text.
    for Case { contract, tool, arguments, completed, .. } in cases().into_iter().take(6) {
        for wire in ["anthropic", "openai-chat", "openai-responses", "gemini"] {
            let script = working(main_agent_calls([reply::call(tool, arguments.clone())]));
            let run = Run::with(&world(), contract, wire, script, &LIGHT);
            let told = objects(&run.server.requests().last().unwrap().body);
            let answer = told.last().unwrap_or_else(|| panic!("{contract} on {wire}: {:#?}", run.ended));
            assert_eq!(keys(answer), completed, "{contract} on {wire}: {answer}");
        }
    }
}

/// All objects written as text anywhere in a request, in its order. The arguments of calls are the caller's own.
fn objects(part: &Value) -> Vec<Value> {
    match part {
        Value::String(text) => serde_json::from_str(text).into_iter().filter(Value::is_object).collect(),
        Value::Array(parts) => parts.iter().flat_map(objects).collect(),
        Value::Object(fields) => {
            fields.iter().filter(|(key, _)| *key != "arguments").flat_map(|(_, part)| objects(part)).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn s0_21_s1_02_s2_27_s3_02_s4_05_schemas_have_the_documents_order_with_required_properties_first() {
    for Case { contract, tool, schema: expected, .. } in cases() {
        let world = world();
        let printed = world.sortie(["schema", "--contract", contract]).run().stdout_json();
        let mut session = Session::open(world.sortie(["mcp", "--contract", contract]), &json!({}));
        let listed = session.ask("tools/list", json!({}))["result"]["tools"][0].clone();
        session.close();
        let run = Run::of(&world, contract, "anthropic", Script::always(reply::text("Done.")));
        let offered = run.server.requests()[0].body["tools"].as_array().unwrap().clone();
        let offered = offered.iter().find(|offered| offered["name"] == tool).unwrap().clone();
        // A host has no conversation that could be forked.
        assert_eq!(keys(&listed["inputSchema"]), expected.replace("fork{description} ", ""), "{contract}");
        for schema in [&printed, &offered["input_schema"]] {
            assert_eq!(keys(schema), expected, "{contract}");
            check_required_first(schema);
        }
        check_required_first(&listed["inputSchema"]);
    }
}

#[test]
fn s0_21_every_tool_offers_its_required_properties_first() {
    let run = Run::of(&World::new(), "sortie", "anthropic", Script::always(reply::text("Done.")));
    let tools = run.server.requests()[0].body["tools"].as_array().unwrap().clone();
    assert!(tools.len() > 10, "{tools:#?}");
    for tool in tools {
        check_required_first(&tool["input_schema"]);
    }
}

fn check_required_first(schema: &Value) {
    let names: Vec<&str> = schema["properties"].as_object().unwrap().keys().map(String::as_str).collect();
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(names[..required.len()], required, "{schema}");
}
