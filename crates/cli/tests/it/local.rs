//! Model servers on this machine: offered by name if no model is set, never used unasked.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use crate::world::{Ended, Invocation, World};

/// Server that answers like Ollama, and records its requests.
pub(crate) struct Ollama {
    port: u16,
    paths: Arc<Mutex<Vec<String>>>,
}

impl Ollama {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let paths = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&paths);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (mut stream, seen) = (stream.unwrap(), Arc::clone(&seen));
                std::thread::spawn(move || {
                    let mut bytes = [0; 4096];
                    let count = stream.read(&mut bytes).unwrap_or_default();
                    let request = String::from_utf8_lossy(&bytes[..count]).into_owned();
                    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
                    let body = match path.as_str() {
                        "/api/version" => r#"{"version":"0.12.0"}"#,
                        "/api/tags" => r#"{"models":[{"name":"nomic-embed-text:latest"},{"name":"qwen3:8b"}]}"#,
                        _ => "{}",
                    };
                    seen.lock().unwrap().push(path);
                    let length = body.len();
                    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
                    write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").ok();
                });
            }
        });
        Self { port, paths }
    }

    fn paths(&self) -> Vec<String> {
        self.paths.lock().unwrap().clone()
    }

    pub(crate) fn at(&self, invocation: Invocation) -> Invocation {
        invocation.env("OLLAMA_HOST", format!("127.0.0.1:{}", self.port))
    }

    fn offer(&self) -> String {
        let address = format!("http://127.0.0.1:{}", self.port);
        format!(
            "Ollama answers at {address} and is not used unasked; to use it: \
             export LLM_BASE_URL={address} LLM_MODEL_ID=qwen3:8b"
        )
    }
}

fn offline(world: &World, ollama: &Ollama, arguments: &[&str]) -> Ended {
    ollama.at(world.sortie([&["run", "Where are authentication errors made?"], arguments].concat())).run()
}

#[test]
fn a_run_without_a_model_offers_the_server_by_name_after_its_answer() {
    let (world, ollama) = (World::new(), Ollama::start());
    let ended = offline(&world, &ollama, &[]);
    assert_eq!(ended.code, 0);
    assert!(ended.stdout.contains("To use one, set ANTHROPIC_API_KEY"), "{}", ended.stdout);
    assert!(ended.stderr.ends_with(&format!("note: {}\n", ollama.offer())), "{}", ended.stderr);
    let paths = ollama.paths();
    assert!(!paths.is_empty() && paths.iter().all(|path| path.starts_with("/api/")), "never used: {paths:?}");
}

#[test]
fn no_server_is_contacted_if_no_offer_would_be_shown() {
    let (world, ollama) = (World::new(), Ollama::start());
    for arguments in [&["--output-format", "json"][..], &["--output-format", "stream-json"], &["--model", "offline"]] {
        let ended = offline(&world, &ollama, arguments);
        assert_eq!(ended.code, 0);
        assert!(!ended.stderr.contains("Ollama"), "{}", ended.stderr);
    }
    let main = [("LLM_BASE_URL", "http://127.0.0.1:1"), ("LLM_MODEL_ID", "m")];
    let ended = ollama.at(world.sortie(["models"])).envs(main).run();
    assert!(!ended.stdout.contains("Ollama"), "{}", ended.stdout);
    assert_eq!(ollama.paths(), [""; 0]);
}

#[test]
fn models_and_doctor_offer_it_too() {
    let (world, ollama) = (World::new(), Ollama::start());
    let models = ollama.at(world.sortie(["models"])).run();
    assert!(models.stdout.ends_with(&format!("\n{}\n", ollama.offer())), "{}", models.stdout);
    let json = ollama.at(world.sortie(["models", "--output-format", "json"])).run().stdout_json();
    assert_eq!(json["local_servers"][0]["name"], "Ollama");
    assert_eq!(json["local_servers"][0]["models"][1], "qwen3:8b");
    let doctor = ollama.at(world.sortie(["doctor"])).run();
    assert!(doctor.stdout.contains(&ollama.offer()), "{}", doctor.stdout);
}

#[test]
fn an_offer_can_be_taken_as_it_is_written() {
    let (world, ollama) = (World::new(), Ollama::start());
    let models = ollama.at(world.sortie(["models"])).run();
    let (_, variables) = models.stdout.trim_end().rsplit_once("export ").unwrap();
    let variables: Vec<(&str, &str)> = variables.split(' ').map(|word| word.split_once('=').unwrap()).collect();
    let taken = world.sortie(["models", "--output-format", "json"]).envs(variables).run().stdout_json();
    assert_eq!(taken["routes"][0]["name"], "main");
    assert_eq!(taken["routes"][0]["model"], "qwen3:8b");
    assert_eq!(taken["routes"][0]["wire"], "openai-chat");
}

#[test]
fn a_model_without_a_key_leads_to_the_offer_too() {
    let (world, ollama) = (World::new(), Ollama::start());
    let ended = ollama.at(world.sortie(["run", "x"])).env("LLM_MODEL_ID", "claude-x").run();
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.ends_with(&format!("hint: {}\n", ollama.offer())), "{}", ended.stderr);
}
