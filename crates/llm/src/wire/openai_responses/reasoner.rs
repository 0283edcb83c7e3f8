//! Models that reason, told by their ids: this provider refuses reasoning, and the wish for it, with all others.

/// Whether a model writes and reads reasoning items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reasoner {
    /// A model of OpenAI that reasons. It seals its reasoning only when asked to, and without that a server that keeps
    /// nothing cannot take it back.
    Sealing,
    /// A model of OpenAI that does not reason: the provider refuses both the wish for sealed reasoning and reasoning
    /// itself, which a history has after a change of models.
    Never,
    /// Another server's model: it gets back what it gave, and is asked for nothing that its server may not know.
    Unknown,
}

impl Reasoner {
    pub(super) fn of(model: &str) -> Self {
        // Gateways put the maker's name before the id.
        let id = model.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
        let generation = |prefix: &str| leading_number(id.strip_prefix(prefix)?);
        match (generation("gpt-"), generation("o")) {
            _ if id.contains("codex") => Self::Sealing,
            (Some(5..), _) if id.contains("-chat") => Self::Never,
            (Some(5..), _) | (_, Some(_)) => Self::Sealing,
            (Some(_), _) => Self::Never,
            _ if id.starts_with("chatgpt-") => Self::Never,
            _ => Self::Unknown,
        }
    }
}

fn leading_number(text: &str) -> Option<u32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text[..digits].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasoning_is_known_by_the_id() {
        for (model, reasoner) in [
            ("gpt-5", Reasoner::Sealing),
            ("gpt-5-mini-2025-08-07", Reasoner::Sealing),
            ("gpt-5.6-sol", Reasoner::Sealing),
            ("gpt-10", Reasoner::Sealing),
            ("openai/gpt-5-nano", Reasoner::Sealing),
            ("o1", Reasoner::Sealing),
            ("o3-pro", Reasoner::Sealing),
            ("o4-mini", Reasoner::Sealing),
            ("codex-mini-latest", Reasoner::Sealing),
            ("gpt-5.3-codex", Reasoner::Sealing),
            ("gpt-5-chat-latest", Reasoner::Never),
            ("gpt-4o", Reasoner::Never),
            ("gpt-4.1-mini", Reasoner::Never),
            ("gpt-3.5-turbo", Reasoner::Never),
            ("chatgpt-4o-latest", Reasoner::Never),
            ("gpt-oss-120b", Reasoner::Unknown),
            ("qwen3:8b", Reasoner::Unknown),
            ("olmo-3", Reasoner::Unknown),
            ("", Reasoner::Unknown),
        ] {
            assert_eq!(Reasoner::of(model), reasoner, "{model}");
        }
    }
}
