//! `Diff`: the difference between two texts, line by line, and as a unified diff of bounded size.
//!
//! It compares and shows. The caller knows what a difference means for a file.

use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use super::phrases::counted;
use super::truncate;

/// Maximum size of a unified diff for people, without its last line about omissions.
pub(crate) const MAX_BYTES: usize = 20 * 1024;
const MAX_LINE_CHARS: usize = 500;
const CONTEXT_LINES: usize = 3;
/// Maximum number of lines between the first difference and the last for a line-by-line comparison.
const MAX_COMPARED_LINES: usize = 200_000;

/// Two texts and their differences. Lines include their ends.
///
/// It holds the lines from shortly before the first difference to shortly after the last; all indexes count from there.
pub(crate) struct Diff<'a> {
    /// Number of lines before these, equal in both texts.
    n_skipped: usize,
    before: Vec<&'a str>,
    after: Vec<&'a str>,
    changes: Vec<Change>,
}

/// Lines replaced by others; either range may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) before: Range<usize>,
    pub(crate) after: Range<usize>,
}

impl<'a> Diff<'a> {
    pub(crate) fn new(before: &'a str, after: &'a str) -> Self {
        let (start, n_end) = common(before, after);
        let n_skipped = before[..start].matches('\n').count();
        let before: Vec<&str> = before[start..before.len() - n_end].split_inclusive('\n').collect();
        let after: Vec<&str> = after[start..after.len() - n_end].split_inclusive('\n').collect();
        let changes = compare(&before, &after);
        Self { n_skipped, before, after, changes }
    }

    /// In line order; no two changes are adjacent.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Number of equal lines before the ones that are held.
    pub(crate) fn n_skipped(&self) -> usize {
        self.n_skipped
    }

    pub(crate) fn before(&self) -> &[&'a str] {
        &self.before
    }

    pub(crate) fn after(&self) -> &[&'a str] {
        &self.after
    }

    pub(crate) fn n_added(&self) -> usize {
        self.changes.iter().map(|change| change.after.len()).sum()
    }

    pub(crate) fn n_removed(&self) -> usize {
        self.changes.iter().map(|change| change.before.len()).sum()
    }

    /// Changes with at most three lines of context on each side, joined if these meet.
    pub(crate) fn hunks(&self, n_context: usize) -> Vec<Hunk<'_>> {
        let mut hunks: Vec<Hunk<'_>> = Vec::new();
        for (index, change) in self.changes.iter().enumerate() {
            let before = widened(&change.before, n_context, self.before.len());
            let after = widened(&change.after, n_context, self.after.len());
            match hunks.last_mut() {
                Some(last) if before.start <= last.before.end => {
                    (last.before.end, last.after.end) = (before.end, after.end);
                    last.changes = &self.changes[index - last.changes.len()..=index];
                }
                _ => hunks.push(Hunk { before, after, changes: &self.changes[index..=index] }),
            }
        }
        hunks
    }

    /// Formats the difference like `diff -u`, with `path` as the name on both sides, or `/dev/null` for a missing file.
    /// A diff of more than `max_bytes` is cut, and its last line says by how much.
    pub(crate) fn unified(&self, path: &str, sides: Sides, max_bytes: usize) -> String {
        let old = if sides == Sides::Created { "/dev/null".to_owned() } else { format!("a/{path}") };
        let head = format!("--- {old}\n+++ b/{path}\n");
        let mut unified = Bounded { text: head, max_bytes, n_left_out: 0 };
        for hunk in self.hunks(CONTEXT_LINES) {
            unified.line('@', &format!("@ -{} +{} @@\n", self.span(&hunk.before), self.span(&hunk.after)));
            let mut at = hunk.before.start;
            for change in hunk.changes {
                self.before[at..change.before.start].iter().for_each(|line| unified.line(' ', line));
                self.before[change.before.clone()].iter().for_each(|line| unified.line('-', line));
                self.after[change.after.clone()].iter().for_each(|line| unified.line('+', line));
                at = change.before.end;
            }
            self.before[at..hunk.before.end].iter().for_each(|line| unified.line(' ', line));
        }
        unified.finish()
    }

    /// Formats a line range for a hunk header: counted from 1, an empty range by the line before it.
    fn span(&self, range: &Range<usize>) -> String {
        let first = self.n_skipped + range.start;
        match range.len() {
            0 => format!("{first},0"),
            1 => format!("{}", first + 1),
            n_lines => format!("{},{n_lines}", first + 1),
        }
    }
}

/// Counts the bytes of whole lines that two texts share at their starts and ends, minus the lines shown around a
/// change.
fn common(before: &str, after: &str) -> (usize, usize) {
    let (before, after) = (before.as_bytes(), after.as_bytes());
    let n_same = before.iter().zip(after).take_while(|(left, right)| left == right).count();
    let line_starts = |bytes: &[u8]| bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    let mut start = line_starts(&before[..n_same]);
    for _ in 0..CONTEXT_LINES {
        start = line_starts(&before[..start.saturating_sub(1)]);
    }
    let (before, after) = (&before[start..], &after[start..]);
    let n_same = before.iter().rev().zip(after.iter().rev()).take_while(|(left, right)| left == right).count();
    // A line is whole only if a line ends before it in both texts.
    let mut rest = &before[before.len() - n_same..];
    for _ in 0..=CONTEXT_LINES {
        let next = rest.iter().position(|&byte| byte == b'\n').map_or(rest.len(), |at| at + 1);
        rest = &rest[next..];
    }
    (start, rest.len())
}

fn compare(before: &[&str], after: &[&str]) -> Vec<Change> {
    if before.len() + after.len() > MAX_COMPARED_LINES {
        return vec![Change { before: 0..before.len(), after: 0..after.len() }];
    }
    let mut changes: Vec<Change> = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, before, after) {
        let (tag, old, new) = operation.as_tag_tuple();
        match changes.last_mut() {
            _ if tag == DiffTag::Equal => {}
            Some(last) if last.before.end == old.start && last.after.end == new.start => {
                (last.before.end, last.after.end) = (old.end, new.end);
            }
            _ => changes.push(Change { before: old, after: new }),
        }
    }
    changes
}

/// Existence of the file on each side of a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sides {
    Both,
    /// There was no file before.
    Created,
}

/// Changes shown together, and their lines on both sides.
pub(crate) struct Hunk<'a> {
    before: Range<usize>,
    pub(crate) after: Range<usize>,
    changes: &'a [Change],
}

fn widened(range: &Range<usize>, n_context: usize, n_lines: usize) -> Range<usize> {
    range.start.saturating_sub(n_context)..range.end.saturating_add(n_context).min(n_lines)
}

/// Lines up to a size; further ones are only counted.
struct Bounded {
    text: String,
    max_bytes: usize,
    n_left_out: usize,
}

impl Bounded {
    fn line(&mut self, mark: char, line: &str) {
        let (body, end) =
            line.strip_suffix('\n').map_or((line, "\n\\ No newline at end of file\n"), |body| (body, "\n"));
        let shown = shortened(body);
        if self.n_left_out > 0 || self.text.len() + shown.len() + end.len() + mark.len_utf8() > self.max_bytes {
            self.n_left_out += 1;
            return;
        }
        self.text.push(mark);
        self.text.push_str(&shown);
        self.text.push_str(end);
    }

    fn finish(mut self) -> String {
        if self.n_left_out > 0 {
            self.text.push_str(&format!("[{} not shown]\n", counted(self.n_left_out, "more line", "more lines")));
        }
        self.text
    }
}

/// Shortens a very long line to its start, for display among others.
pub(crate) fn shortened(line: &str) -> std::borrow::Cow<'_, str> {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        Some((end, _)) => truncate::marked(truncate::start(line, end), line.len()).into(),
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(before: &str, after: &str, expected: &Expect) {
        expected.assert_eq(&Diff::new(before, after).unified("a.txt", Sides::Both, MAX_BYTES));
    }

    fn numbers(range: Range<usize>) -> String {
        range.map(|number| format!("{number}\n")).collect::<Vec<_>>().concat()
    }

    #[test]
    fn a_change_is_shown_with_three_lines_around_it() {
        let before = numbers(1..20);
        check(
            &before,
            &before.replace("10\n", "ten\nand more\n"),
            &expect![[r#"
                --- a/a.txt
                +++ b/a.txt
                @@ -7,7 +7,8 @@
                 7
                 8
                 9
                -10
                +ten
                +and more
                 11
                 12
                 13
            "#]],
        );
    }

    #[test]
    fn changes_near_each_other_share_a_hunk_and_distant_ones_do_not() {
        let before = numbers(1..40);
        let after = before.replace("10\n", "ten\n").replace("16\n", "").replace("30\n", "30\nthirty\n");
        check(
            &before,
            &after,
            &expect![[r#"
                --- a/a.txt
                +++ b/a.txt
                @@ -7,13 +7,12 @@
                 7
                 8
                 9
                -10
                +ten
                 11
                 12
                 13
                 14
                 15
                -16
                 17
                 18
                 19
                @@ -28,6 +27,7 @@
                 28
                 29
                 30
                +thirty
                 31
                 32
                 33
            "#]],
        );
    }

    #[test]
    fn a_missing_newline_at_the_end_is_a_difference_like_any_other() {
        check(
            "one\ntwo",
            "one\ntwo\n",
            &expect![[r#"
                --- a/a.txt
                +++ b/a.txt
                @@ -1,2 +1,2 @@
                 one
                -two
                \ No newline at end of file
                +two
            "#]],
        );
    }

    #[test]
    fn a_new_file_comes_from_nowhere() {
        let unified = Diff::new("", "one\n").unified("new.txt", Sides::Created, MAX_BYTES);
        assert_eq!(unified, "--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+one\n");
    }

    #[test]
    fn a_diff_that_is_too_long_is_cut_and_says_so() {
        let unified = Diff::new("", &numbers(0..10_000)).unified("a", Sides::Created, MAX_BYTES);
        assert!(unified.len() < MAX_BYTES + 100, "{}", unified.len());
        let (shown, last) = unified.trim_end().rsplit_once('\n').unwrap();
        let n_shown = shown.lines().count() - 3;
        assert_eq!(last, format!("[{} more lines not shown]", 10_000 - n_shown));
        let long = "é".repeat(600);
        let unified = Diff::new("", &long).unified("a", Sides::Created, MAX_BYTES);
        assert!(unified.contains("é [cut; 1200 bytes in all]\n\\ No newline"), "{unified}");
    }

    #[test]
    fn a_large_rewrite_is_compared_in_bounded_time() {
        let before = numbers(0..20_000);
        let lines: Vec<&str> = before.split_inclusive('\n').collect();
        let after: String = (0..20_000).map(|index| lines[index * 7919 % 20_000]).collect();
        let diff = Diff::new(&before, &after);
        assert_eq!(diff.n_added(), diff.n_removed());
        let diff = Diff::new(&before, "");
        assert_eq!((diff.n_added(), diff.n_removed()), (0, 20_000));
    }

    #[test]
    fn only_the_lines_around_the_differences_are_held() {
        let before = numbers(0..100_000);
        let after = before.replace("\n50000\n", "\nfifty thousand\n");
        let diff = Diff::new(&before, &after);
        assert_eq!((diff.n_skipped(), diff.before().len(), diff.after().len()), (49_997, 7, 7));
        assert!(Diff::new(&before, &before).changes().is_empty());
    }

    /// Applies the changes to `before`.
    fn patched(before: &str, diff: &Diff<'_>) -> String {
        let mut rest = before.split_inclusive('\n');
        let mut text: String = rest.by_ref().take(diff.n_skipped()).collect();
        let mut at = 0;
        for change in diff.changes() {
            text.extend(rest.by_ref().take(change.before.start - at));
            text.extend(diff.after()[change.after.clone()].iter().copied());
            rest.by_ref().take(change.before.len()).for_each(drop);
            at = change.before.end;
        }
        text.extend(rest);
        text
    }

    proptest::proptest! {
        #![proptest_config(proptest::test_runner::Config { failure_persistence: None, ..Default::default() })]

        #[test]
        fn the_changes_turn_one_text_into_the_other(before in "([abé]{0,2}\n){0,12}[ab]?", after in "([abé]{0,2}\n){0,12}[ab]?") {
            let diff = Diff::new(&before, &after);
            proptest::prop_assert_eq!(patched(&before, &diff), after);
        }
    }
}
