//! Suggestions for unknown names.

use sortie_protocol::{nearest, nearest_few};

#[test]
fn a_name_in_another_style_or_slightly_misspelt_is_recognised() {
    let tools = ["Read", "LS", "Glob", "Grep", "TodoWrite", "Task"];
    for (written, meant) in [
        ("read", Some("Read")),
        ("read_file", Some("Read")),
        ("ls", Some("LS")),
        ("todo_write", Some("TodoWrite")),
        ("Gerp", Some("Grep")),
        ("Grepp", Some("Grep")),
        ("Tasks", Some("Task")),
        ("Grép", Some("Grep")),
        ("Lobg", None),
        ("WebFetch", None),
        ("", None),
    ] {
        assert_eq!(nearest(written, tools), meant, "{written}");
    }
}

#[test]
fn suggestions_come_nearest_first_without_the_name_itself() {
    let known = ["main", "light", "haiku", "sonnet", "claude-sonnet-4-5", "claude-opus-4-5", "gpt-5", "gpt-5-mini"];
    for (asked, expected) in [
        ("mian", &["main"][..]),
        ("Ligth", &["light"]),
        ("sonet", &["sonnet"]),
        ("gpt5", &["gpt-5", "gpt-5-mini"]),
        ("gpt-5-mni", &["gpt-5-mini", "gpt-5"]),
        ("claude-sonnet-45", &["claude-sonnet-4-5"]),
        ("anthropic/claude-opus-4-5", &["claude-opus-4-5"]),
        ("gpt-5", &["gpt-5-mini"]),
        ("llama3", &[]),
    ] {
        assert_eq!(nearest_few(asked, known, 3), expected, "{asked}");
    }
    assert_eq!(nearest_few("gpt5", known, 1), ["gpt-5"]);
}
