//! Phrases for answers: counts with their nouns, bytes, lists of paths.

use sortie_protocol::file_name::spelled;
use std::path::PathBuf;

/// `1 file`, `2 files`.
pub(crate) fn counted(count: usize, one: &str, many: &str) -> String {
    if count == 1 { format!("1 {one}") } else { format!("{count} {many}") }
}

/// `1 byte`, `12,345 bytes`.
pub(crate) fn bytes(count: u64) -> String {
    if count == 1 { "1 byte".to_owned() } else { format!("{} bytes", grouped(count)) }
}

/// A number with thousands separators: `12,345`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Names the first few paths and counts the rest.
pub(crate) fn named_paths(paths: &[PathBuf]) -> String {
    const MAX_NAMED: usize = 20;
    let shown = |path: &PathBuf| spelled(path);
    let names: Vec<String> = paths.iter().take(MAX_NAMED).map(shown).collect();
    let more = paths.len().saturating_sub(MAX_NAMED);
    if more == 0 { names.join(", ") } else { format!("{} and {more} more", names.join(", ")) }
}
