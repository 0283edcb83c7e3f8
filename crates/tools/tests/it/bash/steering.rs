//! Files that steer git, shells and editors: reported when they appear and left in place, or removed if useless.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::life::until;
use super::shell::{Reach, command, in_background, project, setup, shells_of, spill, wait_for};
use crate::project::Project;

const LOOK: &str = "created or changed while a command ran: check";

/// A project that git would take for a repository.
fn repository(files: &[(&str, &str)]) -> Project {
    let git = [(".git/HEAD", "ref: refs/heads/main"), (".git/objects/x", ""), (".git/refs/x", "")];
    project(&[&git, files].concat())
}

#[tokio::test]
async fn a_new_protected_name_is_reported_and_stays() {
    let project = project(&[(".gitignore", "hidden\n")]);
    let output = project.run("Bash", command("mkdir sub; echo x | tee .envrc sub/.npmrc > fine")).await;
    let told = format!(
        "`.envrc` (what a shell runs), `sub/.npmrc` (the settings of a package manager) were {LOOK} them before you continue"
    );
    assert_eq!(output.for_model, format!("[no output; changed: .envrc, fine, sub/.npmrc; {told}]"));
    assert_eq!(output.files_changed, [".envrc", "fine", "sub/.npmrc"]);
    assert_eq!((project.text(".envrc").as_str(), project.text("sub/.npmrc").as_str()), ("x\n", "x\n"));
    assert_eq!(project.shells.unwrap().notices(), [told]);
}

#[tokio::test]
async fn a_protected_name_counts_even_if_ignored_but_not_as_an_empty_directory() {
    let project = project(&[(".gitignore", ".envrc\n.vscode/\n.idea/\n")]);
    let line = "mkdir -p .idea .vscode/deep sub/.idea; touch .vscode/deep/task; echo '*' > sub/.gitignore
                touch .envrc sub/.envrc";
    let text = project.done("Bash", command(line)).await;
    let told =
        "`.envrc` (what a shell runs), `.vscode` (what an editor runs or obeys), `sub/.envrc` (what a shell runs)";
    assert!(text.contains(&format!("; {told} were {LOOK} them")), "{text}");
}

#[tokio::test]
async fn five_are_named_and_the_others_counted() {
    let project = project(&[]);
    let text = project.done("Bash", command("for n in 1 2 3 4 5 6 7; do mkdir $n; touch $n/.envrc; done")).await;
    assert!(text.contains(&format!("`5/.envrc` (what a shell runs) and 2 more were {LOOK} them")), "{text}");
    assert!(!text.contains("`6/.envrc`"), "{text}");
}

#[tokio::test]
async fn a_protected_name_at_the_top_is_reported_in_a_huge_tree() {
    let project = project(&[("many/0", "")]);
    // Names only: creating as many files takes long.
    for number in 1..=50_010 {
        fs::hard_link(project.path("many/0"), project.path(&format!("many/{number}"))).unwrap();
    }
    let text =
        project.done("Bash", command("touch .envrc; mkdir -p .config/fish; touch .config/fish/x many/.envrc")).await;
    assert!(text.contains("not all files were checked ("), "{text}");
    let told = "`.config/fish` (what a shell runs), `.envrc` (what a shell runs) were";
    assert!(text.contains(told) && !text.contains("many/"), "{text}");
}

#[tokio::test]
async fn an_existing_protected_name_is_reported_only_if_it_changes() {
    let project = project(&[(".envrc", "mine"), (".gitignore", ".vscode\n"), (".vscode/task", "mine")]);
    assert_eq!(project.done("Bash", command("touch other")).await, "[no output; changed: other]");
    let text = project.done("Bash", command("echo evil > .envrc")).await;
    assert!(text.contains(&format!("`.envrc` (what a shell runs) was {LOOK} it")), "{text}");
    let text = project.done("Bash", command("rm -r .envrc .vscode")).await;
    assert_eq!(text, "[no output; changed: .envrc]", "nobody has to look at what is gone");
}

#[tokio::test]
async fn a_new_repository_is_reported_once_by_its_directory() {
    let project = repository(&[]);
    let line = "mkdir -p new/.git/hooks new/.git/info tree; cp -r .git/* new/.git; echo x > new/.git/hooks/pre-commit
                echo x | tee new/.git/config new/.git/commondir > new/.git/info/attributes; echo 'gitdir: x' > tree/.git";
    let text = project.done("Bash", command(line)).await;
    let told = format!("; `new/.git` (git's own files), `tree/.git` (git's own files) were {LOOK} them");
    assert!(text.contains(&told), "{text}");
    assert!(project.path("new/.git/commondir").exists());
}

#[tokio::test]
async fn a_new_file_in_a_nested_repository_is_reported_and_stays() {
    let project = repository(&[("lib/.git/HEAD", "x"), ("lib/.git/config", "x")]);
    let text = project.done("Bash", command("mkdir lib/.git/hooks; touch lib/.git/hooks/a lib/.git/commondir")).await;
    let told = "`lib/.git/commondir` (git's own files), `lib/.git/hooks` (a git hook) were";
    assert!(text.contains(told), "{text}");
    assert!(project.path("lib/.git/commondir").exists());
}

#[tokio::test]
async fn a_useless_file_in_the_workspaces_repository_is_removed_and_kept_for_people() {
    let project = repository(&[(".git/modules/a/b/config", "x"), (".git/worktrees/t/HEAD", "x")]);
    let made = [
        ".git/config.worktree",
        ".git/info/attributes",
        ".git/modules/a/b/commondir",
        ".git/worktrees/t/config.worktree",
    ];
    let line = format!("mkdir -p .git/info; echo evil | tee {} >/dev/null; chmod 754 {0}", made.join(" "));
    let output = project.run("Bash", command(&line)).await;
    for name in made {
        assert!(!project.path(name).exists(), "{name}");
        let place = output.for_model.split_once(&format!("`{name}` was removed (kept as ")).unwrap().1;
        let place = place.split_once(')').unwrap().0;
        let file_name = name.rsplit('/').next().unwrap().replace('.', "");
        assert!(place.starts_with(&format!("{}/taken-{file_name}-", spill(&project).display())), "{place}");
        assert_eq!(fs::read_to_string(place).unwrap(), "evil\n");
        assert_eq!(fs::metadata(place).unwrap().permissions().mode() & 0o777, 0o754);
    }
    assert!(output.for_model.ends_with("git obeys it, and no command may create it]"), "{}", output.for_model);
    assert_eq!(output.files_changed, [""; 0]);
    assert_eq!(project.shells.unwrap().notices().len(), 1);
}

#[tokio::test]
async fn files_that_git_creates_for_another_working_tree_stay() {
    let project = repository(&[]);
    let text =
        project.done("Bash", command("mkdir -p .git/worktrees/t; echo ../.. > .git/worktrees/t/commondir")).await;
    assert_eq!(text, "[no output]");
    assert_eq!(project.text(".git/worktrees/t/commondir"), "../..\n");
}

#[tokio::test]
async fn a_commondir_that_leads_nowhere_is_removed_as_well() {
    let project = repository(&[]);
    let text = project.done("Bash", command("echo nowhere > .git/commondir")).await;
    assert!(
        text.contains("`.git/commondir` was removed (kept as") && !text.contains("no longer a repository"),
        "{text}"
    );
    assert!(!project.path(".git/commondir").exists());
}

#[tokio::test]
async fn files_made_by_a_background_command_are_reported_at_its_end() {
    let project = project(&[]);
    project.done("Bash", in_background(&format!("touch .envrc; {}", wait_for("never")))).await;
    until(|| project.path(".envrc").exists()).await;
    let text = project.done("KillShell", serde_json::json!({"shell_id": "bash_1"})).await;
    assert!(text.contains(&format!("`.envrc` (what a shell runs) was {LOOK} it")), "{text}");
}

#[tokio::test]
async fn without_walls_a_useless_file_is_reported_and_not_removed() {
    let mut project = repository(&[]);
    let mut setup = setup(&project);
    setup.unconfined = true;
    project.shells = Some(shells_of(setup, Reach::default()));
    let text = project.done("Bash", command("touch .git/config.worktree")).await;
    assert!(text.contains(&format!("`.git/config.worktree` (git's own files) was {LOOK} it")), "{text}");
    assert!(project.path(".git/config.worktree").exists());
}

#[tokio::test]
async fn a_destroyed_repository_and_a_bare_one_at_the_top_are_reported() {
    let project = repository(&[]);
    let text = project.done("Bash", command("mkdir objects refs; cp .git/HEAD .; rm .git/HEAD")).await;
    assert!(text.contains("the workspace is no longer a repository"), "{text}");
    assert!(text.contains("`HEAD`, `objects` and `refs` were created at the top"), "{text}");
    assert_eq!(project.done("Bash", command("true")).await, "[no output]", "it is told once");
}
