//! Stop means stop: a cancelled call answers at once.

use std::time::{Duration, Instant};

use serde_json::json;

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
    // Far more than can be read before the cancellation: a terabyte of text, repeated by links to one file's blocks.
    let file = std::fs::File::create(project.path("endless")).unwrap();
    std::io::Write::write_all(&mut &file, &b"x\n".repeat(8 * 1024)).unwrap();
    file.set_len(1 << 40).unwrap();
    let arguments = json!({"file_path": "endless", "offset": 1_000_000_000});
    let cancel = project.cancel.clone();
    let (output, start) = tokio::join!(project.run("Read", arguments), async move {
        tokio::task::spawn_blocking(move || {
            let start = Instant::now();
            cancel.cancel();
            start
        })
        .await
        .unwrap()
    });
    assert!(output.failed && output.for_model.contains("cancelled"), "{}", output.for_model);
    assert!(start.elapsed() < Duration::from_millis(100), "{:?}", start.elapsed());
}
