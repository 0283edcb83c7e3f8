//! How large a task's next request is: estimated from its bytes, corrected by what its provider has counted so far.

use sortie_llm::estimate;
use sortie_protocol::ToolSpec;

use crate::history::History;

/// However a provider counts, an estimate from bytes is not off by more than this. It is on the high side, so it is not much
/// too high.
const LEAST_OFF: f64 = 0.6;
const MOST_OFF: f64 = 4.0;

/// The measure of one task's requests.
pub(crate) struct Gauge {
    /// What is the same in all of them.
    prefix: u64,
    correction: Correction,
}

/// By how much estimates from bytes are off, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Correction(f64);

impl Gauge {
    pub(crate) fn new(system: &str, tools: &[ToolSpec], correction: Correction) -> Self {
        Self { prefix: estimate::prefix_tokens(system, tools), correction }
    }

    /// About how many tokens a request with this conversation has.
    pub(crate) fn measure(&self, history: &History) -> u64 {
        self.correction.applied(self.prefix + history.tokens())
    }

    /// How many tokens, as they are estimated, a conversation may have so that its request has no more than these.
    pub(crate) fn room(&self, most: u64) -> u64 {
        self.correction.taken_off(most).saturating_sub(self.prefix)
    }

    /// A request that was measured so had so many tokens, as its provider says.
    pub(crate) fn correct(&mut self, measured: u64, reported: u64) {
        self.correction.hear(measured, reported);
    }
}

impl Default for Correction {
    fn default() -> Self {
        Self(1.0)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "an estimate")]
impl Correction {
    /// Hears of one more request. Who counts nothing tells nothing.
    pub(crate) fn hear(&mut self, measured: u64, reported: u64) {
        if measured > 0 && reported > 0 {
            self.0 = (self.0 * reported as f64 / measured as f64).clamp(LEAST_OFF, MOST_OFF);
        }
    }

    fn applied(self, estimated: u64) -> u64 {
        (estimated as f64 * self.0).ceil() as u64
    }

    /// The most that is estimated where this is counted.
    fn taken_off(self, counted: u64) -> u64 {
        (counted as f64 / self.0) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_corrected_by_what_was_counted() {
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
}
