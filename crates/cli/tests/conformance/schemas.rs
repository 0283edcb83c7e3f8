//! Definitions of all contracts, judged by a foreign draft-07 validator and by the rules of the providers that take
//! them. The program must accept what a schema admits.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use expect_test::expect;
use serde_json::{Value, json};
use sortie_testkit::{ScriptedPart, reply};

use crate::world::{Run, World, main_agent_calls};

/// Each contract with its tool and valid arguments.
fn contracts() -> [(&'static str, &'static str, Value); 7] {
    let typed = |agent: &str| json!({"description": "Find it", "prompt": "Where is it?", "subagent_type": agent});
    [
        ("envelope", "Task", typed("explore")),
        ("result", "Task", typed("reviewer")),
        ("delegate", "task", json!({"task": "Where is it?"})),
        ("typed", "Task", typed("Explore")),
        ("child", "task", typed("explore")),
        ("child-recipe", "task", json!({"description": "Find it", "prompt": "Where is it?"})),
        ("sortie", "Task", typed("explore")),
    ]
}

/// World with an agent file, so that lists of agents exceed the contract's own.
fn world() -> World {
    let world = World::new();
    let file = "---\nname: reviewer\ndescription: Reviews \"code\"\n---\nYou review.\n";
    world.write("home/.config/sortie/agents/reviewer.md", file);
    world
}

/// Tool as a provider gets it: its name, its schema, and all of it.
struct Shape {
    name: String,
    schema: Value,
    whole: Value,
}

/// Definitions in the shapes of `sortie schema`; the plain one has no name.
fn shapes(world: &World, contract: &str) -> [Shape; 3] {
    [
        ("json", "/no-name", ""),
        ("anthropic", "/name", "/input_schema"),
        ("openai", "/function/name", "/function/parameters"),
    ]
    .map(|(format, name, schema)| {
        let whole = world.sortie(["schema", "--contract", contract, "--format", format]).run().stdout_json();
        let name = whole.pointer(name).and_then(Value::as_str).unwrap_or("Task").to_owned();
        Shape { name, schema: whole.pointer(schema).unwrap().clone(), whole }
    })
}

#[derive(Debug)]
struct Judgement {
    /// Mistakes in the schema itself.
    wrong: Vec<String>,
    /// Verdict on each example: true if the schema admits it.
    admitted: Vec<bool>,
}

/// Judgement of draft-07 about these schemas and their examples.
fn judged(cases: &Value) -> Vec<Judgement> {
    let python = std::env::var_os("SORTIE_TEST_PYTHON").unwrap_or_else(|| {
        panic!("SORTIE_TEST_PYTHON is not set: it names a Python that has `jsonschema`; `cargo xtask conformance` makes one")
    });
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/draft7.py");
    let mut judge = Command::new(python).arg(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    judge.stdin.take().unwrap().write_all(cases.to_string().as_bytes()).unwrap();
    let output = judge.wait_with_output().unwrap();
    assert!(output.status.success(), "its complaint stands above");
    let judgements: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let list = |judgement: &Value, key: &str| judgement[key].as_array().unwrap().clone();
    let judgement = |judgement: &Value| Judgement {
        wrong: list(judgement, "wrong").iter().map(Value::to_string).collect(),
        admitted: list(judgement, "admitted").iter().map(|admitted| admitted == true).collect(),
    };
    judgements.iter().map(judgement).collect()
}

#[test]
fn s0_21_s1_08_s2_27_s3_02_s4_05_every_schema_is_a_draft_07_schema_in_every_shape() {
    let world = world();
    for (contract, _, arguments) in contracts() {
        let cases: Vec<Value> = shapes(&world, contract)
            .into_iter()
            .map(|shape| json!({"schema": shape.schema, "examples": [arguments, {}]}))
            .collect();
        for judgement in judged(&cases.into()) {
            assert_eq!(judgement.wrong, Vec::<String>::new(), "{contract}");
            assert_eq!(judgement.admitted, [true, false], "{contract}: what it takes, and nothing at all");
        }
    }
    let blind = judged(&json!([{"schema": {"type": "strin", "required": "x"}, "examples": []}]));
    assert_eq!(blind[0].wrong.len(), 2, "the judge sees what is wrong: {blind:?}");
}

/// Keywords that every provider takes in the schema of a tool. One provider or another refuses or silently ignores
/// others, such as `$ref`, `definitions`, `allOf`, `anyOf`, `oneOf`, `not`, `if`, `const`, `patternProperties`,
/// `propertyNames`, `dependencies`, `contains`, `examples`, `format` and `pattern`.
const KEYWORDS: [&str; 11] = [
    "$schema",
    "additionalProperties",
    "default",
    "description",
    "enum",
    "exclusiveMinimum",
    "items",
    "minLength",
    "properties",
    "required",
    "type",
];

/// Collects all keywords of a schema, and the names of all properties.
fn words(schema: &Value, keywords: &mut BTreeSet<String>, properties: &mut BTreeSet<String>) {
    for (keyword, value) in schema.as_object().unwrap_or_else(|| panic!("a schema is an object: {schema}")) {
        keywords.insert(keyword.clone());
        if keyword == "items" {
            words(value, keywords, properties);
        }
        if keyword == "properties" {
            for (name, property) in value.as_object().unwrap() {
                properties.insert(name.clone());
                words(property, keywords, properties);
            }
        }
    }
}

/// `^[a-zA-Z0-9_-]{1,64}$`, the strictest of the providers' patterns.
fn is_portable(name: &str) -> bool {
    let letters = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    (1..=64).contains(&name.len()) && name.chars().all(letters)
}

#[test]
fn s0_21_s1_02_s2_27_s3_02_s4_05_every_shape_follows_the_providers_rules() {
    let world = world();
    for (contract, tool, _) in contracts() {
        let [plain, anthropic, openai] = shapes(&world, contract);
        assert_eq!((&anthropic.schema, &openai.schema), (&plain.schema, &plain.schema), "{contract}: one schema");
        assert_eq!([&anthropic.name, &openai.name], [tool; 2]);
        assert!(is_portable(tool), "{tool}");
        assert_eq!(plain.schema["type"], "object", "{contract}: no provider takes arguments that are no object");

        let (mut keywords, mut properties) = (BTreeSet::new(), BTreeSet::new());
        words(&plain.schema, &mut keywords, &mut properties);
        let foreign: Vec<&String> = keywords.iter().filter(|word| !KEYWORDS.contains(&word.as_str())).collect();
        assert_eq!(foreign, Vec::<&String>::new(), "{contract}");
        assert!(properties.iter().all(|name| is_portable(name)), "{contract}: {properties:?}");

        let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&anthropic.whole), ["name", "description", "input_schema"], "{contract}");
        // `strict` would require every property and forbid all others.
        assert_eq!(keys(&openai.whole), ["type", "function"], "{contract}");
        assert_eq!(keys(&openai.whole["function"]), ["name", "description", "parameters"], "{contract}");
    }
}

/// Fields whose valid values no schema can describe. `resume` must name a task that has ended. `run_in_background` is
/// offered before its background task exists. `fork` is true or a number, and only `anyOf` could say so.
const NOT_BY_SCHEMA: [&str; 3] = ["resume", "run_in_background", "fork"];

/// Arguments that differ from good ones in one field each, with the difference.
fn variations(schema: &Value, good: &Value) -> Vec<(String, Value)> {
    let mut variations = vec![("as they should be".to_owned(), good.clone())];
    let mut changed = |name: &str, value: Option<Value>| {
        let mut arguments = good.clone();
        let said = if let Some(value) = value {
            arguments[name] = value.clone();
            format!("{name} = {value}")
        } else {
            arguments.as_object_mut().unwrap().remove(name);
            format!("no {name}")
        };
        variations.push((said, arguments));
    };
    let fields = schema["properties"].as_object().unwrap().keys();
    for name in fields.filter(|name| !NOT_BY_SCHEMA.contains(&name.as_str())) {
        changed(name, None);
        for value in [
            json!(null),
            json!(true),
            json!(-1),
            json!(0),
            json!(0.5),
            json!(3),
            json!([]),
            json!({}),
            json!(""),
            json!(" \n"),
            json!("EXPLORE"),
            json!("wizard"),
        ] {
            changed(name, Some(value));
        }
    }
    for (name, value) in [("max_turns", json!(0)), ("timeout_seconds", json!("9")), ("max_tokens", json!(-1))] {
        changed("limits", Some(json!({name: value})));
    }
    changed("verbosity", Some(json!("high")));
    variations
}

/// Every difference between a schema and the program, one line each.
fn differences(world: &World, contract: &str, tool: &str, good: &Value) -> String {
    let schema = &shapes(world, contract)[0].schema;
    let (said, arguments): (Vec<String>, Vec<Value>) = variations(schema, good).into_iter().unzip();
    let admitted = judged(&json!([{"schema": schema, "examples": arguments}])).remove(0).admitted;
    let calls: Vec<ScriptedPart> = arguments.iter().map(|arguments| reply::call(tool, arguments.clone())).collect();
    let script = main_agent_calls(calls).otherwise(reply::text("SERVED below."));
    let run = Run::of(world, contract, "openai-chat", script);
    let results = run.results();
    assert_eq!((results.len(), admitted.len()), (arguments.len(), arguments.len()), "{:#?}", run.ended);
    let lines = said.iter().zip(admitted).zip(&results).filter_map(|((said, admitted), result)| {
        match (admitted, result.text.contains("SERVED below.")) {
            (true, false) => Some(format!("{contract} refuses {said}\n")),
            (false, true) => Some(format!("{contract} takes {said}\n")),
            _ => None,
        }
    });
    lines.collect()
}

/// Without a difference, the program serves exactly what the schema admits. It refuses more if a schema cannot express
/// it: blank text, unknown names, limits that leave nothing. It accepts more if the meaning is plain: null for an
/// optional field, and the name of a type in other letters.
#[test]
fn s0_64_s0_65_s0_66_s1_22_s2_31_s3_03_s4_08_the_program_takes_what_the_schema_admits_and_refuses_the_rest() {
    let world = world();
    let told: String =
        contracts().iter().map(|(contract, tool, good)| differences(&world, contract, tool, good)).collect();
    expect![[r#"
        envelope refuses description = ""
        envelope refuses description = " \n"
        envelope refuses prompt = ""
        envelope refuses prompt = " \n"
        envelope takes subagent_type = "EXPLORE"
        envelope takes model = null
        result refuses description = ""
        result refuses description = " \n"
        result refuses prompt = ""
        result refuses prompt = " \n"
        result refuses subagent_type = ""
        result refuses subagent_type = " \n"
        result refuses subagent_type = "EXPLORE"
        result refuses subagent_type = "wizard"
        delegate refuses task = ""
        delegate refuses task = " \n"
        delegate takes model = null
        delegate refuses model = " \n"
        typed refuses description = " \n"
        typed refuses prompt = " \n"
        typed takes subagent_type = "EXPLORE"
        typed takes model = null
        typed takes max_turns = null
        child refuses description = ""
        child refuses description = " \n"
        child refuses prompt = ""
        child refuses prompt = " \n"
        child takes subagent_type = null
        child takes subagent_type = "EXPLORE"
        child-recipe refuses description = ""
        child-recipe refuses description = " \n"
        child-recipe refuses prompt = ""
        child-recipe refuses prompt = " \n"
        sortie refuses description = ""
        sortie refuses description = " \n"
        sortie refuses prompt = ""
        sortie refuses prompt = " \n"
        sortie takes subagent_type = null
        sortie takes subagent_type = "EXPLORE"
        sortie takes model = null
        sortie refuses model = ""
        sortie refuses model = " \n"
        sortie takes limits = null
        sortie takes output_schema = null
        sortie takes context_files = null
        sortie refuses limits = {"max_turns":0}
        sortie refuses limits = {"timeout_seconds":"9"}
        sortie refuses limits = {"max_tokens":-1}
    "#]]
    .assert_eq(&told);
}
