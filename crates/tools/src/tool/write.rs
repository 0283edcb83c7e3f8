//! `Write`: creates a file, or replaces all of it.
//!
//! An existing file keeps its line ends and its byte order mark: a model sees neither.

use serde::Deserialize;
use serde_json::{Value, json};
use sortie_protocol::{Fault, Resource, ToolOutput};

use crate::answer::Answer;
use crate::answer::arguments::Unknown;
use crate::answer::halt::Stop;
use crate::answer::phrases::grouped;
use crate::answer::tool_error::ToolError;
use crate::call::context::{CallContext, path_resource};
use crate::call::typed_tool::TypedTool;
use crate::edit::change;
use crate::edit::change::Intent;
use crate::edit::file_change::{EditKind, NewText};
use crate::edit::file_text::FileText;
use crate::edit::refusal::unchanged;
use crate::edit::replace::MAX_BYTES;

pub(crate) struct Write;

#[derive(Deserialize)]
pub(crate) struct WriteInput {
    #[serde(alias = "path")]
    file_path: String,
    content: String,
    #[serde(flatten)]
    unknown: Unknown,
}

impl TypedTool for Write {
    type Input = WriteInput;

    const NAME: &'static str = "Write";
    const IDEMPOTENT: bool = false;

    fn description(&self) -> String {
        "Create a file, or replace all of one that you have read.".to_owned()
    }

    fn schema(&self) -> Value {
        json!({
            "type": "object",
            "properties": {"file_path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["file_path", "content"],
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

impl Intent for WriteInput {
    fn path(&self) -> &str {
        &self.file_path
    }

    fn note_unknown(&self, answer: &mut Answer) {
        answer.note_unknown(&self.unknown);
    }

    fn creates(&self) -> bool {
        true
    }

    fn make(&self, before: &FileText, _: &Stop) -> Result<NewText, ToolError> {
        // A model that writes CRLF means it; one that writes `\n` has most likely never seen the difference.
        let text = if self.content.contains("\r\n") {
            before.without_mark(&self.content).to_owned()
        } else {
            before.with_ends(before.without_mark(&self.content))
        };
        if text.len() > MAX_BYTES {
            let (n_bytes, most) = (grouped(text.len() as u64), grouped(MAX_BYTES as u64));
            let why = format!("the content has {n_bytes} bytes; at most {most} can be written");
            return Err(unchanged(&self.file_path, Fault::Arguments, &why));
        }
        Ok(NewText { text, kind: EditKind::Wrote })
    }
}
