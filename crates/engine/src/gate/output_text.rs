//! Tool outputs as the model reads them: in the tool's own words, or in the contract's format.
//!
//! The text is made once, before it is recorded, so that history, journal and events hold the same one.

use std::sync::Arc;
use std::time::Duration;

use sortie_contract::{Contract, OutputCall};
use sortie_protocol::{ToolCall, ToolOutput};
use sortie_sandbox::SpillDir;

/// Formatter of one task's tool outputs.
pub(crate) struct OutputText {
    pub(crate) contract: Arc<dyn Contract>,
    /// Working directory relative to the workspace.
    pub(crate) cwd: String,
    /// Files for texts of this task that are too long for the contract's format.
    pub(crate) spill: Arc<SpillDir>,
}

impl OutputText {
    /// True if tools should also return their result as an object.
    pub(crate) fn is_structured(&self) -> bool {
        self.contract.defaults().structured_outputs
    }

    /// Returns the output as it is recorded and as the model reads it. A verbatim output, such as that of a delegated
    /// task, stays as it is.
    pub(crate) async fn word(&self, call: &ToolCall, output: ToolOutput, elapsed: Duration) -> ToolOutput {
        let (for_model, verbatim) = if self.is_structured() && !output.verbatim {
            let full_text_path = self.spilled(call, &output).await;
            let call = OutputCall {
                arguments: &call.arguments,
                cwd: &self.cwd,
                tool: &call.tool,
                elapsed,
                full_text_path: full_text_path.as_deref(),
            };
            (self.contract.encode_output(&call, &output), true)
        } else {
            (output.for_model, output.verbatim)
        };
        ToolOutput { for_model, verbatim, fault: None, payload: None, ..output }
    }

    /// Returns the output cut to at most `most` bytes, with the place of the rest.
    pub(crate) async fn within(&self, call: &ToolCall, output: ToolOutput, most: usize) -> ToolOutput {
        let bytes = output.for_model.len();
        if bytes <= most {
            return output;
        }
        let rest = match self.kept(call, &output).await {
            Some(path) => format!("the whole text is in {path}"),
            None => "the rest could not be kept".to_owned(),
        };
        let shown = &output.for_model[..output.for_model.floor_char_boundary(most)];
        let for_model = format!("{shown}\n[cut after {} of {bytes} bytes; {rest}]", shown.len());
        ToolOutput { for_model, ..output }
    }

    /// Writes the tool's text to a file if the contract cannot take all of it. Returns the path.
    async fn spilled(&self, call: &ToolCall, output: &ToolOutput) -> Option<String> {
        if self.contract.must_spill(output) { self.kept(call, output).await } else { None }
    }

    /// Writes the tool's whole text to a file.
    async fn kept(&self, call: &ToolCall, output: &ToolOutput) -> Option<String> {
        let (spill, name, text) = (Arc::clone(&self.spill), call.tool.clone(), output.for_model.clone());
        let spilled = tokio::task::spawn_blocking(move || spill.spill(&name, &text)).await;
        spilled.ok()?.ok().map(|path| path.display().to_string())
    }
}
