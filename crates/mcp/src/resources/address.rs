//! Addresses of resources: `sortie://agents`, `sortie://tasks/agent-…/report?from=0`.

use std::fmt;
use std::str::FromStr;

use sortie_protocol::TaskId;

/// A resource, from a character on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) subject: Subject,
    /// Start of the page.
    pub(crate) from: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Subject {
    Agents,
    Task(TaskId, View),
}

/// View of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    Report,
    Transcript,
    Changes,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no resource `{given}`; there are `sortie://agents` and `sortie://tasks/ID/report`, `…/transcript`, `…/changes`"
)]
pub(crate) struct AddressError {
    given: String,
}

const SCHEME: &str = "sortie://";
const AGENTS: &str = "agents";

impl View {
    pub(crate) const ALL: [Self; 3] = [Self::Report, Self::Transcript, Self::Changes];

    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Report => "The whole report of a task, from a character on",
            Self::Transcript => "What a task did, step by step",
            Self::Changes => "What a task and those below it changed in files, as a diff",
        }
    }

    pub(crate) fn media_type(self) -> &'static str {
        match self {
            Self::Report | Self::Transcript => "text/plain",
            Self::Changes => "text/x-diff",
        }
    }
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Report => "report",
            Self::Transcript => "transcript",
            Self::Changes => "changes",
        })
    }
}

impl Address {
    /// Address of the whole, from its start.
    pub(crate) fn of(subject: Subject) -> Self {
        Self { subject, from: 0 }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.subject {
            Subject::Agents => write!(f, "{SCHEME}{AGENTS}")?,
            Subject::Task(task, view) => write!(f, "{SCHEME}tasks/{task}/{view}")?,
        }
        match self.from {
            0 => Ok(()),
            from => write!(f, "?from={from}"),
        }
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || AddressError { given: text.to_owned() };
        let path = text.strip_prefix(SCHEME).ok_or_else(unknown)?;
        let (path, from) = match path.split_once('?') {
            None => (path, 0),
            Some((path, query)) => {
                let from = query.strip_prefix("from=").and_then(|from| from.parse().ok());
                (path, from.ok_or_else(unknown)?)
            }
        };
        let subject = match path.split('/').collect::<Vec<_>>()[..] {
            [AGENTS] => Subject::Agents,
            ["tasks", task, view] => {
                let view = View::ALL.into_iter().find(|known| known.to_string() == view).ok_or_else(unknown)?;
                Subject::Task(task.parse().map_err(|_| unknown())?, view)
            }
            _ => return Err(unknown()),
        };
        Ok(Self { subject, from })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_parses_back_from_its_text() {
        for text in [
            "sortie://agents",
            "sortie://agents?from=7",
            "sortie://tasks/agent-abcdefghijkl/report",
            "sortie://tasks/agent-abcdefghijkl/transcript?from=65536",
            "sortie://tasks/agent-abcdefghijkl/changes",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
        for text in [
            "agents",
            "sortie://",
            "sortie://agents/",
            "sortie://agents?from=",
            "sortie://agents?from=-1",
            "sortie://tasks/agent-abc/report",
            "sortie://tasks/agent-abcdefghijkl",
            "sortie://tasks/agent-abcdefghijkl/secrets",
            "sortie://tasks/../agents",
            "file:///etc/passwd",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
