use serde_json::{Value, json};
use sortie_protocol::Fault;

use crate::project::Project;

fn write(path: &str, content: &str) -> Value {
    json!({"file_path": path, "content": content})
}

#[tokio::test]
async fn a_new_file_is_created_with_its_directories_and_exactly_as_given() {
    let project = Project::new(&[]);
    for content in ["one\ntwo", "a\r\nb\n", "\u{feff}x", ""] {
        let path = format!("new/{}/a.txt", content.len());
        let output = project.run("Write", write(&path, content)).await;
        assert!(output.for_model.starts_with(&format!("Created {path} (")), "{}", output.for_model);
        assert_eq!(output.files_changed, [path.as_str()]);
        assert_eq!(project.text(&path), content);
    }
}

#[tokio::test]
async fn a_file_that_was_read_is_replaced() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let refused = project.run("Write", write("a.txt", "new\n")).await;
    assert_eq!(refused.for_model, "`a.txt` was not changed: you have not read it yet; Read it first");
    assert_eq!(refused.fault, Some(Fault::Conflict));
    assert_eq!(project.text("a.txt"), "one\ntwo\nthree\n");
    project.done("Read", json!({"file_path": "a.txt"})).await;
    let output = project.run("Write", write("a.txt", "one\n2\n")).await;
    assert_eq!((output.for_model.as_str(), output.for_people.as_str()), ("Wrote a.txt (2 lines)", "a.txt: +1 -2"));
    assert_eq!(output.diff.unwrap(), "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,2 @@\n one\n-two\n-three\n+2\n");
    assert_eq!(project.text("a.txt"), "one\n2\n");
    project.done("Write", write("a.txt", "again\n")).await;
}

#[tokio::test]
async fn writing_the_existing_content_is_not_a_change() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.done("Read", json!({"file_path": "a.txt"})).await;
    let before = std::fs::metadata(project.path("a.txt")).unwrap().modified().unwrap();
    let output = project.run("Write", write("a.txt", "one\n")).await;
    assert_eq!(output.for_model, "a.txt has exactly this content already; nothing was written");
    assert_eq!((output.failed, output.files_changed, output.diff), (false, Vec::new(), None));
    assert_eq!(std::fs::metadata(project.path("a.txt")).unwrap().modified().unwrap(), before);
}

#[tokio::test]
async fn a_write_below_a_file_or_onto_a_directory_fails_and_leaves_no_trace() {
    let project = Project::new(&[("file", "x"), ("dir/a", "y")]);
    for path in ["file/b", "dir", "dir/", "new/"] {
        assert!(project.run("Write", write(path, "z")).await.failed, "{path}");
    }
    let names =
        std::fs::read_dir(project.path("")).unwrap().map(|entry| entry.unwrap().file_name()).collect::<Vec<_>>();
    assert_eq!(names.len(), 2, "{names:?}");
    assert_eq!((project.text("file"), project.text("dir/a")), ("x".to_owned(), "y".to_owned()));
}

#[tokio::test]
async fn s82_content_beyond_the_bound_is_refused() {
    let project = Project::new(&[]);
    let output = project.run("Write", write("a.txt", &"x".repeat(64 << 20))).await;
    let expected = "`a.txt` was not changed: the content has 67,108,864 bytes; at most 10,485,760 can be written";
    assert_eq!((output.for_model.as_str(), output.fault), (expected, Some(Fault::Arguments)));
    assert!(!project.path("a.txt").exists());
}

#[tokio::test]
async fn a_file_of_too_many_lines_is_neither_created_nor_changed() {
    let project = Project::new(&[("a.txt", &"\n".repeat(1_000_001))]);
    project.done("Read", json!({"file_path": "a.txt"})).await;
    let expected = "`a.txt` was not changed: 1,000,001 lines are too many; at most 1,000,000 can be edited";
    assert_eq!(project.failed("Write", write("a.txt", "x")).await, expected);
    let expected = expected.replace("a.txt", "b.txt");
    assert_eq!(project.failed("Write", write("b.txt", &"\n".repeat(1_000_001))).await, expected);
    assert!(!project.path("b.txt").exists());
}
