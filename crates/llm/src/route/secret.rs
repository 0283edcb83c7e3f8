//! Secret: a key that cannot be shown by accident.

use std::fmt;

const MASK: &str = "***";

/// Shortest key that is masked. A shorter one protects nothing, and its letters occur in ordinary words.
const SHORTEST_MASKED: usize = 8;

/// A key. It prints as a mask; only [`Secret::reveal`] returns it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret {
    value: String,
    setting: Option<String>,
    is_bearer: bool,
}

impl Secret {
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), setting: None, is_bearer: false }
    }

    /// Remembers where the key is set (e.g. `ANTHROPIC_API_KEY`), so that an error can name the place.
    #[must_use]
    pub fn set_in(mut self, setting: impl Into<String>) -> Self {
        self.setting = Some(setting.into());
        self
    }

    /// Marks the key as a bearer token, also for wires whose keys have a header of their own.
    #[must_use]
    pub fn as_bearer(self) -> Self {
        Self { is_bearer: true, ..self }
    }

    pub(crate) fn is_bearer(&self) -> bool {
        self.is_bearer
    }

    /// Place where the key is set, if known.
    pub fn setting(&self) -> Option<&str> {
        self.setting.as_deref()
    }

    /// The key itself, for the one header that carries it.
    pub fn reveal(&self) -> &str {
        &self.value
    }

    /// Masks every occurrence of the key in a text, unless the key is too short.
    pub(crate) fn mask_in(&self, text: &str) -> String {
        if self.value.len() < SHORTEST_MASKED { text.to_owned() } else { text.replace(&self.value, MASK) }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_shows_only_its_mask() {
        let secret = Secret::new("sk-very-secret").set_in("LLM_API_KEY");
        assert_eq!(format!("{secret} {secret:?}"), "*** ***");
        assert_eq!(secret.mask_in("key sk-very-secret is wrong (sk-very-secret)"), "key *** is wrong (***)");
        assert_eq!(secret.reveal(), "sk-very-secret");
    }

    #[test]
    fn a_key_that_could_be_a_word_does_not_mangle_messages() {
        for short in ["", "e", "none", "1234567"] {
            assert_eq!(Secret::new(short).mask_in("there is none: 1234567"), "there is none: 1234567", "{short}");
        }
        assert_eq!(Secret::new("12345678").mask_in("key 12345678"), "key ***");
    }
}
