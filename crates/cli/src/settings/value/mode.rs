//! Order of the permission modes, from the strictest to the widest.

use sortie_protocol::Mode;

/// Default mode.
pub(in crate::settings) const USUAL: &str = "default";

/// Modes from the strictest to the widest.
const BY_STRICTNESS: [Mode; 4] = [Mode::Plan, Mode::Default, Mode::AcceptEdits, Mode::Bypass];

/// Mode of this name.
pub(in crate::settings) fn named(name: &str) -> Option<Mode> {
    name.parse().ok()
}

/// Names, the strictest first.
pub(in crate::settings) fn names() -> [&'static str; 4] {
    BY_STRICTNESS.map(Mode::name)
}

/// True if `one` allows less than `other`.
pub(in crate::settings) fn is_stricter(one: &str, other: &str) -> bool {
    let rank = |name| BY_STRICTNESS.iter().position(|mode| Some(*mode) == named(name));
    rank(one).zip(rank(other)).is_some_and(|(one, other)| one < other)
}
