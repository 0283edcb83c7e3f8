//! The number of replies in a leg whose usage was estimated, or looked too high.

use sortie_protocol::Reply;

/// The replies of one leg, and those whose usage was estimated or looked too high.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UsageTrust {
    replies: u32,
    doubted: u32,
    high: u32,
}

impl UsageTrust {
    pub(crate) fn hear(&mut self, reply: &Reply) {
        self.replies += 1;
        self.doubted += u32::from(reply.usage_doubted);
        self.high += u32::from(reply.usage_high);
    }

    /// Returns notices for the outcome.
    pub(crate) fn notices(self) -> impl Iterator<Item = String> {
        let Self { replies, doubted, high } = self;
        let estimated = (doubted > 0).then(|| {
            format!(
                "the provider reported no plausible usage for {doubted} of {replies} calls; it was estimated, on the \
                    high side"
            )
        });
        let counted = (high > 0).then(|| {
            format!(
                "the provider reported more usage than can be expected for {high} of {replies} calls; it counts as \
                    reported, in limits and cost"
            )
        });
        estimated.into_iter().chain(counted)
    }
}

/// Returns the provider's input count for a request, or zero if nothing can be learnt from it. Nothing can be learnt
/// from our own estimate, or from a count that looks too high.
pub(crate) fn counted_input(reply: &Reply) -> u64 {
    if reply.usage_doubted || reply.usage_high { 0 } else { reply.usage.all_input_tokens() }
}
