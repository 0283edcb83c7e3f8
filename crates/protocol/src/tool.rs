//! A tool as a model sees it, and its output.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{CallId, CallResult, MailMark};

/// A tool as the model sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolSpec {
    pub name: String,
    pub description: String,
    /// JSON schema of the arguments: an object schema.
    pub schema: Value,
}

/// Output of a tool. A failure is data: the model reads it and acts on it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "marks that are independent and read by name")]
pub struct ToolOutput {
    pub for_model: String,
    /// One short line for a progress display, e.g. `12 matches in 3 files`.
    pub for_people: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
    /// The text has a format of its own that marks failures itself: nothing may be put before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verbatim: bool,
    /// The tool did nothing: the arguments do not fit, or no sub-agent was started. Such a call is not counted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub did_not_run: bool,
    /// The command ran for a while, perhaps waiting for something. Repeating the call may simply continue the wait.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waited: bool,
    /// Result digest of a delegation: the sub-agent's result without the ids, times and marks in the text. Equal
    /// results have equal digests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub essence: Option<String>,
    /// Paths relative to the workspace root.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files_changed: Vec<String>,
    /// Unified diff of the changes, of bounded size. For people; a model never sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Images and documents for the model, in addition to the text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<Attachment>,
    /// The HTTP status that best matches the failure, where the contract of a Task tool names one. For programs that
    /// follow along; a model never sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<u16>,
    /// The mail that this output brings into the conversation.
    #[serde(default, skip_serializing_if = "MailMark::is_empty")]
    pub mail: MailMark,
    /// The background command that this output reports as started or ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<ShellMark>,
    /// Reason for the failure, if the tool or the gate knows it. Not stored: the contract's text for it is.
    #[serde(skip)]
    pub fault: Option<Fault>,
    /// The output as an object, if the call asked for one. Not stored either.
    #[serde(skip)]
    pub payload: Option<Box<Payload>>,
}

/// State of a background command in an output, by its number within its task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShellMark {
    Started(u32),
    Ended(u32),
}

/// Reason why a call failed, for contracts that distinguish failures by more than their text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Something that the arguments name does not exist.
    NotFound,
    /// There is no tool of this name.
    NoSuchTool,
    /// The target lies outside the workspace, or the file system denies access.
    NoAccess,
    /// The path is a directory, and a file is needed.
    IsDirectory,
    /// The file has no content that a model can read.
    Binary,
    /// The arguments do not fit the tool.
    Arguments,
    /// The target of the change is not, or no longer, as this task knows it.
    Conflict,
    /// This task may not make this call.
    NotAllowed,
    /// One reply makes more calls than may run.
    TooMany,
    /// Time ran out before there was anything to show.
    TimedOut,
    /// A bug in the tool.
    Internal,
}

/// Content of an output, under the tool's own names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Payload {
    pub data: Map<String, Value>,
    /// Additional notes: above all what was left out, and why.
    pub notes: Vec<String>,
    /// Part of the requested content is missing.
    pub is_partial: bool,
    /// A page whose position and size the reader chose: it is never cut further.
    pub is_page: bool,
    /// Target of the path argument, relative to the workspace: `.` is its root.
    pub path: Option<String>,
}

/// A file sent to the model unchanged, if its wire supports it; otherwise the wire notes that it was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attachment {
    /// The file's name or path, for people and for models.
    pub name: String,
    /// E.g. `image/png`, `application/pdf`.
    pub media_type: String,
    /// The bytes in standard base64, padded. Shared: copying a history never copies it.
    pub data: Arc<str>,
}

/// A tool's output, tied to the call that asked for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallOutput {
    pub call: CallId,
    #[serde(flatten)]
    pub output: ToolOutput,
}

impl ToolOutput {
    /// True if this answers a delegation that started no sub-agent.
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

    /// Returns the result of the call, if it ran.
    pub fn result(&self) -> CallResult {
        if self.failed { CallResult::Failed } else { CallResult::Done }
    }

    /// Adds files for the model.
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

    /// Adds the reason for a failure.
    #[must_use]
    pub fn because(self, fault: Fault) -> Self {
        Self { fault: Some(fault), ..self }
    }
}
