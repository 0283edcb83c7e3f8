//! Folds letters with marks to plain ones, so that `é` and `e` are one letter, however encoded.
//!
//! Latin letters only, by hand: these are the ones that one keyboard types as one character and another as two.

/// The letter without its mark, in lower case; any other character unchanged.
pub(crate) fn base_letter(letter: char) -> char {
    match letter {
        'à'..='å' | 'À'..='Å' | '\u{100}'..='\u{105}' | 'Ǎ'..='ǎ' | '\u{200}'..='\u{203}' | 'Ȧ'..='ȧ' => 'a',
        'ç' | 'Ç' | '\u{106}'..='\u{10d}' | '\u{1e08}'..='\u{1e09}' => 'c',
        '\u{10e}'..='\u{111}' | '\u{1e0a}'..='\u{1e13}' => 'd',
        'è'..='ë' | 'È'..='Ë' | '\u{112}'..='\u{11b}' | '\u{204}'..='\u{207}' | 'Ȩ'..='ȩ' => 'e',
        '\u{11c}'..='\u{123}' | 'Ǧ'..='ǧ' | '\u{1e20}'..='\u{1e21}' => 'g',
        '\u{124}'..='\u{127}' | '\u{1e22}'..='\u{1e2b}' | '\u{1e96}' => 'h',
        'ì'..='ï' | 'Ì'..='Ï' | '\u{128}'..='\u{131}' | 'Ǐ'..='ǐ' | '\u{208}'..='\u{20b}' => 'i',
        '\u{134}'..='\u{135}' => 'j',
        '\u{136}'..='\u{138}' | 'Ǩ'..='ǩ' | '\u{1e30}'..='\u{1e35}' => 'k',
        '\u{139}'..='\u{142}' | '\u{1e36}'..='\u{1e3d}' => 'l',
        'ñ' | 'Ñ' | '\u{143}'..='\u{149}' | 'Ǹ'..='ǹ' | '\u{1e44}'..='\u{1e4b}' => 'n',
        'ò'..='ö' | 'Ò'..='Ö' | 'ø' | 'Ø' | '\u{14c}'..='\u{151}' | 'Ơ'..='ơ' | 'Ǒ'..='ǒ' | 'Ǫ'..='ǭ' => {
            'o'
        }
        '\u{154}'..='\u{159}' | '\u{210}'..='\u{213}' | '\u{1e58}'..='\u{1e5f}' => 'r',
        '\u{15a}'..='\u{161}' | '\u{17f}' | 'Ș'..='ș' | '\u{1e60}'..='\u{1e69}' => 's',
        '\u{162}'..='\u{167}' | 'Ț'..='ț' | '\u{1e6a}'..='\u{1e71}' | '\u{1e97}' => 't',
        'ù'..='ü' | 'Ù'..='Ü' | '\u{168}'..='\u{173}' | 'Ư'..='ư' | 'Ǔ'..='ǜ' | '\u{214}'..='\u{217}' => 'u',
        '\u{174}'..='\u{175}' | '\u{1e80}'..='\u{1e89}' | '\u{1e98}' => 'w',
        'ý' | 'Ý' | 'ÿ' | '\u{176}'..='\u{178}' | 'Ȳ'..='ȳ' | '\u{1e8e}'..='\u{1e8f}' | '\u{1e99}' => 'y',
        '\u{179}'..='\u{17e}' | '\u{1e90}'..='\u{1e95}' => 'z',
        _ => rarer_base_letter(letter),
    }
}

/// The Unicode block for Vietnamese, and rarely used letters.
fn rarer_base_letter(letter: char) -> char {
    match letter {
        '\u{1e00}'..='\u{1e01}' | '\u{1ea0}'..='\u{1eb7}' => 'a',
        '\u{1e02}'..='\u{1e07}' => 'b',
        '\u{1e14}'..='\u{1e1d}' | '\u{1eb8}'..='\u{1ec7}' => 'e',
        '\u{1e1e}'..='\u{1e1f}' => 'f',
        '\u{1e2c}'..='\u{1e2f}' | '\u{1ec8}'..='\u{1ecb}' => 'i',
        '\u{1e3e}'..='\u{1e43}' => 'm',
        '\u{1e54}'..='\u{1e57}' => 'p',
        '\u{20c}'..='\u{20f}' | '\u{22a}'..='\u{231}' | '\u{1e4c}'..='\u{1e53}' | '\u{1ecc}'..='\u{1ee3}' => 'o',
        '\u{1e72}'..='\u{1e7b}' | '\u{1ee4}'..='\u{1ef1}' => 'u',
        '\u{1e7c}'..='\u{1e7f}' => 'v',
        '\u{1e8a}'..='\u{1e8d}' => 'x',
        '\u{1ef2}'..='\u{1ef9}' => 'y',
        _ => letter,
    }
}

/// True if a character is a mark on the previous letter.
pub(crate) fn is_mark(character: char) -> bool {
    matches!(character, '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}')
}

/// Calls `each` with the letters of a text in lower case and without marks.
pub(crate) fn fold(text: &str, mut each: impl FnMut(char)) {
    for character in text.chars().filter(|&character| !is_mark(character)) {
        match base_letter(character) {
            base if base == character => base.to_lowercase().filter(|&lower| !is_mark(lower)).for_each(&mut each),
            base => each(base),
        }
    }
}
