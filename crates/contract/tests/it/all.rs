//! Properties of all contracts.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use sortie_contract::{CONTRACTS, Contract, Envelope, contract};
use sortie_protocol::{FailedCalls, FailureCode, Limit, TaskOutcome, Usage};
use sortie_schema::Schema;

use crate::arbitrary;
use crate::sample::{
    FAILURES, LIMITS, REJECTIONS, again, agents, call, cancelled, completed, failed, failure, keys, launched, limited,
    truncated,
};

fn all() -> Vec<Arc<dyn Contract>> {
    CONTRACTS.iter().map(|name| contract(name).expect("a contract")).collect()
}

#[test]
fn c_01_every_contract_has_a_name_and_five_have_a_short_one() {
    let tools = ["Task", "Task", "task", "Task", "task", "task", "Task"];
    let shorts = ["s0", "s1", "s2", "s3", "s4", "child-recipe", "default"];
    for ((name, short), tool) in CONTRACTS.into_iter().zip(shorts).zip(tools) {
        for asked in [name, short] {
            let found = contract(asked).expect(asked);
            assert_eq!((found.name(), found.tool_name()), (name, tool), "C-01");
        }
    }
    assert!(all().iter().all(|known| contract(known.name()).is_some()), "a recorded name is found again");
    assert!(["", "s5", "Envelope", "child recipe"].iter().all(|name| contract(name).is_none()));
}

#[test]
fn a_cached_outcome_is_marked_unless_the_dialect_has_only_the_report() {
    let report = "It is in a.rs.";
    for contract in all() {
        let arguments = call(r#"{"description":"d","prompt":"p","subagent_type":"explore"}"#);
        let told = |outcome: &TaskOutcome| contract.encode_for_model(&arguments, Ok(outcome), "mark");
        assert!(!told(&completed(report)).contains("answered from "), "{}", contract.name());
        assert_eq!(told(&again(report)).contains("answered from "), contract.name() != "result", "{}", contract.name());
        assert!(contract.behind_report(&completed(report)).is_empty(), "{}", contract.name());
        let behind = contract.behind_report(&again(report));
        if !behind.is_empty() {
            let value = contract.encode(&arguments, Ok(&again(report)));
            let whole = json!(format!("{report}{behind}"));
            let fields = value.as_object().expect("an object");
            assert!(fields.values().any(|field| *field == whole), "{value}");
        }
    }
}

/// Draft-07 keywords that every provider accepts.
const KEYWORDS: [&str; 11] = [
    "$schema",
    "type",
    "properties",
    "required",
    "items",
    "additionalProperties",
    "description",
    "enum",
    "default",
    "minLength",
    "exclusiveMinimum",
];

fn check_keywords(schema: &Value, name: &str) {
    for (keyword, value) in schema.as_object().expect("a schema") {
        assert!(KEYWORDS.contains(&keyword.as_str()), "K24: {name} uses {keyword}");
        if keyword == "properties" {
            value.as_object().expect("properties").values().for_each(|property| check_keywords(property, name));
        }
    }
}

#[test]
fn k24_schemas_and_names_are_accepted_by_all_providers() {
    for contract in all() {
        let schema = contract.schema(&agents());
        check_keywords(&schema, contract.name());
        assert_eq!(schema["type"], "object", "K24");
        let properties = schema["properties"].as_object().expect("properties");
        let required = schema["required"].as_array().expect("required");
        assert!(required.iter().all(|name| properties.contains_key(name.as_str().expect("a name"))), "K24");
        let tool = contract.tool_name();
        assert!(tool.len() <= 64 && tool.bytes().all(|byte| byte.is_ascii_alphanumeric()), "K24: {tool}");
    }
}

/// A valid value for a property.
fn sample(property: &Value) -> Value {
    let first = property["enum"].as_array().map(|choices| choices[0].clone());
    // A property of several types names none: not every provider knows lists of types.
    match property["type"].as_str().unwrap_or("boolean") {
        "string" => first.unwrap_or_else(|| json!("some text")),
        "boolean" => json!(false),
        "integer" | "number" => json!(1),
        "array" => json!(["a text"]),
        _ => json!({}),
    }
}

fn sample_arguments(contract: &dyn Contract) -> Map<String, Value> {
    let schema = contract.schema(&agents());
    let properties = schema["properties"].as_object().expect("properties");
    properties.iter().map(|(name, property)| (name.clone(), sample(property))).collect()
}

#[test]
fn k02_k24_offered_fields_are_understood_and_required_ones_are_required() {
    for contract in all() {
        let (name, schema) = (contract.name(), contract.schema(&agents()));
        let whole = sample_arguments(contract.as_ref());
        let request = contract.decode(&Value::from(whole.clone()).to_string()).expect(name);
        assert_eq!(request.notices, Vec::<String>::new(), "K24 {name}");

        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let mut least = whole.clone();
        least.retain(|field, _| required.contains(&field.as_str()));
        contract.decode(&Value::from(least.clone()).to_string()).expect(name);
        for field in required {
            let without = least.iter().filter(|(known, _)| *known != field);
            let without: Map<String, Value> = without.map(|(name, value)| (name.clone(), value.clone())).collect();
            let failure = contract.decode(&Value::from(without).to_string()).expect_err(name);
            assert_eq!(failure.code, FailureCode::InvalidArguments, "K02 {name}");
            assert!(failure.message.contains(&format!("`{field}`")), "K02 {name}: {failure}");
        }
    }
}

#[test]
fn c_02_the_contract_reads_its_agent_field() {
    for contract in all() {
        let mut arguments = sample_arguments(contract.as_ref());
        let Some(field) = contract.agent_field() else {
            assert_eq!(contract.name(), "delegate", "C-02: it has no field for one");
            continue;
        };
        arguments.insert(field.to_owned(), json!("Plan"));
        let request = contract.decode(&Value::from(arguments).to_string()).expect("a request");
        assert!(request.agent.eq_ignore_ascii_case("plan"), "C-02 {}: {request:?}", contract.name());
        assert_eq!(request.notices, Vec::<String>::new(), "C-18 {}", contract.name());
    }
}

#[test]
fn k02_every_choice_in_a_schema_is_accepted() {
    for contract in all() {
        let schema = contract.schema(&agents());
        for (name, property) in schema["properties"].as_object().expect("properties") {
            for choice in property["enum"].as_array().into_iter().flatten() {
                let mut arguments = sample_arguments(contract.as_ref());
                arguments.insert(name.clone(), choice.clone());
                contract.decode(&Value::from(arguments).to_string()).expect("a request");
            }
        }
    }
}

#[test]
fn k02_a_prompt_of_a_megabyte_and_odd_letters_are_kept_byte_for_byte() {
    let long = "Zeile 🦀 \u{0} \"quoted\" \\ \u{2028}\n".repeat(40_000);
    for contract in all() {
        let field = if contract.name() == "delegate" { "task" } else { "prompt" };
        let mut arguments = sample_arguments(contract.as_ref());
        arguments.insert(field.to_owned(), json!(long));
        let request = contract.decode(&Value::from(arguments).to_string()).expect("a request");
        assert!(request.prompt == long, "S0-43, K02 {}", contract.name());
    }
}

/// The schema by which a host checks answers.
fn output_schema(contract: &dyn Contract) -> Schema {
    Schema::read(&contract.output_schema()).expect("a schema")
}

/// One outcome for each way in which a task can end.
fn outcomes() -> Vec<TaskOutcome> {
    let whole = [completed("Found."), completed(""), truncated("Fou"), cancelled(""), cancelled("Fou")];
    let limited = LIMITS.into_iter().chain([Limit::Deadline, Limit::Stalled]).map(|limit| limited(limit, "Fou"));
    let failed = FAILURES.into_iter().map(|code| failed(failure(code), ""));
    whole.into_iter().chain(limited).chain(failed).collect()
}

#[test]
fn every_kind_of_answer_matches_the_output_schema() {
    for contract in all() {
        let call = call(r#"{"description":"d","prompt":"p","subagent_type":"explore"}"#);
        let rejections = REJECTIONS.map(failure);
        let outcomes = outcomes();
        let ended = outcomes.iter().map(|outcome| contract.encode_for_host(&call, Ok(outcome), "m1").object);
        let rejected = rejections.iter().map(|failure| contract.encode_for_host(&call, Err(failure), "m1").object);
        let in_background = contract.defaults().companions.allow_background();
        let background = in_background.then(|| contract.encode_launched_for_host(&launched()).object);
        for answer in ended.chain(rejected).chain(background) {
            let misfits = output_schema(contract.as_ref()).check(&answer);
            assert!(misfits.is_empty(), "{}: {misfits:?} in {answer:#}", contract.name());
        }
    }
}

#[test]
fn other_objects_do_not_match_the_output_schema() {
    for contract in all() {
        let (name, schema) = (contract.name(), output_schema(contract.as_ref()));
        assert_eq!(contract.output_schema()["type"], "object", "{name}: hosts take no other");
        let answer = contract.encode_for_host(&call("{}"), Ok(&completed("Found.")), "m1").object;
        let named = contract.output_schema()["properties"].as_object().cloned().expect("properties");
        for field in named.keys().filter(|field| answer.get(field.as_str()).is_some()) {
            let mut other = answer.clone();
            other[field] = Value::Null;
            assert!(!schema.check(&other).is_empty(), "{name}: {field} can be anything");
        }
        assert!(!schema.check(&json!({})).is_empty(), "{name}: an answer can be empty");
    }
}

/// The required and the optional keys of this contract's answers.
fn key_set(contract: &str, started: bool) -> (&'static [&'static str], &'static [&'static str]) {
    match (contract, started) {
        ("envelope", _) => (&["context", "data", "stats", "status", "text"], &["error"]),
        ("result", _) => (&["content", "shortResult", "success"], &["error"]),
        ("delegate", true) => (&["files_modified", "success", "summary", "tokens_used"], &["error"]),
        ("typed", _) => (&["agentId", "success"], &["result", "error"]),
        ("child", true) => (&["summary", "toolCalls", "tokensUsed"], &["error"]),
        ("child-recipe", true) => (&["summary", "toolCalls", "tokens"], &["error"]),
        ("sortie", true) => (
            &["agent", "model", "status", "task_id", "text", "usage"],
            &["reason", "files_changed", "tool_summary", "truncated", "full_text_path", "notices", "error"],
        ),
        ("sortie", false) => (&["error", "status"], &[]),
        _ => (&["error"], &[]),
    }
}

fn check_keys(contract: &dyn Contract, started: bool, value: &Value) -> Result<(), TestCaseError> {
    let (always, sometimes) = key_set(contract.name(), started);
    let found = keys(value);
    prop_assert!(always.iter().all(|key| found.contains(key)), "{} lacks one: {value}", contract.name());
    let known = |key: &&str| always.contains(key) || sometimes.contains(key);
    prop_assert!(found.iter().all(known), "{} has one too many: {value}", contract.name());
    Ok(())
}

const CODES: [&str; 17] = [
    "NOT_FOUND",
    "ACCESS_DENIED",
    "PERMISSION_DENIED",
    "INVALID_PARAM",
    "TIMEOUT",
    "INTERNAL_ERROR",
    "EXECUTION_ERROR",
    "CONFLICT",
    "IS_DIRECTORY",
    "BINARY_FILE",
    "CIRCUIT_OPEN",
    "MCP_PARAM_ERROR",
    "MCP_PARSE_ERROR",
    "MCP_EXECUTION_ERROR",
    "MCP_NETWORK_ERROR",
    "MCP_TIMEOUT",
    "MCP_NOT_FOUND",
];

/// Checks the general tool protocol that `envelope` follows.
fn check_protocol(value: &Value) -> Result<(), TestCaseError> {
    let top = ["status", "data", "text", "error", "stats", "context"];
    prop_assert!(keys(value).iter().all(|key| top.contains(key)), "P-01 {value}");
    let status = value["status"].as_str().unwrap_or_default();
    prop_assert!(["success", "partial", "error"].contains(&status), "P-02 {value}");
    let data = value["data"].as_object();
    prop_assert!(data.is_some_and(|data| status != "error" || data.is_empty()), "P-03 {value}");
    let text = value["text"].as_str().unwrap_or_default();
    prop_assert!(!text.trim().is_empty(), "P-04 {value}");
    let has = |words: &[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
    prop_assert!(status != "partial" || has(&["partial", "incomplete"]), "P-04, the reason: {value}");
    prop_assert!(status == "success" || has(&["try", "check", "use"]), "P-04, a next step: {value}");
    prop_assert_eq!(value.get("error").is_some(), status == "error", "P-05 {}", value);
    if let Some(error) = value.get("error") {
        prop_assert_eq!(keys(error), ["code", "message"], "P-05");
        prop_assert!(error["message"].is_string(), "P-05 {value}");
        prop_assert!(CODES.contains(&error["code"].as_str().unwrap_or_default()), "P-08 {value}");
    }
    let stats = value["stats"].as_object().cloned().unwrap_or_default();
    prop_assert!(stats.get("time_ms").and_then(Value::as_u64).is_some_and(|ms| ms >= 1), "P-06 {value}");
    prop_assert!(stats.values().all(|figure| figure.is_number() || figure.is_string()), "P-06 {value}");
    prop_assert!(value["context"]["cwd"].is_string(), "P-07 {value}");
    prop_assert!(value["context"].get("params_input").is_some(), "P-07 {value}");
    let partial_because = |key: &str| value["data"].get(key).is_none() || status == "partial";
    prop_assert!(partial_because("truncated") && partial_because("fallback"), "P-09, P-13 {value}");
    Ok(())
}

/// JSON values, with field names of contracts among the keys.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        proptest::sample::select(vec!["explore", "main", "haiku", "none"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 6, |inner| {
        let known = vec![
            "description",
            "prompt",
            "subagent_type",
            "model",
            "task",
            "max_turns",
            "resume",
            "run_in_background",
            "limits",
            "timeout_seconds",
            "isolation",
            "output_schema",
            "agentType",
        ];
        let key = prop_oneof![4 => proptest::sample::select(known).prop_map(str::to_owned), 1 => any::<String>()];
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((key, inner), 0..8).prop_map(|fields| fields.into_iter().collect()),
        ]
    })
}

proptest! {
    #[test]
    fn k02_no_arguments_break_a_contract(value in json_value(), bytes in vec(any::<u8>(), 0..64)) {
        for arguments in [value.to_string(), String::from_utf8_lossy(&bytes).into_owned()] {
            for contract in all() {
                let value = match contract.decode(&arguments) {
                    Ok(request) => {
                        prop_assert!(!request.prompt.trim().is_empty() && !request.title.trim().is_empty());
                        prop_assert!(!request.agent.trim().is_empty());
                        continue;
                    }
                    Err(failure) => contract.encode(&call(&arguments), Err(&failure)),
                };
                check_keys(contract.as_ref(), false, &value)?;
            }
        }
    }

    #[test]
    fn c_07_every_answer_is_json_with_its_own_keys(outcome in arbitrary::outcome(), failure in arbitrary::failure()) {
        for contract in all() {
            for answer in [Ok(&outcome), Err(&failure)] {
                let call = call(r#"{"description":"d","prompt":"p","subagent_type":"explore"}"#);
                let value = contract.encode(&call, answer);
                check_keys(contract.as_ref(), answer.is_ok(), &value)?;
                let misfits = output_schema(contract.as_ref()).check(&value);
                prop_assert!(misfits.is_empty(), "{}: {misfits:?} in {value}", contract.name());
                let written = value.to_string();
                prop_assert_eq!(&serde_json::from_str::<Value>(&written).expect("JSON"), &value);
                let told = contract.encode_for_model(&call, answer, "mark");
                prop_assert!(!told.is_empty());
                let in_words = contract.name() == "sortie" || (contract.name() == "delegate" && answer.is_err());
                prop_assert!(in_words || told == written, "{} says {told}", contract.name());
            }
            prop_assert!(contract.is_error(Err(&failure)), "C-17");
        }
    }

    #[test]
    fn p_01_to_p_09_every_envelope_follows_the_protocol(
        outcome in arbitrary::outcome(),
        failure in arbitrary::failure(),
        arguments in json_value(),
    ) {
        let arguments = arguments.to_string();
        for answer in [Ok(&outcome), Err(&failure)] {
            let value = Envelope.encode(&call(&arguments), answer);
            check_protocol(&value)?;
            prop_assert_eq!(Envelope.is_error(answer), value["status"] == "error", "C-17");
        }
    }
}

/// Contracts whose answers have room for calls without success, with the path to the object that has them.
const WITH_ROOM: [(&str, &str); 6] =
    [("envelope", "/data"), ("delegate", ""), ("typed", ""), ("child", ""), ("child-recipe", ""), ("sortie", "")];

fn calls(tool: &str, count: u64) -> FailedCalls {
    FailedCalls { tool: tool.to_owned(), count, reason: "nobody can be asked".into() }
}

#[test]
fn calls_without_success_are_in_every_answer_with_room_for_them() {
    let refused = vec![calls("Write", 2), calls("Bash", 1)];
    let outcome = TaskOutcome { refused, failed: vec![calls("Read", 3), calls("Grep", 1)], ..completed("Done.") };
    let notice = "none of its 7 tool calls succeeded: 4 failed, 3 refused";
    let outcome = TaskOutcome { notices: vec![notice.to_owned()], ..outcome };
    for (name, place) in WITH_ROOM {
        let contract = sortie_contract::contract(name).unwrap();
        let answer = contract.encode(&call("{}"), Ok(&outcome));
        let object = answer.pointer(place).unwrap();
        assert_eq!(
            (&object["failed"], &object["refused"]),
            (&json!(outcome.failed), &json!(outcome.refused)),
            "{name}"
        );
        let told = if name == "sortie" { &object["notices"][0] } else { &object["notice"] };
        assert_eq!(told, notice, "{name}: {answer:#}");
        let usual = contract.encode(&call("{}"), Ok(&completed("Done.")));
        let usual = usual.pointer(place).unwrap();
        assert!(["failed", "refused", "notice"].iter().all(|key| usual.get(key).is_none()), "{name}: {usual:#}");
    }
    let head = sortie_contract::head_line(&outcome);
    assert!(head.contains(", 3 calls refused, "), "{head}");
    let usage = Usage { failed_calls: 4, ..outcome.usage };
    let head = sortie_contract::head_line(&TaskOutcome { usage, ..outcome });
    assert!(head.contains(", 4 calls (4 failed), 3 calls refused, "), "{head}");
}

#[test]
fn published_schemas_describe_calls_without_success() {
    let outcome = TaskOutcome { failed: vec![calls("Read", 4)], refused: vec![calls("Bash", 1)], ..completed("Done.") };
    for (name, place) in WITH_ROOM {
        let contract = sortie_contract::contract(name).unwrap();
        let (schema, answer) = (output_schema(contract.as_ref()), contract.encode(&call("{}"), Ok(&outcome)));
        assert!(schema.check(&answer).is_empty(), "{name}: {answer:#}");
        for (field, wrong) in [("failed", json!([{"tool": "Read"}])), ("refused", json!({"Bash": 1}))] {
            let mut other = answer.clone();
            other.pointer_mut(place).unwrap()[field] = wrong;
            assert!(!schema.check(&other).is_empty(), "{name}: {field} can be anything");
        }
    }
}
