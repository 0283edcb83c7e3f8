//! What a task may do: read rules, decide one call, narrow a grant, and keep out of what comes back what must not get any
//! further: secrets, and what a terminal would obey.
//!
//! Pure. It touches no file, knows no tool but by name and asks nobody; it compares names and patterns with what a call
//! would touch. Authority only shrinks: a grant is a list of layers, the strictest of them decides, and a child's grant
//! is its parent's with layers added.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod decision;
mod fold;
mod grants;
mod judge;
pub mod neutral;
mod pairs;
mod protected;
mod redact;
mod remedy;
mod rule;
mod secret;
mod tool;

pub use decision::{Decision, Ground, Why};
pub use grants::{intersect, narrow};
pub use judge::{Access, Confinement, Judge, NetworkReach, Places, Writes, offerable};
pub use protected::{Protected, WallNames, protected, protected_from_commands, protected_names, wall_names};
pub use redact::{Redacted, Redactor, redaction_marks, without_credentials};
pub use remedy::{lasting_remedy, remedies};
pub use rule::{Rule, RuleError, RuleFault};
pub use secret::secret_places;
pub use tool::UnknownTool;
