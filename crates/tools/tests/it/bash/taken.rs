//! What a command makes although no agent may.

use std::fs;

use super::shell::{command, project, spill};

#[tokio::test]
async fn what_appears_under_a_protected_name_is_taken_away_and_kept_for_people() {
    let project = project(&[]);
    let output = project.run("Bash", command("mkdir sub; echo evil | tee .envrc sub/.envrc > fine")).await;
    assert_eq!(output.files_changed, ["fine"]);
    for name in [".envrc", "sub/.envrc"] {
        assert!(!project.path(name).exists());
        let told = format!("`{name}` was taken away: it is a file that steers a shell, which no agent may make; ");
        let place = output.for_model.split_once(&told).unwrap().1;
        let place = place.split_once(" has it").unwrap().0;
        assert!(place.starts_with(&spill(&project).display().to_string()), "{place}");
        assert_eq!(fs::read_to_string(place).unwrap(), "evil\n");
    }
    let notices = project.shells.unwrap().notices();
    assert_eq!(notices.len(), 2);
    assert!(notices[0].starts_with("a command went too far: `.envrc` was taken away"), "{notices:?}");
}

#[tokio::test]
async fn ignore_files_do_not_hide_a_protected_name() {
    let project = project(&[(".gitignore", ".envrc\n.editor/\n")]);
    let line = "mkdir -p .editor/deep sub; echo '*' | tee .editor/.gitignore sub/.gitignore
                touch .envrc .editor/deep/task sub/.envrc";
    let output = project.run("Bash", command(line)).await;
    for name in [".envrc", ".editor/deep/task", ".editor/.gitignore", "sub/.envrc"] {
        assert!(!project.path(name).exists(), "{name}");
        assert!(output.for_model.contains(&format!("`{name}` was taken away")), "{name}: {}", output.for_model);
    }
}

#[tokio::test]
async fn a_link_is_taken_itself_and_not_what_it_leads_to() {
    let project = project(&[("a", "as it was")]);
    let output = project.run("Bash", command("ln -s a .envrc")).await;
    assert!(output.for_model.contains("`.envrc` was taken away"), "{}", output.for_model);
    assert!(fs::symlink_metadata(project.path(".envrc")).is_err());
    assert_eq!(project.text("a"), "as it was");
}

#[tokio::test]
async fn what_was_there_before_stays() {
    let project = project(&[(".envrc", "mine"), (".gitignore", ".editor\n"), (".editor/task", "mine")]);
    let output = project.run("Bash", command("touch other")).await;
    assert_eq!(output.for_model, "[no output; changed: other]");
    assert_eq!((project.text(".envrc"), project.text(".editor/task")), ("mine".to_owned(), "mine".to_owned()));
}

#[tokio::test]
async fn a_protected_file_that_walls_did_not_keep_is_told() {
    let project = project(&[(".envrc", "mine")]);
    let output = project.run("Bash", command("echo evil > .envrc")).await;
    let told = "`.envrc` was changed although it is a file that steers a shell, which no agent may change";
    assert!(output.for_model.contains(told), "{}", output.for_model);
    assert_eq!(project.shells.unwrap().notices(), [format!("a command went too far: {told}")]);
}
