use expect_test::expect;
use serde_json::json;

use crate::project::Project;

fn tree() -> Project {
    Project::new(&[
        ("src/main.rs", ""),
        ("src/deep/er/mod.rs", ""),
        ("src-old/a.rs", ""),
        ("lib.rs", ""),
        ("README.md", ""),
        (".github/ci.yml", ""),
        (".git/config.rs", ""),
    ])
}

#[tokio::test]
async fn files_are_found_by_pattern_in_path_order() {
    let project = tree();
    let output = project.run("Glob", json!({"pattern": "**/*.rs"})).await;
    expect![[r"
        lib.rs
        src/deep/er/mod.rs
        src/main.rs
        src-old/a.rs"]]
    .assert_eq(&output.for_model);
    assert_eq!(output.for_people, "4 files");
    assert_eq!(project.done("Glob", json!({"pattern": "*.rs"})).await, output.for_model);
    assert_eq!(project.done("Glob", json!({"pattern": "./*.rs"})).await, "lib.rs");
    assert_eq!(project.done("Glob", json!({"pattern": "**/*.{yml,md}"})).await, ".github/ci.yml\nREADME.md");
}

#[tokio::test]
async fn the_starting_directory_can_be_a_path_or_part_of_the_pattern() {
    let project = tree();
    let deep = "src/deep/er/mod.rs";
    for arguments in [
        json!({"pattern": "src/deep/**/*.rs"}),
        json!({"pattern": "**/mod.rs", "path": "src/deep"}),
        json!({"pattern": "er/*.rs", "path": project.path("src/deep")}),
        json!({"pattern": project.path("src/deep/**")}),
        json!({"pattern": "src/deep/er/mod.rs"}),
        json!({"pattern": "mod.rs"}),
        json!({"pattern": "../project/src/deep/"}),
    ] {
        assert_eq!(project.done("Glob", arguments.clone()).await, deep, "{arguments}");
    }
}

#[tokio::test]
async fn ignore_files_apply_everywhere_below_them_and_the_nearest_decides() {
    let project = Project::new(&[
        (".gitignore", "*.log\n/build\nsecret/\n"),
        ("a.log", ""),
        ("build/out.txt", ""),
        ("sub/build/out.txt", ""),
        ("sub/b.log", ""),
        ("sub/.ignore", "!b.log\n*.tmp\n"),
        ("sub/c.tmp", ""),
        ("sub/deep/d.log", ""),
        ("sub/secret/key.txt", ""),
    ]);
    expect![[r"
        .gitignore
        sub/.ignore
        sub/b.log
        sub/build/out.txt
        [5 entries hidden by ignore files]"]]
    .assert_eq(&project.done("Glob", json!({"pattern": "**"})).await);
    let below = project.done("Glob", json!({"pattern": "*.log", "path": "sub/deep"})).await;
    assert_eq!(below, "[no file matches *.log (0 files looked at); 1 entry hidden by ignore files]");
}

#[tokio::test]
async fn git_is_mentioned_if_a_pattern_wants_it_and_entered_if_the_path_names_it() {
    let project = tree();
    assert_eq!(
        project.done("Glob", json!({"pattern": "**/.git/config.rs"})).await,
        "[no file matches **/.git/config.rs (6 files looked at); `.git` is searched only if path names it]"
    );
    assert_eq!(project.done("Glob", json!({"pattern": ".git/*"})).await, ".git/config.rs");
    assert_eq!(project.done("Glob", json!({"pattern": "*.rs", "path": ".git"})).await, ".git/config.rs");
    project.write(".git/x.rs", "needle");
    assert_eq!(
        project.done("Grep", json!({"pattern": "needle", "glob": "*.rs,.git/**"})).await,
        "[no match in 4 files; `.git` is searched only if path names it]"
    );
    assert_eq!(project.done("Grep", json!({"pattern": "needle", "path": ".git"})).await, ".git/x.rs");
}

#[tokio::test]
async fn a_pattern_that_names_a_directory_gets_a_hint_to_list_it() {
    let project = tree();
    for (arguments, expected) in [
        (json!({"pattern": "src"}), "[`src` is a directory; use LS or src/**]"),
        (json!({"pattern": "src/deep"}), "[`src/deep` is a directory; use LS or src/deep/**]"),
        (json!({"pattern": "deep", "path": "src"}), "[`src/deep` is a directory; use LS or src/deep/**]"),
        (json!({"pattern": "absent"}), "[no file matches absent (6 files looked at)]"),
    ] {
        assert_eq!(project.done("Glob", arguments.clone()).await, expected, "{arguments}");
    }
}

#[tokio::test]
async fn an_ignored_directory_that_is_named_is_searched() {
    let project = Project::new(&[
        (".gitignore", "target\n"),
        ("target/debug/a.rs", ""),
        ("target/.ignore", "*.o"),
        ("target/b.o", ""),
    ]);
    assert_eq!(
        project.done("Glob", json!({"pattern": "**/*.rs", "path": "target"})).await,
        "target/debug/a.rs\n[1 entry hidden by ignore files]"
    );
    assert_eq!(project.done("Glob", json!({"pattern": "target/debug/*"})).await, "target/debug/a.rs");
    assert!(project.done("Glob", json!({"pattern": "*.o", "path": "target"})).await.contains("no file matches"));
}

#[tokio::test]
async fn links_and_special_files_are_left_out_with_a_note() {
    let project = Project::new(&[("a/x.rs", "")]);
    project.link("a", "b");
    project.link(".", "a/loop");
    project.fifo("pipe.rs");
    expect![[r"
        a/x.rs
        [2 symbolic links not followed; 1 special file skipped]"]]
    .assert_eq(&project.done("Glob", json!({"pattern": "**/*.rs"})).await);
}

#[tokio::test]
async fn a_long_answer_is_cut_by_path_and_says_so() {
    let project = Project::new(&[]);
    for n in 0..3000 {
        project.write(&format!("d{}/f{n:04}.txt", n % 7), "");
    }
    let text = project.done("Glob", json!({"pattern": "**/*.txt"})).await;
    assert!(text.starts_with("d0/f0000.txt\nd0/f0007.txt\n"));
    assert!(text.ends_with("[1000 of 3000 files shown; narrow the pattern]"), "{text}");
    assert_eq!(text, project.done("Glob", json!({"pattern": "**/*.txt"})).await);
}

#[tokio::test]
async fn bad_patterns_and_places_are_refused_with_the_reason() {
    let project = tree();
    assert!(project.failed("Glob", json!({"pattern": ""})).await.contains("the pattern is empty"));
    assert!(project.failed("Glob", json!({"pattern": "["})).await.contains("nothing was searched"));
    assert!(project.failed("Glob", json!({"pattern": "*".repeat(2000)})).await.contains("at most 1000"));
    assert!(project.failed("Glob", json!({"pattern": "*", "path": "lib.rs"})).await.contains("is not a directory"));
    assert!(project.failed("Glob", json!({"pattern": "nope/**/*.rs"})).await.contains("`nope` does not exist"));
    assert!(project.failed("Glob", json!({"pattern": "/etc/*"})).await.contains("outside the workspace"));
}
