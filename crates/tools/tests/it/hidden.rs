//! A model must not destroy what it has not seen: secrets behind marks, and byte order marks.

use serde_json::json;
use sortie_protocol::Fault;

use crate::project::Project;

const MARK: &str = "[redacted: GitHub token]";
const SECRET: &str = "T=a-secret\nX=1\n";

async fn read(files: &[(&str, &str)]) -> Project {
    let project = Project::new(files);
    for (path, _) in files {
        project.done("Read", json!({"file_path": path})).await;
    }
    project
}

#[tokio::test]
async fn a_mark_is_never_written_in_place_of_the_secret_it_hides() {
    let project = read(&[("cfg", SECRET)]).await;
    let marked = format!("T={MARK}\nX=2\n");
    let edit = |old: &str, new: &str| json!({"old_string": old, "new_string": new});
    for (tool, arguments, advice) in [
        ("Write", json!({"file_path": "cfg", "content": marked}), "use Edit, and leave that part out"),
        ("Write", json!({"file_path": "new", "content": marked}), "leave it out of the new file"),
        ("Edit", json!({"file_path": "new", "old_string": "", "new_string": marked}), "leave it out of the new file"),
        ("Edit", json!({"file_path": "cfg", "old_string": "X=1", "new_string": MARK}), "leave that part out"),
        ("MultiEdit", json!({"file_path": "cfg", "edits": [edit("X=1", "X"), edit("X", MARK)]}), "leave that part out"),
    ] {
        let output = project.run(tool, arguments).await;
        assert_eq!((output.failed, output.fault), (true, Some(Fault::Arguments)), "{tool}: {}", output.for_model);
        let why = format!("was not changed: `{MARK}` only marks a hidden part, and would overwrite it");
        assert!(output.for_model.contains(&why) && output.for_model.contains(advice), "{tool}: {}", output.for_model);
    }
    assert_eq!(project.text("cfg"), SECRET);
    assert!(!project.path("new").exists());
}

#[tokio::test]
async fn a_search_for_a_mark_explains_that_the_part_is_hidden() {
    let project = read(&[("cfg", SECRET)]).await;
    let arguments = json!({"file_path": "cfg", "old_string": format!("T={MARK}"), "new_string": "T="});
    assert_eq!(
        project.failed("Edit", arguments).await,
        format!(
            "`cfg` was not changed: old_string is not in the file. `{MARK}` only marks a part that is hidden from you: \
             leave that part out of old_string and new_string."
        )
    );
}

#[tokio::test]
async fn text_around_a_hidden_part_can_be_edited_and_the_part_removed() {
    let project = read(&[("cfg", SECRET)]).await;
    project.done("Edit", json!({"file_path": "cfg", "old_string": "T=", "new_string": "TOKEN="})).await;
    assert_eq!(project.text("cfg"), "TOKEN=a-secret\nX=1\n");
    project.done("Write", json!({"file_path": "cfg", "content": "X=1\n"})).await;
    assert_eq!(project.text("cfg"), "X=1\n");
}

#[tokio::test]
async fn a_mark_that_a_file_really_contains_can_be_kept_but_not_multiplied() {
    let held = format!("# shown as {MARK}\nT=a-secret\n");
    let project = read(&[("doc", &held)]).await;
    let arguments = json!({"file_path": "doc", "old_string": format!("shown as {MARK}"), "new_string": MARK});
    project.done("Edit", arguments).await;
    assert_eq!(project.text("doc"), format!("# {MARK}\nT=a-secret\n"));
    let twice = format!("# {MARK}\nT={MARK}\n");
    project.failed("Write", json!({"file_path": "doc", "content": twice})).await;
}

#[tokio::test]
async fn a_nul_is_not_written() {
    let project = read(&[("a", "one\n")]).await;
    for (tool, arguments) in [
        ("Write", json!({"file_path": "a", "content": "x\0y"})),
        ("Write", json!({"file_path": "new", "content": "\0"})),
        ("Edit", json!({"file_path": "a", "old_string": "one", "new_string": "\0"})),
    ] {
        let text = project.failed(tool, arguments).await;
        assert!(text.contains("the new text holds a NUL"), "{text}");
    }
    assert_eq!(project.text("a"), "one\n");
    assert!(!project.path("new").exists());
}

#[tokio::test]
async fn a_byte_order_mark_is_neither_shown_nor_lost_nor_doubled() {
    let project = Project::new(&[("a", "\u{feff}one\ntwo\n")]);
    let shown = project.done("Read", json!({"file_path": "a"})).await;
    assert_eq!(shown, "1\tone\n2\ttwo\n[a byte order mark at the start is not shown; edits keep it]");
    let later = project.done("Read", json!({"file_path": "a", "offset": 2})).await;
    assert_eq!(later, "2\ttwo\n[lines 2-2 of 2]");
    for (tool, arguments, after) in [
        ("Edit", json!({"file_path": "a", "old_string": "\u{feff}one", "new_string": "\u{feff}1"}), "1\ntwo\n"),
        ("Edit", json!({"file_path": "a", "old_string": "1\n", "new_string": "\u{feff}one\n"}), "one\ntwo\n"),
        (
            "MultiEdit",
            json!({"file_path": "a", "edits": [{"old_string": "\u{feff}one\n", "new_string": "1\n"}]}),
            "1\ntwo\n",
        ),
        ("Write", json!({"file_path": "a", "content": "\u{feff}\u{feff}x\n"}), "x\n"),
        ("Write", json!({"file_path": "a", "content": "y\n"}), "y\n"),
    ] {
        project.done(tool, arguments).await;
        assert_eq!(project.text("a"), format!("\u{feff}{after}"), "{tool}");
    }
    project.done("Write", json!({"file_path": "new", "content": "\u{feff}\u{feff}x\n"})).await;
    assert_eq!(project.text("new"), "\u{feff}x\n");
}

#[tokio::test]
async fn a_file_with_two_byte_order_marks_keeps_them() {
    let project = read(&[("a", "\u{feff}\u{feff}one\n")]).await;
    project.done("Edit", json!({"file_path": "a", "old_string": "one", "new_string": "two"})).await;
    assert_eq!(project.text("a"), "\u{feff}\u{feff}two\n");
}

#[tokio::test]
async fn unfinished_writes_are_left_out_of_every_search() {
    let name = "src/.sortie-write-0123456789abcdef.tmp";
    let project = Project::new(&[(name, "needle\n"), ("src/a", "needle\n")]);
    let note = "1 unfinished write (.sortie-write-*.tmp) left out";
    for (tool, arguments) in
        [("LS", json!({"path": "src"})), ("Glob", json!({"pattern": "**/*"})), ("Grep", json!({"pattern": "needle"}))]
    {
        let text = project.done(tool, arguments).await;
        assert!(text.contains(note) && !text.contains("0123456789abcdef"), "{tool}: {text}");
        assert!(text.contains('a'), "{tool}: {text}");
    }
}

#[tokio::test]
async fn only_regular_files_can_be_written() {
    let project = Project::new(&[]);
    project.fifo("pipe");
    for (tool, arguments) in [
        ("Write", json!({"file_path": "pipe", "content": "x"})),
        ("Edit", json!({"file_path": "pipe", "old_string": "a", "new_string": "b"})),
    ] {
        let text = project.failed(tool, arguments).await;
        assert_eq!(text, "`pipe` is a named pipe; only regular files can be written");
    }
}
