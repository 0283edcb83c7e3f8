//! `typed`: Explore, Plan, Bash, general-purpose and the agents from files; every answer has an `agentId`.

use serde_json::{Value, json};
use sortie_protocol::{Failure, FailureCode, Launched, Limit, Limits, TaskId, TaskOutcome, TaskRequest};

use crate::json;
use crate::json::fields::{Fields, invalid};
use crate::outcome::cause::Cause;
use crate::outcome::ending::Ending;
use crate::outcome::given_again::last_line;
use crate::outcome::without_success::{self, without_success};
use crate::port::agent_names;
use crate::{AgentLine, Answer, Call, Companions, Contract, Defaults, ReportCap, TypeDefaults, Visible};

const TYPES: &[TypeDefaults] = &[
    TypeDefaults {
        name: "Explore",
        description: Some("Fast codebase exploration (read-only)"),
        tools: Some(&["Read", "Glob", "Grep", "LS", "WebFetch"]),
        model: Some("haiku"),
        max_turns: Some(10),
        report_cap: Some(ReportCap::Characters(1000)),
        approves_reads: true,
        ..TypeDefaults::plain("explore")
    },
    TypeDefaults {
        name: "Plan",
        description: Some("Architecture design and planning"),
        tools: Some(&["Read", "Glob", "Grep", "LS", "WebFetch", "TodoWrite"]),
        model: Some("sonnet"),
        max_turns: Some(5),
        approves_reads: true,
        ..TypeDefaults::plain("plan")
    },
    TypeDefaults {
        name: "Bash",
        description: Some("Command execution specialist"),
        tools: Some(&["Bash", "BashOutput", "KillShell"]),
        model: Some("haiku"),
        max_turns: Some(20),
        isolated: true,
        ..TypeDefaults::plain("bash")
    },
    TypeDefaults {
        description: Some("Full capabilities"),
        model: Some("sonnet"),
        max_turns: Some(20),
        ..TypeDefaults::plain("general-purpose")
    },
];

/// Turns of a main agent: a call may give a type more turns than usual, but no more than these.
const MAX_TURNS_ASKED: u32 = 100;

/// Text after the number of turns in the engine's notice that fewer were granted.
const TURNS_ASKED: &str = " turns were asked for; ";

const MODELS: [&str; 3] = ["haiku", "sonnet", "opus"];

/// Text in place of a report that does not exist yet: nobody waits for the call, or no longer.
const LAUNCHED: &str = "Not finished: it continues in the background, and its report follows when it ends.";

/// Word for word from the design, with its line end.
const GUIDELINES: &str = "

Guidelines:
- Use Explore for searching/understanding code
- Use Plan for designing implementation approaches
- Use Bash for running commands
- Include 3-5 word description
- Provide detailed prompt with context
- Use haiku for simple, sonnet for complex tasks
- Launch multiple agents in parallel when possible
";

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
        let known = agent_names::lines(agent_names::types(TYPES, agents).chain(others(agents).map(agent_names::pair)));
        let more = agent_names::named_in_schema(others(agents));
        format!("Launch a specialized subagent for complex tasks.\n\nAvailable agent types:{known}{more}{GUIDELINES}")
    }

    fn schema(&self, agents: &[AgentLine]) -> Value {
        let mut names = agent_names::names(TYPES);
        names.extend(others(agents).map(|agent| agent.name.as_str()));
        json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "minLength": 1, "description": "Short description (3-5 words)"},
                "prompt": {"type": "string", "minLength": 1, "description": "Detailed task instructions"},
                "subagent_type": {"type": "string", "enum": names, "description": "Agent specialization"},
                "model": {"type": "string", "enum": MODELS, "description": "Model to use; by type if not given"},
                "run_in_background": {"type": "boolean", "description": "Run in the background"},
                "resume": {"type": "string", "description": "Agent ID to resume"},
                "max_turns": {"type": "number", "exclusiveMinimum": 0, "description": "Max conversation turns"},
            },
            "required": ["description", "prompt", "subagent_type"],
        })
    }

    fn output_schema(&self) -> Value {
        let properties = json!({
            "success": {"type": "boolean"},
            "result": {"type": "string"},
            "agentId": {"type": "string"},
            "outputFile": {"type": "string"},
            "error": {"type": "string"},
        });
        json!({
            "type": "object",
            "properties": json::with_fields(properties, without_success::schemas()),
            "required": ["success", "agentId"],
        })
    }

    fn defaults(&self) -> Defaults {
        Defaults {
            max_depth: 1,
            companions: Companions::All,
            visible: Visible::TypesAndFiles,
            types: TYPES,
            report_cap: ReportCap::Characters(2000),
            max_turns: 20,
            max_turns_asked: Some(MAX_TURNS_ASKED),
            ..Defaults::PLAIN
        }
    }

    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure> {
        let mut fields = Fields::read(arguments)?;
        let (title, prompt) = (fields.text("description")?, fields.text("prompt")?);
        // Kept as given: an agent from a file may have a name that is otherwise an alias, and files are not known here.
        let agent = fields.text("subagent_type")?;
        let model = fields.optional_choice("model", &MODELS)?;
        let limits = Limits { max_turns: max_turns(&mut fields)?, ..Limits::default() };
        // A host whose `resume` is a plain string sends an empty one for none.
        fields.drop_empty("resume");
        let (background, resume) = (fields.flag("run_in_background")?, fields.optional_text("resume")?);
        let notices = fields.into_notices();
        Ok(TaskRequest { title, prompt, agent, model, background, resume, limits, notices, ..TaskRequest::default() })
    }

    fn encode(&self, call: &Call<'_>, answer: Answer<'_>) -> Value {
        let (id, text, error) = match answer {
            Ok(outcome) => (outcome.task_id, outcome.text.clone() + &last_line(outcome), shortfall(call, outcome)),
            Err(failure) => (rejected_id(call, failure), String::new(), Some(rejection(call, failure))),
        };
        let mut result = json!({"success": error.is_none()});
        if error.is_none() || !text.trim().is_empty() {
            result["result"] = json!(text);
        }
        result["agentId"] = json!(id);
        if let Some(error) = error {
            result["error"] = json!(error);
        }
        json::with_fields(result, answer.map(without_success).unwrap_or_default())
    }

    fn encode_launched(&self, launched: &Launched) -> Value {
        let mut result = json!({"success": true, "result": LAUNCHED, "agentId": launched.task_id});
        if let Some(file) = &launched.output_file {
            result["result"] = json!(format!("{LAUNCHED} The output file is for people."));
            result["outputFile"] = json!(file);
        }
        result
    }

    fn behind_report(&self, outcome: &TaskOutcome) -> String {
        last_line(outcome)
    }

    fn is_error(&self, answer: Answer<'_>) -> bool {
        answer.map_or(true, |outcome| Ending::of(outcome) != Ending::Completed)
    }

    fn status_word<'a>(&self, ours: &'a str) -> &'a str {
        if ["running", "completed"].contains(&ours) { ours } else { "error" }
    }
}

/// Returns the agents other than the four types, each once.
fn others(agents: &[AgentLine]) -> impl Iterator<Item = &AgentLine> {
    let is_first = |at: usize, name: &str| !agents[..at].iter().any(|earlier| earlier.name == name);
    let is_type = |name: &str| Typed.defaults().type_of(name).is_some();
    let numbered = agents.iter().enumerate();
    numbered.filter(move |(at, agent)| !is_type(&agent.name) && is_first(*at, &agent.name)).map(|(_, agent)| agent)
}

/// Accepts any positive number; a fraction of a turn counts as a turn.
fn max_turns(fields: &mut Fields) -> Result<Option<u32>, Failure> {
    let Some(value) = fields.take("max_turns") else { return Ok(None) };
    match value.as_f64() {
        #[expect(clippy::cast_sign_loss, reason = "it is positive; casts of floats saturate")]
        Some(turns) if turns > 0.0 => Ok(Some(turns.ceil() as u32)),
        _ => Err(invalid(format!("`max_turns` must be a positive number, not {value}"))),
    }
}

/// Reason why the result is incomplete. If turns ran out, it adds that fewer were granted than requested.
fn shortfall(call: &Call<'_>, outcome: &TaskOutcome) -> Option<String> {
    let ending = Ending::of(outcome);
    let why = ending.shortfall()?;
    let fewer = outcome.notices.iter().find_map(|notice| notice.split_once(TURNS_ASKED));
    match (ending, fewer) {
        (Ending::Limited(Limit::Turns), Some((asked, given))) => {
            // Kept as given, because the number may be larger than any machine number.
            let asked =
                json::field(call.arguments, "max_turns").map_or_else(|| asked.to_owned(), |asked| asked.to_string());
            Some(format!("{why}: {asked}{TURNS_ASKED}{given}"))
        }
        _ => Some(why),
    }
}

/// Returns the id for a rejected call; if a hook rejected it, the one that the hook saw.
fn rejected_id(call: &Call<'_>, failure: &Failure) -> TaskId {
    let told = failure.details.first().filter(|_| failure.code == FailureCode::Vetoed);
    told.and_then(|id| id.parse().ok()).unwrap_or(call.spare_id)
}

fn rejection(call: &Call<'_>, failure: &Failure) -> String {
    let why = reason(call, failure);
    match json::text_field(call.arguments, "resume").trim() {
        // The hook has also seen an id, as if there were an agent.
        "" if failure.code == FailureCode::Vetoed => {
            format!("{why}; nothing was started: this agentId belongs to no task")
        }
        "" => why,
        _ => format!("Resume failed: {why}"),
    }
}

fn reason(call: &Call<'_>, failure: &Failure) -> String {
    let cause = Cause::of(failure);
    if !matches!(cause, Cause::UnknownAgent | Cause::UnusableAgent) {
        return failure.message.clone();
    }
    let own_name =
        |name: &String| Typed.defaults().type_of(name).map_or_else(|| name.clone(), |known| known.name.into());
    let known: Vec<String> = failure.details.iter().map(own_name).collect();
    let why = match cause {
        Cause::UnusableAgent => failure.message.clone(),
        _ => format!("there is no `subagent_type` `{}`", json::text_field(call.arguments, "subagent_type")),
    };
    format!("{why}; available: {}", known.join(", "))
}
