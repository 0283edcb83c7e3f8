//! Division of a model's window between input and reply.

use sortie_llm::Terms;

/// Assumed window of an unknown model, if a wrong guess does no harm.
pub(crate) const USUAL_WINDOW: u64 = 128_000;

/// Most room for a reply without a cap.
pub(crate) const USUAL_OUTPUT: u64 = 16_384;

/// Lowest cap, even if the window has less room.
const LEAST_CAP: u64 = 256;

/// The share (one in so many) of the window that stays free, because sizes are estimates.
pub(crate) const MARGIN: u64 = 20;

/// Returns the largest input that leaves room for the reply.
pub(crate) fn most_input(window: u64, terms: &Terms) -> u64 {
    let reply = terms.output_cap.map_or(USUAL_OUTPUT.min(window / 4), |cap| cap.min(window / 2));
    window - reply - window / MARGIN
}

/// Returns the cap that the input leaves room for: some servers refuse one that does not fit the window.
pub(crate) fn fitting_cap(window: Option<u64>, input_tokens: u64) -> u64 {
    window.map_or(u64::MAX, |window| (window - window / MARGIN).saturating_sub(input_tokens).max(LEAST_CAP))
}
