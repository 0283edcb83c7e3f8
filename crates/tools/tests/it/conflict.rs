//! Many tasks, one file: an edit reported as done is there, and any other was reported as a conflict.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;
use sortie_protocol::Fault;
use sortie_tools::Seen;

use crate::project::Project;

const N_TASKS: usize = 20;
const N_EDITS: usize = 500;

/// Adds its lines to the file, one edit each, as a model would: after a conflict it reads the file again. Returns the
/// lines reported as added.
async fn add_lines(project: Arc<Project>, task: usize, n_conflicts: Arc<AtomicUsize>) -> Vec<String> {
    let seen = Seen::default();
    let read = || json!({"file_path": "a.txt", "limit": 1});
    assert!(!project.run_as(&seen, "Read", read()).await.failed);
    let mut added = Vec::new();
    for number in 0..N_EDITS {
        let line = format!("task {task} edit {number}");
        let edit = json!({"file_path": "a.txt", "old_string": "end\n", "new_string": format!("{line}\nend\n")});
        let output = project.run_as(&seen, "Edit", edit).await;
        if output.failed {
            assert_eq!(output.fault, Some(Fault::Conflict), "{}", output.for_model);
            n_conflicts.fetch_add(1, Ordering::Relaxed);
            assert!(!project.run_as(&seen, "Read", read()).await.failed);
        } else {
            assert_eq!(output.files_changed, ["a.txt"]);
            added.push(line);
        }
    }
    added
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn twenty_tasks_with_five_hundred_edits_each_lose_nothing() {
    let project = Arc::new(Project::new(&[("a.txt", "end\n")]));
    let n_conflicts = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..N_TASKS)
        .map(|task| tokio::spawn(add_lines(Arc::clone(&project), task, Arc::clone(&n_conflicts))))
        .collect();
    let mut added = Vec::new();
    for task in tasks {
        added.extend(task.await.unwrap());
    }
    let text = project.text("a.txt");
    let mut found: Vec<String> = text.lines().map(str::to_owned).collect();
    assert_eq!(found.pop().as_deref(), Some("end"));
    found.sort();
    added.sort();
    assert_eq!(found, added);
    let n_conflicts = n_conflicts.load(Ordering::Relaxed);
    assert_eq!(added.len() + n_conflicts, N_TASKS * N_EDITS);
    assert!(added.len() > N_TASKS && n_conflicts > N_TASKS, "{} added, {n_conflicts} conflicts", added.len());
    assert_eq!(std::fs::read_dir(project.path("")).unwrap().count(), 1, "nothing is left beside the file");
}
