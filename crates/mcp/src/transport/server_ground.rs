//! Environment of external servers: where programs start, what they find, and what they must not touch.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sortie_policy::Redactor;
use sortie_sandbox::process::Environment;

use crate::oauth::TokenStore;
use crate::transport::chain::Chain;
use crate::transport::expand_variables::Lookup;

/// Settings with which servers are started.
pub struct ServerGround {
    /// Start directory of programs.
    pub workspace: PathBuf,
    /// Directories that agents can change; no program inside them is started. Canonical.
    pub changeable: Vec<PathBuf>,
    /// Environment of every program, on top of the variables in its definition.
    pub environment: Environment,
    /// Values of `${NAME}` in a definition.
    pub variables: Lookup,
    /// Directory for the programs' standard error, one bounded file each; `None` if it is not kept.
    pub logs: Option<PathBuf>,
    /// Tokens of sign-ins at servers.
    pub sign_ins: TokenStore,
    /// Pause after a server's failure; it doubles with each further failure, up to a minute or this.
    pub rest: Duration,
    /// Time that a task waits for a server which nobody has named for it.
    pub grace: Duration,
    /// Rules for Sortie as a server of its own agents.
    pub chain: Chain,
    /// Masks secrets in servers' messages other than tool outputs.
    pub redactor: Arc<Redactor>,
}

impl ServerGround {
    /// Start directory of a program whose definition names this one.
    pub(crate) fn start_directory(&self, named: Option<String>) -> PathBuf {
        named.map_or_else(|| self.workspace.clone(), |below| self.workspace.join(below))
    }
}
