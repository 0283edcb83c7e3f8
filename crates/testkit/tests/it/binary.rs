//! The server as a program.

use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use sortie_testkit::{Script, workspace};

/// A running program, killed with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

fn program() -> Command {
    Command::new(env!("CARGO_BIN_EXE_scripted-server"))
}

fn run(arguments: &[&str]) -> Output {
    program().args(arguments).output().unwrap()
}

#[test]
fn the_program_prints_its_url_answers_by_its_script_and_logs_requests() {
    let script = r#"{"rules": [{"reply": {"parts": [{"text": "from a file"}]}}]}"#;
    let directory = workspace([("script.json", script)]).unwrap();
    let log = directory.path().join("log.jsonl");
    let script = directory.path().join("script.json");
    let child = program().arg("--script").arg(script).arg("--log").arg(&log).stdout(Stdio::piped()).spawn().unwrap();
    let mut child = Running(child);
    let mut url = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let address = url.trim_end().strip_prefix("http://").unwrap();

    let body = crate::client::openai_request("hello").to_string();
    let mut client = crate::client::Client::to(address);
    client.post_openai(&crate::client::openai_request("hello"));
    assert_eq!(client.receive().json()["choices"][0]["message"]["content"], "from a file");
    // The log of a response is written before the next request is read.
    client.post_openai(&crate::client::openai_request("again"));
    client.receive();

    let lines: Vec<Value> =
        fs::read_to_string(&log).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&lines[0]["event"], &lines[1]["event"], &lines[2]["event"]),
        (&"request".into(), &"answer".into(), &"request".into())
    );
    assert_eq!((&lines[0]["model"], &lines[0]["turn"]), (&"scripted".into(), &0.into()));
    assert_eq!(lines[0]["bytes"], body.len());
    assert!(lines[0]["us"].as_u64() <= lines[1]["us"].as_u64());
    assert!(lines[0]["unix_us"].as_u64() > lines[0]["us"].as_u64());
    assert_eq!(lines[1]["status"], 200);
}

#[test]
fn a_line_on_stdin_opens_a_gate() {
    let script = r#"{"rules": [{"reply": {"gate": "door", "parts": [{"text": "through"}]}}]}"#;
    let directory = workspace([("script.json", script)]).unwrap();
    let mut command = program();
    command.arg("--script").arg(directory.path().join("script.json"));
    let mut child = Running(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
    let mut url = String::new();
    BufReader::new(child.0.stdout.take().unwrap()).read_line(&mut url).unwrap();
    let mut client = crate::client::Client::to(url.trim_end().strip_prefix("http://").unwrap());
    client.post_openai(&crate::client::openai_request("hello"));
    writeln!(child.0.stdin.as_ref().unwrap(), "door").unwrap();
    assert_eq!(client.receive().json()["choices"][0]["message"]["content"], "through");
}

#[test]
fn the_example_script_is_a_script() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/demo.json");
    let script: Script = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    assert!(script.rules.iter().all(|rule| rule.reply.gate.is_none()));
}

#[test]
fn help_shows_an_example_on_stdout() {
    let output = run(&["--help"]);
    assert!(output.status.success());
    assert!(String::from_utf8_lossy(&output.stdout).contains("scripts/demo.json"));
}

#[test]
fn wrong_usage_is_reported_on_stderr_with_exit_code_2() {
    let directory = workspace([("bad.json", "{")]).unwrap();
    let file = |name: &str| directory.path().join(name).display().to_string();
    for (arguments, complaint) in [
        (vec![], "--script FILE.json is missing"),
        (vec!["--verbose".to_owned()], "unknown argument `--verbose`"),
        (vec!["--script".to_owned()], "--script needs a value"),
        (vec!["--port".to_owned(), "70000".to_owned()], "`70000` is not a port"),
        (vec!["--script".to_owned(), file("none.json")], "cannot read"),
        (vec!["--script".to_owned(), file("bad.json")], "is not a script"),
    ] {
        let output = program().args(&arguments).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{arguments:?}: {stderr}");
        assert!(stderr.contains(complaint), "{arguments:?}: {stderr}");
    }
}
