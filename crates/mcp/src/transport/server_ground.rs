//! The ground that servers stand on: where programs start, what they find, and what they must not touch.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use sortie_policy::Redactor;
use sortie_sandbox::process::Environment;

use crate::transport::expand_variables::Lookup;

/// Everything that servers are started with.
pub struct ServerGround {
    /// Where programs start.
    pub workspace: PathBuf,
    /// What agents can change: no program that lies there is started. Canonical.
    pub changeable: Vec<PathBuf>,
    /// What every program finds in its environment, beside what its definition says.
    pub environment: Environment,
    /// What `${NAME}` in a definition stands for.
    pub variables: Lookup,
    /// The directory where it is kept what programs write to their standard error, a bounded file for each; `None`
    /// where it is not.
    pub logs: Option<PathBuf>,
    /// How long a server that failed is left alone; twice as long each time it does so again, up to a minute or this.
    pub rest: Duration,
    /// For what servers say that is not a tool's output.
    pub redactor: Arc<Redactor>,
}
