//! "Did you mean …?": the nearest of a few known names.

/// The known name nearest to `given`, if one is near enough to have been meant.
pub(crate) fn nearest<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let reach = (given.chars().count() / 4).clamp(1, 3);
    known
        .into_iter()
        .map(|name| (distance(given, name), name))
        .filter(|&(distance, _)| distance <= reach)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name)
}

/// How many letters must be changed, added, left out or swapped with their neighbour.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 0..a.len() {
        let mut row = vec![i + 1];
        for j in 0..b.len() {
            let mut cost = (last[j] + usize::from(a[i] != b[j])).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j] {
                cost = cost.min(before_last[j - 1] + 1);
            }
            row.push(cost);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_are_not() {
        let known = ["task_tool.max_depth", "task_tool.max_tokens", "llm.max_retries"];
        for (given, expected) in [
            ("task_tool.max_dephts", Some("task_tool.max_depth")),
            ("task_tool.max_detph", Some("task_tool.max_depth")),
            ("LLM.MAX_RETRIES", Some("llm.max_retries")),
            ("llm.retries", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, known), expected, "{given}");
        }
    }
}
