//! Limits of a task.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::Money;

/// Limits of one task. A missing limit does not restrict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Limits {
    /// Ordinary model calls. At the limit one grace call asks for the report.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Input, cached input and output of the task and its descendants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Highest cost of the task and its descendants, in US dollars.
    #[serde(rename = "max_cost_usd", skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<Money>,
    /// Time from admission to the end.
    #[serde(skip_serializing_if = "Option::is_none", with = "seconds")]
    pub timeout: Option<Duration>,
    /// Time without output after which a model call counts as stalled.
    #[serde(rename = "idle_timeout", skip_serializing_if = "Option::is_none", with = "seconds")]
    pub idle: Option<Duration>,
    /// Number of tasks that this one and its descendants may start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_children: Option<u32>,
}

impl Limits {
    /// The tighter limit of each kind.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        Self {
            max_turns: tighter(self.max_turns, other.max_turns),
            max_tokens: tighter(self.max_tokens, other.max_tokens),
            max_cost: tighter(self.max_cost, other.max_cost),
            timeout: tighter(self.timeout, other.timeout),
            idle: tighter(self.idle, other.idle),
            max_children: tighter(self.max_children, other.max_children),
        }
    }
}

fn tighter<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// Durations in seconds, with a fraction where needed.
mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[expect(clippy::ref_option, reason = "the signature that serde's `with` asks for")]
    pub(super) fn serialize<S: Serializer>(value: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(duration) => serializer.serialize_f64(duration.as_secs_f64()),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Option::<f64>::deserialize(deserializer)?
            .map(|seconds| Duration::try_from_secs_f64(seconds).map_err(D::Error::custom))
            .transpose()
    }
}
