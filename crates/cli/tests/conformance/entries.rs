//! One Task call at every entry of the program: from a main agent's model, from `sortie task`, and from a host over
//! MCP.

use serde_json::{Value, json};
use sortie_testkit::{Script, ScriptedReply, ScriptedServer, ServerOptions, reply};

use crate::session::Session;
use crate::world::{Heard, QUESTION, World, heard, main_agent_calls};

/// Call to be made.
pub(crate) struct TaskCall<'a> {
    pub(crate) contract: &'a str,
    pub(crate) arguments: Value,
    pub(crate) flags: &'a [&'a str],
    /// Reply of every sub-agent.
    pub(crate) child: ScriptedReply,
    /// Models that the server lists.
    pub(crate) models: Option<&'a [&'a str]>,
}

/// Answer at one entry.
#[derive(Debug)]
pub(crate) struct EntryAnswer {
    pub(crate) entry: &'static str,
    /// Text as the caller reads it.
    pub(crate) text: String,
    /// True if the call itself is marked as failed: an error of the tool, or an exit code of 1.
    pub(crate) is_error: bool,
    /// Requests of sub-agents.
    pub(crate) children: Vec<Heard>,
}

impl EntryAnswer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error} in {self:#?}"))
    }
}

/// Makes the call at each entry, on a server of its own.
pub(crate) fn at_every_entry(world: &World, call: &TaskCall<'_>) -> [EntryAnswer; 3] {
    let tool = tool_of(call.contract);
    let (contract, arguments) = (["--contract", call.contract], call.arguments.to_string());
    let command = |args: &[&str]| world.sortie([args, &contract[..], call.flags].concat());

    let server = server(call, main_agent_calls([reply::call(tool, call.arguments.clone())]));
    let ended = command(&["run", QUESTION]).on(&server, "anthropic").run();
    let result = heard(&server).into_iter().filter_map(|told| told.results.last().cloned()).next_back();
    let result = result.unwrap_or_else(|| panic!("{}: no result in {ended:#?}", call.contract));
    let by_model = EntryAnswer { entry: "run", text: result.text, is_error: result.is_error, children: told(&server) };

    let server = self::server(call, Script::new());
    let ended = command(&["task", "--json", "-"]).on(&server, "anthropic").stdin(arguments).run();
    let by_person =
        EntryAnswer { entry: "task", text: ended.stdout, is_error: ended.code == 1, children: told(&server) };

    let server = self::server(call, Script::new());
    let mut session = Session::open(command(&["mcp"]).on(&server, "anthropic"), &json!({}));
    let answer = session.ask("tools/call", json!({"name": tool, "arguments": call.arguments}));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
    session.close();
    let by_host =
        EntryAnswer { entry: "mcp", text, is_error: answer["result"]["isError"] == true, children: told(&server) };
    [by_model, by_person, by_host]
}

fn server(call: &TaskCall<'_>, script: Script) -> ScriptedServer {
    let models = call.models.map(|ids| ids.iter().map(|&id| id.to_owned()).collect());
    let options = ServerOptions { models, ..ServerOptions::default() };
    ScriptedServer::start_with(script.otherwise(call.child.clone()), options).unwrap()
}

fn told(server: &ScriptedServer) -> Vec<Heard> {
    heard(server).into_iter().filter(|told| !told.prompt.contains(QUESTION)).collect()
}

fn tool_of(contract: &str) -> &'static str {
    if ["delegate", "child", "child-recipe"].contains(&contract) { "task" } else { "Task" }
}
