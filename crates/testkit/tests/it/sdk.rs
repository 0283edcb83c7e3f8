//! The official Python SDKs talk to the scripted server, which proves that its wires are the providers' own.

use std::path::Path;
use std::process::Command;

use expect_test::expect;
use serde_json::json;
use sortie_protocol::Usage;
use sortie_testkit::{Fault, Script, ScriptedServer, ServerOptions, reply, when};

const KEY: &str = "the-key";

fn script() -> Script {
    let usage = Usage { input_tokens: 100, output_tokens: 7, cache_read_tokens: 20, ..Usage::default() };
    Script::new()
        .on(when::prompt_contains("Too often."), reply::fault(Fault::rate_limited("7")))
        .on(when::prompt_contains("Break."), reply::status(500))
        .on(
            when::prompt_contains("Overload."),
            reply::text("Half of this sentence is lost.").fault(Fault::OverloadedMidStream),
        )
        .on(
            when::turn(0),
            reply::reasoning("Both files are needed.").text("I read both, naïvely.").calls([
                reply::call("Read", json!({ "path": "src/a.rs" })),
                reply::call("Read", json!({ "path": "src/b.rs" })),
            ]),
        )
        .on(when::last_contains("content of src/b.rs"), reply::text("They differ.").usage(usage))
}

/// Returns the output of a program that talks to the server with an official SDK.
fn said_by(program: &str) -> String {
    let python = std::env::var_os("SORTIE_TEST_PYTHON").expect(
        "SORTIE_TEST_PYTHON is not set: it names a Python that has the SDKs; run `cargo xtask test`, which makes one",
    );
    let options = ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start_with(script(), options).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(program);
    let output = Command::new(python).arg(program).args([&server.base_url(), KEY]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn the_official_python_sdks_understand_the_server_and_raise_their_typed_errors() {
    expect![[r#"
        anthropic stop: tool_use several deltas: True
        anthropic thinking: Both files are needed. signed: True
        anthropic text: I read both, naïvely.
        anthropic call: toolu_0_1 Read {"path": "src/a.rs"}
        anthropic call: toolu_0_2 Read {"path": "src/b.rs"}
        anthropic answer: They differ. end_turn
        anthropic usage: 100 20 7
        anthropic wrong key: AuthenticationError status=401 retry_after=None
        anthropic unanswered call: BadRequestError status=400 retry_after=None
        anthropic rate limit: RateLimitError status=429 retry_after=7
        anthropic server error: InternalServerError status=500 retry_after=None
        anthropic overloaded: OverloadedError status=529 retry_after=None
        anthropic overloaded in mid-stream: APIStatusError status=200 retry_after=None
        openai stop: tool_calls several chunks: True usage: True
        openai text: I read both, naïvely.
        openai call: call_0_1 Read {"path": "src/a.rs"}
        openai call: call_0_2 Read {"path": "src/b.rs"}
        openai whole call is the streamed one: True
        openai answer: They differ. stop
        openai usage: 120 20 7
        openai wrong key: AuthenticationError status=401 retry_after=None
        openai unanswered call: BadRequestError status=400 retry_after=None
        openai rate limit: RateLimitError status=429 retry_after=7
        openai server error: InternalServerError status=500 retry_after=None
        openai overloaded: InternalServerError status=503 retry_after=None
        openai overloaded in mid-stream: APIError status=None retry_after=None
        responses stop: completed kinds of events: 15 usage: True
        responses reasoning: Both files are needed. sealed: True
        responses text: I read both, naïvely. whole: True
        responses call: call_0_1 Read {"path":"src/a.rs"} whole: True
        responses call: call_0_2 Read {"path":"src/b.rs"} whole: True
        responses answer: They differ. completed
        responses usage: 120 20 7
        responses wrong key: AuthenticationError status=401 retry_after=None
        responses unanswered call: BadRequestError status=400 retry_after=None
        responses sealed by a model that does not reason: BadRequestError status=400 retry_after=None
        responses rate limit: RateLimitError status=429 retry_after=7
        responses server error: InternalServerError status=500 retry_after=None
        responses overloaded: InternalServerError status=503 retry_after=None
        responses overloaded in mid-stream: APIError status=None retry_after=None
    "#]]
    .assert_eq(&said_by("sdk.py"));
}

#[test]
fn the_official_python_sdk_of_gemini_understands_the_server_too() {
    expect![[r#"
        stop: STOP several chunks: True usage: True
        thought: Both files are needed.
        text: I read both, naïvely.
        call: call_0_1 Read {"path": "src/a.rs"} signed: True
        call: call_0_2 Read {"path": "src/b.rs"} signed: False
        whole calls are the streamed ones: True
        answer: They differ. STOP gemini-3-pro-preview
        usage: 120 20 7
        unsigned call: ClientError code=400 status=INVALID_ARGUMENT wait=None
        wrong key: ClientError code=400 status=INVALID_ARGUMENT wait=None
        unanswered call: ClientError code=400 status=INVALID_ARGUMENT wait=None
        rate limit: ClientError code=429 status=RESOURCE_EXHAUSTED wait=7s
        server error: ServerError code=500 status=INTERNAL wait=None
        overloaded: ServerError code=503 status=UNAVAILABLE wait=None
        overloaded in mid-stream: ServerError code=503 status=UNAVAILABLE wait=None
    "#]]
    .assert_eq(&said_by("gemini.py"));
}
