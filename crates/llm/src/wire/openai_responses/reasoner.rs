//! Reasoning models, recognised by their ids: for all other models this provider rejects reasoning, and requests for
//! it.

/// Support of a model for reasoning items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reasoner {
    /// An OpenAI model that reasons. It seals its reasoning only on request, and a server that stores nothing accepts
    /// only sealed reasoning back.
    Sealing,
    /// An OpenAI model that does not reason. The provider rejects both the request for sealed reasoning and reasoning
    /// itself, which a history may hold after a change of models.
    Never,
    /// Another server's model: its own reasoning is returned to it, and nothing is requested that the server may not
    /// know.
    Unknown,
}

impl Reasoner {
    pub(super) fn of(model: &str) -> Self {
        // Gateways put the vendor's name before the id.
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
    fn reasoning_models_are_recognised_by_their_ids() {
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
