//! Edit: one text in a file replaced by another.
//!
//! Also the home of what all tools share that change files: see [`change`] for the way of a change, from the intent to
//! the disk.

pub(crate) mod change;
mod hidden;
mod near;
mod refusal;
mod replace;
mod report;
mod text;

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Fault, Resource, ToolOutput};

pub(crate) use self::change::{Deed, Intent, Made};
pub(crate) use self::refusal::unchanged;
pub(crate) use self::replace::{MAX_BYTES, Replacement};
pub(crate) use self::text::{MARK, Text};

use self::replace::{Replaced, Unreplaced, Why, replace};
use crate::answer::Answer;
use crate::blocking::Stop;
use crate::port::{CallContext, TypedTool, path_resource};
use crate::problem::Problem;

pub(crate) struct Edit;

#[derive(Deserialize)]
pub(crate) struct EditInput {
    #[serde(alias = "path")]
    file_path: String,
    /// Keys that are not known end up in here.
    #[serde(flatten)]
    replacement: Replacement,
}

impl TypedTool for Edit {
    type Input = EditInput;

    const NAME: &'static str = "Edit";
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "Replace old_string, which must be exactly one place in a file that you have read, without Read's line numbers. \
         An empty old_string creates the file."
            .to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string"},
                "old_string": {"type": "string"},
                "new_string": {"type": "string"},
                "replace_all": {"type": "boolean", "description": "every place"},
            },
            "required": ["file_path", "old_string", "new_string"],
        })
    }

    fn resource(&self, input: &Self::Input, context: CallContext<'_>) -> Resource {
        path_resource(&input.file_path, context)
    }

    async fn preview(&self, input: Self::Input, context: CallContext<'_>) -> Option<String> {
        change::preview(input, context).await
    }

    async fn run(&self, input: Self::Input, context: CallContext<'_>) -> ToolOutput {
        change::run(input, context).await
    }
}

impl Intent for EditInput {
    fn path(&self) -> &str {
        &self.file_path
    }

    fn note_unknown(&self, answer: &mut Answer) {
        answer.note_unknown(&self.replacement.unknown);
    }

    fn creates(&self) -> bool {
        self.replacement.old_string.is_empty()
    }

    fn make(&self, before: &Text, stop: &Stop) -> Result<Made, Problem> {
        replaced(&self.file_path, before, std::slice::from_ref(&self.replacement), stop)
    }
}

/// The text after all these replacements, or why the file stays as it is.
pub(crate) fn replaced(path: &str, before: &Text, replacements: &[Replacement], stop: &Stop) -> Result<Made, Problem> {
    match replace(before.plain(), replacements, stop) {
        Ok(Replaced { text, n_replacements }) => {
            let is_odd = before.plain().starts_with(MARK);
            let text = if is_odd { &*text } else { before.without_mark(&text) };
            if text == before.plain() {
                return Err(unchanged(path, Fault::Arguments, "the edits undo each other"));
            }
            Ok(Made { text: before.with_ends(text), deed: Deed::Replaced { n_replacements } })
        }
        Err(Unreplaced { why: Why::Halted(halt), .. }) => Err(refusal::halted(path, halt)),
        Err(Unreplaced { index, why: Why::Misfit(why) }) => {
            let which = match replacements.len() {
                1 => String::new(),
                n_edits => format!("edit {} of {n_edits}: ", index + 1),
            };
            Err(unchanged(path, Fault::Arguments, &format!("{which}{why}")))
        }
    }
}
