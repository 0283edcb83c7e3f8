//! Files changed by a command.

use std::path::PathBuf;

use super::shell::{Reach, command, project, shells};

#[tokio::test]
async fn created_changed_and_removed_files_are_reported() {
    let project = project(&[("kept", "x"), ("sub/changed", "x"), ("gone", "x"), ("mode", "x"), ("old", "x")]);
    let line = "echo y > sub/changed; rm gone; mkdir -p new/dir; echo z > new/dir/made; chmod +x mode; mv old moved; \
                ln -s kept link; cat kept";
    let output = project.run("Bash", command(line)).await;
    let expected = ["gone", "link", "mode", "moved", "new/dir/made", "old", "sub/changed"];
    assert_eq!(output.files_changed, expected);
    assert_eq!(output.for_model, format!("x\n[changed: {}]", expected.join(", ")));
}

#[tokio::test]
async fn a_command_that_changes_nothing_reports_no_file() {
    let project = project(&[("a", "x")]);
    let output = project.run("Bash", command("cat a; touch /tmp/b")).await;
    assert_eq!((output.for_model.as_str(), output.files_changed.len()), ("x", 0));
}

#[tokio::test]
async fn changes_of_a_failed_command_are_reported() {
    let project = project(&[]);
    let output = project.run("Bash", command("echo x > made; exit 1")).await;
    assert_eq!((output.failed, output.files_changed.as_slice()), (true, ["made".to_owned()].as_slice()));
}

#[tokio::test]
async fn ignored_files_and_git_are_not_reported() {
    let project = project(&[(".gitignore", "target/\n*.log\n"), (".git/HEAD", "x"), ("target/old", "x")]);
    let line = "touch target/new run.log .git/index seen; echo y > target/old";
    assert_eq!(project.run("Bash", command(line)).await.files_changed, ["seen"]);
}

#[tokio::test]
async fn files_in_an_added_directory_are_reported_by_absolute_path() {
    let project = project(&[]);
    std::fs::create_dir(project.outside("more")).unwrap();
    let mut project = project.with_directory("more");
    let more = project.outside("more");
    let reach = Reach { writable: vec![PathBuf::new(), more.clone()], ..Reach::default() };
    project.shells = Some(shells(&project, reach));
    let output = project.run("Bash", command(&format!("touch {}/made", more.display()))).await;
    assert_eq!(output.files_changed, [more.join("made").display().to_string()], "{}", output.for_model);
}

#[tokio::test]
async fn many_changes_are_only_counted() {
    let project = project(&[]);
    let output = project.run("Bash", command("touch $(seq -w 1 1500)")).await;
    assert_eq!((output.files_changed.len(), output.files_changed[999].as_str()), (1000, "1000"));
    let end = "0019, 0020 and 1480 more; 1,000 of 1,500 changed files are recorded]";
    assert!(output.for_model.ends_with(end), "{}", output.for_model);
}
