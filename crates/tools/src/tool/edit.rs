//! `Edit`: replaces one text in a file by another.

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Resource, ToolOutput};

use crate::answer::Answer;
use crate::answer::halt::Stop;
use crate::answer::tool_error::ToolError;
use crate::call::context::{CallContext, path_resource};
use crate::call::typed_tool::TypedTool;
use crate::edit::change;
use crate::edit::change::Intent;
use crate::edit::file_change::NewText;
use crate::edit::file_text::FileText;
use crate::edit::replace::Replacement;
use crate::edit::replacements::replaced;

pub(crate) struct Edit;

#[derive(Deserialize)]
pub(crate) struct EditInput {
    #[serde(alias = "path")]
    file_path: String,
    /// Also receives unknown keys.
    #[serde(flatten)]
    replacement: Replacement,
}

impl TypedTool for Edit {
    type Input = EditInput;

    const NAME: &'static str = "Edit";
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "Replace old_string, which must occur exactly once in a file you have read, without Read's line numbers. An \
         empty old_string creates the file."
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

    fn make(&self, before: &FileText, stop: &Stop) -> Result<NewText, ToolError> {
        replaced(&self.file_path, before, std::slice::from_ref(&self.replacement), stop)
    }
}
