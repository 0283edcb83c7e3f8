//! How far the usage of a leg is what providers said, and how far an estimate.

use sortie_protocol::Reply;

/// The replies of one leg, and those whose usage was put right.
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

    /// What the outcome should say of it.
    pub(crate) fn notice(self) -> Option<String> {
        let Self { replies, doubted } = self;
        (doubted > 0).then(|| {
            format!(
                "the provider reported no usage that can be true for {doubted} of {replies} calls; it was estimated, on \
                 the high side"
            )
        })
    }
}

/// What a provider has counted for a request; nothing where that is an estimate of our own.
pub(crate) fn counted_input(reply: &Reply) -> u64 {
    if reply.usage_doubted { 0 } else { reply.usage.all_input_tokens() }
}
