use expect_test::expect;
use serde_json::json;

use crate::project::Project;

#[tokio::test]
async fn one_level_is_listed_with_marks_for_entries_that_are_not_files() {
    let project = Project::new(&[("src/main.rs", ""), ("Cargo.toml", ""), (".env", ""), ("b/c/d", "")]);
    project.link("src", "link");
    project.fifo("pipe");
    let output = project.run("LS", json!({})).await;
    expect![[r"
        .env
        Cargo.toml
        b/
        link@
        pipe (named pipe)
        src/"]]
    .assert_eq(&output.for_model);
    assert_eq!(output.for_people, ".: 6 entries");
    assert_eq!(project.done("LS", json!({"path": "link"})).await, "main.rs");
    assert_eq!(project.done("LS", json!({"path": project.path("b")})).await, "c/");
}

#[tokio::test]
async fn hidden_entries_are_counted() {
    let project = Project::new(&[
        (".gitignore", "*.log\ntarget/\n"),
        ("a.log", ""),
        ("target/x", ""),
        ("a.rs", ""),
        ("b.md", ""),
    ]);
    expect![[r"
        .gitignore
        a.rs
        [2 entries hidden by ignore files; 1 entry left out as asked]"]]
    .assert_eq(&project.done("LS", json!({"ignore": ["*.md"]})).await);
    assert_eq!(project.done("LS", json!({"path": "target"})).await, "x");
    assert_eq!(
        project.done("LS", json!({"path": ".", "ignore": "*"})).await,
        "[nothing else here; 2 entries hidden by ignore files; 3 entries left out as asked]"
    );
}

#[tokio::test]
async fn empty_missing_and_false_directories_are_distinguished() {
    let project = Project::new(&[("a/b", "")]);
    std::fs::create_dir(project.path("empty")).unwrap();
    assert_eq!(project.done("LS", json!({"path": "empty"})).await, "[empty directory]");
    assert!(project.failed("LS", json!({"path": "nope"})).await.contains("does not exist"));
    assert_eq!(project.failed("LS", json!({"path": "a/b"})).await, "`a/b` is a file, not a directory; use Read");
    assert!(project.failed("LS", json!({"path": "a/b/c"})).await.contains("is not a directory"));
    assert!(project.failed("LS", json!({"ignore": ["["]})).await.contains("nothing was listed"));
}

#[tokio::test]
async fn a_directory_of_twenty_thousand_is_cut_at_a_thousand_and_says_so() {
    let project = Project::new(&[]);
    for n in 0..20_000 {
        std::fs::File::create(project.path(&format!("f{n:05}"))).unwrap();
    }
    let text = project.done("LS", json!({})).await;
    assert!(text.starts_with("f00000\nf00001\n"));
    assert!(text.ends_with("f00999\n[1000 of 20000 entries shown; use Glob to find more]"), "{text}");
}
