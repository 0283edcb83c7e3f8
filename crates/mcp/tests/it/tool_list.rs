//! Cost of the tools for a host, which carries them in every request of its own model.

use serde_json::json;
use sortie_schema::Schema;
use sortie_testkit::{Script, reply, when};

use crate::site::{Site, call};

/// Most tokens that a host spends on Sortie before any call.
const MAX_TOKENS: usize = 1000;

#[tokio::test]
async fn the_list_of_tools_is_short_in_every_contract() {
    for contract in sortie_contract::CONTRACTS {
        let spoken = sortie_contract::contract(contract).expect("it is there");
        let site = Site::speaking(spoken, Script::new(), &[]);
        let client = site.connect(()).await;
        let tools = client.list_tools(None).await.expect("tools");
        let n_tokens = bpe_openai::o200k_base().count(&serde_json::to_string(&tools).expect("JSON"));
        assert!(n_tokens <= MAX_TOKENS, "{contract}: {n_tokens} tokens: {tools:#?}");
    }
}

const REVIEWER: &str = "---\nname: reviewer\ndescription: Reviews\n---\nYou review.\n";

#[tokio::test]
async fn answers_match_their_schema_in_the_list_of_tools() {
    for contract in sortie_contract::CONTRACTS {
        let spoken = sortie_contract::contract(contract).expect("it is there");
        let field = spoken.agent_field();
        let agent = if contract == "result" { "reviewer" } else { "explore" };
        let script =
            Script::new().on(when::prompt_contains("FAIL"), reply::status(400)).otherwise(reply::text("Seen."));
        let site = Site::speaking(spoken, script, &[(".sortie/agents/reviewer.md", REVIEWER)]);
        let client = site.connect(()).await;
        let tools = client.list_all_tools().await.expect("tools");
        let schema = json!(tools[0].output_schema.as_deref().expect("a schema"));
        let schema = Schema::read(&schema).expect("a schema");
        for (prompt, has_failed) in [("Look.", false), ("FAIL", true), ("", true)] {
            let mut arguments = match contract {
                "delegate" => json!({"task": prompt}),
                _ => json!({"description": "a piece", "prompt": prompt}),
            };
            if let Some(field) = field {
                arguments[field] = json!(agent);
            }
            let answer = call(&client, &tools[0].name, arguments).await;
            // In this contract, a task that ran and failed is a result like any other.
            let is_error = has_failed && !(contract == "delegate" && prompt == "FAIL");
            assert_eq!(answer.is_error, Some(is_error), "{contract}: {answer:?}");
            let answer = answer.structured_content.expect("an object");
            let misfits = schema.check(&answer);
            assert!(misfits.is_empty(), "{contract}: {misfits:?} in {answer:#}");
        }
    }
}

/// Most tokens of the object, per hundred of the text, in a short report.
const MAX_PERCENT: usize = 125;

#[tokio::test]
async fn the_object_of_a_short_report_costs_little_more_than_its_text() {
    for report in ["Done.", "It is in src/auth.rs, line 12.", "He said \"no\" to `x` in C:\\dir.\n- one\n- two"] {
        let site = Site::new(Script::always(reply::text(report)), &[]);
        let client = site.connect(()).await;
        let answer = call(&client, "Task", json!({"description": "a piece", "prompt": "Look."})).await;
        let text = &answer.content[0].as_text().expect("a text").text;
        let object = answer.structured_content.as_ref().expect("an object").to_string();
        let [text_tokens, object_tokens] = [text, &object].map(|form| bpe_openai::o200k_base().count(form));
        assert!(
            object_tokens * 100 <= text_tokens * MAX_PERCENT,
            "{object_tokens} tokens in {object} for {text_tokens} in {text}"
        );
    }
}
