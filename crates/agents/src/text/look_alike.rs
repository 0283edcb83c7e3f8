//! Names that look like other names: letters of other scripts, other styles and other separators.
//!
//! It knows the letters that pass for Latin ones at a glance, not every pair that a font could blur. The rest is caught
//! by the rule that all letters of a name belong to one script.

use crate::text::letter_folding::fold;

/// Letters of other scripts that are drawn like Latin ones, in either case.
const LOOK_ALIKES: [(char, &str); 25] = [
    ('a', "аαᎪꓮɑ"),
    ('b', "вβᏴꓐ"),
    ('c', "сϲᏟꓚⅽ"),
    ('d', "ԁᎠꓓⅾ"),
    ('e', "еёεᎬꓰ"),
    ('f', "ϝꓝ"),
    ('g', "ɡցᏀꓖ"),
    ('h', "һнηհᎻꓧ"),
    ('i', "іїιᎥꓲ"),
    ('j', "јϳᎫꓙ"),
    ('k', "кκᏦꓗ"),
    ('l', "ӏᏞꓡⅼ"),
    ('m', "мμᎷꓟⅿ"),
    ('n', "пνոꓠ"),
    ('o', "оοσօꓳ"),
    ('p', "рρᏢꓑ"),
    ('q', "ԛզ"),
    ('r', "гᎡᏒꓣ"),
    ('s', "ѕᏕꓢ"),
    ('t', "тτᎢꓔ"),
    ('u', "υսꓴ"),
    ('v', "ѵᏙꓦ"),
    ('w', "ԝωᎳꓪ"),
    ('x', "хχꓫ"),
    ('y', "уүγᎩꓬ"),
];

/// The letters and digits that a text seems to consist of: look-alikes as Latin letters, in lower case, without marks
/// or separators.
pub(crate) fn plain_letters(text: &str) -> String {
    let mut letters = String::new();
    fold(text, |letter| {
        if letter.is_alphanumeric() {
            letters.push(latin(letter));
        }
    });
    letters
}

/// True if two names could be mistaken for each other.
pub(crate) fn look_alike(left: &str, right: &str) -> bool {
    skeleton(left) == skeleton(right)
}

/// The name with similar letters made equal.
fn skeleton(name: &str) -> String {
    let letters = plain_letters(&name.replace('|', "l")).replace("rn", "m").replace("vv", "w");
    letters.replace(['i', '1'], "l").replace('0', "o")
}

fn latin(letter: char) -> char {
    if letter.is_ascii() {
        return letter;
    }
    let is_like = |alike: char| alike == letter || alike.to_lowercase().eq([letter]);
    LOOK_ALIKES.iter().find(|(_, alike)| alike.chars().any(is_like)).map_or(letter, |&(latin, _)| latin)
}

/// Two scripts mixed in a name although nobody writes them together.
pub(crate) fn mixed_scripts(name: &str) -> Option<(&'static str, &'static str)> {
    /// Used together in practice, and often with Latin letters.
    const EAST_ASIAN: [&str; 4] = ["Han", "kana", "Hangul", "bopomofo"];
    let group = |script| if EAST_ASIAN.contains(&script) { "Latin" } else { script };
    let mut scripts = name.chars().filter_map(script);
    let first = scripts.next()?;
    scripts.find(|&other| group(other) != group(first)).map(|other| (first, other))
}

/// The script of a letter; `None` for characters shared by all scripts.
fn script(character: char) -> Option<&'static str> {
    if !character.is_alphabetic() {
        return None;
    }
    Some(match u32::from(character) {
        0..=0x2af | 0x1e00..=0x1eff | 0x2c60..=0x2c7f | 0xa720..=0xa7ff => "Latin",
        0x370..=0x3ff | 0x1f00..=0x1fff => "Greek",
        0x400..=0x52f | 0x1c80..=0x1c8f | 0x2de0..=0x2dff | 0xa640..=0xa69f => "Cyrillic",
        0x530..=0x58f => "Armenian",
        0x590..=0x5ff => "Hebrew",
        0x600..=0x6ff | 0x750..=0x77f | 0x8a0..=0x8ff | 0xfb50..=0xfdff | 0xfe70..=0xfeff => "Arabic",
        0x900..=0x97f => "Devanagari",
        0xe00..=0xe7f => "Thai",
        0x10a0..=0x10ff | 0x1c90..=0x1cbf | 0x2d00..=0x2d2f => "Georgian",
        0x13a0..=0x13ff | 0xab70..=0xabbf => "Cherokee",
        0x1100..=0x11ff | 0x3130..=0x318f | 0xac00..=0xd7af => "Hangul",
        0x2e80..=0x2fdf | 0x3005..=0x3007 | 0x3400..=0x9fff | 0xf900..=0xfaff | 0x20000..=0x3ffff => "Han",
        0x3040..=0x30ff | 0x31f0..=0x31ff => "kana",
        0x3100..=0x312f => "bopomofo",
        _ => "other",
    })
}

/// The first letter in another style (small capitals, full width, bold, circled), which only serves to imitate the
/// plain one.
pub(crate) fn first_styled(name: &str) -> Option<char> {
    name.chars().find(|&character| {
        matches!(
            character,
            'ɢ' | 'ɪ' | 'ɴ' | 'ɶ' | 'ʀ' | 'ʏ' | 'ʙ' | 'ʜ' | 'ʟ' | 'ɡ' | 'ɑ' | 'ꜰ' | 'ꜱ' // small capitals and script
            | '\u{2b0}'..='\u{2b8}' | '\u{2e0}'..='\u{2e4}' | '\u{1d00}'..='\u{1dbf}' // small, raised and lowered
            | '\u{2070}'..='\u{209c}' | '\u{2100}'..='\u{218b}' | '\u{2460}'..='\u{24ff}' // symbols, in circles
            | '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}' | '\u{1f100}'..='\u{1f189}' // full width, bold
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_look_alike_are_detected() {
        for (name, like) in [
            ("Explore", "explore"),
            ("ex-plore", "explore"),
            ("general_purpose", "general-purpose"),
            ("General Purpose", "general-purpose"),
            ("generalpurpose", "general-purpose"),
            ("p1an", "plan"),
            ("pIan", "plan"),
            ("expl0re", "explore"),
            ("rnain", "main"),
            ("рӏап", "plan"),
            ("ΜΑΙΝ", "main"),
            ("ꓑꓡꓮꓠ", "plan"),
            ("plán", "plan"),
            ("pla\u{301}n", "plan"),
        ] {
            assert!(look_alike(name, like), "{name} looks like {like}");
        }
        for (name, other) in [("planner", "plan"), ("explorer", "explore"), ("generals", "general"), ("审查", "plan")]
        {
            assert!(!look_alike(name, other), "{name} does not look like {other}");
        }
    }

    #[test]
    fn names_that_mix_scripts_are_detected() {
        for (name, mixed) in [
            ("pаypal", Some(("Latin", "Cyrillic"))),
            ("Ελλάδα x", Some(("Greek", "Latin"))),
            ("code-reviewer 2", None),
            ("проверяющий", None),
            ("代码审查", None),
            ("SQL 专家", None),
            ("コード レビュー 担当", None),
            ("🚀-deployer", None),
        ] {
            assert_eq!(mixed_scripts(name), mixed, "{name}");
        }
    }
}
