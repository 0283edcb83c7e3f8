//! How a model's window is divided between what it reads and what it writes.

use sortie_llm::Terms;

/// The window of a model of which nobody knows it, where nothing is lost by that.
pub(crate) const USUAL_WINDOW: u64 = 128_000;

/// Room for a reply where no cap is set, at most.
pub(crate) const USUAL_OUTPUT: u64 = 16_384;

/// No cap is lower, for want of room in the window.
const LEAST_CAP: u64 = 256;

/// A share of the window that stays free, because sizes are estimates.
pub(crate) const MARGIN: u64 = 20;

/// How much a request may make its model read, so that there is room for the reply.
pub(crate) fn most_input(window: u64, terms: &Terms) -> u64 {
    let reply = terms.output_cap.map_or(USUAL_OUTPUT.min(window / 4), |cap| cap.min(window / 2));
    window - reply - window / MARGIN
}

/// The cap that fits beside what the model reads: some servers refuse one that the window has no room for.
pub(crate) fn fitting_cap(window: Option<u64>, input_tokens: u64) -> u64 {
    window.map_or(u64::MAX, |window| (window - window / MARGIN).saturating_sub(input_tokens).max(LEAST_CAP))
}
