//! Every tool refuses outside paths in every spelling.

use std::fs;

use serde_json::{Value, json};

use crate::project::Project;

const SECRET: &str = "the-outside-secret";

/// Every tool that takes a path, called with `path`.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("Read", json!({"file_path": path})),
        ("LS", json!({"path": path})),
        ("Glob", json!({"pattern": "**", "path": path})),
        ("Glob", json!({"pattern": format!("{path}/**")})),
        ("Glob", json!({"pattern": path, "path": "sub"})),
        ("Grep", json!({"pattern": SECRET, "path": path, "output_mode": "content"})),
    ]
}

fn project() -> Project {
    let project = Project::new(&[("sub/inside.txt", "inside")]);
    fs::create_dir_all(project.outside("project-secret/deep")).unwrap();
    fs::write(project.outside("project-secret/deep/file.txt"), SECRET).unwrap();
    project.link(project.outside("project-secret"), "absolute_link");
    project.link("../project-secret", "relative_link");
    project.link("../../project-secret/deep", "sub/deep_link");
    project.link(project.outside("project-secret/deep/file.txt"), "file_link");
    project.link("/", "root_link");
    project
}

#[tokio::test]
async fn every_tool_refuses_every_spelling_of_an_outside_path() {
    let project = project();
    let outside = project.outside("project-secret");
    let outside = outside.to_str().unwrap();
    let ways_in = [
        outside.to_owned(),
        format!("/{outside}"),
        format!("/proc/self/root{outside}"),
        outside.replace('/', "//"),
        outside.replace('/', "/./"),
        "../project-secret".to_owned(),
        "./../project-secret".to_owned(),
        "sub/../../project-secret".to_owned(),
        "missing/../../project-secret".to_owned(),
        "../project/../project-secret".to_owned(),
        "absolute_link".to_owned(),
        "relative_link".to_owned(),
        "sub/../relative_link".to_owned(),
        "root_link".to_owned() + outside,
        format!("{}/../project-secret", project.path(".").display()),
    ];
    for way in &ways_in {
        for tail in ["", "/", "/deep", "/deep/file.txt", "/deep/../deep/file.txt", "/deep/absent.txt", "/absent"] {
            let path = format!("{way}{tail}");
            for (tool, arguments) in calls(&path) {
                // A pattern that begins at `sub` spells another path: it must find nothing, but need not be outside.
                let output = project.run(tool, arguments.clone()).await;
                assert!(!output.for_model.contains(SECRET), "{tool} {arguments}: {}", output.for_model);
                assert!(!output.for_model.contains("file.txt\n"), "{tool} {arguments}: {}", output.for_model);
                if arguments["path"] != "sub" {
                    assert!(output.failed, "{tool} {arguments}: {}", output.for_model);
                    assert!(
                        output.for_model.contains("is outside the workspace"),
                        "{tool} {arguments}: {}",
                        output.for_model
                    );
                }
            }
        }
    }
}

#[tokio::test]
async fn a_refusal_does_not_tell_whether_the_path_exists() {
    let project = project();
    for (existing, absent) in [
        ("../project-secret/deep/file.txt", "../project-secret/deep/fil2.txt"),
        ("../project-secret", "../project-secre2"),
        ("relative_link/deep", "relative_link/dee2"),
        ("/etc/passwd", "/etc/passw2"),
    ] {
        for ((tool, existing_call), (_, absent_call)) in calls(existing).into_iter().zip(calls(absent)) {
            let there = project.run(tool, existing_call).await.for_model;
            let not_there = project.run(tool, absent_call).await.for_model;
            assert_eq!(there.replace(existing, "PATH"), not_there.replace(absent, "PATH"), "{tool}");
        }
    }
}

#[tokio::test]
async fn no_walk_leaves_the_workspace_through_a_link() {
    let project = project();
    for (tool, arguments) in [
        ("Grep", json!({"pattern": SECRET})),
        ("Glob", json!({"pattern": "**/file.txt"})),
        ("Glob", json!({"pattern": "**/deep/*"})),
    ] {
        let text = project.done(tool, arguments).await;
        assert!(!text.contains("file.txt\n") && text.contains("symbolic links not followed"), "{tool}: {text}");
    }
}

#[tokio::test]
async fn a_path_that_leads_back_inside_works_for_every_tool() {
    let project = project();
    project.link("sub", "inner_link");
    project.link(project.path("sub"), "absolute_inner_link");
    for way in [
        "sub".to_owned(),
        "./sub/".to_owned(),
        "../project/sub".to_owned(),
        "absolute_link/../project/sub".to_owned(),
        "inner_link".to_owned(),
        "absolute_inner_link".to_owned(),
        project.path("sub").to_str().unwrap().to_owned(),
        format!("/proc/self/root{}", project.path("sub").display()),
    ] {
        assert_eq!(project.done("Read", json!({"file_path": format!("{way}/inside.txt")})).await, "1\tinside", "{way}");
        assert!(project.done("LS", json!({"path": way})).await.starts_with("deep_link@\ninside.txt"), "{way}");
        assert!(
            project.done("Glob", json!({"pattern": "*.txt", "path": way})).await.starts_with("sub/inside.txt"),
            "{way}"
        );
        assert!(
            project.done("Grep", json!({"pattern": "inside", "path": way})).await.starts_with("sub/inside.txt"),
            "{way}"
        );
    }
}
