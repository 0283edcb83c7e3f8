//! Grants at work: denied, asked for and approved calls, of the main agent and of its descendants.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use sortie_engine::{Approval, Approver, Permissions, Question};
use sortie_llm::{Chosen, ErrorKind, Model, ModelError, ModelEvent, ModelRequest, Models, UnknownModel};
use sortie_policy::Redactor;
use sortie_protocol::{Fact, GrantLayer, Message, Mode, ModelChoice, Reply, Status, ToolOutput};
use sortie_testkit::{Script, ScriptedPart, reply, when};
use sortie_tools::BoxFuture;

use crate::support::{Plan, World, ask};

pub(crate) fn user(layer: GrantLayer) -> Permissions {
    Permissions { layers: vec![layer], ..Permissions::unrestricted() }
}

pub(crate) fn rules(rules: &[&str]) -> Vec<String> {
    rules.iter().map(|&rule| rule.to_owned()).collect()
}

pub(crate) fn usual() -> GrantLayer {
    GrantLayer { mode: Some(Mode::Default), ..GrantLayer::new("user settings") }
}

pub(crate) fn write(path: &str) -> ScriptedPart {
    reply::call("Write", json!({"file_path": path, "content": "new\n"}))
}

/// All calls in one turn, then the end.
pub(crate) fn once(calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    Script::new().on(when::turn(0), reply::calls(calls)).on(when::turn(1), reply::text("Done."))
}

/// The main agent hands `brief` to an agent, which makes the calls.
pub(crate) fn delegated(agent: &str, calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    let task = json!({"description": "d", "prompt": "the brief", "subagent_type": agent});
    Script::new()
        .on(when::prompt_contains("Go.").turn(0), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("the brief").turn(0), reply::calls(calls))
        .otherwise(reply::text("Done."))
}

fn outputs_for(world: &World, brief: &str) -> Vec<ToolOutput> {
    let last = world.seen_by(brief).pop().expect("a request");
    let Some(Message::Outputs { outputs }) = last.messages.last().cloned() else { panic!("outputs come last") };
    outputs.into_iter().map(|output| output.output).collect()
}

pub(crate) fn texts(world: &World, brief: &str) -> Vec<String> {
    outputs_for(world, brief).into_iter().map(|output| output.for_model).collect()
}

pub(crate) fn exists(world: &World, path: &str) -> bool {
    world.home.path().join("workspace").join(path).exists()
}

fn n_refused(world: &World) -> usize {
    world.events().iter().filter(|event| matches!(event.fact, Fact::CallFinished { refused: true, .. })).count()
}

/// A person who gives prepared answers, and remembers the questions.
#[derive(Default)]
pub(crate) struct Person {
    answers: Mutex<Vec<Approval>>,
    asked: Mutex<Vec<Question>>,
    /// Questions that are open right now, and the most that there ever were.
    open: Mutex<(usize, usize)>,
}

impl Person {
    pub(crate) fn who_says(answers: impl IntoIterator<Item = Approval>) -> Arc<Self> {
        Arc::new(Self { answers: Mutex::new(answers.into_iter().collect()), ..Self::default() })
    }

    pub(crate) fn asked(&self) -> Vec<Question> {
        self.asked.lock().expect("nobody panicked").clone()
    }
}

impl Approver for Person {
    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Approval> {
        Box::pin(async move {
            self.asked.lock().expect("nobody panicked").push(question.clone());
            let answer = {
                let mut open = self.open.lock().expect("nobody panicked");
                open.0 += 1;
                open.1 = open.1.max(open.0);
                let mut answers = self.answers.lock().expect("nobody panicked");
                if answers.is_empty() { None } else { Some(answers.remove(0)) }
            };
            tokio::task::yield_now().await;
            let Some(answer) = answer else { return std::future::pending().await };
            self.open.lock().expect("nobody panicked").0 -= 1;
            answer
        })
    }
}

pub(crate) fn asking(person: &Arc<Person>) -> Permissions {
    Permissions { approver: Arc::clone(person) as Arc<dyn Approver>, ..user(usual()) }
}

#[tokio::test]
async fn without_an_approver_an_edit_is_refused_with_the_rule_that_would_allow_it() {
    let world = Plan::script(once([write("docs/a.md")])).permissions(user(usual())).build();
    let outcome = world.run(ask("Go.")).await;
    assert_eq!(
        texts(&world, "Go."),
        ["Write was not run: nobody can be asked here, and it needs approval; `Edit(docs/a.md)` under [permissions] \
          allow, or --allow 'Edit(docs/a.md)', would allow it"]
    );
    assert!(!exists(&world, "docs/a.md"));
    assert_eq!((n_refused(&world), outcome.usage.tool_calls), (1, 0));
    assert!(outcome.files_changed.is_empty());
}

#[tokio::test]
async fn an_allow_rule_lets_an_edit_through_and_the_outcome_names_the_file() {
    let layer = GrantLayer { allow: rules(&["Edit(docs/**)"]), ..usual() };
    let script = delegated("general-purpose", [write("docs/a.md"), write("src/a.rs")]);
    let world = Plan::script(script).permissions(user(layer)).build();
    let outcome = world.run(ask("Go.")).await;
    assert!(exists(&world, "docs/a.md") && !exists(&world, "src/a.rs"));
    assert_eq!(outcome.files_changed, ["docs/a.md"], "of the child, and so of its parent");
}

#[tokio::test]
async fn a_person_sees_the_agent_and_the_call_and_approves_exactly_that() {
    let person = Person::who_says([Approval::Once, Approval::No { reason: Some("not there".to_owned()) }]);
    let script = delegated("general-purpose", [write("a.md"), write("b.md")]);
    let world = Plan::script(script).permissions(asking(&person)).build();
    world.run(ask("Go.")).await;
    assert!(exists(&world, "a.md") && !exists(&world, "b.md"));
    assert_eq!(texts(&world, "the brief")[1], "Write was not run: the user said no: not there");
    let first = person.asked().remove(0);
    assert_eq!(first.chain, ["main", "general-purpose"]);
    let arguments: Value = serde_json::from_str(&first.arguments).unwrap();
    assert_eq!((first.tool.as_str(), &arguments["file_path"]), ("Write", &json!("a.md")));
    assert_eq!(first.rules, ["Edit(/a.md)"]);
    assert!(first.preview.is_some_and(|diff| diff.contains("+new")), "the change is shown");
    let transcript = world.transcript();
    assert!(transcript.contains("approval_asked") && transcript.contains("approval_answered"), "{transcript}");
}

#[tokio::test]
async fn approval_requests_queue_and_an_answer_for_the_tree_covers_waiting_ones() {
    let person = Person::who_says([Approval::Tree, Approval::Once]);
    let calls = [write("a.md"), write("a.md"), write("b.md")];
    let world = Plan::script(once(calls)).permissions(asking(&person)).build();
    world.run(ask("Go.")).await;
    let asked: Vec<_> = person.asked().into_iter().flat_map(|question| question.rules).collect();
    assert_eq!(asked, ["Edit(/a.md)", "Edit(/b.md)"], "the second call of `a.md` was answered by the first");
    assert_eq!(person.open.lock().expect("nobody panicked").1, 1, "one question at a time");
}

#[tokio::test(start_paused = true)]
async fn an_unanswered_question_ends_before_the_tasks_deadline() {
    let person = Person::who_says([]);
    let world = Plan::script(once([write("a.md")])).permissions(asking(&person)).build();
    let mut request = ask("Go.");
    request.limits.timeout = Some(Duration::from_secs(30));
    let outcome = world.run(request).await;
    assert_eq!(outcome.status, Status::Completed, "{outcome:?}");
    let refusal = "Write was not run: nobody answered within 22.5 s, and there is little time left";
    assert!(texts(&world, "Go.")[0].starts_with(refusal), "{:?}", texts(&world, "Go."));
    assert!(!exists(&world, "a.md"));
    assert_eq!(n_refused(&world), 1);
}

#[tokio::test(start_paused = true)]
async fn nobody_is_asked_without_time_to_answer() {
    let person = Person::who_says([Approval::Once]);
    let world = Plan::script(once([write("a.md")])).permissions(asking(&person)).build();
    let mut request = ask("Go.");
    request.limits.timeout = Some(Duration::from_secs(2));
    assert_eq!(world.run(request).await.status, Status::Completed);
    assert!(person.asked().is_empty() && !exists(&world, "a.md"));
    let refusal = "Write was not run: your question was never shown to anyone: there is too little time left for an answer; \
                   continue without it, and say so in your report";
    assert_eq!(texts(&world, "Go.")[0], refusal);
}

#[tokio::test]
async fn no_agent_at_any_depth_can_do_what_the_settings_deny() {
    let deny = GrantLayer { deny: rules(&["Edit(src/**)"]), mode: Some(Mode::Bypass), ..usual() };
    let deeper = json!({"description": "d", "prompt": "below", "subagent_type": "general-purpose"});
    let script = Script::new()
        .on(
            when::prompt_contains("Go.").turn(0),
            reply::calls([reply::call("Task", json!({"description": "d", "prompt": "the brief"}))]),
        )
        .on(when::prompt_contains("the brief").turn(0), reply::calls([reply::call("Task", deeper)]))
        .on(when::prompt_contains("below").turn(0), reply::calls([write("src/a.rs"), write("docs/a.md")]))
        .otherwise(reply::text("Done."));
    let world = Plan::script(script).permissions(user(deny)).build();
    world.run(ask("Go.")).await;
    assert!(!exists(&world, "src/a.rs") && exists(&world, "docs/a.md"));
    assert_eq!(texts(&world, "below")[0], "Write was not run: denied by user settings: its rule `Edit(src/**)`");
}

#[tokio::test]
async fn a_planning_parent_has_no_writing_children_and_does_not_offer_them_the_tools() {
    let plan = GrantLayer { mode: Some(Mode::Plan), allow: rules(&["Edit"]), ..usual() };
    let world = Plan::script(delegated("general-purpose", [write("a.md")])).permissions(user(plan)).build();
    world.run(ask("Go.")).await;
    assert!(!exists(&world, "a.md"));
    let offered = world.seen_by("the brief").remove(0).tools.join(" ");
    assert_eq!(offered, "Read LS Glob Grep TodoWrite WebFetch Task TaskOutput TaskStop SendMessage TaskList Ask Note");
    assert!(texts(&world, "the brief")[0].contains("its mode is plan"), "{:?}", texts(&world, "the brief"));
}

#[tokio::test]
async fn an_agent_cannot_change_its_own_rules_whatever_is_allowed() {
    let all = GrantLayer { mode: Some(Mode::Bypass), allow: rules(&["Edit", "Write"]), ..usual() };
    let paths =
        [".sortie/config.toml", ".SORTIE/agents/x.md", "sub/.git/hooks/pre-commit", ".vscode/tasks.json", ".bashrc"];
    let world = Plan::script(once(paths.map(write))).permissions(user(all)).build();
    world.run(ask("Go.")).await;
    for (path, text) in paths.iter().zip(texts(&world, "Go.")) {
        assert!(text.contains("which no agent may change"), "{path}: {text}");
        assert!(!exists(&world, path));
    }
    assert_eq!(n_refused(&world), paths.len());
}

#[tokio::test]
async fn unreadable_files_are_hidden_from_every_tool_that_reads() {
    let deny = GrantLayer { deny: rules(&["Read(secrets/**)"]), mode: Some(Mode::Bypass), ..usual() };
    let files = [("secrets/key.txt", "canary"), ("open.txt", "canary too")];
    let calls = [
        reply::call("Read", json!({"file_path": "secrets/key.txt"})),
        reply::call("Grep", json!({"pattern": "canary", "output_mode": "content"})),
        reply::call("Grep", json!({"pattern": "canary", "path": "secrets"})),
        reply::call("Glob", json!({"pattern": "**/*.txt"})),
        reply::call("LS", json!({"path": "secrets"})),
        reply::call("Edit", json!({"file_path": "secrets/key.txt", "old_string": "canary", "new_string": "x"})),
    ];
    let world = Plan::script(once(calls)).files(&files).permissions(user(deny)).build();
    world.run(ask("Go.")).await;
    let texts = texts(&world, "Go.");
    assert!(texts.iter().all(|text| !text.contains("key.txt:") && !text.contains("canary\n")), "{texts:#?}");
    assert!(texts[1].contains("open.txt") && texts[1].contains("hidden"), "what is left out is said: {}", texts[1]);
    assert!(texts[3].contains("open.txt") && !texts[3].contains("key.txt"), "{}", texts[3]);
    for denied in [0, 2, 4, 5] {
        assert!(texts[denied].contains("`Read(secrets/**)`"), "{}", texts[denied]);
    }
}

#[tokio::test]
async fn a_rule_for_one_tool_covers_everything_the_tool_would_show() {
    let deny = GrantLayer { deny: rules(&["Grep(secrets/**)", "Glob(*.key)"]), mode: Some(Mode::Bypass), ..usual() };
    let files = [("secrets/a.txt", "canary"), ("b.key", "canary"), ("c.txt", "canary")];
    let calls = [
        reply::call("Grep", json!({"pattern": "canary"})),
        reply::call("Glob", json!({"pattern": "**/*"})),
        reply::call("Read", json!({"file_path": "secrets/a.txt"})),
    ];
    let world = Plan::script(once(calls)).files(&files).permissions(user(deny)).build();
    world.run(ask("Go.")).await;
    let texts = texts(&world, "Go.");
    assert!(texts[0].contains("c.txt") && texts[0].contains("b.key") && !texts[0].contains("secrets"), "{}", texts[0]);
    assert!(texts[1].contains("secrets/a.txt") && !texts[1].contains("b.key"), "{}", texts[1]);
    assert!(texts[2].contains("canary"), "reading was not denied: {}", texts[2]);
}

#[tokio::test]
async fn an_agent_needs_only_the_tools_it_uses() {
    let writer = "---\nname: writer\ndescription: Writes.\ntools: Write\n---\nWrite.\n";
    let finder = "---\nname: finder\ndescription: Finds.\ntools: Grep(src/**)\n---\nFind.\n";
    let files = [(".sortie/agents/w.md", writer), (".sortie/agents/f.md", finder), ("src/a.rs", "canary")];
    let permissions = || user(GrantLayer { mode: Some(Mode::Bypass), deny: rules(&["Read(.env)"]), ..usual() });
    let script = delegated("writer", [write("n.txt")]);
    let world = Plan::script(script).files(&files).agent_files().permissions(permissions()).build();
    world.run(ask("Go.")).await;
    assert!(exists(&world, "n.txt"), "{:?}", texts(&world, "the brief"));
    let script = delegated("finder", [reply::call("Grep", json!({"pattern": "canary", "path": "src"}))]);
    let world = Plan::script(script).files(&files).agent_files().permissions(permissions()).build();
    world.run(ask("Go.")).await;
    assert!(texts(&world, "the brief")[0].contains("src/a.rs"), "{:?}", texts(&world, "the brief"));
}

#[tokio::test]
async fn a_denied_agent_is_not_started_under_any_spelling() {
    let deny = GrantLayer { deny: rules(&["Task(explore)"]), ..usual() };
    let script = delegated("EXPLORE", [write("a.md")]);
    let world = Plan::script(script).permissions(user(deny)).build();
    world.run(ask("Go.")).await;
    assert!(world.seen_by("the brief").is_empty(), "it was not started");
    assert!(texts(&world, "Go.")[0].contains("`Task(explore)`"), "{:?}", texts(&world, "Go."));
}

#[tokio::test]
async fn secrets_never_reach_history_or_journal() {
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    let files = [("notes.txt".to_owned(), format!("token {token}, and the key our-own-key-1234567890\n"))];
    let calls = [
        reply::call("Read", json!({"file_path": "notes.txt"})),
        reply::call("Grep", json!({"pattern": "token", "output_mode": "content"})),
    ];
    let redactor = Arc::new(Redactor::new(vec!["our-own-key-1234567890".to_owned()]));
    let permissions = Permissions { redactor, ..Permissions::unrestricted() };
    let world = Plan::script(once(calls)).files(&files).permissions(permissions).build();
    world.run(ask("Go.")).await;
    let seen = format!("{:?}{}", world.model.seen(), world.transcript());
    assert!(!seen.contains(&token) && !seen.contains("our-own-key"), "{seen}");
    assert!(seen.contains("[redacted"), "what was taken out is marked");
}

#[tokio::test]
async fn a_secret_on_a_removed_line_of_a_diff_is_redacted_too() {
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    let body = ["MIIEpAIBAAKCAQEA", &token[4..], "abcdefghij\n", &token[4..], &token[4..], "\n", &token[4..10], "==\n"];
    let files = [("notes.txt".to_owned(), format!("a\n{token}\n{}b\n", body.concat()))];
    let read = || reply::call("Read", json!({"file_path": "notes.txt"}));
    let edit = reply::call("Edit", json!({"file_path": "notes.txt", "old_string": "b\n", "new_string": "c\n"}));
    let task = json!({"description": "d", "prompt": "the brief", "subagent_type": "general-purpose"});
    let write = reply::call("Write", json!({"file_path": "notes.txt", "content": "a\nb\n"}));
    let script = Script::new()
        .on(when::prompt_contains("Go.").turn(0), reply::calls([read()]))
        .on(when::prompt_contains("Go.").turn(1), reply::calls([reply::call("Task", task)]))
        .on(when::prompt_contains("Go.").turn(2), reply::calls([edit]))
        .on(when::prompt_contains("the brief").turn(0), reply::calls([read()]))
        .on(when::prompt_contains("the brief").turn(1), reply::calls([write]))
        .otherwise(reply::text("Done."));
    let world = Plan::script(script).files(&files).permissions(Permissions::unrestricted()).build();
    world.run(ask("Go.")).await;
    let refused = texts(&world, "Go.").remove(0);
    assert!(refused.contains("Since then:") && refused.contains("\n-[redacted: GitHub token]\n"), "{refused}");
    assert!(refused.contains("\n-[redacted: private key]\n"), "{refused}");
    let seen = format!("{:?}{}", world.model.seen(), world.transcript());
    assert!(!seen.contains(&token[4..10]), "{seen}");
}

#[tokio::test]
async fn an_edit_inside_a_secret_is_refused_without_showing_it() {
    let token = format!("ghp_{}", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5");
    let content = format!("TOKEN={token}\nX=1\n");
    let edit =
        |old: &str, new: &str| reply::call("Edit", json!({"file_path": "c.env", "old_string": old, "new_string": new}));
    let script = Script::new()
        .on(when::turn(0), reply::calls([reply::call("Read", json!({"file_path": "c.env"}))]))
        .on(when::turn(1), reply::calls([edit("ghp_", "XX"), edit("X=1", "X=2")]))
        .on(when::turn(2), reply::text("Done."));
    let world = Plan::script(script).files(&[("c.env".to_owned(), content.clone())]).build();
    world.run(ask("Go.")).await;
    assert!(texts(&world, "Go.")[0].contains("a part that is hidden from you"), "{:?}", texts(&world, "Go."));
    let changed = std::fs::read_to_string(world.home.path().join("workspace/c.env")).expect("the file");
    assert_eq!(changed, content.replace("X=1", "X=2"), "the other edit was made, and the secret kept");
    let seen = format!("{:?}{}", world.model.seen(), world.transcript());
    assert!(!seen.contains("aB3dE5gH7jK9"), "{seen}");
}

/// A provider that repeats the key which it does not accept.
struct Repeats;

impl Model for Repeats {
    fn call<'a>(
        &'a self,
        _request: ModelRequest<'a>,
        _observe: &'a mut (dyn FnMut(ModelEvent<'_>) + Send),
    ) -> BoxFuture<'a, Result<Reply, ModelError>> {
        Box::pin(std::future::ready(Err(ModelError::new(ErrorKind::Auth, "bad key our-own-key-1234567890"))))
    }
}

impl Models for Repeats {
    fn choose(&self, _asked: Option<&str>, _inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        Ok(ModelChoice { route: "main".to_owned(), id: "repeats".to_owned() }.into())
    }

    fn open(&self, _choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::new(Repeats))
    }
}

#[tokio::test]
async fn a_key_quoted_by_a_provider_is_redacted_from_its_refusal() {
    let redactor = Arc::new(Redactor::new(vec!["our-own-key-1234567890".to_owned()]));
    let permissions = Permissions { redactor, ..Permissions::unrestricted() };
    let world = Plan::script(Script::new()).permissions(permissions).build_with(Arc::new(Repeats));
    let outcome = world.run(ask("Go.")).await;
    let told = format!("{outcome:?}{}", world.transcript());
    assert!(told.contains("bad key [redacted") && !told.contains("our-own-key"), "{told}");
}
