//! One delegated run as each side saw it, whatever the wire. It has the input of the main agent's and the sub-agents'
//! models, and the result of the main agent's call.
//!
//! The main agent is the one that was asked [`QUESTION`]; every other agent is a sub-agent.

use serde_json::Value;
use sortie_testkit::{RecordedRequest, Script, ScriptedPart, ScriptedServer, reply, when};

pub(crate) use crate::program::{Ended, Invocation, World};

/// Wires on which every statement about requests must hold.
pub(crate) const WIRES: [&str; 2] = ["anthropic", "openai-chat"];

/// Request to the main agent.
pub(crate) const QUESTION: &str = "QUESTION of the person";
/// Last text of the main agent, after its calls.
pub(crate) const DONE: &str = "DONE by the main agent";

/// Tools only for agents that can start sub-agents.
const FOR_PARENTS: [&str; 3] = ["Task", "TaskOutput", "TaskStop"];

/// Main agent that makes these calls at once and then says [`DONE`]. The test adds rules for sub-agents.
pub(crate) fn main_agent_calls(calls: impl IntoIterator<Item = ScriptedPart>) -> Script {
    Script::new()
        .on(when::prompt_contains(QUESTION).turn(0), reply::calls(calls))
        .on(when::prompt_contains(QUESTION), reply::text(DONE))
}

/// Finished `sortie run`, and its server.
pub(crate) struct Run {
    pub(crate) ended: Ended,
    pub(crate) server: ScriptedServer,
}

impl Run {
    /// Asks the main agent [`QUESTION`] in this contract.
    pub(crate) fn of(world: &World, contract: &str, wire: &str, script: Script) -> Self {
        Self::with(world, contract, wire, script, &[])
    }

    /// Asks it with more flags.
    pub(crate) fn with(world: &World, contract: &str, wire: &str, script: Script, flags: &[&str]) -> Self {
        let server = ScriptedServer::start(script).unwrap();
        let args = [&["run", "--contract", contract], flags, &[QUESTION]].concat();
        let ended = world.sortie(args).on(&server, wire).run();
        Self { ended, server }
    }

    /// Asks it again, on the same server.
    pub(crate) fn again(self, world: &World, contract: &str, wire: &str, flags: &[&str]) -> Self {
        let args = [&["run", "--contract", contract], flags, &[QUESTION]].concat();
        let ended = world.sortie(args).on(&self.server, wire).run();
        Self { ended, ..self }
    }

    /// All requests of the main agent, in order.
    pub(crate) fn main_agent(&self) -> Vec<Heard> {
        heard(&self.server).into_iter().filter(|heard| heard.prompt.contains(QUESTION)).collect()
    }

    /// All requests of sub-agents, in order of arrival.
    pub(crate) fn sub_agents(&self) -> Vec<Heard> {
        heard(&self.server).into_iter().filter(|heard| !heard.prompt.contains(QUESTION)).collect()
    }

    /// Requests of the sub-agent whose brief contains these words.
    pub(crate) fn sub_agent(&self, words: &str) -> Vec<Heard> {
        self.sub_agents().into_iter().filter(|heard| heard.prompt.contains(words)).collect()
    }

    /// Results that the main agent's model received, in the order of its calls.
    pub(crate) fn results(&self) -> Vec<ToolResult> {
        self.main_agent().last().unwrap_or_else(|| panic!("no request: {:#?}", self.ended)).results.clone()
    }

    /// Result of its only call.
    pub(crate) fn result(&self) -> ToolResult {
        let mut results = self.results();
        assert_eq!(results.len(), 1, "{results:#?} in {:#?}", self.ended);
        results.remove(0)
    }
}

/// One request, as a model read it.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) tools: Vec<Offered>,
    /// First message of the user.
    pub(crate) prompt: String,
    /// Number of messages, without the system's.
    pub(crate) messages: usize,
    /// Results of all tool calls so far, in order.
    pub(crate) results: Vec<ToolResult>,
    /// Whole body.
    pub(crate) body: Value,
}

/// Tool as it was offered.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Offered {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: Value,
}

/// Result of a model's own call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolResult {
    pub(crate) call: String,
    pub(crate) text: String,
    /// True if it was marked as failed; always false on openai-chat, which has no such mark.
    pub(crate) is_error: bool,
}

impl ToolResult {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

impl Heard {
    /// Names of the tools, in alphabetical order.
    pub(crate) fn tool_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tools.iter().map(|tool| tool.name.as_str()).collect();
        names.sort_unstable();
        names
    }

    /// Tools of this agent's sub-agents that start none of their own. They can ask their parent.
    pub(crate) fn tools_of_a_leaf(&self) -> Vec<&str> {
        let own = self.tool_names().into_iter().filter(|tool| !FOR_PARENTS.contains(tool));
        let mut names: Vec<&str> = own.chain(["Ask"]).collect();
        names.sort_unstable();
        names
    }

    pub(crate) fn offers(&self, tool: &str) -> bool {
        self.tools.iter().any(|offered| offered.name == tool)
    }

    pub(crate) fn tool(&self, name: &str) -> &Offered {
        let found = self.tools.iter().find(|tool| tool.name == name);
        found.unwrap_or_else(|| panic!("{name} is not among {:?}", self.tool_names()))
    }

    /// True if these words appear anywhere in the request.
    pub(crate) fn contains(&self, words: &str) -> bool {
        self.body.to_string().contains(words)
    }

    fn read(request: &RecordedRequest) -> Self {
        if request.path().ends_with("/messages") { Self::anthropic(&request.body) } else { Self::openai(&request.body) }
    }

    fn anthropic(body: &Value) -> Self {
        let messages = list(&body["messages"]);
        let blocks = messages.iter().flat_map(|message| list(&message["content"]));
        let results = blocks.filter(|block| block["type"] == "tool_result").map(|block| ToolResult {
            call: text(&block["tool_use_id"]),
            text: text(&block["content"]),
            is_error: block["is_error"] == true,
        });
        let tools = list(&body["tools"]).iter().map(|tool| offered(tool, "input_schema"));
        Self {
            model: text(&body["model"]),
            system: text(&body["system"]),
            tools: tools.collect(),
            prompt: messages.first().map(|message| text(&message["content"])).unwrap_or_default(),
            messages: messages.len(),
            results: results.collect(),
            body: body.clone(),
        }
    }

    fn openai(body: &Value) -> Self {
        let of_role =
            |role: &'static str| list(&body["messages"]).iter().filter(move |message| message["role"] == role);
        let results = of_role("tool").map(|message| ToolResult {
            call: text(&message["tool_call_id"]),
            text: text(&message["content"]),
            is_error: false,
        });
        let tools = list(&body["tools"]).iter().map(|tool| offered(&tool["function"], "parameters"));
        Self {
            model: text(&body["model"]),
            system: of_role("system").map(|message| text(&message["content"])).collect(),
            tools: tools.collect(),
            prompt: of_role("user").next().map(|message| text(&message["content"])).unwrap_or_default(),
            messages: list(&body["messages"]).len() - of_role("system").count(),
            results: results.collect(),
            body: body.clone(),
        }
    }
}

/// All requests of a server, as the models read them.
pub(crate) fn heard(server: &ScriptedServer) -> Vec<Heard> {
    server.requests().iter().map(|request| Heard::read(request)).collect()
}

fn offered(tool: &Value, schema: &str) -> Offered {
    Offered { name: text(&tool["name"]), description: text(&tool["description"]), schema: tool[schema].clone() }
}

/// Material of long reports: plain lines, JSON, quotes, a line without an end, multi-byte letters, and letters that
/// JSON writes in six bytes.
pub(crate) const LONG_REPORTS: [&str; 6] = [
    "A plain sentence in a report that is cut somewhere, ok?\n",
    "{\"file\": \"src/a.rs\", \"line\": 12},\n",
    "\"\\",
    "A",
    "これは長い報告です。",
    "\u{1}",
];

/// Checks a result of at most 2,000 tokens, whose summary may take this many bytes as JSON. It has the whole report, or
/// what fits and a mark that names the file with all of it.
pub(crate) fn check_long(result: &ToolResult, report: &str, bytes: usize) {
    assert!(result.text.len() <= 8000, "{} bytes", result.text.len());
    let size = serde_json::to_string(report).unwrap().len() - 2;
    let summary = text(&result.json()["summary"]);
    if size <= bytes {
        assert_eq!(summary, report, "what fits is not cut");
        return;
    }
    let (kept, mark) = summary.rsplit_once("\n[… the report was cut here; the whole is in ").unwrap();
    assert!(report.starts_with(kept), "{kept}");
    assert!(serde_json::to_string(&summary).unwrap().len() - 2 > bytes * 3 / 4, "no more is cut than must be");
    assert_eq!(std::fs::read_to_string(mark.strip_suffix(']').unwrap()).unwrap(), report);
}

/// Text from a string, or from the blocks that are text.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        blocks => list(blocks).iter().filter_map(|block| block["text"].as_str()).collect(),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn both_wires_are_read_alike() {
    let world = World::new();
    let seen = WIRES.map(|wire| {
        let call = serde_json::json!({"description": "Look", "prompt": "CHILD looks"});
        let look = reply::calls([reply::call("Read", serde_json::json!({"file_path": "src/main.rs"}))]);
        let script = main_agent_calls([reply::call("Task", call)])
            .on(when::turn(0), look)
            .otherwise(reply::text("It starts in src/main.rs."));
        let run = Run::of(&world, "sortie", wire, script);
        assert_eq!(run.ended.stdout, format!("{DONE}\n"), "{:#?}", run.ended);
        let (main, child) = (run.main_agent(), run.sub_agent("CHILD looks"));
        assert!(run.result().text.contains("It starts in src/main.rs."));
        assert!(child[1].results[0].text.contains("mod auth;"));
        [&main[0], &child[0], &child[1]].map(|heard| {
            (heard.model.clone(), heard.system.clone(), heard.tools.clone(), heard.prompt.clone(), heard.messages)
        })
    });
    assert_eq!(seen[0], seen[1]);
}
