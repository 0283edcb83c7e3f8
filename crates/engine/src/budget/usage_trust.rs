//! The number of replies in a leg whose usage the provider got wrong, so that it was estimated.

use sortie_protocol::Reply;

/// The replies of one leg, and those with corrected usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct UsageTrust {
    replies: u32,
    doubted: u32,
}

impl UsageTrust {
    pub(crate) fn hear(&mut self, reply: &Reply) {
        self.replies += 1;
        self.doubted += u32::from(reply.usage_doubted);
    }

    /// Returns a notice for the outcome.
    pub(crate) fn notice(self) -> Option<String> {
        let Self { replies, doubted } = self;
        (doubted > 0).then(|| {
            format!(
                "the provider reported no plausible usage for {doubted} of {replies} calls; it was estimated, on the \
                    high side"
            )
        })
    }
}

/// Returns the provider's input count for a request, or zero if it is our own estimate.
pub(crate) fn counted_input(reply: &Reply) -> u64 {
    if reply.usage_doubted { 0 } else { reply.usage.all_input_tokens() }
}
