//! Servers that are reached by an address.

use serde_json::{Value, json};
use sortie_agents::ServerDefinition;
use sortie_protocol::Status;
use sortie_testkit::{Script, reply};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

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
async fn a_server_behind_an_address_is_called_with_its_headers() {
    let host = Host::start().await;
    let script = one_after_the_other([reply::call("mcp__web__echo", json!({}))]);
    let world = World::new(vec![at(&host, TOKEN)], script);
    let outcome = world.run().await;
    assert_eq!((outcome.status, &outcome.notices[..]), (Status::Completed, &[][..]));
    assert_eq!(world.outputs()[0].for_model, "echo");
    world.close().await;
}

#[tokio::test]
async fn an_address_that_refuses_or_where_nobody_is_is_told() {
    let host = Host::start().await;
    let nobody = json!({ "url": "http://127.0.0.1:1/mcp", "start_timeout_seconds": 60 });
    let nobody = ServerDefinition::read("nobody", &nobody).unwrap().server;
    let world = World::new(
        vec![nobody, at(&host, "another-token-of-some-length-0123456789")],
        Script::always(reply::text("Done.")),
    );
    let outcome = world.run().await;
    assert_eq!(outcome.status, Status::Completed);
    let [nobody, web] = &outcome.notices[..] else { panic!("{:?}", outcome.notices) };
    assert!(
        nobody.starts_with("its tools are missing: mcp_unreachable: the MCP server `nobody` did not answer as one: "),
        "{nobody}"
    );
    assert!(
        web.starts_with("its tools are missing: mcp_unreachable: the MCP server `web` did not answer as one: "),
        "{web}"
    );
    world.close().await;
}

/// A server that greets as it should, and answers everything else with JSON that does not end.
async fn endless() -> (u16, tokio::task::JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            tokio::spawn(answer_without_end(socket));
        }
    });
    (port, serving)
}

async fn answer_without_end(socket: TcpStream) {
    let (input, mut output) = socket.into_split();
    let mut lines = BufReader::new(input);
    let mut head = String::new();
    while lines.read_line(&mut head).await.is_ok_and(|length| length > 2) {}
    let length =
        head.to_lowercase().split_once("content-length: ").map(|(_, rest)| rest.to_owned()).unwrap_or_default();
    let length = length.lines().next().and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    lines.read_exact(&mut body).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let id = &message["id"];
    let result = json!({
        "protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": { "name": "endless", "version": "1" }
    });
    let whole = match message["method"].as_str().unwrap_or_default() {
        "initialize" => Some(json!({ "jsonrpc": "2.0", "id": id, "result": result })),
        "tools/list" => {
            let tools = json!([{ "name": "talk", "inputSchema": { "type": "object" } }]);
            Some(json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": tools } }))
        }
        "tools/call" => None,
        _ => {
            output.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await.ok();
            return;
        }
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n";
    output.write_all(head.as_bytes()).await.ok();
    match whole {
        Some(whole) => drop(output.write_all(whole.to_string().as_bytes()).await),
        None => while output.write_all(&[b' '; 1 << 13]).await.is_ok() {},
    }
}

#[tokio::test]
async fn an_answer_without_end_is_not_listened_to_for_long() {
    let (port, serving) = endless().await;
    let definition = json!({ "url": format!("http://127.0.0.1:{port}/mcp"), "start_timeout_seconds": 60 });
    let server = ServerDefinition::read("web", &definition).unwrap().server;
    let world = World::new(vec![server], one_after_the_other([reply::call("mcp__web__talk", json!({}))]));
    let outcome = world.run().await;
    assert_eq!(outcome.notices, Vec::<String>::new());
    let told = &world.outputs()[0];
    assert!(told.failed && told.for_model.contains("it sent a message of more than 16384 KiB"), "{told:?}");
    world.close().await;
    serving.abort();
}

#[tokio::test]
async fn who_stops_a_task_stops_its_call_there() {
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
