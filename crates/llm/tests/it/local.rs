//! Detection of the model server on this machine.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use sortie_llm::BaseUrl;
use sortie_llm::local::local_server;

const PATIENT: Duration = Duration::from_secs(20);

const OLLAMA_VERSION: (&str, &str) = ("/api/version", r#"{"version":"0.5.7"}"#);
const OLLAMA_TAGS: (&str, &str) = (
    "/api/tags",
    r#"{"models":[{"name":"llama3.2:latest","size":2019393189},{"name":"qwen3:8b"},{"name":"no good\u001b[2J"},{"name":""}]}"#,
);
const LLAMA_CPP: (&str, &str) =
    ("/v1/models", r#"{"object":"list","data":[{"id":"qwen3.gguf","object":"model","owned_by":"llamacpp"}]}"#);

/// Serves these documents at their paths, and 404 at any other.
fn serve(documents: &[(&str, &str)]) -> SocketAddr {
    let documents: Vec<(String, String)> =
        documents.iter().map(|(path, body)| ((*path).to_owned(), (*body).to_owned())).collect();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().map(Result::unwrap).for_each(|stream| answer(&stream, &documents)));
    address
}

fn answer(mut stream: &TcpStream, documents: &[(String, String)]) {
    let lines: Vec<String> =
        BufReader::new(stream).lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let Some(path) = lines.first().and_then(|line| line.split(' ').nth(1)) else { return };
    let (status, body) = match documents.iter().find(|(known, _)| known == path) {
        Some((_, body)) => ("200 OK", body.as_str()),
        None => ("404 Not Found", "404 page not found"),
    };
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    // The client may hang up if it is sent too much.
    drop(stream.write_all(&[head.as_bytes(), body.as_bytes()].concat()));
}

async fn found_at(base: &str, within: Duration) -> Option<(&'static str, Vec<String>)> {
    let base: BaseUrl = base.parse().unwrap();
    let server = local_server(&base, within).await?;
    assert_eq!(server.base_url, base);
    Some((server.name, server.models))
}

async fn found(documents: &[(&str, &str)]) -> Option<(&'static str, Vec<String>)> {
    found_at(&format!("http://{}", serve(documents)), PATIENT).await
}

#[tokio::test]
async fn ollama_is_recognised_by_its_version_and_lists_its_models() {
    let models = vec!["llama3.2:latest".to_owned(), "qwen3:8b".to_owned()];
    assert_eq!(found(&[OLLAMA_VERSION, OLLAMA_TAGS]).await, Some(("Ollama", models)));
}

#[tokio::test]
async fn a_server_without_models_is_still_a_server() {
    assert_eq!(found(&[OLLAMA_VERSION, ("/api/tags", r#"{"models":[]}"#)]).await, Some(("Ollama", vec![])));
}

#[tokio::test]
async fn other_servers_are_recognised_by_the_owner_of_their_models() {
    assert_eq!(found(&[LLAMA_CPP]).await, Some(("llama.cpp", vec!["qwen3.gguf".to_owned()])));
    let vllm = ("/v1/models", r#"{"data":[{"id":"org/model","owned_by":"vllm"}]}"#);
    assert_eq!(found(&[vllm]).await, Some(("vLLM", vec!["org/model".to_owned()])));
}

#[tokio::test]
async fn the_path_of_the_address_does_not_matter() {
    let address = serve(&[LLAMA_CPP]);
    assert!(found_at(&format!("http://{address}/v1"), PATIENT).await.is_some());
}

#[tokio::test]
async fn an_unknown_server_is_ignored() {
    for documents in [
        &[][..],
        &[("/api/version", r#"{"name":"some other program"}"#)],
        &[("/api/version", "<html>Welcome!</html>")],
        &[OLLAMA_VERSION],
        &[("/v1/models", r#"{"data":[]}"#)],
        &[("/v1/models", r#"{"data":[{"id":"m","owned_by":"someone"}]}"#)],
        &[("/v1/models", r#"{"data":[{"id":"m"}]}"#)],
    ] {
        assert_eq!(found(documents).await, None, "{documents:?}");
    }
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert_eq!(found_at(&format!("http://{free}"), PATIENT).await, None);
}

#[tokio::test]
async fn an_oversized_reply_is_not_a_list_of_models() {
    let flood = format!(r#"{{"models":[],"more":"{}"}}"#, "x".repeat(2 * 1024 * 1024));
    assert_eq!(found(&[OLLAMA_VERSION, ("/api/tags", &flood)]).await, None);
    let many: Vec<String> = (0..1000).map(|number| format!(r#"{{"name":"m{number}"}}"#)).collect();
    let many = format!(r#"{{"models":[{}]}}"#, many.join(","));
    let (_, models) = found(&[OLLAMA_VERSION, ("/api/tags", &many)]).await.unwrap();
    assert_eq!((models.len(), models[199].as_str()), (200, "m199"));
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let before = Instant::now();
    let address = format!("http://{}", silent.local_addr().unwrap());
    assert_eq!(found_at(&address, Duration::from_millis(100)).await, None);
    assert!(before.elapsed() < PATIENT);
}
