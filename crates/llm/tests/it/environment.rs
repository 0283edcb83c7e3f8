//! Environment variables of the HTTP and TLS libraries: proxies and certificates.
//!
//! A process reads them once, so each case runs in its own process. That process is this test, which a variable tells
//! to ask one model and print the result.

use std::process::Command;

use sortie_llm::WireKind;
use sortie_protocol::Message;
use sortie_testkit::{Script, ScriptedServer, reply};

use crate::caller::{ONE_TRY, call, open};
use crate::fixture::{request, route};

const ASK: &str = "SORTIE_TEST_ASK";
const NOBODY: &str = "http://127.0.0.1:9";
/// An address that is not recognised as loopback, yet refuses at once and needs no name server.
const ELSEWHERE: &str = "http://0.0.0.0:9";
const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/certificates/authority.pem");

#[tokio::test]
async fn proxies_and_certificates_are_taken_from_the_environment() {
    match std::env::var(ASK) {
        Ok(base_url) => println!("\nsaid: {}", ask(&base_url).await),
        Err(_) => check_all_cases(),
    }
}

fn check_all_cases() {
    let server = ScriptedServer::start(Script::always(reply::text("Hi."))).unwrap();
    let here = server.base_url();

    let said =
        asked_with(&here, &[("HTTP_PROXY", NOBODY), ("SSL_CERT_FILE", "/nowhere"), ("SSL_CERT_DIR", "/nowhere")]);
    assert_eq!(said, "Hi.", "a server on this machine needs neither a proxy nor certificates");

    asked_with(ELSEWHERE, &[("HTTP_PROXY", &here), ("SSL_CERT_FILE", "/nowhere"), ("SSL_CERT_DIR", "/nowhere")]);
    let through_proxy = server.requests().last().unwrap().target.clone();
    assert_eq!(through_proxy, format!("{ELSEWHERE}/v1/messages"), "plain http needs no certificates");

    let said = asked_with(ELSEWHERE, &[("HTTP_PROXY", &here), ("NO_PROXY", "0.0.0.0")]);
    assert!(said.starts_with(&format!("Unreachable: cannot reach {ELSEWHERE}/v1/messages")), "{said}");

    let said = asked_with("https://127.0.0.1:9", &[("SSL_CERT_FILE", "/nowhere"), ("SSL_CERT_DIR", "/nowhere")]);
    assert!(said.starts_with("Setup: ") && said.contains("SSL_CERT_FILE"), "{said}");

    let said = asked_with("https://127.0.0.1:9", &[("SSL_CERT_FILE", AUTHORITY)]);
    assert!(said.starts_with("Unreachable: cannot reach https://127.0.0.1:9/v1/messages"), "{said}");
}

/// Asks in a process with only these variables, and returns its output.
fn asked_with(base_url: &str, variables: &[(&str, &str)]) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "environment::proxies_and_certificates_are_taken_from_the_environment", "--nocapture"])
        .env_clear()
        // Output file of an instrumented program; unset otherwise.
        .envs(std::env::var_os("LLVM_PROFILE_FILE").map(|file| ("LLVM_PROFILE_FILE", file)))
        .envs(variables.iter().copied())
        .env(ASK, base_url)
        .output()
        .unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    stdout.lines().find_map(|line| line.strip_prefix("said: ")).unwrap_or_else(|| panic!("{stdout}")).to_owned()
}

async fn ask(base_url: &str) -> String {
    let messages = [Message::user("Where is it?")];
    let model = open(route(WireKind::Anthropic, base_url), ONE_TRY);
    match call(model.as_ref(), request(&[], &messages)).await.1 {
        Ok(reply) => reply.text(),
        Err(error) => format!("{:?}: {error}", error.kind),
    }
}
