//! A file is edited only from the state in which this task has seen it.

use std::fs::File;
use std::time::{Duration, SystemTime};

use expect_test::expect;
use serde_json::{Value, json};
use sortie_protocol::Fault;
use sortie_tools::Seen;

use crate::project::Project;

fn edit(old: &str, new: &str) -> Value {
    json!({"file_path": "a.txt", "old_string": old, "new_string": new})
}

fn read() -> Value {
    json!({"file_path": "a.txt"})
}

#[tokio::test]
async fn a_file_that_was_only_found_or_listed_was_not_read() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.done("Grep", json!({"pattern": "one", "output_mode": "content"})).await;
    project.done("LS", json!({})).await;
    project.failed("Read", json!({"file_path": "a.txt", "offset": 9})).await;
    let output = project.run("Edit", edit("one", "two")).await;
    assert_eq!(output.for_model, "`a.txt` was not changed: you have not read it yet; Read it first");
    assert_eq!(output.fault, Some(Fault::Conflict));
    project.done("Read", json!({"file_path": "./a.txt"})).await;
    project.done("Edit", edit("one", "two")).await;
}

#[tokio::test]
async fn a_change_by_others_is_shown_and_has_to_be_read_before_the_next_edit() {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    project.done("Read", read()).await;
    project.write("a.txt", "one\n2\n");
    for _ in 0..2 {
        let output = project.run("Edit", edit("one", "1")).await;
        assert_eq!(output.fault, Some(Fault::Conflict));
        expect![[r#"
            `a.txt` was not changed: it has changed since you read it; Read it again, then edit.
            Since then:
            --- a/a.txt
            +++ b/a.txt
            @@ -1,2 +1,2 @@
             one
            -two
            +2"#]]
        .assert_eq(&output.for_model);
    }
    assert_eq!(project.text("a.txt"), "one\n2\n");
    project.done("Read", read()).await;
    project.done("Edit", edit("one", "1")).await;
    assert_eq!(project.text("a.txt"), "1\n2\n");
}

#[tokio::test]
async fn a_task_knows_what_it_has_written_and_others_do_not() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let other = Seen::default();
    project.done("Read", read()).await;
    project.run_as(&other, "Read", read()).await;
    project.done("Edit", edit("one", "two")).await;
    project.done("Edit", edit("two", "three")).await;
    project.done("Write", json!({"file_path": "a.txt", "content": "four\n"})).await;
    let output = project.run_as(&other, "Edit", edit("four", "five")).await;
    assert!(output.for_model.ends_with("\n-one\n+four"), "{}", output.for_model);
    project.done("Edit", edit("four", "five")).await;
}

#[tokio::test]
async fn concurrent_edits_of_one_task_do_not_conflict() {
    let lines = (0..50).map(|number| format!("<{number}>\n")).collect::<Vec<_>>().concat();
    let project = Project::new(&[("a.txt", &lines)]);
    project.done("Read", read()).await;
    let edits = (0..50).map(|number| project.done("Edit", edit(&format!("<{number}>"), &format!("[{number}]"))));
    futures_util::future::join_all(edits).await;
    assert_eq!(project.text("a.txt"), lines.replace('<', "[").replace('>', "]"));
}

#[tokio::test]
async fn the_content_counts_and_not_the_time_of_the_last_change() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.done("Read", read()).await;
    let file = File::options().write(true).open(project.path("a.txt")).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(1000)).unwrap();
    project.done("Edit", edit("one", "two")).await;
    let modified = std::fs::metadata(project.path("a.txt")).unwrap().modified().unwrap();
    project.write("a.txt", "six\n");
    File::options().write(true).open(project.path("a.txt")).unwrap().set_modified(modified).unwrap();
    let text = project.failed("Edit", edit("six", "ten")).await;
    assert!(text.contains("it has changed since you read it"), "{text}");
}

#[tokio::test]
async fn reading_a_page_counts_as_reading_the_file() {
    let text = "line\n".repeat(3000);
    let project = Project::new(&[("a.txt", &text)]);
    project.done("Read", json!({"file_path": "a.txt", "offset": 10, "limit": 1})).await;
    project.write("a.txt", text.clone() + "more\n");
    let refused = project.failed("Edit", edit("more", "less")).await;
    assert!(refused.ends_with("\n line\n line\n line\n+more"), "{refused}");
    project.done("Read", json!({"file_path": "a.txt", "offset": 3000})).await;
    project.done("Edit", edit("more", "less")).await;
}

#[tokio::test]
async fn a_change_of_a_large_file_is_noticed_without_details() {
    let text = "line\n".repeat(1 << 19);
    let project = Project::new(&[("a.txt", &text)]);
    project.done("Read", read()).await;
    project
        .done("Edit", json!({"file_path": "a.txt", "old_string": text, "new_string": format!("{text}more\n")}))
        .await;
    project.write("a.txt", text + "else\n");
    let refused = project.failed("Edit", edit("else", "x")).await;
    expect!["`a.txt` was not changed: it has changed since you read it; Read it again, then edit. The difference is unknown: too much was read to keep all of it."]
        .assert_eq(&refused);
}

#[tokio::test]
async fn a_long_difference_is_cut() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.done("Read", read()).await;
    project.write("a.txt", (0..10_000).map(|number| format!("{number}\n")).collect::<Vec<_>>().concat());
    let refused = project.failed("Edit", edit("one", "x")).await;
    assert!(refused.len() < 7 * 1024 && refused.ends_with(" more lines not shown]"), "{}", refused.len());
}

#[tokio::test]
async fn a_file_that_vanished_is_not_edited_and_can_be_created_again() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.done("Read", read()).await;
    std::fs::remove_file(project.path("a.txt")).unwrap();
    assert_eq!(project.run("Edit", edit("one", "x")).await.fault, Some(Fault::NotFound));
    assert_eq!(project.done("Write", json!({"file_path": "a.txt", "content": "x"})).await, "Created a.txt (1 line)");
}
