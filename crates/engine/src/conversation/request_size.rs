//! The size of a task's next request: estimated from its bytes, corrected by the provider's counts for this task and
//! for earlier ones.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sortie_llm::estimate;
use sortie_protocol::{Job, ModelChoice, ToolSpec};

use crate::conversation::history::History;

/// Bounds on the error of an estimate from bytes, for any provider. Estimates are on the high side, so they are not
/// much too high.
const LEAST_OFF: f64 = 0.6;
const MOST_OFF: f64 = 4.0;

/// Size estimate of one task's requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestSize {
    /// Tokens that all of them share.
    prefix: u64,
    correction: Correction,
}

/// Factor between the provider's count and our estimate, as far as known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Correction(f64);

impl RequestSize {
    pub(crate) fn new(system: &str, tools: &[ToolSpec], correction: Correction) -> Self {
        Self { prefix: estimate::prefix_tokens(system, tools), correction }
    }

    /// Returns the estimated tokens of a request with this conversation.
    pub(crate) fn measure(&self, history: &History) -> u64 {
        self.correction.applied(self.prefix + history.tokens())
    }

    /// Returns the size of a conversation, in estimated tokens, whose request has at most `most` tokens.
    pub(crate) fn room(&self, most: u64) -> u64 {
        self.correction.taken_off(most).saturating_sub(self.prefix)
    }

    /// Returns this measure with a newer correction.
    pub(crate) fn corrected(self, correction: Correction) -> Self {
        Self { correction, ..self }
    }
}

/// Corrections by model, as the tasks of this process have found them. New tasks begin with these: many that start at
/// once would otherwise all underestimate, and together overspend.
#[derive(Debug, Default)]
pub(crate) struct TokenCounts(Mutex<HashMap<ModelChoice, Correction>>);

impl TokenCounts {
    pub(crate) fn note(&self, model: &ModelChoice, correction: Correction) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get_mut(model) {
            Some(known) => *known = correction,
            None => drop(known.insert(model.clone(), correction)),
        }
    }

    /// Returns the model's count for a hundred estimated tokens, if it is higher. A lower count is not passed on: other
    /// texts may have been easier to count.
    pub(crate) fn percent(&self, model: &ModelChoice) -> Option<u32> {
        let correction = *self.0.lock().unwrap_or_else(PoisonError::into_inner).get(model)?;
        let percent = u32::try_from(correction.applied(100)).unwrap_or(u32::MAX);
        Some(percent).filter(|percent| *percent > 100)
    }
}

impl Default for Correction {
    fn default() -> Self {
        Self(1.0)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an estimate")]
impl Correction {
    /// Returns the correction known when the task began.
    pub(crate) fn known_to(job: &Job) -> Self {
        Self((f64::from(job.counted_percent.unwrap_or(100)) / 100.0).clamp(LEAST_OFF, MOST_OFF))
    }

    /// Learns from one more request. A provider that reports no count changes nothing.
    pub(crate) fn hear(&mut self, measured: u64, reported: u64) {
        if measured > 0 && reported > 0 {
            self.0 = (self.0 * reported as f64 / measured as f64).clamp(LEAST_OFF, MOST_OFF);
        }
    }

    fn applied(self, estimated: u64) -> u64 {
        (estimated as f64 * self.0).ceil() as u64
    }

    /// Returns the estimate that corresponds to this count.
    fn taken_off(self, counted: u64) -> u64 {
        (counted as f64 / self.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_corrected_by_the_providers_count() {
        let after = |heard: &[(u64, u64)]| {
            let mut correction = Correction::default();
            for (measured, reported) in heard {
                correction.hear(*measured, *reported);
            }
            correction.applied(2000)
        };
        assert_eq!(after(&[]), 2000);
        assert_eq!(after(&[(1000, 1200)]), 2400);
        assert_eq!(after(&[(1000, 1200), (1200, 1080)]), 2160);
        assert_eq!(after(&[(1000, 0)]), 2000, "who counts nothing tells nothing");
        assert_eq!(after(&[(1000, 1)]), 1200, "who counts absurdly little is not believed");
        assert_eq!(after(&[(1, 9000)]), 8000);
    }

    #[test]
    fn only_a_higher_count_is_passed_on() {
        let counting = TokenCounts::default();
        let model = |id: &str| ModelChoice { route: "main".to_owned(), id: id.to_owned() };
        counting.note(&model("dense"), Correction(2.5));
        counting.note(&model("sparse"), Correction(0.7));
        counting.note(&model("learned"), Correction(3.0));
        counting.note(&model("learned"), Correction(1.204));
        let known = ["dense", "sparse", "learned", "new"].map(|id| counting.percent(&model(id)));
        assert_eq!(known, [Some(250), None, Some(121), None]);
    }
}
