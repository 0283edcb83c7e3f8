//! Stop means stop: a call that is cancelled or out of time answers at once, and its work ends.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::project::Project;

#[tokio::test]
async fn a_call_that_is_cancelled_before_it_starts_does_nothing() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    project.cancel.cancel();
    for (tool, arguments) in [
        ("Read", json!({"file_path": "a.txt"})),
        ("LS", json!({})),
        ("Glob", json!({"pattern": "**"})),
        ("Grep", json!({"pattern": "needle"})),
    ] {
        assert_eq!(project.failed(tool, arguments).await, "cancelled before it finished", "{tool}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_search_that_is_cancelled_while_it_runs_ends_at_once() {
    let project = Project::new(&[]);
    // One file under many names: more text than can be searched before the cancellation.
    project.write("0", b"some text\n".repeat(3 << 20));
    for n in 1..500 {
        fs::hard_link(project.path("0"), project.path(&n.to_string())).unwrap();
    }
    cancel_while_it_runs(&project, "Grep", json!({"pattern": "[a-z]+ absent [a-z]+"})).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_read_far_into_a_huge_file_ends_at_once_when_cancelled() {
    let project = Project::new(&[]);
    let mut file = fs::File::create(project.path("huge")).unwrap();
    file.write_all(&b"x\n".repeat(8 * 1024)).unwrap();
    file.set_len(1 << 40).unwrap();
    drop(file);
    cancel_while_it_runs(&project, "Read", json!({"file_path": "huge", "offset": 1_000_000_000})).await;
}

#[tokio::test(start_paused = true)]
async fn a_search_stuck_in_a_slow_match_is_answered_when_its_time_is_over() {
    // No two parts of it are alike, so that the matcher's caches do not help.
    let text: String =
        (0..16 * 1024_u32).map(|n| if n.wrapping_mul(2_654_435_761) >> 31 == 0 { 'a' } else { 'b' }).collect();
    let project = Project::new(&[("a.txt", &text)]);
    let root = project.path(".");
    let time_passes = async {
        tokio::task::spawn_blocking(move || wait_until(|| n_open_files(&root) > 0)).await.unwrap();
        tokio::time::advance(Duration::from_millis(20_500)).await;
    };
    let slow = project.run("Grep", json!({"pattern": "a[ab]{1000}a[ab]{1000}[cd]", "output_mode": "count"}));
    let (output, ()) = tokio::join!(slow, time_passes);
    assert!(output.failed);
    assert_eq!(output.for_model, "stopped after 20 s; narrow the request");
    let root = project.path(".");
    assert_eq!(n_open_files(&root), 1, "the match is not over");
    wait_until(|| n_open_files(&root) == 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_edit_that_waits_for_another_writer_ends_at_once_when_cancelled_and_leaves_nothing() {
    let project = Project::new(&[("a.txt", "one\n")]);
    project.done("Read", json!({"file_path": "a.txt"})).await;
    let root = project.path(".").canonicalize().unwrap();
    let other = fs::File::open(&root).unwrap();
    rustix::fs::flock(&other, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let n_before = n_open(|path| path == root);
    let (cancel, waited_at) = (project.cancel.clone(), root.clone());
    let cancelling = tokio::task::spawn_blocking(move || {
        wait_until(|| n_open(|path| path == waited_at) > n_before);
        let start = Instant::now();
        cancel.cancel();
        start
    });
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    let text = project.failed("Edit", edit).await;
    let start = cancelling.await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(1), "{:?}", start.elapsed());
    assert_eq!(text, "`a.txt` was not changed: cancelled before the end");
    assert_eq!(project.text("a.txt"), "one\n");
    assert_eq!(fs::read_dir(&root).unwrap().count(), 1, "no new version is left");
}

async fn cancel_while_it_runs(project: &Project, tool: &str, arguments: Value) {
    let (cancel, root) = (project.cancel.clone(), project.path("."));
    let cancelling = tokio::task::spawn_blocking(move || {
        wait_until(|| n_open_files(&root) > 0);
        let start = Instant::now();
        cancel.cancel();
        start
    });
    let output = project.run(tool, arguments).await;
    let start = cancelling.await.unwrap();
    assert!(start.elapsed() < Duration::from_millis(100), "{:?}", start.elapsed());
    assert!(output.failed && output.for_model.contains("cancelled"), "{}", output.for_model);
    // The work behind the call also ends, a moment later.
    let root = project.path(".");
    wait_until(|| n_open_files(&root) == 0);
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
}

fn wait_until(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < Duration::from_secs(15));
        std::thread::yield_now();
    }
}

/// Counts the regular files below `root` that this process has open.
fn n_open_files(root: &Path) -> usize {
    let root = root.canonicalize().unwrap();
    n_open(|path| path.starts_with(&root) && path.is_file())
}

fn n_open(is_meant: impl Fn(&Path) -> bool) -> usize {
    let open = fs::read_dir("/proc/self/fd").unwrap().flatten();
    open.filter_map(|entry| fs::read_link(entry.path()).ok()).filter(|path| is_meant(path)).count()
}
