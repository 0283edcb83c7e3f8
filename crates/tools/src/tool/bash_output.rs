//! `BashOutput`: new output of a background command since the last look, and how the command ended.

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Fault, ShellMark, ToolOutput};

use crate::answer::Answer;
use crate::answer::arguments::{Unknown, optional_text};
use crate::answer::tool_error::ToolError;
use crate::call::context::CallContext;
use crate::call::typed_tool::TypedTool;
use crate::shell::background::Look;

/// Maximum size of a compiled filter.
const MAX_FILTER_BYTES: usize = 1 << 20;

pub(crate) struct BashOutput;

#[derive(Deserialize)]
pub(crate) struct BashOutputInput {
    #[serde(alias = "shell_id")]
    bash_id: String,
    #[serde(default, deserialize_with = "optional_text")]
    filter: Option<String>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for BashOutput {
    type Input = BashOutputInput;

    const NAME: &'static str = "BashOutput";
    /// A second look sees what is new since the first.
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "New output of a background command, and whether it has ended.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "bash_id": {"type": "string"},
                "filter": {"type": "string", "description": "regex; drops other lines"},
            },
            "required": ["bash_id"],
        })
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        let mut answer = context.answer();
        answer.note_unknown(&input.unknown);
        match look(&input, context) {
            Ok((number, look)) => {
                let shell = look.finished.is_some().then_some(ShellMark::Ended(number));
                ToolOutput { shell, ..report(answer, &input.bash_id, &look) }
            }
            Err(error) => answer.failed(&error),
        }
    }
}

/// Returns the number of the command and a look at it.
fn look(input: &BashOutputInput, context: CallContext<'_>) -> Result<(u32, Look), ToolError> {
    let shells = context.shells.ok_or_else(|| ToolError::new(Fault::NotAllowed, "there is no shell here"))?;
    let command = shells.background(&input.bash_id)?;
    let Some(filter) = &input.filter else { return Ok((command.number(), command.look(None))) };
    let matcher: RegexMatcher = RegexMatcherBuilder::new()
        .size_limit(MAX_FILTER_BYTES)
        .build(filter)
        .map_err(|error| ToolError::arguments(format!("nothing was read: the filter cannot be used: {error}")))?;
    let look = command.look(Some(&|line: &[u8]| matcher.is_match(line).unwrap_or(true)));
    Ok((command.number(), look))
}

fn report(mut answer: Answer, name: &str, Look { page, finished, is_told }: &Look) -> ToolOutput {
    page.put(&mut answer);
    answer.put("status", || if finished.is_some() { "ended" } else { "running" }.into());
    if page.text.is_empty() && page.n_left == 0 {
        answer.note("no new output");
    }
    let Some(finished) = finished else {
        answer.note(format!("{name} is running"));
        return answer.done(format!("{name} is running"));
    };
    let for_people = format!("{name}: {}", finished.ending());
    answer.note(format!("{name} has ended"));
    answer.note(finished.ending());
    finished.put(&mut answer);
    if *is_told {
        return answer.done(for_people);
    }
    finished.note(&mut answer);
    finished.note_spill(&mut answer);
    finished.note_walls(&mut answer, &page.text);
    finished.done(answer, for_people)
}
