//! The walls that a task's reach leaves, and the text about them.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::json;
use sortie_protocol::Fault;
use sortie_sandbox::SpillDir;
use sortie_sandbox::process::{Environment, Program};
use sortie_tools::{NetworkReach, ShellSetup, Standing};

use super::shell::{Reach, command, project_with, setup, shells_of, spill};
use crate::project::Project;

const ASK: &str = "exec 3<>/dev/tcp/127.0.0.1/3128 || exit 9
printf 'CONNECT refused.example:443 HTTP/1.1\\r\\nHost: refused.example:443\\r\\n\\r\\n' >&3
head -n 1 <&3";

#[tokio::test]
async fn a_read_only_task_has_a_shell_that_writes_nothing() {
    let project = project_with(&[("a", "as it was")], Reach { writable: vec![], ..Reach::default() });
    assert_eq!(project.done("Bash", command("cat a")).await, "as it was");
    let output = project.run("Bash", command("echo x > a")).await;
    assert!(output.failed && output.for_model.contains("Read-only file system"), "{}", output.for_model);
    let why = "[Exit code 1; walls: commands of this task cannot write in the workspace (agent reader)]";
    assert!(output.for_model.ends_with(why), "{}", output.for_model);
    assert_eq!(project.failed("Bash", command("grep x a")).await, "[Exit code 1]", "the walls were not in its way");
    project.failed("Bash", command("touch b")).await;
    project.failed("Bash", command("rm a")).await;
    assert_eq!(project.text("a"), "as it was");
    assert!(!project.path("b").exists());
}

#[tokio::test]
async fn a_task_with_one_directory_writes_there_and_nowhere_else() {
    let reach = Reach { writable: vec!["docs".into()], ..Reach::default() };
    let project = project_with(&[("docs/a", ""), ("src/a", "")], reach);
    let output = project.run("Bash", command("echo x > docs/b")).await;
    assert_eq!(output.files_changed, ["docs/b"], "{}", output.for_model);
    let text = project.failed("Bash", command("echo x > src/b")).await;
    assert!(text.ends_with("[Exit code 1; walls: this task can write only in docs]"), "{text}");
    assert!(!project.path("src/b").exists());
}

#[tokio::test]
async fn nothing_outside_the_workspace_is_written() {
    let project = project_with(&[], Reach::default());
    // Not in `/tmp`, since commands have their own.
    let outside = tempfile::tempdir_in("/var/tmp").unwrap();
    let canary = outside.path().join("canary");
    fs::write(&canary, "as it was").unwrap();
    assert_eq!(project.done("Bash", command(&format!("cat {}", canary.display()))).await, "as it was");
    project.failed("Bash", command(&format!("echo x > {}", canary.display()))).await;
    assert_eq!(fs::read_to_string(&canary).unwrap(), "as it was");
}

#[tokio::test]
async fn the_limits_are_those_of_the_setup() {
    let mut project = Project::new(&[]);
    let mut setup = setup(&project);
    setup.limits.file_size = 1000;
    project.shells = Some(shells_of(setup, Reach::default()));
    let text = project.failed("Bash", command("head -c 5000 /dev/zero > big")).await;
    assert!(text.contains("File size limit exceeded") || text.contains("File too large"), "{text}");
    assert_eq!(fs::metadata(project.path("big")).unwrap().len(), 1000);
}

#[tokio::test]
async fn without_a_network_there_is_no_proxy_and_no_socket() {
    let project = project_with(&[], Reach::default());
    let text = project.failed("Bash", command(&format!("echo \"[$HTTPS_PROXY]\"; {ASK}"))).await;
    assert!(text.starts_with("[]\n") && text.contains("Exit code 9"), "{text}");
}

#[tokio::test]
async fn hosts_are_reached_through_the_proxy_which_reports_its_refusals() {
    for network in [NetworkReach::Hosts, NetworkReach::All] {
        let project = project_with(&[], Reach { network, ..Reach::default() });
        let text = project.done("Bash", command(&format!("echo \"[$HTTPS_PROXY]\"; {ASK}"))).await;
        assert!(text.starts_with("[http://127.0.0.1:3128]\nHTTP/1.1 403 "), "{network:?}: {text}");
        assert!(text.contains("[`refused.example` was not reached: no rule allows it]"), "{network:?}: {text}");
    }
}

#[tokio::test]
async fn a_task_that_may_reach_every_host_gets_an_open_network() {
    let mut project = Project::new(&[]);
    let mut setup = setup(&project);
    setup.open_network = true;
    let reach = Reach { network: NetworkReach::All, ..Reach::default() };
    project.shells = Some(shells_of(setup, reach));
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let text = project.done("Bash", command(&format!("echo \"[$HTTPS_PROXY]\" 3<>/dev/tcp/127.0.0.1/{port}"))).await;
    assert_eq!(text, "[]");
}

#[tokio::test]
async fn no_command_runs_if_no_walls_can_be_built() {
    let mut project = Project::new(&[]);
    let spill = Arc::new(SpillDir::open(&spill(&project)).unwrap());
    let program = Program::at(PathBuf::from("/bin/false"));
    let setup = ShellSetup::new(program, Environment::scrubbed([], &[]), spill);
    assert!(matches!(setup.walls(), Standing::Nowhere { .. }));
    project.shells = Some(shells_of(setup, Reach::default()));
    for background in [false, true] {
        let output = project.run("Bash", json!({"command": "touch made", "run_in_background": background})).await;
        assert!(output.failed);
        assert!(output.for_model.starts_with("the command was not run: no walls can be built"), "{}", output.for_model);
        assert!(output.for_model.contains("sortie doctor") && output.for_model.contains("--unconfined"));
        assert_eq!(output.fault, Some(Fault::NotAllowed));
    }
    assert!(!project.path("made").exists());
}

#[tokio::test]
async fn the_outcome_says_that_commands_ran_without_walls() {
    let mut project = Project::new(&[]);
    let mut setup = setup(&project);
    setup.unconfined = true;
    project.shells = Some(shells_of(setup, Reach::default()));
    let shells = project.shells.as_ref().unwrap();
    assert_eq!(shells.notices(), [""; 0], "nothing has run");
    let outside = project.outside("made");
    for _ in 0..2 {
        project.done("Bash", command(&format!("touch {} inside", outside.display()))).await;
    }
    assert!(outside.exists());
    let notices = shells.notices();
    assert_eq!(notices.len(), 1, "{notices:?}");
    assert!(notices[0].starts_with("commands ran without walls because of --unconfined"), "{notices:?}");
}

#[tokio::test]
async fn commands_in_the_strongest_walls_need_no_notice() {
    let project = project_with(&[], Reach::default());
    project.done("Bash", command("touch a")).await;
    assert_eq!(project.shells.unwrap().notices(), [""; 0]);
}
