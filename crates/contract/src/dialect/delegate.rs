//! `delegate`: a task and perhaps a model in; success, files, summary and tokens out.
//!
//! A call refused before its task began is an error of the tool; a task that ran and failed is a result that says so.

use serde_json::{Value, json};
use sortie_protocol::{Failure, FailureCode, TaskOutcome, TaskRequest};

use crate::json::fields::Fields;
use crate::json::size::json_bytes_of;
use crate::json::with_fields;
use crate::outcome::cause::Cause;
use crate::outcome::ending::Ending;
use crate::outcome::given_again::last_line;
use crate::outcome::without_success::{self, without_success};
use crate::{
    AgentLine, Answer, AtMaxDepth, Call, Companions, Contract, Defaults, ReportCap, SystemPrompt, TypeDefaults, Visible,
};

const AGENT: &str = "general-purpose";
const TYPES: &[TypeDefaults] = &[TypeDefaults::plain(AGENT)];

/// A result has at most 2,000 tokens at four bytes each, as the calling model reads it: the summary, the files, and the
/// other fields.
const SUMMARY_BYTES: usize = 6300;
const FILES_BYTES: usize = 1200;
/// Quotes around a file's name, and the comma after it.
const FILE_MARKS: usize = 3;

const TITLE_WORDS: usize = 6;
const TITLE_CHARACTERS: usize = 60;

/// Word for word from the design, with two trailing spaces and a line end.
const DESCRIPTION: &str = "\
Delegates a complex subtask to a focused sub-agent with its own context window.\x20\n\
Use this to break down large tasks, work on specific files without cluttering the main context,\x20\n\
or use different models for different complexity levels.\n\
\n\
Input should be a JSON object with:\n\
- 'task' (required): detailed description of what the sub-agent should do\n\
- 'model' (optional): model name to use (e.g., \"claude-3-5-haiku-20241022\" for simple tasks)\n\
\n\
The sub-agent will have access to all tools and can read/write files, run commands, etc.\n\
Results will be summarized and returned to you.\n\
\n\
Example use cases:\n\
- \"Refactor the authentication module in auth.go to use the new token system\"\n\
- \"Analyze all test files and create a summary of test coverage\"\n\
- \"Fix all lint errors in the frontend/ directory\"\n\
";

#[derive(Debug, Clone, Copy)]
pub struct Delegate;

impl Contract for Delegate {
    fn name(&self) -> &'static str {
        "delegate"
    }

    fn tool_name(&self) -> &'static str {
        "task"
    }

    fn description(&self, _agents: &[AgentLine]) -> String {
        DESCRIPTION.to_owned()
    }

    fn schema(&self, _agents: &[AgentLine]) -> Value {
        json!({
            "type": "object",
            "properties": {
                "task": {"type": "string", "description": "Detailed description of what the sub-agent should do"},
                "model": {"type": "string", "description": "Model to use; the caller's own if not given"},
            },
            "required": ["task"],
        })
    }

    /// A call refused before its task began has only an error.
    fn output_schema(&self) -> Value {
        let properties = json!({
            "success": {"type": "boolean"},
            "files_modified": {"type": "array", "items": {"type": "string"}},
            "summary": {"type": "string"},
            "tokens_used": {"type": "integer"},
            "error": {"type": "string"},
        });
        json!({
            "type": "object",
            "properties": with_fields(properties, without_success::schemas()),
            "anyOf": [
                {"required": ["success", "files_modified", "summary", "tokens_used"]},
                {"required": ["error"]},
            ],
        })
    }

    fn agent_field(&self) -> Option<&'static str> {
        None
    }

    fn defaults(&self) -> Defaults {
        Defaults {
            at_max_depth: AtMaxDepth::Refuses,
            max_tokens: Some(50_000),
            inherit_context_files: true,
            visible: Visible::Types,
            types: TYPES,
            // The brief is sent once, as the first message, and the system text points to it.
            system: SystemPrompt::RoleAndPointer,
            companions: Companions::Messages,
            report_cap: ReportCap::JsonBytes(SUMMARY_BYTES),
            ..Defaults::PLAIN
        }
    }

    fn decode(&self, arguments: &str) -> Result<TaskRequest, Failure> {
        let mut fields = Fields::read(arguments)?;
        // A host whose `model` is a plain string sends an empty one for none.
        fields.drop_empty("model");
        let prompt = fields.text("task")?;
        Ok(TaskRequest {
            title: title(&prompt),
            prompt,
            agent: AGENT.to_owned(),
            agent_is_usual: true,
            model: fields.optional_text("model")?,
            notices: fields.into_notices(),
            ..TaskRequest::default()
        })
    }

    fn encode(&self, _call: &Call<'_>, answer: Answer<'_>) -> Value {
        match answer {
            Ok(outcome) => reported(outcome),
            Err(failure) => json!({"error": rejection(failure)}),
        }
    }

    fn encode_for_model(&self, call: &Call<'_>, answer: Answer<'_>, _mark: &str) -> String {
        match answer {
            Ok(_) => self.encode(call, answer).to_string(),
            Err(failure) => rejection(failure),
        }
    }

    fn behind_report(&self, outcome: &TaskOutcome) -> String {
        last_line(outcome)
    }

    fn is_error(&self, answer: Answer<'_>) -> bool {
        answer.is_err()
    }
}

fn reported(outcome: &TaskOutcome) -> Value {
    let (files, left_out) = first_files(&outcome.files_changed);
    let mut summary = if outcome.text.trim().is_empty() { deeds(outcome) } else { outcome.text.clone() };
    if left_out > 0 {
        summary += &format!("\n[{left_out} more files were modified]");
    }
    summary += &last_line(outcome);
    let shortfall = Ending::of(outcome).shortfall();
    let mut result = json!({
        "success": shortfall.is_none(),
        "files_modified": files,
        "summary": summary,
        "tokens_used": outcome.usage.total_tokens(),
    });
    if let Some(why) = shortfall {
        result["error"] = json!(format!("the sub-agent ran but did not finish: {why}"));
    }
    with_fields(result, without_success(outcome))
}

/// Describes why no sub-agent began, and at which stage.
fn rejection(failure: &Failure) -> String {
    match Cause::of(failure) {
        Cause::Depth => "maximum sub-agent depth exceeded".to_owned(),
        // Its message says it all; if it is empty, the answer must not be.
        Cause::SwitchedOff if !failure.message.is_empty() => failure.message.clone(),
        Cause::Arguments if failure.code == FailureCode::InvalidArguments => {
            format!("invalid input: {}", failure.message)
        }
        _ => format!("the sub-agent could not be created: {}", failure.message),
    }
}

/// Lists the actions of a task that left no words of its own.
fn deeds(outcome: &TaskOutcome) -> String {
    let calls: Vec<String> =
        outcome.tool_summary.iter().map(|tool| format!("{} ({})", tool.tool, tool.count)).collect();
    let calls = if calls.is_empty() { "none".to_owned() } else { calls.join(", ") };
    format!(
        "The sub-agent left no report. Tool calls that it made: {calls}. Files modified: {}.",
        outcome.files_changed.len()
    )
}

/// Returns as many files as fit into the result, and the number of the rest.
fn first_files(files: &[String]) -> (&[String], usize) {
    let mut room = FILES_BYTES;
    let fits = |file: &&String| match room.checked_sub(json_bytes_of(file) + FILE_MARKS) {
        Some(rest) => {
            room = rest;
            true
        }
        None => false,
    };
    let count = files.iter().take_while(fits).count();
    (&files[..count], files.len() - count)
}

/// Returns the first words of a brief.
fn title(task: &str) -> String {
    let words: Vec<&str> = task.split_whitespace().take(TITLE_WORDS).collect();
    words.join(" ").chars().take(TITLE_CHARACTERS).collect()
}
