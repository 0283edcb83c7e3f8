//! Structured answers on the command line.

use std::path::PathBuf;

use expect_test::{Expect, expect};
use serde_json::json;
use sortie_testkit::{Script, ScriptedServer, reply, when};

use crate::world::{Invocation, World};

/// A schema in a file, which a scripted model satisfies at its second attempt.
fn found(world: &World) -> (PathBuf, ScriptedServer) {
    let schema = json!({"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]});
    let file = world.write("schema.json", &schema.to_string());
    let script = Script::new()
        .on(when::last_contains("does not fit the schema"), reply::text("It is:\n```json\n{\"line\": 3}\n```"))
        .otherwise(reply::text("In line 3."));
    (file, ScriptedServer::start(script).unwrap())
}

#[test]
fn a_run_prints_the_value_alone_and_its_outcome_has_it() {
    let world = World::new();
    let (file, server) = found(&world);
    let run = |more: &[&str]| {
        let file = file.to_str().unwrap();
        let ended =
            world.sortie(["run", "Where?", "--output-schema", file].iter().chain(more)).on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        ended
    };
    assert_eq!(run(&[]).stdout, "{\n  \"line\": 3\n}\n");
    let outcome = run(&["--output-format", "json"]).stdout_json();
    assert_eq!(outcome["structured"], json!({"line": 3}));
    assert_eq!(outcome["text"], "It is:\n```json\n{\"line\": 3}\n```");
    assert_eq!(outcome["usage"]["turns"], 2);
}

#[test]
fn a_task_takes_the_schema_as_a_file_or_in_its_request() {
    let world = World::new();
    let (file, server) = found(&world);
    let request = json!({"description": "d", "prompt": "Where?", "output_schema": {"type": "object"}}).to_string();
    let file = file.to_str().unwrap();
    for arguments in [
        vec!["task", "--description", "d", "--prompt", "Where?", "--output-schema", file],
        vec!["task", "--json", &request],
    ] {
        let ended = world.sortie(arguments).on(&server, "anthropic").run();
        assert_eq!(ended.code, 0, "{ended:#?}");
        assert_eq!(ended.stdout_json()["structured"], json!({"line": 3}));
    }
}

fn check(invocation: Invocation, expected: &Expect) {
    expected.assert_eq(&invocation.run().transcript());
}

#[test]
fn an_unusable_schema_is_named() {
    let world = World::new();
    let file = |name: &str| world.path(name).display().to_string();
    world.write("broken.json", "{");
    world.write("unchecked.json", r#"{"properties": {"when": {"format": "date"}}}"#);
    let run = |name: &str| world.sortie(["run", "Where?", "--output-schema", &file(name)]);
    check(
        run("broken.json"),
        &expect![[r#"
        exit 2
        --- stderr
        error: the schema <dir>/broken.json is not valid JSON: EOF while parsing an object at line 1 column 1
    "#]],
    );
    check(
        run("unchecked.json"),
        &expect![[r#"
        exit 2
        --- stderr
        error: `output_schema` cannot be used: `format` at `/properties/when` is not supported; leave it out, or use other keywords
    "#]],
    );
    check(
        run("nowhere.json"),
        &expect![[r#"
        exit 2
        --- stderr
        error: the schema <dir>/nowhere.json cannot be read: No such file or directory (os error 2)
    "#]],
    );
    let task = |contract: &str| {
        let fields = ["--agent", "explore", "--description", "d", "--prompt", "p"];
        world.sortie(["task", "--contract", contract, "--output-schema", &file("unchecked.json")].iter().chain(&fields))
    };
    check(
        task("sortie"),
        &expect![[r#"
        exit 1
        --- stdout
        {"status":"rejected","error":{"code":"invalid_arguments","message":"`output_schema` cannot be used: `format` at `/properties/when` is not supported; leave it out, or use other keywords"}}
    "#]],
    );
    check(
        task("typed"),
        &expect![[r#"
        exit 2
        --- stderr
        error: the contract `typed` has no field for --output-schema
        hint: it takes --description, --prompt, --agent (its `subagent_type`), --model, --field run_in_background=…, --field resume=…, --field max_turns=…
    "#]],
    );
}
