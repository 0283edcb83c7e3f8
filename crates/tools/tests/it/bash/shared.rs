//! Tasks that change files at the same time.

use serde_json::json;
use sortie_tools::Seen;

use super::life::until;
use super::shell::{command, two_shells, wait_for};
use crate::project::Project;

const NOTICE: &str = "shared: tasks changed files at the same time, and it is unknown which of them changed these: ";

/// Two tasks in one workspace.
fn two_tasks() -> [Project; 2] {
    let mut one = Project::new(&[("a", "x\n")]);
    let mut other = one.sibling();
    let [first, second] = two_shells(&one);
    (one.shells, other.shells) = (Some(first), Some(second));
    [one, other]
}

#[tokio::test]
async fn a_file_that_another_task_may_have_changed_is_marked_as_shared() {
    let [one, other] = two_tasks();
    let long = format!(": > begun; {}; touch mine", wait_for("go"));
    let short = async {
        until(|| one.path("begun").exists()).await;
        other.run("Bash", command("touch theirs")).await;
        one.write("go", "");
    };
    let (output, ()) = tokio::join!(one.run("Bash", command(&long)), short);
    assert_eq!(output.files_changed, ["begun", "go", "mine", "theirs"]);
    let end = "; shared: other tasks changed files at the same time, and these may be theirs: theirs]";
    assert!(output.for_model.ends_with(end), "{}", output.for_model);
    assert_eq!(one.shells.unwrap().notices(), [format!("{NOTICE}theirs")]);
    let notices = other.shells.unwrap().notices();
    assert!(notices.contains(&format!("{NOTICE}theirs")), "the other may have made it as well: {notices:?}");
}

#[tokio::test]
async fn an_edit_by_another_task_is_marked_as_shared() {
    let [one, other] = two_tasks();
    let long = format!(": > begun; {}", wait_for("go"));
    let edit = async {
        until(|| one.path("begun").exists()).await;
        let seen = Seen::default();
        other.run_as(&seen, "Read", json!({"file_path": "a"})).await;
        let edit = json!({"file_path": "a", "old_string": "x", "new_string": "y"});
        assert!(!other.run_as(&seen, "Edit", edit).await.failed);
        one.run_as(&seen, "Write", json!({"file_path": "b", "content": "own"})).await;
        one.write("go", "");
    };
    let (output, ()) = tokio::join!(one.run("Bash", command(&long)), edit);
    assert_eq!(output.files_changed, ["a", "b", "begun", "go"]);
    assert!(output.for_model.ends_with("these may be theirs: a]"), "{}", output.for_model);
}

#[tokio::test]
async fn tasks_that_run_one_after_the_other_share_nothing() {
    let [one, other] = two_tasks();
    for (task, file) in [(&one, "a"), (&other, "a"), (&one, "b")] {
        let output = task.run("Bash", command(&format!("echo y >> {file}"))).await;
        assert_eq!(output.for_model, format!("[no output; changed: {file}]"));
    }
    assert_eq!(one.shells.unwrap().notices(), [""; 0]);
}
