//! Invisible parts of a file stay unchanged: line ends, a byte order mark, a missing last newline.

use serde_json::json;

use crate::project::Project;

async fn check(tool: &str, before: &str, arguments: serde_json::Value, after: &str) {
    let project = Project::new(&[("a.txt", before)]);
    project.done("Read", json!({"file_path": "a.txt"})).await;
    let mut arguments = arguments;
    arguments["file_path"] = json!("a.txt");
    project.done(tool, arguments).await;
    assert_eq!(project.text("a.txt"), after, "{tool} of {before:?}");
}

#[tokio::test]
async fn an_edit_matches_any_line_ends_and_inserts_those_of_the_file() {
    let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    for (before, after) in [
        ("a\nb\nc\n", "a\nB\nx\nc\n"),
        ("a\nb\nc", "a\nB\nx\nc"),
        ("a\r\nb\r\nc\r\n", "a\r\nB\r\nx\r\nc\r\n"),
        ("a\r\nb\r\nc", "a\r\nB\r\nx\r\nc"),
        ("\u{feff}a\nb\nc\n", "\u{feff}a\nB\nx\nc\n"),
        ("\u{feff}a\r\nb\r\nc", "\u{feff}a\r\nB\r\nx\r\nc"),
        ("0\na\r\nb\r\nc\n", "0\na\r\nB\r\nx\r\nc\n"),
        ("0\r\na\nb\nc\r\n", "0\r\na\nB\nx\nc\r\n"),
    ] {
        check("Edit", before, edit("a\nb\nc", "a\nB\nx\nc"), after).await;
        check("Edit", before, edit("a\r\nb\r\nc", "a\r\nB\r\nx\r\nc"), after).await;
        check(
            "MultiEdit",
            before,
            json!({"edits": [edit("a\nb", "a\nB\nx"), edit("\nc", "\nC"), edit("C", "c")]}),
            after,
        )
        .await;
    }
}

#[tokio::test]
async fn an_edit_neither_adds_nor_removes_the_last_newline_unless_it_says_so() {
    let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    check("Edit", "a\nb", edit("b", "c"), "a\nc").await;
    check("Edit", "a\nb\n", edit("b", "c"), "a\nc\n").await;
    check("Edit", "a\nb", edit("b", "c\n"), "a\nc\n").await;
    check("Edit", "a\r\nb\r\n", edit("\nb\n", "\nb"), "a\r\nb").await;
}

#[tokio::test]
async fn a_write_keeps_invisible_characters_and_given_crlf() {
    let write = |content: &str| json!({"content": content});
    for (before, content, after) in [
        ("a\r\nb\r\n", "a\nc\n", "a\r\nc\r\n"),
        ("a\nb\n", "a\r\nc\r\n", "a\r\nc\r\n"),
        ("a\r\nb\r\n", "a\r\nc\n", "a\r\nc\n"),
        ("\u{feff}a\n", "b\n", "\u{feff}b\n"),
        ("\u{feff}a\r\n", "\u{feff}b\nc", "\u{feff}b\r\nc"),
        ("a\r\nb\nc\r\n", "a\nB\nc\nd", "a\r\nB\nc\r\nd"),
        ("a\n", "b", "b"),
    ] {
        check("Write", before, write(content), after).await;
    }
}

#[tokio::test]
async fn a_write_says_that_it_kept_crlf() {
    let project = Project::new(&[("a.txt", "a\r\n")]);
    project.done("Read", json!({"file_path": "a.txt"})).await;
    let text = project.done("Write", json!({"file_path": "a.txt", "content": "b\n"})).await;
    assert_eq!(text, "Wrote a.txt (1 line)\n[its lines end with CRLF, as before]");
}
