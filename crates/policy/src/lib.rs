//! Authority: what a task may do, and what must not get out.
//!
//! It reads rules, decides one call, narrows a grant, redacts secrets and makes text safe for a terminal.
//!
//! Pure: it touches no file, knows tools only by name and asks nobody. It compares names and patterns with what a call
//! would touch. Authority only shrinks: a grant is a list of layers, the strictest of them decides, and a child's grant
//! is its parent's plus further layers.
//!
//! Its rooms, lowest first: `text`, `rule`, `protected`, `matching`, `judge`, `redact`.

// Files and processes only through `sortie-sandbox`: see `clippy.toml`.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod judge;
mod matching;
mod protected;
mod redact;
mod rule;
mod text;

pub use judge::{
    Access, Confinement, Decision, Ground, Judge, NetworkReach, Possibility, Why, Writes, intersect, lasting_remedy,
    narrow, offerable, remedies,
};
pub use protected::{
    Protected, WallNames, moved_secret_places, protected, protected_from_commands, protected_names, secret_places,
    secret_places_below, wall_names,
};
pub use redact::{Redacted, Redactor, redaction_marks, without_credentials};
pub use rule::{Places, Rule, RuleError, RuleFault, UnknownTool};
pub use text::neutral;
