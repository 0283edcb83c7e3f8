//! A request received by a scripted model, as owned data with a stable rendering for snapshots.

use std::fmt;

use sortie_llm::{ModelRequest, ToolChoice};
use sortie_protocol::{CallOutput, Message, Part, ToolSpec};

/// Complete input of one model call.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    pub model: String,
    pub system: String,
    /// Names, in the order in which they were offered.
    pub tools: Vec<String>,
    /// The tools' full specifications.
    pub specs: Vec<ToolSpec>,
    pub messages: Vec<Message>,
    pub tool_choice: ToolChoice,
}

impl From<&ModelRequest<'_>> for Seen {
    fn from(request: &ModelRequest<'_>) -> Self {
        Self {
            model: request.model.to_owned(),
            system: request.system.to_owned(),
            tools: request.tools.iter().map(|tool| tool.name.clone()).collect(),
            specs: request.tools.to_vec(),
            messages: request.messages.to_vec(),
            tool_choice: request.tool_choice,
        }
    }
}

/// One line for each of model, system prompt, tools and message part; texts are quoted, so that nothing breaks a line.
impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "model: {}", self.model)?;
        writeln!(f, "system: {:?}", self.system)?;
        let choice = match self.tool_choice {
            ToolChoice::Auto => "",
            ToolChoice::None => " (choice: none)",
        };
        writeln!(f, "tools: {}{choice}", self.tools.join(" "))?;
        self.messages.iter().try_for_each(|message| write_message(f, message))
    }
}

fn write_message(f: &mut fmt::Formatter<'_>, message: &Message) -> fmt::Result {
    match message {
        Message::User { text } => writeln!(f, "user: {text:?}"),
        Message::Assistant { parts } => parts.iter().try_for_each(|part| write_part(f, part)),
        Message::Outputs { outputs } => outputs.iter().try_for_each(|output| write_output(f, output)),
    }
}

fn write_part(f: &mut fmt::Formatter<'_>, part: &Part) -> fmt::Result {
    match part {
        Part::Text { text } => writeln!(f, "assistant: {text:?}"),
        Part::Reasoning(reasoning) => writeln!(f, "reasoning ({}): {}", reasoning.wire, reasoning.item),
        Part::Call(call) => writeln!(f, "call {}: {} {}", call.id, call.tool, call.arguments),
    }
}

fn write_output(f: &mut fmt::Formatter<'_>, output: &CallOutput) -> fmt::Result {
    let failed = if output.output.failed { " failed" } else { "" };
    writeln!(f, "output {}{failed}: {:?}", output.call, output.output.for_model)
}
