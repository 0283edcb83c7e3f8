//! `MultiEdit`: makes several replacements in a file in order, all of them or none.

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Fault, Resource, ToolOutput};

use crate::answer::Answer;
use crate::answer::arguments::{Unknown, list};
use crate::answer::halt::Stop;
use crate::answer::phrases::grouped;
use crate::answer::tool_error::ToolError;
use crate::call::context::{CallContext, path_resource};
use crate::call::typed_tool::TypedTool;
use crate::edit::change;
use crate::edit::change::Intent;
use crate::edit::file_change::NewText;
use crate::edit::file_text::FileText;
use crate::edit::refusal::unchanged;
use crate::edit::replace::Replacement;
use crate::edit::replacements::replaced;

const MAX_EDITS: usize = 10_000;

pub(crate) struct MultiEdit;

#[derive(Deserialize)]
pub(crate) struct MultiEditInput {
    #[serde(alias = "path")]
    file_path: String,
    #[serde(deserialize_with = "list")]
    edits: Vec<Replacement>,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for MultiEdit {
    type Input = MultiEditInput;

    const NAME: &'static str = "MultiEdit";
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "Several Edits of one file in order, each on the result of the previous one; all or none.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {
                "file_path": {"type": "string"},
                "edits": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "old_string": {"type": "string"},
                            "new_string": {"type": "string"},
                            "replace_all": {"type": "boolean"},
                        },
                        "required": ["old_string", "new_string"],
                    },
                },
            },
            "required": ["file_path", "edits"],
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

impl Intent for MultiEditInput {
    fn path(&self) -> &str {
        &self.file_path
    }

    fn note_unknown(&self, answer: &mut Answer) {
        answer.note_unknown(&self.unknown);
        if let Some(note) = self.edits.iter().find_map(|edit| edit.unknown.note()) {
            answer.note(format!("in edits: {note}"));
        }
    }

    fn creates(&self) -> bool {
        self.edits.first().is_some_and(|edit| edit.old_string.is_empty())
    }

    fn make(&self, before: &FileText, stop: &Stop) -> Result<NewText, ToolError> {
        let misfit = |why: &str| Err(unchanged(&self.file_path, Fault::Arguments, why));
        match self.edits.len() {
            0 => misfit("there are no edits"),
            1..=MAX_EDITS => replaced(&self.file_path, before, &self.edits, stop),
            n_edits => misfit(&format!(
                "{} edits are too many; at most {} can be made at once",
                grouped(n_edits as u64),
                grouped(MAX_EDITS as u64)
            )),
        }
    }
}
