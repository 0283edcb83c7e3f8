//! Commands that keep running while their task does other things.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Mutex, mpsc};

use futures_util::poll;
use serde_json::{Value, json};
use sortie_protocol::{Fault, ShellMark, ToolOutput};
use sortie_sandbox::Workspace;
use sortie_sandbox::process::Walls;
use sortie_tools::{EarlierShells, NetworkReach, Repositories, ShellReach, Writable};

use super::life::{is_alive, marker, until};
use super::shell::{Reach, command, in_background, project, setup, shells_of, wait_for};
use crate::project::Project;

async fn start(project: &Project, line: &str) -> String {
    let text = project.done("Bash", in_background(line)).await;
    text.strip_suffix(" runs in the background").unwrap().to_owned()
}

/// The output seen of a command.
#[derive(Default)]
struct Seen {
    /// Its output.
    text: String,
    /// The notes with it.
    notes: Vec<String>,
}

/// Looks until `enough` is true, and returns the last look.
async fn look_until(
    project: &Project,
    arguments: &Value,
    seen: &mut Seen,
    enough: impl Fn(&Seen, bool) -> bool,
) -> ToolOutput {
    loop {
        let output = project.structured("BashOutput", arguments.clone()).await;
        let payload = output.payload.as_ref().unwrap();
        seen.text.push_str(payload.data["output"].as_str().unwrap());
        seen.notes.extend(payload.notes.clone());
        if enough(seen, payload.data["status"] == "ended") {
            return output;
        }
        tokio::task::yield_now().await;
    }
}

/// Looks until the command has ended.
async fn see_through(project: &Project, arguments: Value) -> (Seen, ToolOutput) {
    let mut seen = Seen::default();
    let output = look_until(project, &arguments, &mut seen, |_, has_ended| has_ended).await;
    (seen, output)
}

#[tokio::test]
async fn a_background_command_outlives_its_call_and_is_read_bit_by_bit() {
    let project = project(&[]);
    let line = format!("echo one; {}; echo two; touch made; exit 5", wait_for("go"));
    let name = start(&project, &line).await;
    assert_eq!(name, "bash_1");
    let look = json!({"bash_id": name});
    let mut seen = Seen::default();
    let output = look_until(&project, &look, &mut seen, |seen, _| !seen.text.is_empty()).await;
    assert_eq!(output.for_model, "one\n[bash_1 is running]");
    assert_eq!(project.done("BashOutput", look.clone()).await, "[no new output; bash_1 is running]");
    project.write("go", "");
    let (seen, output) = see_through(&project, look.clone()).await;
    assert_eq!(seen.text, "two\n");
    assert!(output.failed);
    assert_eq!(output.files_changed, ["go", "made"]);
    let end = "bash_1 has ended; Exit code 5; changed: go, made]";
    assert!(output.for_model.ends_with(end), "{}", output.for_model);
    let again = project.run("BashOutput", look).await;
    assert_eq!(again.for_model, "[no new output; bash_1 has ended; Exit code 5]");
    assert_eq!(again.files_changed, [""; 0], "they have been told");
}

#[tokio::test]
async fn a_filter_skips_other_lines() {
    let project = project(&[]);
    let name = start(&project, "for n in $(seq 30); do echo line $n; done").await;
    let (seen, output) = see_through(&project, json!({"bash_id": name, "filter": "line [12]5"})).await;
    assert_eq!(seen.text, "line 15\nline 25\n");
    let passed_over = seen.notes.iter().filter_map(|note| note.strip_suffix(" passed over by the filter"));
    let counts = passed_over.map(|count| count.split_once(' ').unwrap().0.parse::<usize>().unwrap());
    assert_eq!((output.failed, counts.sum()), (false, 28_usize));
    let output = project.run("BashOutput", json!({"bash_id": name, "filter": "("})).await;
    assert_eq!(output.fault, Some(Fault::Arguments));
}

#[tokio::test]
async fn an_unread_output_is_bounded_and_lost_bytes_are_reported() {
    let project = project(&[]);
    let name = start(&project, "yes 0123456 | head -c 2000000; touch begun").await;
    until(|| project.path("begun").exists()).await;
    let (seen, output) = see_through(&project, json!({"bash_id": name})).await;
    // The end is reported again if the last output came after the first look.
    let gone =
        seen.notes.iter().filter_map(|note| note.strip_suffix(" bytes before this were not read in time and are gone"));
    let n_gone: usize = gone.map(|count| count.replace(',', "").parse::<usize>().unwrap()).sum();
    assert!(n_gone > 800_000, "no more than a pipe could have been left: {n_gone}");
    assert_eq!(seen.text.len() + n_gone, 2_000_000);
    assert!(seen.notes.iter().any(|note| note.ends_with(" more are there; call again")), "it comes in pages");
    let path = output.payload.unwrap().data["full_output_path"].as_str().unwrap().to_owned();
    assert_eq!(std::fs::metadata(path).unwrap().len(), 2_000_000);
}

#[tokio::test]
async fn a_command_is_ended_with_all_that_it_started() {
    let project = project(&[]);
    let marker = marker();
    let name =
        start(&project, &format!("setsid sleep {marker} & touch made; trap '' TERM; sleep {marker}; true")).await;
    project.done("Bash", command(&wait_for("made"))).await;
    let output = project.run("KillShell", json!({"shell_id": name})).await;
    assert_eq!(output.for_model, "[bash_1 was ended; changed: made]");
    assert_eq!((output.failed, output.files_changed.as_slice()), (false, ["made".to_owned()].as_slice()));
    assert!(!is_alive(&marker));
    let text = project.done("KillShell", json!({"shell_id": name})).await;
    assert_eq!(text, "[bash_1 had ended before; cancelled before it finished]");
}

#[tokio::test]
async fn ending_a_command_returns_its_unread_output() {
    let project = project(&[]);
    start(&project, &format!("echo one; touch made; {}", wait_for("never"))).await;
    project.done("Bash", command(&wait_for("made"))).await;
    let text = project.done("KillShell", json!({"shell_id": "bash_1"})).await;
    assert_eq!(text, "one\n[bash_1 was ended; changed: made]");
}

/// Blocks the start of a command until the test allows it, and tells when it has begun.
struct Late {
    has_begun: mpsc::Sender<()>,
    goes_on: Mutex<mpsc::Receiver<()>>,
}

impl ShellReach for Late {
    fn writable(&self, workspace: &Workspace) -> Writable {
        Reach::default().writable(workspace)
    }

    fn walls(&self, workspace: &Workspace, writable: &[PathBuf], in_it: &Repositories) -> Result<Walls, String> {
        Reach::default().walls(workspace, writable, in_it)
    }

    /// Called once the command has begun.
    fn reads_only(&self) -> Option<String> {
        self.has_begun.send(()).unwrap();
        self.goes_on.lock().unwrap().recv().unwrap();
        None
    }

    fn network(&self) -> NetworkReach {
        NetworkReach::None
    }

    fn may_reach(&self, host: &str) -> Result<(), String> {
        Reach::default().may_reach(host)
    }
}

#[tokio::test]
async fn a_command_started_by_a_cancelled_call_is_reported_and_ends() {
    let mut project = Project::new(&[]);
    let (has_begun, begun) = mpsc::channel();
    let (go_on, goes_on) = mpsc::channel();
    let reach = Late { has_begun, goes_on: Mutex::new(goes_on) };
    project.shells = Some(shells_of(setup(&project), reach));
    let marker = marker();
    let mut call = pin!(project.run("Bash", in_background(&format!("sleep {marker}"))));
    assert!(poll!(&mut call).is_pending());
    begun.recv().unwrap();
    project.cancel.cancel();
    assert!(poll!(&mut call).is_pending(), "whether it has begun is known when it is started");
    go_on.send(()).unwrap();
    assert_eq!(call.await.for_model, "bash_1 runs in the background");
    project.shells.as_ref().unwrap().close().await;
    assert!(!is_alive(&marker));
}

#[tokio::test]
async fn a_timeout_applies_in_the_background_too() {
    let project = project(&[]);
    let arguments = json!({"command": "sleep 600", "timeout": 300, "run_in_background": true});
    project.done("Bash", arguments).await;
    let (_, output) = see_through(&project, json!({"bash_id": "bash_1"})).await;
    assert!(output.for_model.contains("timed out after 300 ms and was ended"), "{}", output.for_model);
    assert_eq!(output.fault, Some(Fault::TimedOut));
}

#[tokio::test]
async fn the_end_of_a_task_ends_its_commands_and_reports_their_changes() {
    let project = project(&[]);
    let marker = marker();
    let one = start(&project, "touch told").await;
    see_through(&project, json!({"bash_id": one})).await;
    start(&project, &format!("touch first; sleep {marker}")).await;
    project.done("Bash", command(&wait_for("first"))).await;
    start(&project, &format!("touch second; sleep {marker}")).await;
    project.done("Bash", command(&wait_for("second"))).await;
    let shells = project.shells.as_ref().unwrap();
    let changed = shells.close().await;
    assert!(!is_alive(&marker));
    assert_eq!(changed, ["first", "second"]);
    let notice = format!(
        "2 commands in the background were ended with the task: bash_2 `touch first; sleep {marker}`, \
         bash_3 `touch second; sleep {marker}`"
    );
    assert_eq!(shells.notices(), [notice]);
    assert_eq!(shells.close().await, [""; 0]);
    let text = project.failed("Bash", in_background("touch third")).await;
    assert_eq!(text, "the command was not run: its task is ending");
    assert!(!project.path("third").exists());
}

#[tokio::test]
async fn commands_end_when_dropped() {
    let mut project = project(&[]);
    let marker = marker();
    start(&project, &format!("touch begun; sleep {marker}")).await;
    project.done("Bash", command(&wait_for("begun"))).await;
    until(|| is_alive(&marker)).await;
    project.shells = None;
    until(|| !is_alive(&marker)).await;
}

#[tokio::test]
async fn a_task_has_sixteen_commands_and_drops_those_with_a_reported_end() {
    let project = project(&[]);
    for _ in 0..16 {
        start(&project, &wait_for("go")).await;
    }
    let text = project.failed("Bash", in_background("touch more")).await;
    assert!(text.contains("16 run in the background") && text.contains("KillShell"), "{text}");
    project.done("KillShell", json!({"shell_id": "bash_3"})).await;
    assert_eq!(start(&project, "true").await, "bash_17");
    let text = project.failed("BashOutput", json!({"bash_id": "bash_3"})).await;
    assert!(text.starts_with("no background command is called `bash_3`: there are bash_1, bash_2, bash_4, "), "{text}");
    project.shells.unwrap().close().await;
}

#[tokio::test]
async fn an_unknown_name_is_reported() {
    let project = project(&[]);
    for (tool, arguments) in [("BashOutput", json!({"bash_id": "x"})), ("KillShell", json!({"shell_id": "x"}))] {
        let output = project.run(tool, arguments).await;
        assert_eq!(output.fault, Some(Fault::NotFound));
        assert!(output.for_model.contains("`x`: there is none; start one with Bash"), "{}", output.for_model);
    }
}

#[tokio::test]
async fn names_continue_after_earlier_processes_and_the_fate_of_theirs_is_reported() {
    let mut project = project(&[]);
    let earlier = EarlierShells { newest: 2, lost: [2].into() };
    project.shells = project.shells.map(|shells| shells.after(earlier));
    let text = project.failed("BashOutput", json!({"bash_id": "bash_1"})).await;
    assert_eq!(text, "bash_1 has ended, and its output can no longer be read");
    for (tool, name) in [("BashOutput", "bash_id"), ("KillShell", "shell_id")] {
        let text = project.failed(tool, json!({name: "bash_2"})).await;
        assert!(text.starts_with("bash_2 was ended when the program was stopped: its effects are unknown"), "{text}");
    }
    let started = project.run("Bash", in_background("true")).await;
    assert_eq!(
        (started.for_model.as_str(), started.shell),
        ("bash_3 runs in the background", Some(ShellMark::Started(3)))
    );
    let (_, seen) = see_through(&project, json!({"bash_id": "bash_3"})).await;
    assert_eq!(seen.shell, Some(ShellMark::Ended(3)));
    start(&project, "sleep 600").await;
    assert_eq!(project.run("BashOutput", json!({"bash_id": "bash_4"})).await.shell, None);
    assert_eq!(project.run("KillShell", json!({"shell_id": "bash_4"})).await.shell, Some(ShellMark::Ended(4)));
}
