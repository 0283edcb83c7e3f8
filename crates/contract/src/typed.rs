//! `typed`: Explore, Plan, Bash, general-purpose and the agents from files; every answer has an `agentId`.

use serde_json::{Map, Value, json};
use sortie_protocol::{Failure, Limits, TaskRequest};

use crate::cause::Cause;
use crate::ending::Ending;
use crate::fields::{Fields, invalid, unsupported};
use crate::{AgentLine, Answer, Call, Contract, Defaults, ReportCap, TypeDefaults, Visible, json, listing};

const TYPES: &[TypeDefaults] = &[
    TypeDefaults {
        name: "Explore",
        description: Some("Fast codebase exploration (read-only)"),
        tools: Some(&["Read", "Glob", "Grep", "LS", "WebFetch"]),
        model: Some("haiku"),
        max_turns: Some(10),
        report_cap: Some(ReportCap::Characters(1000)),
        ..TypeDefaults::plain("explore")
    },
    TypeDefaults {
        name: "Plan",
        description: Some("Architecture design and planning"),
        tools: Some(&["Read", "Glob", "Grep", "LS", "WebFetch", "TodoWrite"]),
        model: Some("sonnet"),
        max_turns: Some(5),
        ..TypeDefaults::plain("plan")
    },
    TypeDefaults {
        name: "Bash",
        description: Some("Command execution specialist"),
        tools: Some(&["Bash", "KillShell"]),
        model: Some("haiku"),
        max_turns: Some(20),
        ..TypeDefaults::plain("bash")
    },
    TypeDefaults {
        description: Some("Full capabilities"),
        model: Some("sonnet"),
        max_turns: Some(20),
        ..TypeDefaults::plain("general-purpose")
    },
];

const MODELS: [&str; 3] = ["haiku", "sonnet", "opus"];

const GUIDELINES: &str = "

Guidelines:
- Use Explore for searching/understanding code
- Use Plan for designing implementation approaches
- Use Bash for running commands
- Include 3-5 word description
- Provide detailed prompt with context
- Use haiku for simple, sonnet for complex tasks
- Launch multiple agents in parallel when possible";

#[derive(Debug, Clone, Copy)]
pub struct Typed;

impl Contract for Typed {
    fn name(&self) -> &'static str {
        "typed"
    }

    fn tool_name(&self) -> &'static str {
        "Task"
    }

    fn description(&self, agents: &[AgentLine]) -> String {
        let known = listing::lines(listing::types(TYPES).chain(others(agents).map(listing::pair)));
        format!("Launch a specialized subagent for complex tasks.\n\nAvailable agent types:{known}{GUIDELINES}")
    }

    fn schema(&self, agents: &[AgentLine]) -> Value {
        let mut names = listing::names(TYPES);
        names.extend(others(agents).map(|agent| agent.name.as_str()));
        json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "minLength": 1, "description": "Short description (3-5 words)"},
                "prompt": {"type": "string", "minLength": 1, "description": "Detailed task instructions"},
                "subagent_type": {"type": "string", "enum": names, "description": "Agent specialization"},
                "model": {"type": "string", "enum": MODELS, "description": "Model to use; by type if not given"},
                "run_in_background": {"type": "boolean", "description": "Return at once and work on"},
                "resume": {"type": "string", "description": "Agent ID to resume"},
                "max_turns": {"type": "number", "exclusiveMinimum": 0, "description": "Max conversation turns"},
            },
            "required": ["description", "prompt", "subagent_type"],
        })
    }

    fn defaults(&self) -> Defaults {
        Defaults {
            max_depth: 1,
            visible: Visible::TypesAndFiles,
            types: TYPES,
            report_cap: ReportCap::Characters(2000),
            max_turns: 20,
            ..Defaults::PLAIN
        }
    }

    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure> {
        let mut fields = Fields::read(arguments)?;
        let (title, prompt) = (fields.text("description")?, fields.text("prompt")?);
        let agent = fields.text("subagent_type")?;
        // An agent from a file is not known here.
        let agent = self.defaults().type_named(&agent).map_or(agent, |known| known.agent.to_owned());
        let model = fields.optional_choice("model", &MODELS)?;
        let limits = Limits { max_turns: max_turns(&mut fields)?, ..Limits::default() };
        let (background, resume) = (fields.flag("run_in_background")?, fields.optional_text("resume")?);
        if background {
            return Err(unsupported("run_in_background"));
        }
        if resume.is_some() {
            return Err(unsupported("resume"));
        }
        Ok(TaskRequest { title, prompt, agent, model, limits, notices: fields.into_notices() })
    }

    fn encode(&self, call: &Call<'_>, answer: Answer<'_>) -> Value {
        let (id, text, error) = match answer {
            Ok(outcome) => (outcome.task_id, outcome.text.as_str(), Ending::of(outcome).shortfall()),
            Err(failure) => (call.spare_id, "", Some(rejection(call, failure))),
        };
        let mut result =
            Map::from_iter([("success".to_owned(), json!(error.is_none())), ("agentId".to_owned(), json!(id))]);
        if error.is_none() || !text.trim().is_empty() {
            result.insert("result".to_owned(), json!(text));
        }
        if let Some(error) = error {
            result.insert("error".to_owned(), json!(error));
        }
        result.into()
    }

    fn is_error(&self, answer: Answer<'_>) -> bool {
        answer.map_or(true, |outcome| Ending::of(outcome) != Ending::Completed)
    }
}

/// The agents beside the four types, each once.
fn others(agents: &[AgentLine]) -> impl Iterator<Item = &AgentLine> {
    let is_first = |at: usize, name: &str| !agents[..at].iter().any(|earlier| earlier.name == name);
    let is_type = |name: &str| Typed.defaults().type_named(name).is_some();
    let numbered = agents.iter().enumerate();
    numbered.filter(move |(at, agent)| !is_type(&agent.name) && is_first(*at, &agent.name)).map(|(_, agent)| agent)
}

/// Any positive number; a part of a turn is a turn.
fn max_turns(fields: &mut Fields) -> Result<Option<u32>, Failure> {
    let Some(value) = fields.take("max_turns") else { return Ok(None) };
    match value.as_f64() {
        #[expect(clippy::cast_sign_loss, reason = "it is positive; casts of floats saturate")]
        Some(turns) if turns > 0.0 => Ok(Some(turns.ceil() as u32)),
        _ => Err(invalid(format!("`max_turns` must be a positive number, not {value}"))),
    }
}

fn rejection(call: &Call<'_>, failure: &Failure) -> String {
    match Cause::of(failure) {
        Cause::UnknownAgent => {
            let own_name = |name: &String| {
                Typed.defaults().type_named(name).map_or_else(|| name.clone(), |known| known.name.to_owned())
            };
            let known: Vec<String> = failure.details.iter().map(own_name).collect();
            let asked = json::text_field(call.arguments, "subagent_type");
            let known = known.join(", ");
            match Typed.defaults().type_named(&asked) {
                Some(offered) => format!("`{}` is not available in this version; available: {known}", offered.name),
                None => format!("there is no `subagent_type` `{asked}`; available: {known}"),
            }
        }
        _ => failure.message.clone(),
    }
}
