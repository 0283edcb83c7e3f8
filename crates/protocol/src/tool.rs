//! What a tool is to a model, and what comes back from one.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CallId, MailMark};

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments: an object schema.
    pub schema: Value,
}

/// What a tool returned. A failure is data: the model reads it and acts on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "marks that are independent and read by name")]
pub struct ToolOutput {
    pub for_model: String,
    /// One short line for a progress display, e.g. `12 matches in 3 files`.
    pub for_people: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The text is an answer in a form of its own, which tells a failure in its own words: nothing may be put before
    /// it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verbatim: bool,
    /// The tool had nothing to do: its arguments do not fit, or no sub-agent was started. Such a call is not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub did_not_run: bool,
    /// A command that took its time: it may have waited for something, and to make the same call again may be to wait
    /// on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waited: bool,
    /// Of a delegation: what the sub-agent came to, whatever ids, times and marks the text tells it with. Two that came
    /// to the same have the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub essence: Option<String>,
    /// Paths relative to the workspace root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
    /// What changed in them, as a unified diff within a fixed size. For people; a model never sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Images and documents for the model beside the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The HTTP status that comes nearest to what went wrong, where the contract of a Task tool names one. For programs
    /// that follow along; a model never sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
    /// The mail that this output brings into the conversation.
    #[serde(default, skip_serializing_if = "MailMark::is_empty")]
    pub mail: MailMark,
    /// The command in the background of which this output tells that it was started or has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellMark>,
    /// Why it failed, where the tool or the gate can tell. Not stored: the words that a contract makes of it are.
    #[serde(skip)]
    pub fault: Option<Fault>,
    /// The same as an object, where the call asked for one. Not stored either.
    #[serde(skip)]
    pub payload: Option<Box<Payload>>,
}

/// What an output tells of a command in the background, which is known by its number within its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellMark {
    Started(u32),
    Ended(u32),
}

/// Why a call failed, for contracts that tell failures apart by more than their words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// What the arguments name does not exist.
    NotFound,
    /// There is no tool of this name.
    NoSuchTool,
    /// It lies outside the workspace, or the file system denies it.
    NoAccess,
    /// A directory where a file is needed.
    IsDirectory,
    /// A file whose content is nothing that a model can read.
    Binary,
    /// The arguments do not fit the tool.
    Arguments,
    /// What the call would change is not, or no longer, as this task knows it.
    Conflict,
    /// This task may not make this call.
    NotAllowed,
    /// The time was over before there was anything to show.
    TimedOut,
    /// A bug in the tool.
    Internal,
}

/// What an output says, in the tool's own names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payload {
    pub data: Map<String, Value>,
    /// What there is to know beside it: above all what was left out, and why.
    pub notes: Vec<String>,
    /// Not all that was asked for is here.
    pub is_partial: bool,
    /// A page, of which its reader chooses the place and the size: nobody cuts it any further.
    pub is_page: bool,
    /// Where the path among the arguments leads, relative to the workspace: `.` is its root.
    pub path: Option<String>,
}

/// A file that the model gets as it is, where its wire can carry it; elsewhere the wire says in words that it was left
/// out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The file's name or path, for people and for models.
    pub name: String,
    /// E.g. `image/png`, `application/pdf`.
    pub media_type: String,
    /// The bytes in standard base64, padded. Shared: a history is never copied for it.
    pub data: Arc<str>,
}

/// A tool's output, bound to the call that asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOutput {
    pub call: CallId,
    #[serde(flatten)]
    pub output: ToolOutput,
}

impl ToolOutput {
    /// Whether this answers a delegation that started no sub-agent.
    pub fn started_nobody(&self) -> bool {
        self.did_not_run && self.essence.is_some()
    }

    pub fn done(for_model: impl Into<String>, for_people: impl Into<String>) -> Self {
        Self {
            for_model: for_model.into(),
            for_people: for_people.into(),
            failed: false,
            verbatim: false,
            did_not_run: false,
            waited: false,
            essence: None,
            files_changed: Vec::new(),
            diff: None,
            attachments: Vec::new(),
            code: None,
            mail: MailMark::default(),
            shell: None,
            fault: None,
            payload: None,
        }
    }

    /// The same with files for the model.
    #[must_use]
    pub fn with_attachments(self, attachments: Vec<Attachment>) -> Self {
        Self { attachments, ..self }
    }

    /// A failure. The text says what happened and what to do next.
    pub fn failure(for_model: impl Into<String>) -> Self {
        let for_model = for_model.into();
        let for_people = for_model.lines().next().unwrap_or_default().to_owned();
        Self { failed: true, ..Self::done(for_model, for_people) }
    }

    /// A failure before the tool began.
    pub fn not_run(for_model: impl Into<String>) -> Self {
        Self { did_not_run: true, ..Self::failure(for_model) }
    }

    /// The same failure with its reason.
    #[must_use]
    pub fn because(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }
}
