//! Generations of Gemini, derived from a model's id, and their different requirements.

/// A generation of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Generation {
    /// Gemini before 2.5, and any other model on this wire.
    Early,
    /// Gemini 2.5: it thinks, and can be asked to show it.
    Thinking,
    /// Gemini 3 and later. They sign their calls and reject unsigned ones, match outputs to calls by id, and accept
    /// files inside an output.
    Signing,
}

impl Generation {
    /// Derives the generation from the version, which is right after the name; any other number is a date or a count.
    /// Names without one, like `gemini-flash-latest`, mean a recent model. Other names promise nothing.
    pub(super) fn of(model: &str) -> Self {
        let id = model.rsplit('/').next().unwrap_or(model);
        let Some(rest) = id.strip_prefix("gemini-") else { return Self::Early };
        let version = rest.split('-').next().unwrap_or_default();
        let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
        match (major.parse::<u32>(), minor.parse::<u32>()) {
            (Ok(3..), _) => Self::Signing,
            (Ok(2), Ok(5..)) => Self::Thinking,
            (Err(_), _) if rest.ends_with("-latest") => Self::Signing,
            _ => Self::Early,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_thinks_from_version_2_5_on_and_signs_from_version_3_on() {
        for signing in [
            "gemini-3-pro-preview",
            "gemini-3.8-flash",
            "models/gemini-3.1-pro-preview",
            "gemini-4-argon",
            "gemini-10-pro",
            "gemini-flash-latest",
        ] {
            assert_eq!(Generation::of(signing), Generation::Signing, "{signing}");
        }
        for thinking in ["gemini-2.5-pro", "gemini-2.5-flash-preview-09-2025", "models/gemini-2.5-flash-lite"] {
            assert_eq!(Generation::of(thinking), Generation::Thinking, "{thinking}");
        }
        for early in [
            "gemini-2.0-flash-001",
            "gemini-exp-1206",
            "gemini-embedding-001",
            "gemini-pro",
            "gemma-3-27b-it",
            "some-model",
            "",
        ] {
            assert_eq!(Generation::of(early), Generation::Early, "{early}");
        }
    }
}
