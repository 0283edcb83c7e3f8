//! Aftermath of an attack: the program's ending, its output, and the input of its models.

use std::process::Output;
use std::sync::Arc;

use serde_json::Value;
use sortie_testkit::{RecordedRequest, ScriptedServer};

use crate::world::PROMPT;

pub(crate) struct Aftermath {
    pub(crate) output: Output,
    pub(crate) requests: Vec<Arc<RecordedRequest>>,
    pub(crate) events: Vec<Value>,
}

/// Answer to one call.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) agent: String,
    pub(crate) tool: String,
    pub(crate) text: String,
    pub(crate) failed: bool,
    /// True if the gate refused it before it ran.
    pub(crate) refused: bool,
}

impl std::fmt::Debug for Aftermath {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let stderr = String::from_utf8_lossy(&self.output.stderr);
        write!(f, "{}\n{stderr}\n{:#?}", self.output.status, self.answers())
    }
}

impl Aftermath {
    pub(crate) fn new(output: Output, server: &ScriptedServer) -> Self {
        let stdout = String::from_utf8_lossy(&output.stdout);
        let events = stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { requests: server.requests(), events, output }
    }

    /// Answers to all calls, task by task, in the order of the calls. Each call has exactly one event with its ending.
    pub(crate) fn answers(&self) -> Vec<Answer> {
        let mut answers = Vec::new();
        for started in self.of_type("task_started") {
            let task = &started["task_id"];
            let agent = started["job"]["config"]["agent"].as_str().unwrap_or_default();
            let replies = self.of_type("model_replied").filter(|event| event["task_id"] == *task);
            let parts = replies.flat_map(|event| event["reply"]["parts"].as_array().unwrap());
            answers.extend(parts.filter(|part| part["part"] == "call").map(|call| self.answer(task, agent, call)));
        }
        answers
    }

    fn answer(&self, task: &Value, agent: &str, call: &Value) -> Answer {
        let is_its = |event: &&Value| event["task_id"] == *task && event["call"] == call["id"];
        let told: Vec<&Value> = self.of_type("call_finished").filter(is_its).collect();
        assert_eq!(told.len(), 1, "one event tells how {call} of {agent} ended: {told:#?}");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Answer {
            agent: agent.to_owned(),
            tool: text(&call["tool"]),
            text: text(&told[0]["for_model"]),
            failed: told[0]["failed"] == true,
            refused: told[0]["refused"] == true,
        }
    }

    /// Answers to the calls of one agent.
    pub(crate) fn answers_of(&self, agent: &str) -> Vec<Answer> {
        let answers: Vec<Answer> = self.answers().into_iter().filter(|answer| answer.agent == agent).collect();
        assert!(!answers.is_empty(), "{agent} made no call: {self:#?}");
        answers
    }

    /// Answer to the only call of one agent.
    pub(crate) fn answer_of(&self, agent: &str) -> Answer {
        let mut answers = self.answers_of(agent);
        assert_eq!(answers.len(), 1, "{answers:#?}");
        answers.remove(0)
    }

    pub(crate) fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.events.iter().filter(move |event| event["type"] == kind)
    }

    /// Asserts that the run ended by itself, whatever was refused on the way.
    pub(crate) fn assert_completed(&self) -> &Self {
        assert!(self.output.status.success(), "{self:#?}");
        self
    }

    /// Asserts that these words reached no model and nobody who watched.
    pub(crate) fn assert_unseen(&self, words: &str) {
        let shown = holds(&self.output.stdout, words) || holds(&self.output.stderr, words);
        assert!(!shown, "{words:?} was shown: {self:#?}");
        let told = self.requests.iter().any(|request| holds(&request.raw, words));
        assert!(!told, "{words:?} reached a model: {self:#?}");
    }

    pub(crate) fn stdout(&self) -> String {
        String::from_utf8_lossy(&self.output.stdout).into_owned()
    }

    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.output.stderr).into_owned()
    }

    /// Input of sub-agents' models, request by request.
    pub(crate) fn told_to_sub_agents(&self) -> Vec<String> {
        let told = self.requests.iter().map(|request| String::from_utf8_lossy(&request.raw).into_owned());
        told.filter(|request| !request.contains(PROMPT)).collect()
    }

    /// Last input of the main agent's model.
    pub(crate) fn told_to_main_agent(&self) -> String {
        let mut told = self.requests.iter().rev().map(|request| request.body.to_string());
        told.find(|request| request.contains(PROMPT)).unwrap()
    }
}

impl Answer {
    /// Asserts that the call did not run, and that its refusal has these words.
    pub(crate) fn assert_refused(&self, words: &str) {
        assert!(self.refused && self.failed && self.text.contains(words), "{words:?} is wanted: {self:#?}");
    }

    /// Asserts that the call failed, with these words.
    pub(crate) fn assert_failed(&self, words: &str) {
        assert!(self.failed && self.text.contains(words), "{words:?} is wanted: {self:#?}");
    }

    pub(crate) fn assert_done(&self) {
        assert!(!self.failed, "it should have run: {self:#?}");
    }
}

/// True if these words, in plain letters only, are among the bytes.
pub(crate) fn holds(bytes: &[u8], words: &str) -> bool {
    // Invalid text becomes a mark, and no plain letter is lost.
    String::from_utf8_lossy(bytes).contains(words)
}

pub(crate) fn assert_all_failed(answers: &[Answer], words: &str) {
    assert!(!answers.is_empty());
    for answer in answers {
        answer.assert_failed(words);
    }
}
