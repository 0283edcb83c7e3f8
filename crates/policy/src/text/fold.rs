//! One form for all spellings of a name that some file system treats as the same.
//!
//! It is wider than any single file system. Rules that forbid use it: for them too much is safe, and too little is not.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

/// The form in which names are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spelling {
    /// Names as written.
    Exact,
    /// Names without the differences that some file system ignores: see [`fold`].
    Folded,
}

/// Returns a name without letter case, compatibility forms and invisible characters.
pub(crate) fn fold(name: &str) -> Cow<'_, str> {
    if name.is_ascii() {
        return if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(name.to_ascii_lowercase())
        } else {
            Cow::Borrowed(name)
        };
    }
    let visible = name.nfkc().filter(|&character| !is_ignorable(character));
    // Lower-casing can produce characters that normalisation changes again.
    Cow::Owned(visible.flat_map(lower).nfkc().filter(|&character| !is_ignorable(character)).collect())
}

/// Full case folding where it leads to plain letters.
fn lower(character: char) -> impl Iterator<Item = char> {
    let (one, two) = match character {
        'ß' | 'ẞ' => ('s', Some('s')),
        'İ' | 'ı' => ('i', None),
        'ſ' => ('s', None),
        other => (other, None),
    };
    one.to_lowercase().chain(two)
}

/// True for characters that file systems or people overlook.
fn is_ignorable(character: char) -> bool {
    matches!(
        character,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
            | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}'
            | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
    )
}
