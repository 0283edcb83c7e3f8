//! Suggestions for an unknown name. They are only suggestions: nothing ever acts on a guess.

/// Returns the candidate closest to `name`.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    nearest_few(name, candidates, 1).into_iter().next()
}

/// Returns the candidates closest to `name`, nearest first, each once. They differ in style or by a few letters, or one
/// contains the other. Earlier candidates win ties; the name itself is never included.
pub fn nearest_few<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = letters(name);
    let mut near: Vec<(usize, &str)> = Vec::new();
    for candidate in candidates {
        if let Some(distance) = how_far(&wanted, &letters(candidate))
            && candidate != name
            && near.iter().all(|(_, known)| *known != candidate)
        {
            near.push((distance, candidate));
        }
    }
    near.sort_by_key(|(distance, _)| *distance);
    near.truncate(most);
    near.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Distance between two names in letters; `None` if they are unrelated.
fn how_far(wanted: &[char], offered: &[char]) -> Option<usize> {
    let tolerated = wanted.len().min(offered.len()) / 3;
    let makes_up_most = offered.len() * 2 >= wanted.len() && contains(wanted, offered);
    let contained = makes_up_most || contains(offered, wanted);
    // The difference in length is a lower bound of the distance, which rules out most candidates.
    if !contained && wanted.len().abs_diff(offered.len()) > tolerated {
        return None;
    }
    let distance = distance(wanted, offered);
    (contained || distance <= tolerated).then_some(distance).filter(|_| !wanted.is_empty() && !offered.is_empty())
}

/// Letters and digits in lower case: what all styles of writing a name have in common.
fn letters(name: &str) -> Vec<char> {
    const MAX_CHARS: usize = 64;
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).take(MAX_CHARS).collect()
}

/// Very short words are part of too many others to mean anything.
fn contains(long: &[char], short: &[char]) -> bool {
    short.len() >= 3 && long.windows(short.len()).any(|window| window == short)
}

/// Number of insertions, deletions, replacements and swaps of neighbours between the two.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, l) in left.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, r) in right.iter().enumerate() {
            let replaced = row[j] + usize::from(l != r);
            let mut least = replaced.min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *l == right[j - 1] && left[i - 1] == *r {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[right.len()]
}
