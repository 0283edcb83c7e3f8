//! `child`: a child session with a clean context; it returns its summary, calls and tokens, and its cost in US dollars
//! if known.
//!
//! The recipe is the short form: two fields in its schema, `agentType` for `subagent_type`, whose `general` is
//! `general-purpose`, and `tokens` for `tokensUsed` in its result.

use serde_json::{Map, Value, json};
use sortie_protocol::{Failure, Status, TaskOutcome, TaskRequest};

use crate::json::fields::Fields;
use crate::json::with_fields;
use crate::outcome::cause::Cause;
use crate::outcome::ending::{Ending, own_calls};
use crate::outcome::given_again::last_line;
use crate::outcome::without_success::{self, without_success};
use crate::port::agent_names;
use crate::{AgentLine, Answer, Call, Contract, Defaults, ReportCap, TypeDefaults, Visible};

const GENERAL: &str = "general-purpose";

const TYPES: &[TypeDefaults] = &[ANY_TASK, EXPLORE, PLAN];
const RECIPE_TYPES: &[TypeDefaults] = &[TypeDefaults { name: "general", ..ANY_TASK }, EXPLORE, PLAN];

const ANY_TASK: TypeDefaults = TypeDefaults { description: Some("any task"), ..TypeDefaults::plain(GENERAL) };
const EXPLORE: TypeDefaults =
    TypeDefaults { description: Some("searches and reads"), ..TypeDefaults::plain("explore") };
const PLAN: TypeDefaults =
    TypeDefaults { description: Some("breaks a task down into steps"), ..TypeDefaults::plain("plan") };

/// The tools that delegate or claim tasks, under all their names.
const DENIED: &[&str] = &["task", "todowrite", "spawn_agent", "create_todo"];

/// A summary's share of a result's 2,000 tokens, at four bytes each, as the model reads it, with room for the other
/// fields.
const SUMMARY_BYTES: usize = 7600;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Child {
    Session,
    Recipe,
}

impl Contract for Child {
    fn name(&self) -> &'static str {
        match self {
            Self::Session => "child",
            Self::Recipe => "child-recipe",
        }
    }

    fn tool_name(&self) -> &'static str {
        "task"
    }

    fn description(&self, agents: &[AgentLine]) -> String {
        let types = match self {
            Self::Session => format!("\nAgent types:{}", agent_names::lines(agent_names::types(TYPES, agents))),
            Self::Recipe => String::new(),
        };
        format!(
            "Delegate a specific sub-task to an agent with a clean context. It works alone and returns a compact \
             summary; none of its tool output reaches you.\n\
             - The prompt must be self-contained, for the agent sees nothing of this conversation: give file paths, \
             names of variables and functions, and what it has to know of the project. Never refer back, as in \"the \
             file we just discussed\" or \"that variable\".\n\
             - It costs tokens twice, yours and its own: use it for work that takes many tool calls, not to look into \
             one file.{types}"
        )
    }

    fn schema(&self, _agents: &[AgentLine]) -> Value {
        let (description, prompt) = match self {
            Self::Session => ("3-5 word task summary", "Self-contained task for sub-agent"),
            Self::Recipe => ("3-5 word description of the task", "Self-contained prompt for the sub-agent"),
        };
        let mut schema = json!({
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": description},
                "prompt": {"type": "string", "description": prompt},
            },
            "required": ["description", "prompt"],
        });
        if *self == Self::Session {
            schema["properties"]["subagent_type"] =
                json!({"type": "string", "enum": agent_names::names(TYPES), "default": GENERAL});
        }
        schema
    }

    /// A call refused before its task began has only an error.
    fn output_schema(&self) -> Value {
        let tokens = self.tokens_field();
        let properties = json!({
            "summary": {"type": "string"},
            "toolCalls": {"type": "integer"},
            tokens: {"type": "integer"},
            "cost": {"type": "number"},
            "error": {"type": "string"},
        });
        json!({
            "type": "object",
            "properties": with_fields(properties, without_success::schemas()),
            "anyOf": [{"required": ["summary", "toolCalls", tokens]}, {"required": ["error"]}],
        })
    }

    fn agent_field(&self) -> Option<&'static str> {
        Some(match self {
            Self::Session => "subagent_type",
            Self::Recipe => "agentType",
        })
    }

    fn defaults(&self) -> Defaults {
        Defaults {
            max_depth: 1,
            visible: Visible::Types,
            types: match self {
                Self::Session => TYPES,
                Self::Recipe => RECIPE_TYPES,
            },
            denied_tools: DENIED,
            report_cap: ReportCap::JsonBytes(SUMMARY_BYTES),
            ..Defaults::PLAIN
        }
    }

    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure> {
        let mut fields = Fields::read(arguments)?;
        let (title, prompt) = (fields.text("description")?, fields.text("prompt")?);
        let field = self.agent_field().unwrap_or_default();
        let named = fields.optional_text(field)?;
        let agent_is_usual = named.is_none();
        let agent = match named {
            Some(name) => agent_names::fixed_type(&self.defaults(), field, &name)?.agent,
            None => GENERAL,
        };
        let (agent, notices) = (agent.to_owned(), fields.into_notices());
        Ok(TaskRequest { title, prompt, agent, agent_is_usual, notices, ..TaskRequest::default() })
    }

    fn encode(&self, _call: &Call<'_>, answer: Answer<'_>) -> Value {
        match answer {
            Ok(outcome) => self.reported(outcome),
            Err(failure) => json!({"error": rejection(failure)}),
        }
    }

    fn behind_report(&self, outcome: &TaskOutcome) -> String {
        last_line(outcome)
    }

    fn is_error(&self, answer: Answer<'_>) -> bool {
        !answer.is_ok_and(|outcome| matches!(outcome.status, Status::Completed | Status::Partial))
    }
}

impl Child {
    fn tokens_field(self) -> &'static str {
        match self {
            Self::Session => "tokensUsed",
            Self::Recipe => "tokens",
        }
    }

    fn reported(self, outcome: &TaskOutcome) -> Value {
        let ending = Ending::of(outcome);
        let shortfall = ending.shortfall();
        let summary = match (&ending, &shortfall) {
            (Ending::Limited(_) | Ending::TimedOut { .. }, Some(why)) if !outcome.text.trim().is_empty() => {
                format!("[Incomplete: {why}]\n\n{}", outcome.text)
            }
            _ => outcome.text.clone(),
        };
        let summary = summary + &last_line(outcome);
        let mut result = Map::from_iter([
            ("summary".to_owned(), json!(summary)),
            ("toolCalls".to_owned(), json!(own_calls(outcome))),
            (self.tokens_field().to_owned(), json!(outcome.usage.total_tokens())),
        ]);
        // An incomplete price is none. The recipe has no field for it.
        if self == Self::Session && outcome.usage.unpriced_tokens() == 0 {
            result.extend(outcome.usage.known_cost().map(|cost| ("cost".to_owned(), json!(cost))));
        }
        if let Some(why) = shortfall {
            result.insert("error".to_owned(), json!(why));
        }
        result.extend(without_success(outcome));
        result.into()
    }
}

fn rejection(failure: &Failure) -> String {
    match Cause::of(failure) {
        Cause::Depth => "maximum sub-agent depth exceeded".to_owned(),
        _ => failure.message.clone(),
    }
}
