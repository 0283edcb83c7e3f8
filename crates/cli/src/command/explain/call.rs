//! A call as a person writes it: the tool, and in parentheses its resource.

use std::path::PathBuf;

use sortie_engine::{DryRun, obeyed_by_git, tool_names};
use sortie_policy::Rule;
use sortie_protocol::{Resource, nearest};
use sortie_tools::Reach;

use crate::error::CommandError;
use crate::settings::Settings;
use crate::wiring;

/// Call in question.
pub(super) struct Call {
    pub(super) text: String,
    pub(super) tool: String,
    /// True if it would start an agent.
    pub(super) delegates: bool,
    /// Resource of the call, or why it has none.
    pub(super) resource: Result<Resource, String>,
    /// Reason why the tool itself would refuse the call.
    pub(super) refusal: Option<String>,
    /// Note on how the call was understood.
    pub(super) notice: Option<String>,
}

const FILE_TOOLS: [&str; 7] = ["Read", "LS", "Glob", "Grep", "Write", "Edit", "MultiEdit"];
const CHANGES: [&str; 3] = ["Write", "Edit", "MultiEdit"];
const TASK: &str = "Task";

impl Call {
    pub(super) fn read(text: &str, settings: &Settings, authority: &DryRun<'_>) -> Result<Self, CommandError> {
        let text = text.trim();
        let (tool, argument) = match text.split_once('(') {
            None => (text, None),
            Some((tool, rest)) => (tool, Some(rest.strip_suffix(')').ok_or_else(|| unclear(text))?)),
        };
        let Ok(named) = tool.parse::<Rule>() else { return Err(unclear(text)) };
        if named.unknown_tool().is_some() {
            return Err(unknown(tool));
        }
        // Any of its names means the contract's own Task tool.
        let delegates = named.tool() == TASK;
        let call = Self {
            text: text.to_owned(),
            tool: if delegates { authority.contract.tool_name() } else { named.tool() }.to_owned(),
            delegates,
            resource: Ok(Resource::Nothing),
            refusal: None,
            notice: None,
        };
        match argument {
            None => Ok(call),
            Some("") => Err(unclear(text)),
            Some(argument) if is_pattern(&call.tool, argument) => {
                Err(CommandError::usage(format!("`{argument}` is a pattern; a call has one argument"))
                    .hint(format!("write what the call would have, like `{tool}({})`", example(&call.tool))))
            }
            Some(argument) if delegates => Ok(call.for_agent(argument, authority)),
            Some(argument) => call.on(argument, settings),
        }
    }

    /// Completes the call with its argument.
    fn on(mut self, argument: &str, settings: &Settings) -> Result<Self, CommandError> {
        match self.tool.as_str() {
            "Bash" => self.resource = Ok(Resource::Command { line: argument.to_owned(), directory: PathBuf::new() }),
            "WebFetch" => match argument.strip_prefix("domain:") {
                Some(host) => self.resource = Ok(Resource::Host(host.to_owned())),
                None => match settings.web_rules()?.reach(argument) {
                    Ok(Reach { host, refusal }) => (self.resource, self.refusal) = (Ok(Resource::Host(host)), refusal),
                    Err(why) => self.resource = Err(why),
                },
            },
            tool if FILE_TOOLS.contains(&tool) => {
                let workspace = wiring::seen_by_tools(settings)?;
                let located = workspace.locate(argument);
                if CHANGES.contains(&tool)
                    && let Ok(path) = &located
                    && let Some(what) = obeyed_by_git(&workspace, path, settings.environment.home().as_deref())
                {
                    self.refusal = Some(format!("it belongs to {what}, which no agent may change"));
                }
                self.resource = located.map(Resource::Path).map_err(|error| error.to_string());
            }
            _ => {}
        }
        Ok(self)
    }

    /// Completes the call with the agent that serves requests for this name.
    fn for_agent(self, name: &str, authority: &DryRun<'_>) -> Self {
        match authority.serving(name) {
            Ok((agent, notice)) => Self { resource: Ok(agent.as_resource()), notice, ..self },
            // A call can find an agent by description if its name is unknown.
            Err(failure) if authority.contract.defaults().best_match => {
                Self { resource: Err(format!("{}; a call's description may find one", failure.message)), ..self }
            }
            Err(failure) => Self { resource: Err(failure.message), ..self },
        }
    }
}

fn example(tool: &str) -> &'static str {
    if tool == "Bash" { "cargo test" } else { "src/a.rs" }
}

/// True if an argument stands for many. In a command, `*` belongs to the shell.
fn is_pattern(tool: &str, argument: &str) -> bool {
    if tool == "Bash" { argument.ends_with(":*") } else { argument.contains('*') }
}

fn unclear(text: &str) -> CommandError {
    CommandError::usage(format!("`{text}` is not a call")).hint(
        "write it like a rule: `Edit(src/a.rs)`, `Bash(cargo test)`, `WebFetch(https://example.com)`, `TodoWrite`",
    )
}

fn unknown(tool: &str) -> CommandError {
    let known = tool_names();
    let near = nearest(tool, known.iter().map(String::as_str)).map(|near| format!("; did you mean {near}?"));
    CommandError::usage(format!("there is no tool `{tool}`{}", near.unwrap_or_default()))
        .hint(format!("the tools are {}", known.join(", ")))
}
