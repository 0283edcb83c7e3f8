//! Commands: how a task runs them, what it is told of them, and how they end with it.
//!
//! What a command may do is not decided here: the gate has judged the line, and [`ShellReach`] says what the grant leaves
//! of the machine. The walls themselves are the sandbox's.

mod background;
mod changes;
mod excerpt;
mod finished;
mod foreground;
mod hint;
mod kept;
mod launcher;
mod proxy;
mod reach;
mod recent;
mod repositories;
mod setup;
mod shells;
mod snapshot;
mod steering;
mod stopping;
mod taken;
mod watch;

pub(crate) use self::background::Look;
pub use self::background::shell_name;
pub use self::changes::Changes;
pub(crate) use self::excerpt::{Excerpt, WHOLE_BYTES};
pub(crate) use self::finished::Finished;
pub(crate) use self::launcher::Order;
pub use self::launcher::TASK_VARIABLE;
pub use self::reach::{NetworkReach, ShellReach, Writable};
pub(crate) use self::recent::{Page, RECENT_BYTES};
pub use self::repositories::Repositories;
pub use self::setup::{ShellSetup, Standing};
pub use self::shells::{EarlierShells, Shells};
