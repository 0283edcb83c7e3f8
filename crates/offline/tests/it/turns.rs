//! Replies of the model, turn by turn.

use expect_test::expect;
use serde_json::{Value, json};
use sortie_offline::{Calls, Request};
use sortie_protocol::{CallOutput, Message, Part, Reply, StopReason, ToolOutput, ToolSpec};

pub(crate) const MAIN: &[&str] = &["Task", "Read", "LS", "Glob", "Grep", "TodoWrite"];
pub(crate) const EXPLORER: &[&str] = &["Read", "LS", "Glob", "Grep"];
const QUESTION: &str = "Where are authentication errors handled?";

/// A task with tools answered by the test.
pub(crate) struct Task {
    system: &'static str,
    tools: Vec<ToolSpec>,
    messages: Vec<Message>,
    calls: Calls,
}

impl Task {
    pub(crate) fn new(tools: &[&str], prompt: &str) -> Self {
        let schema = |name: &str| {
            let fields = json!({"description": {}, "prompt": {}, "subagent_type": {}});
            if name == "Task" { json!({"properties": fields}) } else { json!({}) }
        };
        let spec =
            |name: &&str| ToolSpec { name: (*name).to_owned(), description: String::new(), schema: schema(name) };
        let tools = tools.iter().map(spec).collect();
        Self { system: "You are an agent.", tools, messages: vec![Message::user(prompt)], calls: Calls::Allowed }
    }

    fn role(mut self, system: &'static str) -> Self {
        self.system = system;
        self
    }

    /// Makes one call.
    fn call(&self) -> Reply {
        sortie_offline::reply(&Request {
            system: self.system,
            tools: &self.tools,
            messages: &self.messages,
            calls: self.calls,
        })
    }

    /// Runs one turn: the calls, each answered by `tool`, or the text that ends the task.
    fn turn(&mut self, tool: impl Fn(&str, &str) -> ToolOutput) -> Result<Vec<String>, String> {
        let reply = self.call();
        if reply.calls().next().is_none() {
            return Err(reply.text());
        }
        let outputs =
            reply.calls().map(|call| CallOutput { call: call.id.clone(), output: tool(&call.tool, &call.arguments) });
        let outputs = outputs.collect();
        let names = reply.calls().map(|call| call.tool.clone()).collect();
        self.messages.push(Message::Assistant { parts: reply.parts.clone() });
        self.messages.push(Message::Outputs { outputs });
        Ok(names)
    }

    /// Runs to the end.
    fn answer(&mut self, tool: impl Fn(&str, &str) -> ToolOutput) -> String {
        self.last_reply(tool).text()
    }

    /// Runs to the reply that ends the task.
    pub(crate) fn last_reply(&mut self, tool: impl Fn(&str, &str) -> ToolOutput) -> Reply {
        while self.turn(&tool).is_ok() {}
        self.call()
    }
}

pub(crate) fn done(text: &str) -> ToolOutput {
    ToolOutput::done(text, "")
}

/// A small workspace: one file that handles it, one test.
fn workspace(tool: &str, arguments: &str) -> ToolOutput {
    match tool {
        "Grep" if arguments.contains("\"count\"") && arguments.contains("authentic") => done("src/login.rs:3"),
        "Grep" if arguments.contains("\"count\"") => done("src/login.rs:2\nsrc/other.rs:1\ntests/login.rs:1"),
        "Grep" if arguments.contains("src/login.rs") => done(
            "src/login.rs\n4:/// Handles a failed authentication.\n5:pub fn on_auth_error(error: AuthError) {\n9:}",
        ),
        "Grep" if arguments.contains("src/other.rs") => done("src/other.rs\n1:fn unrelated_error() {"),
        "Glob" => done("src/login.rs"),
        "Read" if !arguments.contains("src/login.rs") => done("1\tfn unrelated_error() {"),
        "Read" => done(
            "3\t\n4\t/// Handles a failed authentication.\n5\tpub fn on_auth_error(error: AuthError) {\n6\t    retry(error);",
        ),
        _ => done("[no match in 3 files]"),
    }
}

/// A child's report as the main agent gets it.
pub(crate) fn reported(text: &str) -> ToolOutput {
    done(&format!("agent-abcdefghijkl explore completed, 9 calls\n[report k7]\n{text}\n[end k7]"))
}

#[test]
fn the_main_agent_sends_explorers_out_in_parallel() {
    let reply = Task::new(MAIN, QUESTION).call();
    assert_eq!(reply.stop, StopReason::Calls);
    assert_eq!(reply.text(), "Searching from several angles.");
    let calls: Vec<_> = reply.calls().collect();
    for call in &calls {
        let brief: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
        assert_eq!(brief["subagent_type"], "explore");
        assert!(brief["prompt"].as_str().unwrap().starts_with(QUESTION), "a brief must stand alone: {brief}");
    }
    let prompts: std::collections::HashSet<&str> = calls.iter().map(|call| call.arguments.as_str()).collect();
    let ids: std::collections::HashSet<&str> = calls.iter().map(|call| call.id.0.as_str()).collect();
    assert_eq!((prompts.len(), ids.len()), (3, 3), "angles and ids must differ");
}

#[test]
fn the_answer_comes_first_then_the_evidence_then_the_model() {
    let mut task = Task::new(MAIN, QUESTION);
    let tool = |_: &str, arguments: &str| {
        if arguments.contains("implementation") {
            reported("Best places:\nsrc/login.rs:5 - pub fn on_auth_error(error: AuthError) {\nsrc/a.rs:1 - fn a() {")
        } else if arguments.contains("used") {
            reported(
                "Best places:\nsrc/main.rs:9 - on_auth_error(error) (in fn main)\nsrc/login.rs:6 - x (in fn on_auth_error)",
            )
        } else {
            ToolOutput::failure("No sub-agent was started (limit): no more children are allowed")
        }
    };
    let answer = task.answer(tool);
    expect![[r#"
        Most likely at src/login.rs:5 (`fn on_auth_error`); see also src/a.rs:1 (`fn a`) and src/main.rs:9 (`fn main`).

        src/login.rs:5 - pub fn on_auth_error(error: AuthError) {
        src/a.rs:1 - fn a() {
        src/main.rs:9 - on_auth_error(error) (in fn main)

        One search did not come back (Find tests and documents): No sub-agent was started (limit): no more children are allowed

        This answer comes from the built-in rule-based model `offline`; no language model was used.
        To use one, set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or for any compatible server
        LLM_MODEL_ID, LLM_BASE_URL and LLM_API_KEY, and run the same command again."#]]
    .assert_eq(&answer);
}

#[test]
fn an_explorer_counts_then_outlines_then_reads_then_reports() {
    let mut task = Task::new(EXPLORER, QUESTION);
    let mut turns = Vec::new();
    let report = loop {
        match task.turn(workspace) {
            Ok(mut tools) => {
                tools.dedup();
                turns.push(tools.join(" "));
            }
            Err(report) => break report,
        }
    };
    assert_eq!(turns, ["Grep Glob", "Grep", "Read"]);
    expect![[r#"
        Best places:
        src/login.rs:5 - pub fn on_auth_error(error: AuthError) {: Handles a failed authentication
        Searched for: authentication, errors (and related words); hits in 3 files. Rule-based search (`offline`), no language model."#]]
    .assert_eq(&report);
}

#[test]
fn at_a_limit_the_explorer_reports_its_findings_so_far() {
    let mut task = Task::new(EXPLORER, QUESTION);
    task.turn(workspace).unwrap();
    task.turn(workspace).unwrap();
    task.messages.push(Message::user("No more calls are possible. Write your report now."));
    task.calls = Calls::Forbidden;
    let reply = task.call();
    assert_eq!(reply.calls().count(), 0);
    assert!(reply.text().contains("src/login.rs:5"), "{}", reply.text());
    assert!(reply.text().contains("\nThe search was cut short.\n"), "{}", reply.text());
}

#[test]
fn an_empty_result_lists_the_words_searched_for() {
    let mut task = Task::new(EXPLORER, "Where is frobnication handled?");
    let report = task.answer(|_, _| done("[no match in 3 files]"));
    expect![[r#"
        Nothing found.
        Searched for: frobnication, handled (and related words); hits in 0 files. No match at all for: frobnication. Rule-based search (`offline`), no language model."#]]
    .assert_eq(&report);
}

#[test]
fn failed_calls_are_reported() {
    let mut task = Task::new(EXPLORER, QUESTION);
    let report = task.answer(|_, _| ToolOutput::failure("the search took too long"));
    assert!(report.contains("calls failed, first: Grep: the search took too long"), "{report}");
}

#[test]
fn small_talk_gets_a_truthful_answer_and_no_search() {
    for prompt in ["hello", "How are you?"] {
        let reply = Task::new(MAIN, prompt).call();
        assert_eq!(reply.calls().count(), 0, "{prompt}");
        assert!(reply.text().starts_with("I am `offline`, a set of rules"), "{}", reply.text());
    }
}

#[test]
fn work_is_declined_with_the_places_found() {
    let mut task = Task::new(MAIN, "Fix the authentication error");
    let answer = task.answer(|_, _| reported("src/login.rs:5 - fn on_auth_error() {"));
    assert!(answer.starts_with("I cannot do this work"), "{answer}");
    assert!(answer.contains("src/login.rs:5"), "{answer}");
}

#[test]
fn a_reply_tells_an_answer_from_none() {
    let nothing = "Nothing found.\nSearched for: x (and related words); hits in 0 files.";
    let found = "src/login.rs:5 - fn on_auth_error() {";
    let failed = ToolOutput::failure("No sub-agent was started (depth): too deep");
    let unreadable = ToolOutput::failure("there is no such file");
    for (tools, prompt, output, stop) in [
        (MAIN, QUESTION, reported(found), StopReason::End),
        (MAIN, QUESTION, reported(nothing), StopReason::NoAnswer),
        (MAIN, QUESTION, failed.clone(), StopReason::NoAnswer),
        (MAIN, "Fix the authentication error", reported(found), StopReason::NoAnswer),
        (MAIN, "Fix the authentication error", failed, StopReason::NoAnswer),
        (MAIN, "What does this project do?", reported("Cargo.toml:1 - how it is built"), StopReason::End),
        (MAIN, "hello", done(""), StopReason::End),
        (MAIN, "what can you do?", done(""), StopReason::End),
        (EXPLORER, QUESTION, done("[no match in 3 files]"), StopReason::NoAnswer),
        (&["Read"], "Sum up src/login.rs", unreadable, StopReason::NoAnswer),
        (&["Read"], "Sum up src/login.rs", done("1\tIt logs people in."), StopReason::End),
        (&[], "The cache holds pages. Birds sing.", done(""), StopReason::End),
    ] {
        let last = Task::new(tools, prompt).last_reply(|_, _| output.clone());
        assert_eq!(last.stop, stop, "{prompt}: {output:?} {}", last.text());
    }
}

#[test]
fn an_overview_of_nothing_is_no_answer() {
    let prompt = "What does this project do?";
    let nothing = |_: &str, _: &str| ToolOutput::failure("there is nothing");
    let explorer = Task::new(EXPLORER, prompt).last_reply(nothing);
    let main = Task::new(MAIN, prompt).last_reply(|_, _| reported(&explorer.text()));
    assert_eq!((explorer.stop, main.stop), (StopReason::NoAnswer, StopReason::NoAnswer));
}

#[test]
fn without_sub_agents_the_main_agent_searches_itself() {
    let mut task = Task::new(MAIN, QUESTION);
    let tool = |tool: &str, arguments: &str| match tool {
        "Task" => ToolOutput::failure("No sub-agent was started (depth): too deep"),
        _ => workspace(tool, arguments),
    };
    let answer = task.answer(tool);
    assert!(answer.contains("src/login.rs:5") && answer.contains("too deep"), "{answer}");
}

#[test]
fn if_every_sub_agent_was_cut_short_the_main_agent_searches_itself() {
    let mut task = Task::new(MAIN, QUESTION);
    let tool = |tool: &str, arguments: &str| match tool {
        "Task" => reported("Best places:\nREADME.md:1 - errors\nThe search was cut short."),
        _ => workspace(tool, arguments),
    };
    let answer = task.answer(tool);
    assert!(answer.starts_with("Best places:\nsrc/login.rs:5 "), "{answer}");
    assert!(answer.contains("No sub-agent could help (their limits cut every search short)."), "{answer}");
}

#[test]
fn a_planner_lists_where_to_look_in_order() {
    let role = include_str!("../../../../prompts/agents_prompts/subagent_plan_prompt.md");
    let mut task = Task::new(EXPLORER, QUESTION).role(role);
    let plan = task.answer(workspace);
    assert!(plan.starts_with("Goal: Where are authentication errors handled?\n1. "), "{plan}");
    assert!(plan.contains("what has to change there is not decided"), "{plan}");
}

#[test]
fn a_summary_consists_of_sentences_of_the_text() {
    let text = "The cache holds pages. Birds sing. The cache drops old pages when the cache is full. It rained.";
    let reply = Task::new(&[], text).call();
    assert!(reply.text().contains("- The cache drops old pages when the cache is full."), "{}", reply.text());
    assert!(reply.text().contains("no language model"), "{}", reply.text());
}

#[test]
fn an_overview_is_taken_from_the_readme() {
    let mut task = Task::new(EXPLORER, "What does this project do?");
    let tool = |tool: &str, _: &str| match tool {
        "LS" => done("README.md\nsrc/"),
        "Glob" => done("docs/README.md\nREADME.md"),
        _ => done("1\t# Sample\n2\t\n3\tSample counts\n4\tthings.\n5\t\n6\t## Install"),
    };
    expect![[r"
        README.md:3 - Sample counts things.
        README.md:6 - ## Install

        At its top: README.md, src/."]]
    .assert_eq(&task.answer(tool));
}

#[test]
fn equal_requests_get_equal_replies_with_an_estimated_size() {
    let task = Task::new(MAIN, QUESTION);
    assert_eq!(task.call(), task.call());
    let text = Task::new(MAIN, "hello").call();
    assert!(text.usage.input_tokens > 0 && text.usage.output_tokens > 0);
    assert!(matches!(&text.parts[..], [Part::Text { .. }]));
}

#[test]
fn what_no_search_can_serve_is_said_without_a_search() {
    for (prompt, sentence) in [
        ("ls -la src", "This looks like a command: run it in your shell."),
        ("Review the last commit", "This is about the history in git, and I search only files as they are now."),
        ("Wo werden versteckte Dateien übersprungen?", "I understand English only."),
    ] {
        for tools in [MAIN, EXPLORER] {
            let reply = Task::new(tools, prompt).call();
            assert!(reply.text().starts_with(sentence), "{prompt}: {}", reply.text());
            assert_eq!((reply.stop, reply.calls().count()), (StopReason::NoAnswer, 0), "{prompt}");
        }
    }
}

#[test]
fn every_kind_of_delegation_tool_is_used_and_a_brief_is_not_delegated_again() {
    let fields = |names: &[&str]| -> Value {
        let properties = names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"})));
        json!({"properties": properties.collect::<serde_json::Map<String, Value>>()})
    };
    for (name, schema, brief) in [
        ("task", fields(&["task", "model"]), "task"),
        ("task", fields(&["description", "prompt"]), "prompt"),
        ("Task", fields(&["description", "prompt", "subagent_type"]), "prompt"),
    ] {
        let mut task = Task::new(EXPLORER, QUESTION);
        task.tools.push(ToolSpec { name: name.to_owned(), description: String::new(), schema });
        let reply = task.call();
        let briefs: Vec<Value> = reply.calls().map(|call| serde_json::from_str(&call.arguments).unwrap()).collect();
        assert!(reply.calls().all(|call| call.tool == name), "{reply:?}");
        assert_eq!(briefs.len(), 3, "{name}: {briefs:?}");
        task.messages = vec![Message::user(briefs[0][brief].as_str().unwrap())];
        assert!(task.call().calls().all(|call| call.tool != name), "{name}: the sub-agent searches itself");
    }
}
