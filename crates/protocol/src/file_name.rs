//! File names as text on one line that can be given back.
//!
//! A byte that is no text, a control character and a mark that changes the direction of writing is spelled `\xNN`, byte
//! by byte. A backslash that would begin such a spelling is `\x5c`. All other names are spelled as they are.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fmt::Write as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// Spells a name or path.
pub fn spelled(name: &(impl AsRef<OsStr> + ?Sized)) -> String {
    let mut bytes = name.as_ref().as_bytes();
    let mut text = String::with_capacity(bytes.len());
    for chunk in name.as_ref().as_bytes().utf8_chunks() {
        for character in chunk.valid().chars() {
            let is_spelling = character == '\\' && code(bytes).is_some();
            bytes = &bytes[character.len_utf8()..];
            if is_spelling || is_hidden(character) {
                spell(character.encode_utf8(&mut [0; 4]).as_bytes(), &mut text);
            } else {
                text.push(character);
            }
        }
        spell(chunk.invalid(), &mut text);
        bytes = &bytes[chunk.invalid().len()..];
    }
    text
}

/// Returns the name or path of a spelling.
pub fn unspelled(text: &str) -> Cow<'_, OsStr> {
    if !text.contains("\\x") {
        return Cow::Borrowed(OsStr::new(text));
    }
    let (mut name, mut ahead) = (Vec::with_capacity(text.len()), text.as_bytes());
    while let [first, rest @ ..] = ahead {
        match code(ahead) {
            Some(byte) => (name.push(byte), ahead = &ahead[4..]),
            None => (name.push(*first), ahead = rest),
        };
    }
    Cow::Owned(OsString::from_vec(name))
}

fn spell(bytes: &[u8], text: &mut String) {
    for byte in bytes {
        let _infallible = write!(text, "\\x{byte:02x}");
    }
}

/// Returns the byte of a spelling at the start of a text, if there is one. Only bytes that are spelled so count.
fn code(text: &[u8]) -> Option<u8> {
    let [b'\\', b'x', high, low, ..] = text else { return None };
    let digit = |letter: &u8| match letter {
        b'0'..=b'9' => Some(letter - b'0'),
        b'a'..=b'f' => Some(letter - b'a' + 10),
        _ => None,
    };
    let byte = digit(high)? << 4 | digit(low)?;
    matches!(byte, 1..=0x1f | b'\\' | 0x7f..).then_some(byte)
}

/// True for characters that do not show, break the line or change the direction of writing.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spelling_leads_back_to_its_name() {
        for (name, text) in [
            (&b"plain.rs"[..], r"plain.rs"),
            ("größe 漢字 🦀".as_bytes(), r"größe 漢字 🦀"),
            (b"caf\xe9", r"caf\xe9"),
            (b"a\nb\tc\x1b[0m", r"a\x0ab\x09c\x1b[0m"),
            ("a\u{202e}b".as_bytes(), r"a\xe2\x80\xaeb"),
            (br"a\b", r"a\b"),
            (br"a\x41", r"a\x41"),
            (br"a\x0a", r"a\x5cx0a"),
            (br"a\x5cx0a", r"a\x5cx5cx0a"),
            (b"\xff\\x0a", r"\xff\x5cx0a"),
            (b"\\x0\xff", r"\x0\xff"),
            (b"", r""),
        ] {
            assert_eq!(spelled(OsStr::from_bytes(name)), text);
            assert_eq!(unspelled(text).as_bytes(), name, "{text}");
        }
    }

    #[test]
    fn every_short_name_is_spelled_so_that_it_leads_back() {
        let letters = [b'\\', b'x', b'0', b'5', b'c', b'a', b'\n', 0x7f, 0x80, 0xc3, 0xa4, 0xff];
        for number in 0..letters.len().pow(5) {
            let name: Vec<u8> = (0..5).map(|at| letters[number / letters.len().pow(at) % letters.len()]).collect();
            let text = spelled(OsStr::from_bytes(&name));
            assert_eq!(unspelled(&text).as_bytes(), name, "{text}");
        }
    }
}
