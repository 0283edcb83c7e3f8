//! Outputs as objects, for calls that ask for them: the payload by its names, and the kind of a failure.

use serde_json::{Value, json};
use sortie_protocol::{Fault, Payload, ToolOutput};

use crate::project::Project;

async fn payload(project: &Project, tool: &str, arguments: Value) -> Payload {
    let output = project.structured(tool, arguments).await;
    assert!(!output.failed, "{}", output.for_model);
    *output.payload.unwrap()
}

async fn data(project: &Project, tool: &str, arguments: Value) -> Value {
    payload(project, tool, arguments).await.data.into()
}

#[tokio::test]
async fn p_14_each_tool_has_its_own_name_for_its_payload() {
    let project = Project::new(&[("src/a.rs", "one\ntwo\n"), ("src/b.rs", "two\n")]);
    assert_eq!(
        data(&project, "LS", json!({"path": "src"})).await,
        json!({"entries": [{"path": "src/a.rs", "type": "file"}, {"path": "src/b.rs", "type": "file"}]})
    );
    assert_eq!(data(&project, "LS", json!({})).await, json!({"entries": [{"path": "src/", "type": "dir"}]}));
    assert_eq!(data(&project, "Glob", json!({"pattern": "*.rs"})).await, json!({"paths": ["src/a.rs", "src/b.rs"]}));
    assert_eq!(data(&project, "Read", json!({"file_path": "src/a.rs"})).await, json!({"content": "1\tone\n2\ttwo"}));
    let todos = json!([{"content": "look", "status": "in_progress"}]);
    assert_eq!(data(&project, "TodoWrite", json!({"todos": todos})).await, json!({"todos": todos}));
}

#[tokio::test]
async fn p_14_matches_have_file_line_and_text_in_every_mode() {
    let project = Project::new(&[("a.rs", "zero\none x\ntwo\nthree x\n"), ("b.rs", "x\n")]);
    let found = |arguments: Value| async { data(&project, "Grep", arguments).await["matches"].clone() };
    let first = json!({"file": "a.rs", "line": 2, "text": "one x"});
    let (second, other) =
        (json!({"file": "a.rs", "line": 4, "text": "three x"}), json!({"file": "b.rs", "line": 1, "text": "x"}));
    let content = json!([first, second, other]);
    assert_eq!(found(json!({"pattern": "x", "output_mode": "content"})).await, content);
    assert_eq!(found(json!({"pattern": "x", "output_mode": "content", "-n": false})).await, content, "always numbered");
    assert_eq!(found(json!({"pattern": "x"})).await, json!([first, other]), "the first match of each file");
    let mut counted = first.clone();
    counted["count"] = json!(2);
    assert_eq!(found(json!({"pattern": "x", "path": "a.rs", "output_mode": "count"})).await, json!([counted]));
    let around = found(json!({"pattern": "three", "-B": 1})).await;
    assert_eq!(around, json!([{"file": "a.rs", "line": 4, "text": "three x", "before": ["two"]}]));
    assert_eq!(found(json!({"pattern": "nowhere"})).await, json!([]));
}

#[tokio::test]
async fn the_text_with_an_object_is_the_same_as_without() {
    let project = Project::new(&[("a.rs", "one x\n"), ("src/b.rs", "two\n")]);
    for (tool, arguments) in [
        ("LS", json!({})),
        ("Glob", json!({"pattern": "*.rs"})),
        ("Grep", json!({"pattern": "x"})),
        ("Grep", json!({"pattern": "o", "output_mode": "content"})),
        ("Read", json!({"file_path": "a.rs"})),
        ("TodoWrite", json!({"todos": []})),
        ("Read", json!({"file_path": "nowhere"})),
    ] {
        let (text, object) = (project.run(tool, arguments.clone()).await, project.structured(tool, arguments).await);
        assert_eq!(text.payload, None, "{tool}: nobody asked for it");
        assert_eq!(ToolOutput { payload: None, ..object }, text, "{tool}");
    }
}

#[tokio::test]
async fn p_11_a_read_is_a_page_and_only_what_was_not_asked_for_is_missing() {
    let project = Project::new(&[("long", &"line\n".repeat(3000)), ("short", "line\n")]);
    let read = |arguments: Value| payload(&project, "Read", arguments);
    for (arguments, lines, is_partial) in [
        (json!({"file_path": "long", "limit": 3000}), 3000, false),
        (json!({"file_path": "long", "offset": 11, "limit": 20}), 20, false),
        (json!({"file_path": "long"}), 2000, true),
        (json!({"file_path": "short"}), 1, false),
    ] {
        let page = read(arguments.clone()).await;
        assert!(page.is_page, "{arguments}");
        assert_eq!(page.is_partial, is_partial, "{arguments}");
        assert_eq!(page.data["content"].as_str().unwrap().lines().count(), lines, "{arguments}");
    }
    let cut = read(json!({"file_path": "long"})).await;
    assert_eq!(cut.notes, ["lines 1-2000 of 3000; continue with offset 2001"]);
}

#[tokio::test]
async fn p_09_a_list_that_was_cut_says_so_and_stays_small() {
    let name = "n".repeat(200);
    let files: Vec<(String, String)> = (0..400).map(|at| (format!("{name}{at}"), format!("{at} \"x\"\n"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
    let project = Project::new(&files);
    for (tool, arguments) in [
        ("LS", json!({})),
        ("Glob", json!({"pattern": "*"})),
        ("Grep", json!({"pattern": "x", "head_limit": 0})),
        ("Grep", json!({"pattern": "x", "head_limit": 0, "output_mode": "content"})),
    ] {
        let cut = payload(&project, tool, arguments).await;
        assert!(cut.is_partial && !cut.notes.is_empty(), "{tool}");
        let size = Value::from(cut.data).to_string().len();
        assert!((40_000..51_200).contains(&size), "{tool}: {size}");
    }
}

#[tokio::test]
async fn p_07_the_resolved_path_is_relative_to_the_root() {
    let project = Project::new(&[("src/a.rs", "x\n")]);
    project.link("src", "link");
    for (tool, arguments, path) in [
        ("LS", json!({}), "."),
        ("LS", json!({"path": "link/../src"}), "src"),
        ("Read", json!({"file_path": "link/a.rs"}), "src/a.rs"),
        ("Grep", json!({"pattern": "x", "path": project.path("src")}), "src"),
        ("Glob", json!({"pattern": "*.rs", "path": "link"}), "src"),
    ] {
        assert_eq!(payload(&project, tool, arguments.clone()).await.path.as_deref(), Some(path), "{tool} {arguments}");
    }
}

#[tokio::test]
async fn p_15_every_failure_names_its_kind() {
    let project = Project::new(&[("src/a.rs", "x\n"), ("bytes", "a\0b")]);
    std::fs::write(project.outside("secret"), "s").unwrap();
    project.link(project.outside("secret"), "escape");
    let outside = project.outside("secret").display().to_string();
    let paths = [
        ("../secret", Fault::NoAccess),
        ("escape", Fault::NoAccess),
        (outside.as_str(), Fault::NoAccess),
        ("nowhere", Fault::NotFound),
        ("src/a.rs/below", Fault::NotFound),
        ("nul\0", Fault::Arguments),
    ];
    for (path, fault) in paths {
        for (tool, arguments) in [
            ("Read", json!({"file_path": path})),
            ("LS", json!({"path": path})),
            ("Glob", json!({"pattern": "*", "path": path})),
            ("Grep", json!({"pattern": "x", "path": path})),
        ] {
            let output = project.structured(tool, arguments).await;
            assert_eq!((output.failed, output.fault), (true, Some(fault)), "{tool} {path:?}: {}", output.for_model);
        }
    }
    for (tool, arguments, fault) in [
        ("Read", json!({"file_path": "src"}), Fault::IsDirectory),
        ("Read", json!({"file_path": "bytes"}), Fault::Binary),
        ("Grep", json!({"pattern": "a", "path": "bytes"}), Fault::Binary),
        ("Read", json!({}), Fault::Arguments),
        ("Read", json!({"file_path": "src/a.rs", "offset": 7}), Fault::Arguments),
        ("LS", json!({"path": "src/a.rs"}), Fault::Arguments),
        ("LS", json!({"ignore": ["["]}), Fault::Arguments),
        ("Glob", json!({"pattern": ""}), Fault::Arguments),
        ("Glob", json!({"pattern": "[", "path": "src"}), Fault::Arguments),
        ("Glob", json!({"pattern": "*", "path": "src/a.rs"}), Fault::Arguments),
        ("Grep", json!({"pattern": "("}), Fault::Arguments),
        ("TodoWrite", json!({"todos": [{"content": "", "status": "pending"}]}), Fault::Arguments),
    ] {
        let output = project.structured(tool, arguments.clone()).await;
        assert_eq!((output.failed, output.fault), (true, Some(fault)), "{tool} {arguments}: {}", output.for_model);
    }
}
