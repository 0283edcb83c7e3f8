//! How the model reads what a tool returned: in the tool's own words, or in the form that the contract has for it.
//!
//! The words are made once, before they are recorded: history, journal and events hold the same ones.

use std::sync::Arc;
use std::time::Duration;

use sortie_contract::{Contract, OutputCall};
use sortie_protocol::{ToolCall, ToolOutput};
use sortie_sandbox::SpillDir;

/// The words of one task's tools.
pub(crate) struct OutputText {
    pub(crate) contract: Arc<dyn Contract>,
    /// The working directory relative to the workspace.
    pub(crate) cwd: String,
    /// Where texts of this task go that are too long for the contract's form.
    pub(crate) spill: Arc<SpillDir>,
}

impl OutputText {
    /// Whether tools are to say what they return as an object as well.
    pub(crate) fn is_structured(&self) -> bool {
        self.contract.defaults().structured_outputs
    }

    /// The output as it is recorded and as the model reads it. One in a form of its own, such as that of a delegated
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

    /// The output with no more text than `most` bytes, and where the rest is.
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

    /// Where the tool's text lies, if the contract cannot take it whole and it could be kept.
    async fn spilled(&self, call: &ToolCall, output: &ToolOutput) -> Option<String> {
        if self.contract.must_spill(output) { self.kept(call, output).await } else { None }
    }

    /// Keeps the tool's text whole.
    async fn kept(&self, call: &ToolCall, output: &ToolOutput) -> Option<String> {
        let (spill, name, text) = (Arc::clone(&self.spill), call.tool.clone(), output.for_model.clone());
        let spilled = tokio::task::spawn_blocking(move || spill.spill(&name, &text)).await;
        spilled.ok()?.ok().map(|path| path.display().to_string())
    }
}
