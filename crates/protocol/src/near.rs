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
fn how_far(wanted: &str, offered: &str) -> Option<usize> {
    let (n_wanted, n_offered) = (wanted.chars().count(), offered.chars().count());
    let tolerated = n_wanted.min(n_offered) / 3;
    // Very short words are part of too many others to mean anything.
    let makes_up_most = n_offered >= 3 && n_offered * 2 >= n_wanted && wanted.contains(offered);
    let contained = makes_up_most || (n_wanted >= 3 && offered.contains(wanted));
    // The difference in length is a lower bound of the distance, which rules out most candidates.
    if wanted.is_empty() || offered.is_empty() || (!contained && n_wanted.abs_diff(n_offered) > tolerated) {
        return None;
    }
    // Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
    let distance = strsim::osa_distance(wanted, offered);
    (contained || distance <= tolerated).then_some(distance)
}

/// Letters and digits in lower case: what all styles of writing a name have in common.
fn letters(name: &str) -> String {
    const MAX_CHARS: usize = 64;
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).take(MAX_CHARS).collect()
}
