//! Fingerprint of a trusted file.

use std::fmt::{self, Write as _};

use sha2::{Digest as _, Sha256};

const PREFIX: &str = "sha256:";
const HEX_LETTERS: usize = 64;

/// SHA-256 of a file's bytes, as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Digest(String);

impl Digest {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut text = PREFIX.to_owned();
        for byte in Sha256::digest(bytes) {
            let _infallible = write!(text, "{byte:02x}");
        }
        Self(text)
    }

    /// Parses the written form.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let hex = text.strip_prefix(PREFIX)?;
        let fits = hex.len() == HEX_LETTERS && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        fits.then(|| Self(text.to_owned()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_sha_256_and_reads_back() {
        let digest = Digest::of(b"abc");
        let known = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), known);
        assert_eq!(Digest::parse(known), Some(digest));
        for broken in ["", "sha256:", &known[1..], &known.to_uppercase(), &format!("{known}0")] {
            assert_eq!(Digest::parse(broken), None, "{broken}");
        }
    }
}
