//! Invisible characters: controls, direction marks, zero-width ones. They make a text mean something else to a model
//! than to the person who reviewed it.

/// An invisible character, and the number of lines above it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hidden {
    pub(crate) line: usize,
    pub(crate) character: char,
}

/// The first hidden character of a text. Line breaks and tabs are not hidden.
pub(crate) fn first(text: &str) -> Option<Hidden> {
    let mut line = 0;
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if character == BLACK_FLAG && skip_flag(&mut rest) {
            continue;
        }
        if character == '\n' {
            line += 1;
        } else if is_hidden(character) && !belongs_to_writing(before, character, rest.peek().copied()) {
            return Some(Hidden { line, character });
        }
        before = character;
    }
    None
}

/// A text without the hidden characters that word processors leave in it, and the first of them. Those that could
/// change the meaning (controls, direction overrides, tags) stay.
pub(crate) fn without_harmless(text: &str) -> (String, Option<char>) {
    let mut kept = String::new();
    let mut left_out = None;
    let mut before = ' ';
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        if is_harmless(character) && !belongs_to_writing(before, character, rest.peek().copied()) {
            left_out.get_or_insert(character);
            continue;
        }
        kept.push(character);
        before = character;
    }
    (kept, left_out)
}

/// `U+202E`.
pub(crate) fn code(character: char) -> String {
    format!("U+{:04X}", u32::from(character))
}

/// A piece of a file, safe for a message: hidden characters as codes, and not too long.
pub(crate) fn shown(text: &str) -> String {
    const MAX_CHARS: usize = 120;
    let mut shown = String::new();
    for (at, character) in text.chars().enumerate() {
        if at == MAX_CHARS {
            shown.push('…');
            break;
        }
        if is_hidden(character) || character == '\n' || character == '\t' {
            shown.push_str(&format!("<{}>", code(character)));
        } else {
            shown.push(character);
        }
    }
    shown
}

const BLACK_FLAG: char = '\u{1f3f4}';

/// The flags of England, Scotland and Wales are a black flag followed by invisible letters. There are no other such
/// flags, so these cannot hide anything else.
fn skip_flag(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> bool {
    let tag = |letter: u8| char::from_u32(0xe0000 + u32::from(letter)).unwrap_or_default();
    let flags = ["gbeng\x7f", "gbsct\x7f", "gbwls\x7f"];
    let is_next = |flag: &&str| rest.clone().take(flag.len()).eq(flag.bytes().map(tag));
    let Some(flag) = flags.iter().find(|flag| is_next(flag)) else { return false };
    rest.nth(flag.len() - 1).is_some()
}

/// True for layout marks and zero-width characters.
fn is_harmless(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
        | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

fn is_hidden(character: char) -> bool {
    matches!(
        character,
        '\0'..='\u{8}' | '\u{b}'..='\u{1f}' | '\u{7f}'..='\u{9f}' // controls
        | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}' // letters and marks without a glyph
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' // zero-width, direction
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff0}'..='\u{fffc}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' // tags and variation selectors
    )
}

/// Some scripts and composed emoji use joiners and variation selectors between visible characters.
fn belongs_to_writing(before: char, character: char, after: Option<char>) -> bool {
    let visible = |neighbour: char| !neighbour.is_ascii() && !neighbour.is_whitespace() && !is_hidden(neighbour);
    match character {
        '\u{200c}' | '\u{200d}' => (visible(before) || before == '\u{fe0f}') && after.is_some_and(visible),
        '\u{fe0e}' | '\u{fe0f}' => visible(before) || matches!(before, '0'..='9' | '#' | '*'),
        _ => false,
    }
}
