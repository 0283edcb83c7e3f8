//! Servers at addresses.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use sortie_agents::{ServerAccess, ServerDefinition};
use sortie_protocol::Status;
use sortie_testkit::{Script, reply};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::Barrier;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::web::Web;
use super::world::{World, one_after_the_other};
use crate::http::host::{Fate, Host, TOKEN};

fn at(host: &Host, token: &str) -> ServerDefinition {
    let definition = json!({
        "type": "http",
        "url": format!("http://{}/mcp", host.address),
        "headers": { "Authorization": format!("Bearer {token}") },
        "start_timeout_seconds": 60,
    });
    ServerDefinition::read("web", &definition).unwrap().server
}

#[tokio::test]
async fn a_server_at_an_address_is_called_with_its_headers() {
    let host = Host::start().await;
    let script = one_after_the_other([reply::call("mcp__web__echo", json!({}))]);
    let world = World::new(vec![at(&host, TOKEN)], script);
    let outcome = world.run().await;
    assert_eq!((outcome.status, &outcome.notices[..]), (Status::Completed, &[][..]));
    assert_eq!(world.outputs()[0].for_model, "echo");
    world.close().await;
}

#[tokio::test]
async fn a_refusing_or_silent_address_is_reported() {
    let host = Host::start().await;
    let nobody = json!({ "url": "http://127.0.0.1:1/mcp?name=value", "start_timeout_seconds": 60 });
    let nobody = ServerDefinition::read("nobody", &nobody).unwrap().server;
    let world = World::new(
        vec![nobody, at(&host, "another-token-of-some-length-0123456789")],
        Script::always(reply::text("Done.")),
    );
    let outcome = world.run().await;
    assert_eq!(outcome.status, Status::Completed);
    let [nobody, web] = &outcome.notices[..] else { panic!("{:?}", outcome.notices) };
    let refused =
        "its tools are missing: mcp_unreachable: the MCP server `nobody` did not answer as one: Connection refused";
    assert!(nobody.starts_with(refused), "no address, and no names of Rust types: {nobody}");
    let barred =
        "its tools are missing: mcp_unreachable: the MCP server `web` did not answer as one: HTTP 401 Unauthorized";
    assert!(web.starts_with(barred), "{web}");
    world.close().await;
}

#[tokio::test]
async fn an_endless_answer_is_cut_off() {
    let web = Web::start(|mut asked| async move {
        asked.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n").await;
        while asked.output.write_all(&[b' '; 1 << 13]).await.is_ok() {}
    });
    let told = web.await.called(1).await;
    assert!(told[0].contains("it sent a message of more than 16384 KiB"), "{told:?}");
}

#[tokio::test]
async fn many_calls_run_at_once() {
    const CALLS: usize = 40;
    let all = Arc::new(Barrier::new(CALLS));
    let web = Web::start(move |mut asked| {
        let all = Arc::clone(&all);
        async move {
            all.wait().await;
            asked.said("together").await;
        }
    });
    assert_eq!(web.await.called(CALLS).await, ["together"; CALLS]);
}

#[tokio::test]
async fn an_error_without_an_id_answers_the_request() {
    let web = Web::start(|mut asked| async move {
        let error = json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32000, "message": "too busy" } });
        asked.answer("503 Service Unavailable", &error).await;
    });
    let told = web.await.called(1).await;
    assert_eq!(told, ["mcp_error: the MCP server `web` refused the call: too busy (code -32000)"]);
}

#[tokio::test]
async fn a_bad_request_ends_the_session_and_the_call_is_made_in_a_new_one() {
    for id in [Value::Null, json!("server-error")] {
        let calls = Arc::new(AtomicUsize::new(0));
        let web = Web::start(move |mut asked| {
            let is_first = calls.fetch_add(1, Ordering::Relaxed) == 0;
            let id = id.clone();
            async move {
                assert!(asked.head.contains("mcp-session-id: "));
                let why = json!({ "code": -32000, "message": "Bad Request: No valid session ID provided" });
                let error = json!({ "jsonrpc": "2.0", "id": id, "error": why });
                if is_first { asked.answer("400 Bad Request", &error).await } else { asked.said("again").await }
            }
        });
        assert_eq!(web.await.called(1).await, ["again"]);
    }
}

#[tokio::test]
async fn a_servers_error_about_a_request_is_reported() {
    let web = Web::start(|mut asked| async move {
        let why = json!({ "code": -32602, "message": "`text` is missing" });
        let error = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "error": why });
        asked.answer("400 Bad Request", &error).await;
    });
    let told = web.await.called(1).await;
    assert_eq!(told, ["mcp_error: the MCP server `web` refused the call: `text` is missing (code -32602)"]);
}

#[tokio::test]
async fn a_server_that_takes_no_answers_is_not_read_until_it_does() {
    let is_stuck = CancellationToken::new();
    let web = Web::start(move |mut asked| {
        let is_stuck = is_stuck.clone();
        async move {
            if asked.message["method"].is_null() {
                is_stuck.cancelled().await;
                return asked.accept().await;
            }
            asked.write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n").await;
            // Each is so large that few of them fit into the connection.
            let padding = "x".repeat(1 << 18);
            let ask = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping", "params": { "_meta": { "x": padding } } });
            let ask = format!("data: {ask}\n\n");
            while !is_stuck.is_cancelled() {
                let mut asking = pin!(asked.write(&ask));
                // Would be faster if the server read.
                if timeout(Duration::from_secs(1), &mut asking).await.is_err() {
                    is_stuck.cancel();
                    asking.await;
                }
            }
            let result = json!({ "content": [{ "type": "text", "text": "heard at last" }] });
            let answer = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result });
            asked.write(&format!("data: {answer}\n\n")).await;
        }
    });
    assert_eq!(web.await.called(1).await, ["heard at last"]);
}

#[tokio::test]
async fn stopping_a_task_stops_its_call_at_the_address() {
    let mut host = Host::start().await;
    let script = one_after_the_other([reply::call("mcp__web__hold", json!({}))]);
    let world = World::new(vec![at(&host, TOKEN)], script);
    let running = world.start().await;
    assert_eq!(host.fate().await, Fate::Started);
    running.stop();
    assert_eq!(host.fate().await, Fate::Cancelled);
    assert_eq!(running.outcome().await.unwrap().status, Status::Cancelled);
    world.close().await;
}

#[tokio::test]
async fn a_server_of_the_old_transport_is_named_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        while let Ok((mut socket, _)) = listener.accept().await {
            let mut line = [0; 4];
            socket.read_exact(&mut line).await.unwrap();
            let answer = match &line {
                b"GET " => {
                    "200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /messages?session=1\n\n"
                }
                _ => "404 Not Found\r\nContent-Length: 0\r\n\r\n",
            };
            socket.write_all(format!("HTTP/1.1 {answer}").as_bytes()).await.unwrap();
            socket.shutdown().await.ok();
            // The rest of the request, so that the connection is not reset.
            tokio::io::copy(&mut socket, &mut tokio::io::sink()).await.ok();
        }
    });
    let definition = json!({ "url": format!("http://127.0.0.1:{port}/sse"), "start_timeout_seconds": 60 });
    let old = ServerDefinition::read("old", &definition).unwrap().server;
    let world = World::new(vec![old], Script::always(reply::text("Done.")));
    let told = world.run().await.notices.join("\n");
    assert!(told.contains("it does not answer by `http`, and speaks `sse`, a transport of 2024"), "{told}");
    serving.abort();
}

#[tokio::test]
async fn printed_headers_are_sent_and_their_program_must_be_out_of_reach() {
    let heads = Arc::<std::sync::Mutex<Vec<String>>>::default();
    let seen = Arc::clone(&heads);
    let web = Web::start(move |mut asked| {
        seen.lock().unwrap().push(asked.head.clone());
        async move { asked.said("heard").await }
    })
    .await;
    let script = || one_after_the_other([reply::call("mcp__web__talk", json!({}))]);
    let program = "#!/bin/sh\necho \"{ \\\"X-Key\\\": \\\"key-for-$CLAUDE_CODE_MCP_SERVER_NAME-12\\\" }\"\n";
    let place = tempfile::tempdir().unwrap();
    let helper = place.path().join("helper");
    write_program(&helper, program);
    let with = |helper: &std::path::Path| {
        let mut server = web.server();
        let ServerAccess::Address { helper: known, .. } = &mut server.access else { panic!("an address") };
        *known = vec![helper.to_str().unwrap().to_owned()];
        server
    };
    let world = World::new(vec![with(&helper)], script());
    assert_eq!(world.run().await.notices, Vec::<String>::new());
    assert_eq!(world.outputs()[0].for_model, "heard");
    assert!(heads.lock().unwrap()[0].contains("x-key: key-for-web-12"), "{:?}", heads.lock().unwrap());
    world.close().await;

    let world = World::new(Vec::new(), script());
    let within = world.home.path().join("workspace/helper");
    write_program(&within, program);
    let world = World::in_home(world.home, vec![with(&within)], script());
    let told = world.run().await.notices.join("\n");
    assert!(told.contains("its `headersHelper` cannot be run: ") && told.contains("where agents can write"), "{told}");

    write_program(&helper, "#!/bin/sh\necho nothing to see; exit 3\n");
    let world = World::new(vec![with(&helper)], script());
    let told = world.run().await.notices.join("\n");
    assert!(told.contains("its `headersHelper` failed (exit code 3)") && !told.contains("nothing to see"), "{told}");
}

/// Writes a program, and marks it as one.
fn write_program(path: &std::path::Path, text: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o700)).unwrap();
}
