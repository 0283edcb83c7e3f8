use std::time::Duration;

use expect_test::{Expect, expect};
use proptest::prelude::*;

use super::*;

fn edit(old: &str, new: &str, all: bool) -> Replacement {
    Replacement {
        old_string: old.to_owned(),
        new_string: new.to_owned(),
        replace_all: Some(all),
        unknown: Unknown::default(),
    }
}

fn replaced(text: &str, replacements: &[Replacement]) -> Result<Replaced, Unreplaced> {
    replace(text, replacements, &Stop::after(Duration::from_mins(1)))
}

fn misfit(text: &str, replacements: &[Replacement]) -> (usize, String) {
    match replaced(text, replacements).unwrap_err() {
        Unreplaced { index, why: Why::Misfit(why) } => (index, why),
        halted @ Unreplaced { .. } => panic!("{halted:?}"),
    }
}

fn check_misfit(text: &str, replacement: Replacement, expected: &Expect) {
    expected.assert_eq(&misfit(text, &[replacement]).1);
}

#[test]
fn one_place_is_replaced_or_all_of_them() {
    assert_eq!(replaced("a b a", &[edit("b", "c", false)]).unwrap().text, "a c a");
    let all = Replaced { text: "x b x".to_owned(), n_replacements: 2 };
    assert_eq!(replaced("a b a", &[edit("a", "x", true)]), Ok(all));
    assert_eq!(replaced("", &[edit("", "new", false)]).unwrap().text, "new", "an empty text has one place");
}

#[test]
fn a_text_that_does_not_match_exactly_once_is_not_replaced() {
    check_misfit(
        "a\nb\nb b\n",
        edit("b", "c", false),
        &expect![
            "old_string is in the file 3 times, at lines 2, 3, 3; add text around it until only one place fits, or set replace_all."
        ],
    );
    let many = misfit(&"b\n".repeat(50), &[edit("b", "c", false)]).1;
    assert!(many.contains("50 times, at lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …;"), "{many}");
    check_misfit("a\n", edit("b", "b", false), &expect!["old_string and new_string are the same."]);
    check_misfit("a\n", edit("a\r\n", "a\n", false), &expect!["old_string and new_string are the same."]);
    check_misfit(
        "a\n",
        edit("", "b", false),
        &expect!["old_string is empty, but the file is not; to replace all of it use Write."],
    );
    check_misfit(
        "one\n",
        edit("ome", "b", true),
        &expect![[r#"
            old_string is not in the file. Copy it exactly as Read shows it, without the line numbers. Nearest to it:
            1	one"#]],
    );
}

#[test]
fn a_later_replacement_sees_what_an_earlier_one_made() {
    let chain = [edit("a", "b", false), edit("b", "c c", false), edit("c", "d", true)];
    assert_eq!(replaced("a", &chain), Ok(Replaced { text: "d d".to_owned(), n_replacements: 4 }));
    let (index, why) = misfit("one two", &[edit("one", "1", false), edit("one two", "12", false)]);
    assert_eq!(index, 1);
    assert!(why.ends_with(" An edit before this one changed that place."), "{why}");
}

#[test]
fn repeated_doubling_cannot_exceed_the_bound() {
    let doubled: Vec<Replacement> = (0..10_000).map(|_| edit("a", "aa", true)).collect();
    let (index, why) = misfit("a", &doubled);
    assert_eq!(index, 23);
    assert_eq!(why, "The file would have 16,777,216 bytes; at most 10,485,760 can be edited.");
}

#[test]
fn replacements_end_when_their_time_is_over() {
    let why = replace("a", &[edit("a", "b", false)], &Stop::after(Duration::ZERO)).unwrap_err();
    assert_eq!(why, Unreplaced { index: 0, why: Why::Halted(Halt::TimedOut) });
}

/// The simplest possible implementation; `None` if it must refuse.
fn oracle(text: &str, replacements: &[Replacement]) -> Option<String> {
    let mut text = text.to_owned();
    for Replacement { old_string: old, new_string: new, replace_all, .. } in replacements {
        let n_places = text.matches(old.as_str()).count();
        let fits = if *replace_all == Some(true) { n_places > 0 } else { n_places == 1 };
        let fits = if old.is_empty() { text.is_empty() } else { fits };
        if !fits || old == new {
            return None;
        }
        text = if text.is_empty() { new.clone() } else { text.replace(old.as_str(), new) };
    }
    Some(text)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn replacing_agrees_with_plain_string_replacement(
        text in "[abé\n]{0,24}",
        edits in prop::collection::vec(("[abé\n]{0,3}", "[abcé\n]{0,4}", any::<bool>()), 0..6),
    ) {
        let edits: Vec<Replacement> = edits.iter().map(|(old, new, all)| edit(old, new, *all)).collect();
        prop_assert_eq!(replaced(&text, &edits).ok().map(|replaced| replaced.text), oracle(&text, &edits));
    }
}
