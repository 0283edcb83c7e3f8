//! Model servers on this machine, offered by name to a user who has set no model.
//!
//! A server is found and named, never used unasked. If the system can tell that nobody listens, no connection is made.

mod listener;
mod port;

use std::net::SocketAddr;
use std::time::Duration;

use sortie_llm::local::{LocalServer, local_server};
use tokio::runtime::Builder;

use super::Environment;
use crate::text::words::shell_word;

/// A server on the same machine answers at once; a person must not wait for one that does not.
const PATIENCE: Duration = Duration::from_millis(300);

/// Model ids that an offer names in addition to the first.
const NAMED: usize = 4;

/// Servers that answer at the usual ports of Ollama and llama.cpp.
pub(crate) fn servers(environment: &Environment) -> Vec<LocalServer> {
    let addresses: Vec<SocketAddr> = port::usual(environment).into_iter().filter_map(listener::at).collect();
    if addresses.is_empty() {
        return Vec::new();
    }
    // Without a runtime no server can be asked, and an offer is not worth an error.
    let Ok(runtime) = Builder::new_current_thread().enable_all().build() else { return Vec::new() };
    runtime.block_on(async {
        let mut asked = tokio::task::JoinSet::new();
        for address in addresses {
            asked.spawn(ask(address));
        }
        let mut servers: Vec<LocalServer> = asked.join_all().await.into_iter().flatten().collect();
        servers.sort_by_key(|server| server.base_url.to_string());
        servers
    })
}

async fn ask(address: SocketAddr) -> Option<LocalServer> {
    let base_url = format!("http://{address}").parse().ok()?;
    local_server(&base_url, PATIENCE).await
}

/// Offer of a server: its address, and the exact command that makes it the main route.
pub(crate) fn offer(server: &LocalServer) -> String {
    let LocalServer { name, base_url, models } = server;
    // Embedding models cannot hold a conversation.
    let mut able = models.iter().filter(|model| !model.to_lowercase().contains("embed"));
    let Some(model) = able.next() else {
        return format!("{name} answers at {base_url}, but has no model to talk to yet");
    };
    let others: Vec<&str> = able.map(String::as_str).collect();
    let beside = match others.len() {
        0 => String::new(),
        count if count <= NAMED => format!("; it also has {}", others.join(", ")),
        count => format!("; it also has {} and {} more", others[..NAMED].join(", "), count - NAMED),
    };
    // Servers choose their models' names, and people paste commands.
    let model = shell_word(model);
    format!(
        "{name} answers at {base_url} and is not used unasked; to use it: \
         export LLM_BASE_URL={base_url} LLM_MODEL_ID={model}{beside}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn server(models: &[&str]) -> LocalServer {
        LocalServer {
            name: "Ollama",
            base_url: "http://127.0.0.1:11434".parse().unwrap(),
            models: models.iter().map(|model| (*model).to_owned()).collect(),
        }
    }

    #[test]
    fn an_offer_names_the_server_and_the_exact_variables() {
        let offers = [
            offer(&server(&["qwen3:8b"])),
            offer(&server(&["nomic-embed-text", "qwen3:8b", "llama3.2"])),
            offer(&server(&["a", "b", "c", "d", "e", "f", "g"])),
            offer(&server(&[])),
            offer(&server(&["nomic-embed-text"])),
        ];
        expect![[r#"
            Ollama answers at http://127.0.0.1:11434 and is not used unasked; to use it: export LLM_BASE_URL=http://127.0.0.1:11434 LLM_MODEL_ID=qwen3:8b
            Ollama answers at http://127.0.0.1:11434 and is not used unasked; to use it: export LLM_BASE_URL=http://127.0.0.1:11434 LLM_MODEL_ID=qwen3:8b; it also has llama3.2
            Ollama answers at http://127.0.0.1:11434 and is not used unasked; to use it: export LLM_BASE_URL=http://127.0.0.1:11434 LLM_MODEL_ID=a; it also has b, c, d, e and 2 more
            Ollama answers at http://127.0.0.1:11434, but has no model to talk to yet
            Ollama answers at http://127.0.0.1:11434, but has no model to talk to yet
        "#]].assert_eq(&(offers.join("\n") + "\n"));
    }

    #[test]
    fn a_models_name_cannot_smuggle_a_command_into_the_offer() {
        for (name, word) in [
            ("hf.co/org/model:Q4_K_M", "hf.co/org/model:Q4_K_M"),
            ("x; rm -rf ~", "'x; rm -rf ~'"),
            ("a'$(b)'", r"'a'\''$(b)'\'''"),
            ("", "''"),
        ] {
            assert_eq!(shell_word(name), word);
        }
    }
}
