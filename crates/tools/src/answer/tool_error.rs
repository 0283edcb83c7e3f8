//! `ToolError`: the reason why a call fails, in words for the model and as a kind for programs.

use std::error::Error;

use sortie_protocol::Fault;
use sortie_sandbox::AccessError;

/// The reason why a call failed.
pub(crate) struct ToolError {
    pub(crate) text: String,
    /// `None` if no kind fits.
    pub(crate) fault: Option<Fault>,
}

impl ToolError {
    pub(crate) fn new(fault: impl Into<Option<Fault>>, text: impl Into<String>) -> Self {
        Self { text: text.into(), fault: fault.into() }
    }

    /// The caller has to change the arguments.
    pub(crate) fn arguments(text: impl Into<String>) -> Self {
        Self::new(Fault::Arguments, text)
    }
}

impl From<AccessError> for ToolError {
    fn from(error: AccessError) -> Self {
        Self::new(fault(&error), explain(&error))
    }
}

fn fault(error: &AccessError) -> Option<Fault> {
    match error {
        AccessError::Outside { .. } | AccessError::Denied { .. } => Some(Fault::NoAccess),
        // A path below a file does not exist.
        AccessError::NotFound { .. } | AccessError::Vanished { .. } | AccessError::NotADirectory { .. } => {
            Some(Fault::NotFound)
        }
        AccessError::IsDirectory { .. } => Some(Fault::IsDirectory),
        AccessError::InvalidPath { .. } => Some(Fault::Arguments),
        AccessError::Refused { .. } => Some(Fault::NotAllowed),
        AccessError::NotRegular { .. }
        | AccessError::TooLarge { .. }
        | AccessError::Unstable { .. }
        | AccessError::Io { .. } => None,
    }
}

/// Formats an error with its causes, in one line.
pub(crate) fn explain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
