use std::time::{Duration, Instant};

use expect_test::expect;
use serde_json::{Value, json};
use sortie_protocol::Fault;

use crate::project::Project;

async fn read(content: &str) -> Project {
    let project = Project::new(&[("a.txt", content)]);
    project.done("Read", json!({"file_path": "a.txt"})).await;
    project
}

fn edits(edits: &[(&str, &str)]) -> Value {
    let edits: Vec<Value> = edits.iter().map(|(old, new)| json!({"old_string": old, "new_string": new})).collect();
    json!({"file_path": "a.txt", "edits": edits})
}

#[tokio::test]
async fn edits_are_made_in_order_each_on_the_result_of_the_previous_one() {
    let project = read("one\ntwo\nthree\n").await;
    let output = project.run("MultiEdit", edits(&[("one", "1"), ("1\ntwo", "1\n2"), ("three\n", "")])).await;
    assert_eq!(output.for_model, "Edited a.txt (3 replacements)\n1\t1\n2\t2");
    assert_eq!(output.for_people, "a.txt: +2 -3");
    assert_eq!(project.text("a.txt"), "1\n2\n");
}

#[tokio::test]
async fn if_one_edit_does_not_fit_none_is_made() {
    let project = read("one\ntwo\n").await;
    let output = project.run("MultiEdit", edits(&[("one", "1"), ("two", "2"), ("one\n", "x")])).await;
    expect![[r#"
        `a.txt` was not changed: edit 3 of 3: old_string is not in the file. Nothing there is like it; Read the file again. An edit before this one changed that place."#]]
    .assert_eq(&output.for_model);
    assert_eq!((output.fault, output.files_changed), (Some(Fault::Arguments), Vec::new()));
    assert_eq!(project.text("a.txt"), "one\ntwo\n");
}

#[tokio::test]
async fn edits_that_cancel_out_or_are_missing_are_refused() {
    let project = read("one\n").await;
    let text = project.failed("MultiEdit", edits(&[("one", "two"), ("two", "one")])).await;
    assert_eq!(text, "`a.txt` was not changed: the edits undo each other");
    assert_eq!(project.failed("MultiEdit", edits(&[])).await, "`a.txt` was not changed: there are no edits");
}

#[tokio::test]
async fn a_first_edit_without_old_string_creates_the_file() {
    let project = Project::new(&[]);
    let text = project.done("MultiEdit", edits(&[("", "one\n"), ("one", "two")])).await;
    assert_eq!(text, "Created a.txt (1 line)");
    assert_eq!(project.text("a.txt"), "two\n");
}

#[tokio::test]
async fn edits_may_come_as_json_in_a_text_and_unknown_keys_are_named() {
    let project = read("one\n").await;
    let inner = r#"[{"old_string": "one", "new_string": "two", "reason": "x", "replace_all": null}]"#;
    let text = project.done("MultiEdit", json!({"file_path": "a.txt", "edits": inner})).await;
    assert_eq!(text, "Edited a.txt (1 replacement)\n1\ttwo\n[in edits: unknown arguments ignored: reason]");
}

#[tokio::test]
async fn s82_ten_thousand_edits_are_made_and_one_more_is_refused() {
    let lines = (0..10_000).map(|number| format!("<{number}>\n")).collect::<Vec<_>>().concat();
    let project = read(&lines).await;
    let edit = |number| json!({"old_string": format!("<{number}>"), "new_string": format!("[{number}]")});
    let many: Vec<Value> = (0..10_000).map(edit).collect();
    let began = Instant::now();
    let output = project.run("MultiEdit", json!({"file_path": "a.txt", "edits": many})).await;
    assert!(!output.failed, "{}", output.for_model);
    assert!(output.for_model.len() < 2000 && output.diff.unwrap().len() < 21 * 1024);
    assert!(began.elapsed() < Duration::from_secs(20));
    assert_eq!(project.text("a.txt"), lines.replace('<', "[").replace('>', "]"));
    let more: Vec<Value> = (0..=10_000).map(edit).collect();
    let text = project.failed("MultiEdit", json!({"file_path": "a.txt", "edits": more})).await;
    assert_eq!(text, "`a.txt` was not changed: 10,001 edits are too many; at most 10,000 can be made at once");
}

#[tokio::test]
async fn s82_a_text_that_doubles_with_every_edit_is_stopped_at_the_bound() {
    let project = read("a").await;
    let doubling = json!({"old_string": "a", "new_string": "aa", "replace_all": true});
    let output = project.run("MultiEdit", json!({"file_path": "a.txt", "edits": vec![doubling; 10_000]})).await;
    let expected = "`a.txt` was not changed: edit 24 of 10000: The file would have 16,777,216 bytes; at most 10,485,760 \
                    can be edited.";
    assert_eq!(output.for_model, expected);
    assert_eq!(project.text("a.txt"), "a");
}

#[tokio::test]
async fn s82_useless_arguments_are_refused_in_few_words() {
    let project = read("one\n").await;
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let edits = [
        json!({"file_path": "a.txt", "edits": deep}),
        json!({"file_path": "a.txt", "edits": "x".repeat(1 << 20)}),
        json!({"file_path": "a.txt", "edits": {"old_string": "one"}}),
    ];
    for arguments in edits {
        let output = project.run("MultiEdit", arguments).await;
        assert_eq!(output.fault, Some(Fault::Arguments));
        assert!(output.for_model.len() < 1200, "{}", output.for_model.len());
    }
    let duplicate = r#"{"file_path": "a.txt", "old_string": "one", "old_string": "two", "new_string": "x"}"#;
    let output = project.run_text("Edit", duplicate).await;
    assert!(output.for_model.contains("duplicate field `old_string`"), "{}", output.for_model);
    let deep = format!(r#"{{"file_path": "a.txt", "edits": {deep}}}"#);
    let output = project.run_text("MultiEdit", &deep).await;
    assert!(output.for_model.contains("recursion limit exceeded"), "{}", output.for_model);
    assert_eq!(project.text("a.txt"), "one\n");
}
