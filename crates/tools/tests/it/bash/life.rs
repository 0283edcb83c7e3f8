//! Commands end when they must, and report progress until then.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sortie_tools::{BoxFuture, Progress};
use tokio::time::Instant;

use super::shell::{command, project, wait_for};

/// A number of seconds to sleep that no other process of the machine uses.
pub(super) fn marker() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    format!("7{:07}{:03}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// True if a process runs with the marker as a word of its command line.
pub(super) fn is_alive(marker: &str) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|process| {
        let command = fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&command).split('\0').any(|word| word == marker)
    })
}

/// Waits until a condition holds.
pub(super) async fn until(holds: impl Fn() -> bool) {
    while !holds() {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_cancelled_call_ends_its_command_and_returns_its_output() {
    let project = project(&[]);
    let marker = marker();
    let line = format!("trap '' TERM INT; echo said; touch begun; setsid sleep {marker} & sleep {marker}; true");
    let cancelling = async {
        until(|| project.path("begun").exists()).await;
        project.cancel.cancel();
    };
    let (output, ()) = tokio::join!(project.run("Bash", command(&line)), cancelling);
    assert_eq!(output.for_model, "said\n[cancelled before it finished; changed: begun]");
    assert!(output.failed);
    assert!(!is_alive(&marker));
}

#[tokio::test]
async fn a_call_cancelled_before_it_begins_runs_nothing() {
    let project = project(&[]);
    project.cancel.cancel();
    for background in [false, true] {
        let arguments = serde_json::json!({"command": "touch made", "run_in_background": background});
        assert_eq!(project.failed("Bash", arguments).await, "cancelled before it began");
    }
    assert!(!project.path("made").exists());
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_ends_its_command() {
    let project = project(&[]);
    let marker = marker();
    let line = format!("touch begun; sleep {marker}");
    tokio::select! {
        output = project.run("Bash", command(&line)) => unreachable!("{}", output.for_model),
        () = until(|| project.path("begun").exists()) => {}
    }
    until(|| !is_alive(&marker)).await;
}

#[test]
fn a_runtime_that_shuts_down_ends_its_commands() {
    let project = project(&[]);
    let marker = marker();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let line = format!("touch begun; sleep {marker}");
    runtime.block_on(async {
        project.done("Bash", super::shell::in_background(&line)).await;
        until(|| project.path("begun").exists()).await;
    });
    drop(runtime);
    assert!(!is_alive(&marker));
}

/// Records every line and its time, and makes a file after a certain line.
struct Listener {
    told: Arc<Mutex<Vec<(Instant, String)>>>,
    answers: Vec<(&'static str, PathBuf)>,
}

impl Progress for Listener {
    fn tell(&self, text: String) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for (_, file) in self.answers.iter().filter(|(line, _)| *line == text) {
                fs::write(file, "").unwrap();
            }
            self.told.lock().unwrap().push((Instant::now(), text));
        })
    }
}

#[tokio::test(start_paused = true)]
async fn people_see_each_last_line_of_the_output_once_while_a_command_runs() {
    let mut project = project(&[]);
    let told = Arc::new(Mutex::new(Vec::new()));
    let answers = vec![("one", project.path("heard_one")), ("two", project.path("heard_two"))];
    project.progress = Some(Box::new(Listener { told: Arc::clone(&told), answers }));
    // Each is written at once.
    project.write("first", "zero\none\nunfinished");
    project.write("second", "\ntwo\n");
    let line = format!("cat first; {}; cat second; {}", wait_for("heard_one"), wait_for("heard_two"));
    let time_passes = async {
        loop {
            tokio::time::advance(Duration::from_millis(250)).await;
            tokio::task::yield_now().await;
        }
    };
    let output = tokio::select! {
        output = project.run("Bash", command(&line)) => output,
        () = time_passes => unreachable!("time does not end"),
    };
    assert!(!output.failed, "{}", output.for_model);
    let told = told.lock().unwrap();
    let [(first, one), (second, two)] = told.as_slice() else { unreachable!("{told:?}") };
    assert_eq!((one.as_str(), two.as_str()), ("one", "two"));
    assert!(*second - *first >= Duration::from_secs(1), "at most once a second");
}
