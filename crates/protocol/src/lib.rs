//! The nouns of Sortie: plain, serialisable data shared by all other crates.
//!
//! Nothing here does I/O, waits, reads a default from anywhere or knows a foreign wire format. Stored data (events and
//! everything in them) is versioned: see [`event::VERSION`].

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod agent;
mod background_order;
mod command;
mod compaction;
mod event;
mod failure;
pub mod file_name;
mod fork;
mod grant;
mod id;
mod limits;
mod loan;
mod mail;
mod message;
mod money;
mod near;
pub mod open_status;
mod outcome;
mod request;
mod time;
mod tool;
mod usage;

pub use agent::{AgentConfig, Job, ModelChoice, Reach, ServerTools};
pub use background_order::BackgroundOrder;
pub use command::Command;
pub use compaction::{Compaction, Stub, Summary};
pub use event::{Addressee, ApprovalAnswer, Event, Fact, Need, VERSION};
pub use failure::{Failure, FailureCode};
pub use fork::{Fork, ForkedContext};
pub use grant::{Grant, GrantLayer, Mode, ModeError, Resource};
pub use id::{CallId, TaskId, TaskIdError};
pub use limits::Limits;
pub use loan::{Loan, Repayment};
pub use mail::{MailMark, QuestionMark, ReportMark, Sender};
pub use message::{Message, Part, Reasoning, Reply, StopReason, ToolCall};
pub use money::Money;
pub use near::{nearest, nearest_few};
pub use outcome::{FailedCalls, Launched, Limit, Status, TaskOutcome, ToolCount, Truncation};
pub use request::TaskRequest;
pub use time::Timestamp;
pub use tool::{Attachment, CallOutput, Fault, Payload, ShellMark, ToolOutput, ToolSpec};
pub use usage::{CallResult, Usage};
