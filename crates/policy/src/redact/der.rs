//! Private keys without their armour, recognised by the first bytes of their structure in base64.
//!
//! All of them are a sequence that starts with a small number. Certificates, requests and public keys start differently
//! and are left alone. A piece from the middle of a key looks like any other base64 and is not found.

use std::ops::Range;

use super::base64_lines::{LEAST, rows};
use super::characters::{base64, run_up_to, starts_word};

/// `openssh-key-v1` in base64.
pub(super) const OPENSSH: &str = "b3BlbnNzaC1rZXktdjE";

/// Returns the key that begins here, with all of its lines.
pub(super) fn find(text: &str, at: usize, anchor: &'static str) -> Option<Range<usize>> {
    let key = &text.as_bytes()[at..];
    let is_certain = anchor == OPENSSH || has_version(key) || is_encrypted(key);
    if !is_certain && !is_likely(key) || run_up_to(LEAST, text, at, base64) < LEAST {
        return None;
    }
    let rows = rows(text, at);
    (is_certain || rows.count > 1).then_some(at..rows.end)
}

/// Returns a key of less than 128 bytes: `MHcCAQEE…`. Its first three letters encode only its length.
pub(super) fn find_short(text: &str, at: usize, _: &'static str) -> Option<Range<usize>> {
    let start = at.checked_sub(3)?;
    let [b'M', b'A'..=b'H', length] = text.as_bytes()[start..at] else { return None };
    let is_key = base64(length) && starts_word(text, start) && run_up_to(LEAST, text, start, base64) >= LEAST;
    is_key.then(|| start..rows(text, start).end)
}

/// True if the sequence starts with a version number, as in PKCS #1, PKCS #8, SEC 1 and PKCS #12.
fn has_version(key: &[u8]) -> bool {
    let is_long = key.starts_with(b"MII") && key.get(6..9) == Some(b"IBA".as_slice());
    is_long || matches!(key, [b'M', b'I', b'G' | b'H', _, b'A', b'g', b'E', b'A' | b'B', ..])
}

/// True if it is marked as encrypted with a password, as in PKCS #8.
fn is_encrypted(key: &[u8]) -> bool {
    key.starts_with(b"MII") && key.get(8..22) == Some(b"BgkqhkiG9w0BBQ".as_slice())
}

/// True if it has the length of a private key and does not start like a certificate, a request or a public key.
fn is_likely(key: &[u8]) -> bool {
    let is_public = |start: &[u8]| matches!(start, [b'C' | b'K', b'C'] | [b'A', b'N' | b'T']);
    matches!(key, [b'M', b'I', b'I', b'B' | b'C' | b'E' | b'J', ..])
        && key.get(6..8).is_some_and(|start| !is_public(start))
}
