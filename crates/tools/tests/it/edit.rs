use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use sortie_protocol::{Fault, Resource};

use crate::project::Project;

const MAIN: &str = "fn main() {\n    let name = \"a\";\n    print(name);\n}\n\nfn other() {\n    print(2);\n}\n";

/// A project with a file that has been read.
async fn read(path: &str, content: &str) -> Project {
    let project = Project::new(&[(path, content)]);
    project.done("Read", json!({"file_path": path})).await;
    project
}

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"file_path": path, "old_string": old, "new_string": new})
}

#[tokio::test]
async fn an_edit_replaces_the_one_place_and_shows_the_result() {
    let project = read("src/main.rs", MAIN).await;
    let output = project.run("Edit", edit("src/main.rs", "print(2);", "print(2);\n    print(3);")).await;
    assert!(!output.failed);
    assert_eq!(project.text("src/main.rs"), MAIN.replace("print(2);", "print(2);\n    print(3);"));
    expect![[r#"
        Edited src/main.rs (1 replacement)
        6	fn other() {
        7	    print(2);
        8	    print(3);
        9	}"#]]
    .assert_eq(&output.for_model);
    assert_eq!(output.for_people, "src/main.rs: +1 -0");
    assert_eq!(output.files_changed, ["src/main.rs"]);
    expect![[r#"
        --- a/src/main.rs
        +++ b/src/main.rs
        @@ -5,4 +5,5 @@
         
         fn other() {
             print(2);
        +    print(3);
         }
    "#]]
    .assert_eq(&output.diff.unwrap());
}

#[tokio::test]
async fn replace_all_replaces_every_place_and_shows_some() {
    let line = |n| if n % 8 == 0 { "old\n".to_owned() } else { format!("{n}\n") };
    let text = (1..=40).map(line).collect::<Vec<_>>().concat();
    let project = read("a.txt", &text).await;
    let all = json!({"file_path": "a.txt", "old_string": "old", "new_string": "new", "replace_all": "true"});
    let shown = project.done("Edit", all).await;
    assert_eq!(project.text("a.txt"), text.replace("old", "new"));
    expect![[r#"
        Edited a.txt (5 replacements)
        6	6
        7	7
        8	new
        9	9
        10	10
        …
        14	14
        15	15
        16	new
        17	17
        18	18
        …
        22	22
        23	23
        24	new
        25	25
        26	26
        [2 more changed places are not shown]"#]]
    .assert_eq(&shown);
}

#[tokio::test]
async fn a_long_insertion_is_shown_from_both_its_ends() {
    let project = read("a.txt", "one\ntwo\n").await;
    let long = (1..=100).map(|n| format!("line {n}\n")).collect::<Vec<_>>().concat();
    let shown = project.done("Edit", edit("a.txt", "two\n", &long)).await;
    expect![[r#"
        Edited a.txt (1 replacement)
        1	one
        2	line 1
        3	line 2
        4	line 3
        5	line 4
        6	line 5
        7	line 6
        …
        95	line 94
        96	line 95
        97	line 96
        98	line 97
        99	line 98
        100	line 99
        101	line 100"#]]
    .assert_eq(&shown);
}

async fn check_refused(old: &str, new: &str, expected: Expect) {
    let project = read("main.rs", MAIN).await;
    let output = project.run("Edit", edit("main.rs", old, new)).await;
    assert_eq!((output.failed, output.fault), (true, Some(Fault::Arguments)));
    assert_eq!((output.files_changed, output.diff), (Vec::new(), None));
    assert_eq!(project.text("main.rs"), MAIN);
    expected.assert_eq(&output.for_model);
}

#[tokio::test]
async fn a_text_that_does_not_match_changes_nothing_and_gets_a_hint() {
    check_refused(
        "print(",
        "echo(",
        expect!["`main.rs` was not changed: old_string is in the file 2 times, at lines 3, 7; add text around it until only one place fits, or set replace_all."],
    )
    .await;
    check_refused("name", "name", expect!["`main.rs` was not changed: old_string and new_string are the same."]).await;
    check_refused(
        "",
        "x",
        expect!["`main.rs` was not changed: old_string is empty, but the file is not; to replace all of it use Write."],
    )
    .await;
    check_refused(
        "3\t    print(name);\n4\t}",
        "x",
        expect!["`main.rs` was not changed: old_string is not in the file. Leave out the line numbers that Read adds; without them it is at line 3."],
    )
    .await;
    check_refused(
        "fn other() {\n\tprint(2);",
        "x",
        expect![[r#"
            `main.rs` was not changed: old_string is not in the file. Only its whitespace differs from this, which has to be copied exactly:
            6	fn other() {
            7	    print(2);"#]],
    )
    .await;
    check_refused(
        "fn another() {",
        "x",
        expect![[r#"
            `main.rs` was not changed: old_string is not in the file. Copy it exactly as Read shows it, without the line numbers. Nearest to it:
            6	fn other() {"#]],
    )
    .await;
}

#[tokio::test]
async fn an_empty_old_string_creates_a_missing_file_and_fills_an_empty_one() {
    let project = read("empty", "").await;
    let output = project.run("Edit", edit("new/dir/a.txt", "", "one\ntwo\n")).await;
    assert_eq!(output.for_model, "Created new/dir/a.txt (2 lines)");
    assert_eq!(output.for_people, "new/dir/a.txt: new, 2 lines");
    assert_eq!(output.files_changed, ["new/dir/a.txt"]);
    assert_eq!(output.diff.unwrap(), "--- /dev/null\n+++ b/new/dir/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n");
    assert_eq!(project.text("new/dir/a.txt"), "one\ntwo\n");
    project.done("Edit", edit("new/dir/a.txt", "one", "1")).await;
    assert_eq!(project.text("new/dir/a.txt"), "1\ntwo\n", "a task need not read its own file");
    project.done("Edit", edit("empty", "", "full")).await;
    assert_eq!(project.text("empty"), "full");
}

#[tokio::test]
async fn a_missing_file_is_not_edited() {
    let project = Project::new(&[("src/main.rs", MAIN)]);
    let output = project.run("Edit", edit("src/mian.rs", "a", "b")).await;
    assert_eq!(output.fault, Some(Fault::NotFound));
    expect!["`src/mian.rs` does not exist; the nearest existing directory is `src`; did you mean `src/main.rs`?"]
        .assert_eq(&output.for_model);
    assert!(!project.path("src/mian.rs").exists());
}

#[tokio::test]
async fn a_file_that_is_not_editable_text_is_refused_with_the_reason() {
    let project = Project::new(&[]);
    project.write("latin", b"caf\xe9\n");
    project.write("binary", b"a\0b");
    project.write("large", "x\n".repeat(6 * 1024 * 1024));
    project.link("latin", "link");
    for (path, expected) in [
        ("latin", "`latin` was not changed: it is not UTF-8 (byte 3, in line 1), and what is not UTF-8 would be lost"),
        ("link", "`link` was not changed: it is not UTF-8 (byte 3, in line 1), and what is not UTF-8 would be lost"),
        ("binary", "`binary` was not changed: it is binary (a NUL at byte 1)"),
        ("large", "`large` has 12582912 bytes, more than the 10485760 that can be read at once"),
        (".", "`.` is a directory, not a file; use LS to list it"),
    ] {
        project.run("Read", json!({"file_path": path})).await;
        assert_eq!(project.failed("Edit", edit(path, "a", "b")).await, expected);
        if path != "." {
            assert_eq!(project.failed("Write", json!({"file_path": path, "content": "new"})).await, expected);
        }
    }
    assert_eq!(project.content("latin"), b"caf\xe9\n");
    assert_eq!(project.content("binary"), b"a\0b");
}

#[tokio::test]
async fn s07_the_other_name_of_a_hard_link_keeps_its_content() {
    let project = read("allowed.txt", "secret\n").await;
    fs::hard_link(project.path("allowed.txt"), project.path("denied.txt")).unwrap();
    project.done("Edit", edit("allowed.txt", "secret", "changed")).await;
    assert_eq!(project.text("allowed.txt"), "changed\n");
    assert_eq!(project.text("denied.txt"), "secret\n");
}

#[tokio::test]
async fn an_edit_keeps_the_mode_and_follows_a_link_to_its_file() {
    let project = read("run.sh", "echo 1\n").await;
    fs::set_permissions(project.path("run.sh"), fs::Permissions::from_mode(0o750)).unwrap();
    project.link("run.sh", "link");
    let output = project.run("Edit", edit("link", "1", "2")).await;
    assert_eq!(output.files_changed, ["run.sh"], "{}", output.for_model);
    assert_eq!(project.text("run.sh"), "echo 2\n");
    assert_eq!(fs::metadata(project.path("run.sh")).unwrap().mode() & 0o777, 0o750);
    assert!(project.path("link").is_symlink());
}

#[tokio::test]
async fn nothing_outside_the_workspace_is_edited_or_created() {
    let project = Project::new(&[]);
    fs::write(project.outside("secret"), "secret\n").unwrap();
    fs::create_dir(project.outside("dir")).unwrap();
    project.link(project.outside("secret"), "link");
    project.link(project.outside("dir"), "escape");
    for path in ["../secret", "link", "escape/new/a", "../new"] {
        for arguments in [edit(path, "secret", "x"), edit(path, "", "x")] {
            let output = project.run("Edit", arguments).await;
            assert_eq!(output.fault, Some(Fault::NoAccess), "{path}: {}", output.for_model);
        }
        let output = project.run("Write", json!({"file_path": path, "content": "x"})).await;
        assert_eq!(output.fault, Some(Fault::NoAccess), "{path}: {}", output.for_model);
    }
    assert_eq!(fs::read(project.outside("secret")).unwrap(), b"secret\n");
    assert_eq!(fs::read_dir(project.outside("dir")).unwrap().count(), 0);
    assert!(!project.outside("new").exists());
}

#[tokio::test]
async fn unknown_arguments_are_named_and_missing_ones_refused() {
    let project = read("a.txt", "one\n").await;
    let mut arguments = edit("a.txt", "one", "two");
    arguments["explanation"] = json!("because");
    let text = project.done("Edit", arguments).await;
    assert!(text.ends_with("\n[unknown arguments ignored: explanation]"), "{text}");
    let text = project.failed("Edit", json!({"file_path": "a.txt", "old_string": "two"})).await;
    assert!(text.starts_with("Edit was not run: its arguments do not fit (missing field `new_string`"), "{text}");
}

#[tokio::test]
async fn a_person_sees_the_diff_and_nothing_happens_before_the_answer() {
    let project = read("a.txt", "one\n").await;
    let expected = "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-one\n+two\n";
    assert_eq!(project.preview("Edit", edit("a.txt", "one", "two")).await.unwrap(), expected);
    assert_eq!(project.text("a.txt"), "one\n");
    assert_eq!(project.preview("Edit", edit("a.txt", "three", "two")).await, None, "it could not be made");
    let same = std::fs::read_to_string(project.path("a.txt")).unwrap();
    let same = project.preview("Write", json!({"file_path": "a.txt", "content": same})).await.unwrap();
    assert_eq!(same, "a.txt would stay unchanged\n");
    let new = project.preview("Write", json!({"file_path": "b", "content": "x\n"})).await.unwrap();
    assert_eq!(new, "--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+x\n");
    assert!(!project.path("b").exists());
}

#[tokio::test]
async fn a_cancelled_call_changes_nothing() {
    let project = read("a.txt", "one\n").await;
    project.cancel.cancel();
    assert_eq!(project.failed("Edit", edit("a.txt", "one", "two")).await, "cancelled before it finished");
    assert_eq!(project.text("a.txt"), "one\n");
}

#[tokio::test]
async fn the_object_of_an_edit_says_what_was_applied() {
    let project = read("a.txt", "one\ntwo\n").await;
    let output = project.structured("Edit", edit("a.txt", "one", "1\n1.5")).await;
    let payload = output.payload.unwrap();
    assert_eq!(payload.path.as_deref(), Some("a.txt"));
    assert_eq!(
        Value::from(payload.data),
        json!({"applied": {"created": false, "replacements": 1, "lines_added": 2, "lines_removed": 1}})
    );
}

#[test]
fn a_grant_decides_on_the_resolved_path() {
    let project = Project::new(&[("src/a.txt", "one\n")]);
    project.link("src", "link");
    for (path, place) in [
        ("src/a.txt", Resource::Path("src/a.txt".into())),
        ("link/../src/./a.txt", Resource::Path("src/a.txt".into())),
        ("link/new/b.txt", Resource::Path("src/new/b.txt".into())),
        ("../outside", Resource::Nothing),
    ] {
        let edits = json!([{"old_string": "a", "new_string": "b"}]);
        assert_eq!(project.resource("Edit", &edit(path, "a", "b")), place, "{path}");
        assert_eq!(project.resource("Write", &json!({"file_path": path, "content": ""})), place, "{path}");
        assert_eq!(project.resource("MultiEdit", &json!({"file_path": path, "edits": edits})), place, "{path}");
    }
}
