//! `KillShell`: ends a background command and everything it started.

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Fault, ShellMark, ToolOutput};

use crate::answer::arguments::Unknown;
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::typed_tool::TypedTool;
use crate::shell::background::Look;

pub(crate) struct KillShell;

#[derive(Deserialize)]
pub(crate) struct KillShellInput {
    #[serde(alias = "bash_id")]
    shell_id: String,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for KillShell {
    type Input = KillShellInput;

    const NAME: &'static str = "KillShell";
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "End a background command; the answer has its unread output.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({"type": "object", "properties": {"shell_id": {"type": "string"}}, "required": ["shell_id"]})
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        let no_shell = || ToolError::new(Fault::NotAllowed, "there is no shell here");
        let command = context.shells.ok_or_else(no_shell).and_then(|shells| shells.background(&input.shell_id));
        let command = match command {
            Ok(command) => command,
            Err(error) => return answer.failed(&error),
        };
        let name = command.name();
        let had_ended = command.has_ended();
        command.stop();
        if command.ended().await.is_none() {
            return answer.failed(&ToolError::new(Fault::Internal, format!("how {name} ended is not known")));
        }
        // Unread output: the task may not have another tool to read it.
        let Look { page, finished, is_told } = command.look(None);
        page.put(&mut answer);
        answer.note(format!("{name} {}", if had_ended { "had ended before" } else { "was ended" }));
        let mut files_changed = Vec::new();
        if let Some(finished) = finished {
            finished.put(&mut answer);
            if had_ended {
                answer.note(finished.ending());
            }
            if !is_told {
                finished.note(&mut answer);
                finished.note_spill(&mut answer);
                files_changed = finished.files_changed();
            }
        }
        let shell = Some(ShellMark::Ended(command.number()));
        ToolOutput { files_changed, shell, ..answer.done(format!("{name} was ended")) }
    }
}
