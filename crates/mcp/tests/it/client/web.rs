//! A server at an address with answers supplied by the test.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use serde_json::{Value, json};
use sortie_agents::ServerDefinition;
use sortie_testkit::{Script, reply, when};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::tcp::OwnedWriteHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::world::World;

/// A server with a proper handshake, each time in a new session, and one tool, `talk`.
pub(super) struct Web {
    port: u16,
    greetings: Arc<AtomicUsize>,
    serving: JoinHandle<()>,
}

type Talk = Arc<dyn Fn(Asked) -> BoxFuture<'static, ()> + Send + Sync>;

/// A request, and the recipient of its answer.
pub(super) struct Asked {
    pub(super) head: String,
    pub(super) message: Value,
    pub(super) output: OwnedWriteHalf,
}

impl Asked {
    /// Answers with JSON.
    pub(super) async fn answer(&mut self, status: &str, body: &Value) {
        self.answer_with(status, "", body).await;
    }

    async fn answer_with(&mut self, status: &str, headers: &str, body: &Value) {
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: application/json\r\nConnection: close\r\n");
        self.write(&format!("{head}{headers}\r\n{body}")).await;
    }

    pub(super) async fn result(&mut self, result: &Value) {
        let body = json!({ "jsonrpc": "2.0", "id": self.message["id"], "result": result });
        self.answer("200 OK", &body).await;
    }

    pub(super) async fn accept(&mut self) {
        self.write("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").await;
    }

    pub(super) async fn said(&mut self, text: &str) {
        self.result(&json!({ "content": [{ "type": "text", "text": text }] })).await;
    }

    /// Answers with the list of tools.
    pub(super) async fn list(&mut self) {
        let tools = json!([{ "name": "talk", "inputSchema": { "type": "object" } }]);
        self.result(&json!({ "tools": tools })).await;
    }

    pub(super) async fn write(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).await.ok();
    }

    pub(super) fn is_list(&self) -> bool {
        self.message["method"] == "tools/list"
    }

    /// The session of the request.
    pub(super) fn session(&self) -> String {
        let line = self.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        line.unwrap_or_default().to_owned()
    }

    /// True if the call has this argument.
    pub(super) fn has(&self, argument: &str) -> bool {
        !self.message["params"]["arguments"][argument].is_null()
    }
}

impl Web {
    /// Starts a server; the test answers its calls.
    pub(super) async fn start<F: Future<Output = ()> + Send + 'static>(
        talk: impl Fn(Asked) -> F + Send + Sync + 'static,
    ) -> Self {
        let talk = Arc::new(talk);
        Self::answering(move |mut asked| {
            let talk = Arc::clone(&talk);
            async move { if asked.is_list() { asked.list().await } else { talk(asked).await } }
        })
        .await
    }

    /// Starts a server; the test answers its calls and its tool lists.
    pub(super) async fn answering<F: Future<Output = ()> + Send + 'static>(
        talk: impl Fn(Asked) -> F + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let talk: Talk = Arc::new(move |asked| Box::pin(talk(asked)));
        let greetings = Arc::new(AtomicUsize::new(0));
        let greeted = Arc::clone(&greetings);
        let serving = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, Arc::clone(&talk), Arc::clone(&greeted)));
            }
        });
        Self { port, greetings, serving }
    }

    pub(super) fn server(&self) -> ServerDefinition {
        let definition = json!({ "url": format!("http://127.0.0.1:{}/mcp", self.port), "start_timeout_seconds": 60 });
        ServerDefinition::read("web", &definition).unwrap().server
    }

    /// Number of sessions so far.
    pub(super) fn sessions(&self) -> usize {
        self.greetings.load(Ordering::Relaxed)
    }

    /// Results of this many calls in one turn.
    pub(super) async fn called(&self, calls: usize) -> Vec<String> {
        let call = || reply::call("mcp__web__talk", json!({}));
        let script = Script::new()
            .on(when::turn(0), reply::calls((0..calls).map(|_| call())))
            .on(when::turn(1), reply::text("Done."));
        self.told(script).await
    }

    /// Results of a task's calls.
    pub(super) async fn told(&self, script: Script) -> Vec<String> {
        let world = World::new(vec![self.server()], script);
        let outcome = world.run().await;
        assert_eq!(outcome.notices, outcome.fruitless().into_iter().collect::<Vec<_>>());
        world.close().await;
        world.outputs().into_iter().map(|output| output.for_model).collect()
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(socket: TcpStream, talk: Talk, greetings: Arc<AtomicUsize>) {
    let (input, output) = socket.into_split();
    let mut lines = BufReader::new(input);
    let mut head = String::new();
    while lines.read_line(&mut head).await.is_ok_and(|length| length > 2) {}
    let head = head.to_lowercase();
    let length = head.split_once("content-length: ").map(|(_, rest)| rest.lines().next().unwrap_or_default());
    let mut body = vec![0; length.and_then(|length| length.parse().ok()).unwrap_or(0)];
    lines.read_exact(&mut body).await.unwrap();
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let mut asked = Asked { head, message, output };
    match asked.message["method"].as_str().unwrap_or_default() {
        "initialize" => {
            let result = json!({
                "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "web", "version": "1" },
            });
            let body = json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": result });
            let session = format!("Mcp-Session-Id: s{}\r\n", greetings.fetch_add(1, Ordering::Relaxed));
            asked.answer_with("200 OK", &session, &body).await;
        }
        // There is no stream besides the answers.
        "" if asked.head.starts_with("get ") => asked.answer("405 Method Not Allowed", &Value::Null).await,
        // Requests for the test to answer, or an answer to a request made during a call.
        "tools/list" | "tools/call" | "" => talk(asked).await,
        _ => asked.accept().await,
    }
}
