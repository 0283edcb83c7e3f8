//! Unreadable files are hidden and counted in every listing; added directories are searched like the workspace.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use sortie_protocol::Fault;
use sortie_sandbox::{Access, Guard};

use crate::project::Project;

/// Forbids reading anything in a directory `hidden`.
#[derive(Debug)]
struct Hides;

impl Guard for Hides {
    fn check(&self, path: &Path, access: Access) -> Result<(), String> {
        let is_hidden = path.iter().any(|name| name == "hidden");
        if access == Access::Read && is_hidden { Err("it is hidden".to_owned()) } else { Ok(()) }
    }
}

fn project() -> Project {
    let project = Project::new(&[
        ("a.txt", "needle\n"),
        ("hidden/b.txt", "needle\n"),
        ("sub/c.txt", "needle\n"),
        ("sub/hidden/d.txt", "needle\n"),
    ]);
    project.link("hidden/b.txt", "to_hidden");
    project.guarded(Arc::new(Hides))
}

#[tokio::test]
async fn a_walk_hides_unreadable_files_and_counts_them() {
    let project = project();
    let note = "2 entries hidden from this task by its grant; 1 symbolic link not followed";
    assert_eq!(project.done("Glob", json!({"pattern": "**/*"})).await, format!("a.txt\nsub/c.txt\n[{note}]"));
    let text = project.done("Grep", json!({"pattern": "needle"})).await;
    assert!(text.starts_with("a.txt\nsub/c.txt\n") && text.contains(note), "{text}");
    let text = project.done("LS", json!({})).await;
    assert_eq!(text, "a.txt\nsub/\nto_hidden@\n[1 entry hidden from this task by its grant]");
}

#[tokio::test]
async fn every_tool_refuses_a_named_file_that_it_may_not_read() {
    let project = project();
    for (tool, arguments) in [
        ("Read", json!({"file_path": "hidden/b.txt"})),
        ("Read", json!({"file_path": "to_hidden"})),
        ("Read", json!({"file_path": "sub/hidden/absent"})),
        ("LS", json!({"path": "hidden"})),
        ("Glob", json!({"pattern": "hidden/**"})),
        ("Glob", json!({"pattern": "*", "path": "sub/hidden"})),
        ("Grep", json!({"pattern": "needle", "path": "hidden"})),
        ("Grep", json!({"pattern": "needle", "path": "to_hidden"})),
    ] {
        let output = project.run(tool, arguments.clone()).await;
        assert!(output.failed && output.for_model.contains("may not be used: it is hidden"), "{tool} {arguments}");
        assert_eq!(output.fault, Some(Fault::NotAllowed), "{tool} {arguments}");
    }
}

#[tokio::test]
async fn a_name_that_may_not_be_read_is_not_suggested() {
    let project = Project::new(&[("sub/hidden", "")]).guarded(Arc::new(Hides));
    let text = project.failed("Read", json!({"file_path": "sub/hiddem"})).await;
    assert!(!text.contains("did you mean"), "{text}");
}

#[tokio::test]
async fn an_added_directory_is_read_and_searched_with_its_own_ignore_files() {
    let project = Project::new(&[("a.txt", "needle\n")]);
    for (path, content) in [("x/b.txt", "needle\n"), ("x/c.log", "needle\n"), (".gitignore", "*.log\n")] {
        fs::create_dir_all(project.outside("shared/x")).unwrap();
        fs::write(project.outside("shared").join(path), content).unwrap();
    }
    let project = project.with_directory("shared");
    let shared = project.outside("shared").display().to_string();
    for (tool, arguments, expected) in [
        ("Glob", json!({"pattern": "*.txt", "path": shared}), format!("{shared}/x/b.txt")),
        ("Glob", json!({"pattern": format!("{shared}/**/*.txt")}), format!("{shared}/x/b.txt")),
        ("Grep", json!({"pattern": "needle", "path": format!("{shared}/x")}), format!("{shared}/x/b.txt")),
        ("LS", json!({"path": "../shared"}), "x/".to_owned()),
        ("Read", json!({"file_path": format!("{shared}/x/b.txt")}), "needle".to_owned()),
    ] {
        let text = project.done(tool, arguments.clone()).await;
        assert!(text.contains(&expected) && !text.contains("c.log"), "{tool} {arguments}: {text}");
        assert!(!text.contains("not used"), "ignore files above an added directory are none of ours: {text}");
    }
}
