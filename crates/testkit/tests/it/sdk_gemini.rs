//! The official Python SDK of Gemini talks to the scripted server: the proof that this wire is the provider's own.

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

#[test]
fn the_official_python_sdk_of_gemini_understands_the_server_and_raises_its_typed_errors() {
    let python = std::env::var_os("SORTIE_TEST_PYTHON").expect(
        "SORTIE_TEST_PYTHON is not set: it names a Python that has the SDKs; run `cargo xtask test`, which makes one",
    );
    let options = ServerOptions { key: Some(KEY.to_owned()), ..ServerOptions::default() };
    let server = ScriptedServer::start_with(script(), options).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/gemini.py");
    let output = Command::new(python).arg(program).args([&server.base_url(), KEY]).output().unwrap();
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaints}");
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
    .assert_eq(&String::from_utf8_lossy(&output.stdout));
}
