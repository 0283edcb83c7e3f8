//! The known name closest to one that is not known.

/// The candidate that `name` may have meant: the same letters in another style, one that contains the other, or one
/// that differs by few letters. Earlier candidates win ties.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let wanted = letters(name);
    if wanted.is_empty() {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        let offered = letters(candidate);
        let distance = distance(&wanted, &offered);
        let tolerated = wanted.len().min(offered.len()) / 3;
        let related = distance <= tolerated || contains(&wanted, &offered) || contains(&offered, &wanted);
        if related && best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Letters and digits in lower case: what stays of a name in every style of writing it.
fn letters(name: &str) -> Vec<char> {
    const MAX_CHARS: usize = 64;
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).take(MAX_CHARS).collect()
}

/// Very short words are part of too many others to mean anything.
fn contains(long: &[char], short: &[char]) -> bool {
    short.len() >= 3 && long.windows(short.len()).any(|window| window == short)
}

/// Insertions, deletions and replacements between the two (Levenshtein).
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, r) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(l != r);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_name_in_another_style_or_slightly_misspelt_is_recognised() {
        let nearest = |name| nearest(name, ["Read", "LS", "Glob", "Grep", "TodoWrite", "Task"].into_iter());
        assert_eq!(nearest("read"), Some("Read"));
        assert_eq!(nearest("read_file"), Some("Read"));
        assert_eq!(nearest("ls"), Some("LS"));
        assert_eq!(nearest("todo_write"), Some("TodoWrite"));
        assert_eq!(nearest("Gerp"), None);
        assert_eq!(nearest("Grepp"), Some("Grep"));
        assert_eq!(nearest("Tasks"), Some("Task"));
        assert_eq!(nearest("WebFetch"), None);
        assert_eq!(nearest(""), None);
    }
}
