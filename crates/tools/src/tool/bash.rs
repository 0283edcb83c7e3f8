//! `Bash`: runs a command line, in walls derived from the task's grant.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use sortie_protocol::{Fault, Resource, ShellMark, ToolOutput};

use crate::answer::Answer;
use crate::answer::arguments::{Unknown, optional_count, optional_flag, optional_text};
use crate::answer::phrases::{counted, grouped};
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::typed_tool::TypedTool;
use crate::shell::excerpt::{Excerpt, WHOLE_BYTES};
use crate::shell::finished::FinishedCommand;
use crate::shell::launcher::CommandRequest;
use crate::shell::recent_output::RECENT_BYTES;
use crate::shell::shells::Shells;

const DEFAULT_TIME: Duration = Duration::from_mins(2);
const MAX_TIME: Duration = Duration::from_mins(10);

/// No system accepts a much longer line.
const MAX_LINE_BYTES: usize = 100_000;

pub(crate) struct Bash;

#[derive(Deserialize)]
pub(crate) struct BashInput {
    command: String,
    #[serde(default, deserialize_with = "optional_count")]
    timeout: Option<u64>,
    /// Shown to people who follow along, as all arguments are.
    #[serde(default, rename = "description")]
    _description: Option<IgnoredAny>,
    #[serde(default, deserialize_with = "optional_flag")]
    run_in_background: Option<bool>,
    #[serde(default, deserialize_with = "optional_text")]
    cwd: Option<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for Bash {
    type Input = BashInput;

    const NAME: &'static str = "Bash";
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "Run a bash command line. Each call is a fresh shell in the workspace root or in cwd: no state is kept, there is \
         no input, and anything left running ends with it. Settings, hooks and everything outside the workspace cannot \
         change; no network unless granted. Long output is cut in the middle. Prefer Read, Grep, Glob and Edit to cat, grep, find and sed."
            .to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout": {"type": "integer", "description": "milliseconds, default 120000, at most 600000"},
                "description": {"type": "string", "description": "5-10 words"},
                "run_in_background": {
                    "type": "boolean",
                    "description": "do not wait; BashOutput reads it; KillShell or the end of your task ends it",
                },
                "cwd": {"type": "string", "description": "directory in the workspace"},
            },
            "required": ["command"],
        })
    }

    fn resource(&self, input: &Self::Input, context: CallContext<'_>) -> Resource {
        // An invalid directory makes the call fail; until then the line is judged anyway.
        let directory = input.cwd.as_deref().and_then(|cwd| context.workspace.locate(cwd).ok());
        Resource::Command { line: input.command.clone(), directory: directory.unwrap_or_else(PathBuf::new) }
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        let Some(shells) = context.shells else {
            return answer
                .failed(&ToolError::new(Fault::NotAllowed, "the command was not run: there is no shell here"));
        };
        match order(&input, &mut answer, context) {
            Ok(order) if input.is_background() => start(answer, shells, order, context).await,
            Ok(order) => run(answer, shells, order, context).await,
            Err(error) => answer.failed(&error),
        }
    }
}

impl BashInput {
    fn is_background(&self) -> bool {
        self.run_in_background.unwrap_or_default()
    }
}

/// Returns the requested command, if it is valid.
fn order(input: &BashInput, answer: &mut Answer, context: CallContext<'_>) -> Result<CommandRequest, ToolError> {
    if input.command.trim().is_empty() {
        return Err(ToolError::arguments("the command is empty"));
    }
    if input.command.len() > MAX_LINE_BYTES {
        let (n_bytes, most) = (grouped(input.command.len() as u64), grouped(MAX_LINE_BYTES as u64));
        let why = format!("the command has {n_bytes} bytes, at most {most} can be run; write a script and run that");
        return Err(ToolError::arguments(why));
    }
    let asked = input.timeout.filter(|milliseconds| *milliseconds > 0).map(Duration::from_millis);
    let time = asked.or((!input.is_background()).then_some(DEFAULT_TIME)).map(|time| time.min(MAX_TIME));
    if asked.is_some_and(|asked| asked > MAX_TIME) {
        answer.note(format!("the timeout was cut to {} ms", MAX_TIME.as_millis()));
    }
    Ok(CommandRequest {
        line: input.command.clone(),
        directory: input.cwd.clone(),
        time,
        workspace: context.workspace.clone(),
        unspilled: if input.is_background() { RECENT_BYTES as u64 } else { WHOLE_BYTES },
    })
}

async fn run(answer: Answer, shells: &Shells, order: CommandRequest, context: CallContext<'_>) -> ToolOutput {
    match shells.run(order, context.cancel, context.progress).await {
        Ok((finished, output)) => report(answer, &finished, output),
        Err(error) => answer.failed(&error),
    }
}

fn report(mut answer: Answer, finished: &FinishedCommand, mut output: Excerpt) -> ToolOutput {
    let shown = output.shown();
    let n_lines = shown.text.lines().count();
    answer.text(&shown.text);
    answer.put("output", || shown.text.clone().into());
    finished.put(&mut answer);
    if !finished.is_success() {
        answer.note(finished.ending());
    } else if n_lines == 0 {
        answer.note("no output");
    }
    finished.note(&mut answer);
    if shown.is_cut {
        finished.note_spill(&mut answer);
    }
    if shown.is_lossy {
        answer.note("bytes that are not UTF-8 are shown as \u{fffd}");
    }
    finished.note_walls(&mut answer, &shown.text);
    let lines = if n_lines == 0 { "no output".to_owned() } else { counted(n_lines, "line", "lines") };
    let for_people = if finished.is_success() { lines } else { format!("{}, {lines}", finished.ending()) };
    finished.done(answer, for_people)
}

async fn start(mut answer: Answer, shells: &Shells, order: CommandRequest, context: CallContext<'_>) -> ToolOutput {
    match shells.start(order, context.cancel, context.progress).await {
        Ok(command) => {
            let name = command.name();
            answer.line(&format!("{name} runs in the background"));
            answer.put("bash_id", || name.into());
            let shell = Some(ShellMark::Started(command.number()));
            ToolOutput { shell, ..answer.done(format!("{name} runs in the background")) }
        }
        Err(error) => answer.failed(&error),
    }
}
