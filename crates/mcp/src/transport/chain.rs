//! Sortie as a server of Sortie's own agents: recognised by its program, and left out unless the user wants it.

use std::path::PathBuf;

use sortie_agents::{ServerAccess, ServerDefinition};
use sortie_sandbox::OwnService;

use crate::transport::ServerGround;
use crate::transport::expand_variables::expanded;

/// Variable that tells a server's program how many Sorties are above it. A Sortie finds it even where another program
/// has started it.
pub const LEVEL_VARIABLE: &str = "SORTIE_LEVEL";

/// Key of the caller's [`Loan`](sortie_protocol::Loan) in the metadata of a call to a Sortie.
pub(crate) const LOAN: &str = "sortie/loan";
/// Key of the [`Repayment`](sortie_protocol::Repayment) in the metadata of the answer.
pub(crate) const REPAYMENT: &str = "sortie/repayment";

/// The command that serves.
const SERVES: &str = "mcp";

/// Rules for Sortie as a server of its own agents.
#[derive(Debug, Clone, Default)]
pub struct Chain {
    /// This program; `None` recognises no program as Sortie.
    pub program: Option<PathBuf>,
    /// Number of Sorties above this process.
    pub level: u32,
    /// True if agents may use Sortie as a server.
    pub is_allowed: bool,
}

impl ServerGround {
    /// Returns true if a server is Sortie itself.
    pub(crate) fn is_sortie(&self, server: &ServerDefinition) -> bool {
        let Some(own) = &self.chain.program else { return false };
        let Ok(ServerAccess::Program { command, arguments, directory, .. }) = expanded(server, &self.variables) else {
            return false;
        };
        let service = OwnService {
            program: command,
            arguments,
            directory: self.start_directory(directory),
            environment: self.environment.clone(),
            changeable: Vec::new(),
        };
        service.is_program(own) || service.is_named_like(own) && service.arguments.iter().any(|word| word == SERVES)
    }

    /// Returns true if a server is Sortie itself and may not be used.
    pub(crate) fn leaves_out(&self, server: &ServerDefinition) -> bool {
        !self.chain.is_allowed && self.is_sortie(server)
    }

    /// Value of [`LEVEL_VARIABLE`] for the programs of servers.
    pub(crate) fn level_below(&self) -> String {
        self.chain.level.saturating_add(1).to_string()
    }
}
