//! External servers as our agents see them: against a server that misbehaves.

mod address;
mod calls;
mod calls_faults;
mod faults;
mod gathering;
mod restarts;
mod secrets;
mod sessions;
mod sign_in;
mod starts;
mod web;
mod world;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use serde_json::Value;
use sortie_testkit::mcp_server::{self, ROLE};

use self::world::SERVER_TEST;

/// Runs this binary again, which is the server that all tests here start. As a test of its own, it checks that it is
/// one.
#[test]
fn the_server_that_tests_start_completes_the_handshake() {
    if let Some(role) = mcp_server::role() {
        return mcp_server::serve(&role);
    }
    let mut server = Command::new(std::env::current_exe().unwrap())
        .args(mcp_server::arguments(SERVER_TEST))
        .env(ROLE, "sound")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    writeln!(input, r#"{{"jsonrpc":"2.0","id":1,"method":"initialize","params":{{"protocolVersion":"2025-06-18"}}}}"#)
        .unwrap();
    let lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let mut lines = lines.map_while(Result::ok);
    let answer = lines.find_map(|line| serde_json::from_str::<Value>(&line).ok()).unwrap();
    assert_eq!(answer["result"]["serverInfo"]["name"], "troubled");
    drop(input);
    assert!(lines.any(|line| line.contains("1 passed")), "it ends with its input");
    assert!(server.wait().unwrap().success());
}
