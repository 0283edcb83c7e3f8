//! Approvals by the person behind a host: a form for each question, one at a time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorData, Implementation,
};
use rmcp::service::{RequestContext, RoleClient};
use serde_json::{Value, json};
use sortie_contract::contract;
use sortie_protocol::{GrantLayer, Mode};
use sortie_testkit::{Script, reply, when};
use tokio::sync::watch;

use crate::site::{Client, Site, call};

/// A person who always answers the same; `None` never answers.
#[derive(Clone)]
struct Person {
    answer: Option<ElicitResult>,
    forms: Arc<Mutex<Vec<Value>>>,
    /// Questions that are open, and the most that were open at once.
    open: watch::Sender<(usize, usize)>,
    cancelled: watch::Sender<usize>,
}

impl Person {
    fn who(answer: Option<ElicitResult>) -> Self {
        let (open, cancelled) = (watch::Sender::new((0, 0)), watch::Sender::new(0));
        Self { answer, forms: Arc::default(), open, cancelled }
    }

    fn says(decision: &str, reason: &str) -> Self {
        let content = json!({"decision": decision, "reason": reason});
        Self::who(Some(ElicitResult::new(ElicitationAction::Accept).with_content(content)))
    }

    fn messages(&self) -> Vec<String> {
        self.forms.lock().unwrap().iter().map(|form| form["message"].as_str().unwrap().to_owned()).collect()
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(ElicitationCapability::new());
        ClientConfig::new(capabilities, Implementation::new("a-host", "1"))
    }

    async fn create_elicitation(
        &self,
        form: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        self.forms.lock().unwrap().push(serde_json::to_value(form).unwrap());
        self.open.send_modify(|(open, most)| {
            *open += 1;
            *most = (*most).max(*open);
        });
        let Some(answer) = self.answer.clone() else {
            context.ct.cancelled().await;
            self.cancelled.send_modify(|count| *count += 1);
            return Ok(ElicitResult::new(ElicitationAction::Cancel));
        };
        // Others would come while this one is open.
        tokio::task::yield_now().await;
        self.open.send_modify(|(open, _)| *open -= 1);
        Ok(answer)
    }
}

fn writing() -> Script {
    let write = |path: &str| reply::call("Write", json!({"file_path": path, "content": "one\ntwo\n"}));
    Script::new().on(when::turn(0), reply::calls([write("a.txt"), write("b.txt")])).otherwise(reply::text("done"))
}

fn site(name: &str, script: Script) -> Site {
    let layer = GrantLayer { mode: Some(Mode::Default), ..GrantLayer::new("the user") };
    Site::under(layer, contract(name).unwrap(), script)
}

fn brief() -> Value {
    json!({"description": "write it", "prompt": "Write.", "subagent_type": "general-purpose"})
}

async fn outcome<C: ClientHandler>(client: &Client<C>) -> Value {
    call(client, "Task", brief()).await.structured_content.unwrap()
}

#[tokio::test]
async fn a_person_sees_the_change_and_allows_it_once() {
    let site = site("sortie", writing());
    let person = Person::says("allow once", "");
    let client = site.connect(person.clone()).await;
    let outcome = outcome(&client).await;
    assert_eq!((&outcome["status"], outcome.get("refused")), (&json!("completed"), None), "{outcome:#}");
    assert!(site.path("a.txt").exists() && site.path("b.txt").exists());
    let messages = person.messages();
    assert_eq!((messages.len(), person.open.borrow().1), (2, 1), "one form for each call, one at a time");
    let first = &messages[0];
    for part in ["Sub-agent general-purpose wants to use Write", "\u{201c}write it\u{201d}", "+one", "a.txt"] {
        assert!(first.contains(part), "{part} is not in {first}");
    }
    let form = person.forms.lock().unwrap()[0].clone();
    assert_eq!(form["requestedSchema"]["properties"]["decision"]["enum"], json!(["allow once", "refuse"]));
}

#[tokio::test]
async fn a_refusal_reaches_the_sub_agent_with_its_reason_and_the_result_tells_of_it() {
    for (person, words) in [
        (Person::says("refuse", "not this file"), "the user said no: not this file"),
        (Person::who(Some(ElicitResult::new(ElicitationAction::Decline))), "the user said no"),
        (Person::who(Some(ElicitResult::new(ElicitationAction::Cancel))), "the user said no"),
        // Without a decision, nothing is allowed.
        (Person::says("", ""), "the user said no"),
    ] {
        let site = site("sortie", writing());
        let client = site.connect(person).await;
        let outcome = outcome(&client).await;
        assert!(outcome["refused"][0]["reason"].as_str().unwrap().contains(words), "{outcome:#}");
        assert!(!site.path("a.txt").exists());
    }
}

#[tokio::test]
async fn without_forms_a_call_is_refused_with_the_rule_that_would_allow_it() {
    let site = site("sortie", writing());
    let client = site.connect(()).await;
    let outcome = outcome(&client).await;
    let refused = outcome["refused"][0]["reason"].as_str().unwrap();
    assert!(refused.contains("nobody can be asked here") && refused.contains("`Edit(/a.txt)`"), "{refused}");
}

#[tokio::test]
async fn a_command_for_the_background_is_asked_about_too_and_stopping_it_withdraws_the_form() {
    let site = site("sortie", writing());
    let person = Person::who(None);
    let client = site.connect(person.clone()).await;
    let mut arguments = brief();
    arguments["run_in_background"] = json!(true);
    let launched = call(&client, "Task", arguments).await.structured_content.unwrap();
    let mut open = person.open.subscribe();
    open.wait_for(|(open, _)| *open == 1).await.unwrap();
    call(&client, "SubagentStop", json!({"task_id": launched["task_id"]})).await;
    let mut cancelled = person.cancelled.subscribe();
    let withdrawn = cancelled.wait_for(|count| *count == 1);
    tokio::time::timeout(Duration::from_secs(30), withdrawn).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_person_of_another_host_is_not_asked() {
    let site = site("sortie", writing());
    let (asked, other) = (Person::says("allow once", ""), Person::says("allow once", ""));
    let (client, _other) = (site.connect(asked.clone()).await, site.connect(other.clone()).await);
    outcome(&client).await;
    assert_eq!((asked.messages().len(), other.messages().len()), (2, 0));
}

#[tokio::test]
async fn in_envelope_the_users_own_rules_ask_the_person_too() {
    for (decision, status) in [("allow once", "success"), ("refuse", "error")] {
        let layer = GrantLayer {
            mode: Some(Mode::Default),
            ask: vec!["Read(a.txt)".to_owned()],
            ..GrantLayer::new("the user")
        };
        let script = Script::new()
            .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "a.txt"}))]))
            .otherwise(reply::text("done"));
        let site = Site::under(layer, contract("envelope").unwrap(), script);
        site.write("a.txt", "SECRET WORDS\n");
        let person = Person::says(decision, "private");
        let client = site.connect(person.clone()).await;
        let arguments = json!({"description": "d", "prompt": "p", "subagent_type": "general"});
        let answer = call(&client, "Task", arguments).await.structured_content.unwrap();
        assert_eq!(person.messages().len(), 1);
        assert!(person.messages()[0].contains("a.txt"), "{:?}", person.messages());
        let refused = answer["data"].get("refused").map(ToString::to_string);
        let is_refused = refused.as_ref().is_some_and(|refused| refused.contains("the user said no: private"));
        assert_eq!(is_refused, status == "error", "{answer:#}");
    }
}
