//! Scripts of `sed` and `awk`: whether they only print.

/// Whether a script of `sed` has nothing but addresses, `p`, `d`, `q`, `=` and substitutions that neither run nor write.
pub(super) fn sed_is_plain(script: &str) -> bool {
    let mut rest = script.trim();
    if rest.is_empty() {
        return false;
    }
    while !rest.is_empty() {
        let Some(behind) = sed_command(rest) else { return false };
        rest = behind.trim_start_matches([';', ' ']);
        if !(rest.is_empty() || behind.starts_with(';')) {
            return false;
        }
    }
    true
}

/// What follows the first command of a script, if that command is plain.
fn sed_command(script: &str) -> Option<&str> {
    let mut rest = sed_address(script)?;
    if let Some(second) = rest.strip_prefix(',') {
        rest = sed_address(second)?;
    }
    let rest = rest.trim_start_matches(['!', ' ']);
    if let Some(substitution) = rest.strip_prefix('s') {
        let delimiter = substitution.chars().next().filter(char::is_ascii_punctuation).filter(|&mark| mark != '\\')?;
        let behind = up_to(&substitution[1..], delimiter)?;
        let flags = up_to(behind, delimiter)?;
        return Some(flags.trim_start_matches(|flag: char| "gpiI".contains(flag) || flag.is_ascii_digit()));
    }
    rest.strip_prefix(['p', 'd', 'q', '='])
}

/// What follows an address, which may be missing.
fn sed_address(script: &str) -> Option<&str> {
    if let Some(pattern) = script.strip_prefix('/') {
        return up_to(pattern, '/').map(|behind| behind.trim_start_matches('I'));
    }
    Some(script.strip_prefix('$').unwrap_or_else(|| script.trim_start_matches(|digit: char| digit.is_ascii_digit())))
}

/// What follows the next delimiter that is not escaped. Where a delimiter stands in brackets `sed` reads on, so that
/// brackets are not read at all.
fn up_to(text: &str, delimiter: char) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => {
                characters.next();
            }
            '\n' => return None,
            _ if character == delimiter => return Some(&text[at + character.len_utf8()..]),
            '[' if text[at..].find(']').is_none_or(|end| text[at..at + end].contains(delimiter)) => return None,
            _ => {}
        }
    }
    None
}

/// Whether a program of `awk` has nothing that runs, reads or writes other files.
pub(super) fn awk_is_plain(program: &str) -> bool {
    let acts = ["system", "getline", "|", ">", "@", "\\"];
    !program.is_empty() && !acts.iter().any(|word| program.contains(word))
}
