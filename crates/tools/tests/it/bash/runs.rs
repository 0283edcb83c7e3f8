//! Output of a command, and the text about it.

use std::fs;

use expect_test::expect;
use serde_json::json;
use sortie_protocol::{Fault, Resource};

use super::shell::{KEY, command, project, spill, task};
use crate::project::Project;

#[tokio::test]
async fn output_and_errors_are_returned_in_order() {
    let project = project(&[]);
    let text = project.done("Bash", command("echo one; echo two >&2; echo three")).await;
    assert_eq!(text, "one\ntwo\nthree");
}

#[tokio::test]
async fn the_way_a_command_ended_is_reported() {
    let project = project(&[]);
    for (line, expected) in [
        ("echo said; exit 3", "said\n[Exit code 3]"),
        ("printf said; false", "said\n[Exit code 1]"),
        ("kill -TERM $$", "[ended by signal 15 (TERM)]"),
        ("kill -USR1 $$", "[ended by signal 10]"),
        ("no-such-program 2>/dev/null", "[Exit code 127]"),
    ] {
        assert_eq!(project.failed("Bash", command(line)).await, expected, "{line}");
    }
    assert_eq!(project.done("Bash", command("true")).await, "[no output]");
}

#[tokio::test]
async fn people_get_one_line() {
    let project = project(&[]);
    for (line, expected) in
        [("echo a; echo b", "2 lines"), ("true", "no output"), ("echo a; exit 2", "Exit code 2, 1 line")]
    {
        assert_eq!(project.run("Bash", command(line)).await.for_people, expected);
    }
}

#[tokio::test]
async fn each_call_is_a_fresh_shell_without_input() {
    let project = project(&[("sub/file", "")]);
    project.done("Bash", command("cd sub; export NAME=value; alias x=y; umask 0777")).await;
    let root = fs::canonicalize(project.path("")).unwrap();
    let text = project.done("Bash", command("pwd; echo \"[$NAME]\"; umask; cat; echo read")).await;
    assert_eq!(text, format!("{}\n[]\n0022\nread", root.display()));
}

#[tokio::test]
async fn a_command_runs_in_the_directory_that_it_names() {
    let project = project(&[("sub/dir/file", "")]);
    project.link("sub", "link");
    for cwd in ["sub/dir", "link/dir", "./sub/../sub/dir/"] {
        assert_eq!(project.done("Bash", json!({"command": "ls", "cwd": cwd})).await, "file", "{cwd}");
        let resource = project.resource("Bash", &json!({"command": "ls", "cwd": cwd}));
        assert_eq!(resource, Resource::Command { line: "ls".to_owned(), directory: "sub/dir".into() }, "{cwd}");
    }
    let root = Resource::Command { line: "ls".to_owned(), directory: "".into() };
    assert_eq!(project.resource("Bash", &command("ls")), root);
    assert_eq!(project.resource("Bash", &json!({"command": "ls", "cwd": "../.."})), root, "it is judged all the same");
}

#[tokio::test]
async fn a_directory_that_cannot_be_used_is_refused_and_nothing_runs() {
    let project = project(&[("file", "")]);
    project.link("/", "out");
    for (cwd, fault) in [
        ("..", Fault::NoAccess),
        ("/", Fault::NoAccess),
        ("out/tmp", Fault::NoAccess),
        ("absent", Fault::NotFound),
        ("file", Fault::Arguments),
    ] {
        let output = project.run("Bash", json!({"command": "touch made", "cwd": cwd})).await;
        assert!(output.failed, "{cwd}");
        assert_eq!(output.fault, Some(fault), "{cwd}: {}", output.for_model);
    }
    assert!(!project.path("made").exists());
}

#[tokio::test]
async fn invalid_arguments_are_reported() {
    let project = project(&[]);
    assert_eq!(project.failed("Bash", command("  \n")).await, "the command is empty");
    let text = project.failed("Bash", command(&"x".repeat(100_001))).await;
    assert!(text.contains("100,001 bytes") && text.contains("write a script"), "{text}");
    let text = project.failed("Bash", command("echo \0")).await;
    assert!(text.contains("was not run") && text.contains("NUL"), "{text}");
    let text = project.done("Bash", json!({"command": "true", "timeout": 700_000, "sandbox": false})).await;
    assert_eq!(text, "[unknown arguments ignored: sandbox; the timeout was cut to 600000 ms; no output]");
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_ended_and_its_output_returned() {
    let project = project(&[]);
    let output = project.run("Bash", json!({"command": "echo begun; exec sleep 600", "timeout": "3000"})).await;
    assert_eq!(output.for_model, "begun\n[timed out after 3 s and was ended]");
    assert!(output.failed);
    assert_eq!(output.fault, Some(Fault::TimedOut));
}

#[tokio::test]
async fn a_long_output_returns_both_ends_and_keeps_the_whole() {
    let project = project(&[]);
    let text = project.done("Bash", command("seq -f '%08.0f' 100000")).await;
    assert!(text.starts_with("00000001\n") && text.len() < 31_000, "{}", text.len());
    assert!(text.contains("\n[870,003 bytes left out here]\n"), "{}", &text[9_900..10_100]);
    let (body, notes) = text.rsplit_once('\n').unwrap();
    assert!(body.ends_with("\n00100000"), "{notes}");
    let path = notes.strip_prefix("[all of it, for people: ").unwrap().strip_suffix(']').unwrap();
    assert!(path.starts_with(&format!("{}/{}-output-", spill(&project).display(), task())), "{path}");
    let kept = fs::read_to_string(path).unwrap();
    assert_eq!((kept.len(), kept.lines().last()), (900_000, Some("00100000")));
}

#[tokio::test]
async fn the_file_of_a_long_output_contains_no_key() {
    let project = project(&[]);
    let text =
        project.done("Bash", command(&format!("seq 20000; echo 'key = {KEY}'; printf '\\377'; seq 20000"))).await;
    let path = text.rsplit_once("for people: ").unwrap().1.strip_suffix("]").unwrap();
    let kept = fs::read_to_string(path.split(';').next().unwrap()).unwrap();
    assert!(kept.contains("20000\nkey = [redacted: known secret]\n\u{fffd}1\n2\n") && kept.ends_with("\n20000\n"));
    assert_eq!(fs::read_dir(spill(&project)).unwrap().count(), 1, "no other version is left");
}

#[tokio::test]
async fn an_output_beyond_the_bound_keeps_no_half_word() {
    let project = project(&[]);
    let line = format!("yes | head -c {}; echo 'key = {KEY}'; seq 20000", (16 << 20) - 20);
    let text = project.done("Bash", command(&line)).await;
    let (first, path) = text.rsplit_once(" bytes of it, for people: ").unwrap();
    assert!(first.ends_with("[the first 16,777,202"), "{}", &first[first.len() - 100..]);
    let kept = fs::read_to_string(path.strip_suffix("]").unwrap()).unwrap();
    assert!(kept.ends_with("y\nkey = "), "{}", &kept[kept.len() - 50..]);
}

#[tokio::test]
async fn output_beyond_every_bound_is_counted() {
    let project = project(&[]);
    let text = project.done("Bash", command("yes | head -c 20000000")).await;
    assert!(text.contains("[the first 16,777,216 bytes of it, for people: "), "{}", &text[text.len() - 300..]);
}

#[tokio::test]
async fn invalid_output_is_shown_as_marks_and_escapes_stay() {
    let project = project(&[]);
    let text = project.done("Bash", command(r"printf 'a\377b\033[31mc\n'")).await;
    assert_eq!(text, "a\u{fffd}b\u{1b}[31mc\n[bytes that are not UTF-8 are shown as \u{fffd}]");
}

#[tokio::test]
async fn an_object_holds_the_output() {
    let project = project(&[("old", "")]);
    let output = project.structured("Bash", command("echo said; touch new; exit 4")).await;
    let payload = output.payload.unwrap();
    expect![[r#"{"output":"said\n","exit_code":4,"timed_out":false,"files_changed":["new"]}"#]]
        .assert_eq(&serde_json::to_string(&payload.data).unwrap());
    assert_eq!(payload.notes, ["Exit code 4", "changed: new"]);
    assert!(!payload.is_partial);
    let payload = project.structured("Bash", command("seq 100000")).await.payload.unwrap();
    assert!(payload.is_partial && payload.data["full_output_path"].is_string());
}

#[tokio::test]
async fn without_a_shell_nothing_runs() {
    let project = Project::new(&[]);
    for (tool, arguments) in [
        ("Bash", command("touch made")),
        ("BashOutput", json!({"bash_id": "bash_1"})),
        ("KillShell", json!({"shell_id": "bash_1"})),
    ] {
        let output = project.run(tool, arguments).await;
        assert!(output.failed && output.for_model.ends_with("there is no shell here"), "{}", output.for_model);
        assert_eq!(output.fault, Some(Fault::NotAllowed));
    }
    assert!(!project.path("made").exists());
}
