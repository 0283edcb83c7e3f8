//! Why a call fails: the words for the model, and the kind of failure for whoever tells kinds apart.

use sortie_protocol::Fault;
use sortie_sandbox::AccessError;

use crate::answer::explain;

pub(crate) struct Problem {
    pub(crate) text: String,
    /// `None` where no kind fits.
    pub(crate) fault: Option<Fault>,
}

impl Problem {
    pub(crate) fn new(fault: impl Into<Option<Fault>>, text: impl Into<String>) -> Self {
        Self { text: text.into(), fault: fault.into() }
    }

    /// The caller has to call differently.
    pub(crate) fn arguments(text: impl Into<String>) -> Self {
        Self::new(Fault::Arguments, text)
    }
}

impl From<AccessError> for Problem {
    fn from(error: AccessError) -> Self {
        Self::new(fault(&error), explain(&error))
    }
}

fn fault(error: &AccessError) -> Option<Fault> {
    match error {
        AccessError::Outside { .. } | AccessError::Denied { .. } => Some(Fault::NoAccess),
        // What would lie behind a file does not exist.
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
