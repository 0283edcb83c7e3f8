//! A client that writes arbitrary lines, and reads or not.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines};
use tokio::task::JoinHandle;

use crate::office::World;

pub(super) struct Rough {
    pub(super) input: DuplexStream,
    pub(super) output: Lines<BufReader<DuplexStream>>,
    pub(super) session: JoinHandle<()>,
}

impl Rough {
    pub(super) fn new(world: &World) -> Self {
        Self::over(world, 1 << 20)
    }

    /// Connects over streams that hold this many bytes.
    pub(super) fn over(world: &World, bytes: usize) -> Self {
        let (input, theirs) = tokio::io::duplex(bytes);
        let (output, ours) = tokio::io::duplex(bytes);
        let session = world.open_between(theirs, ours);
        Self { input, output: BufReader::new(output).lines(), session }
    }

    pub(super) async fn write(&mut self, line: &[u8]) {
        self.input.write_all(line).await.unwrap();
        self.input.write_all(b"\n").await.unwrap();
    }

    pub(super) async fn read(&mut self) -> Value {
        serde_json::from_str(&self.output.next_line().await.unwrap().unwrap()).unwrap()
    }

    pub(super) async fn ask(&mut self, message: Value) -> Value {
        self.write(message.to_string().as_bytes()).await;
        self.read().await
    }

    /// Opens the session, which shows that the server is up.
    pub(super) async fn initialize(&mut self) {
        let opened = self.ask(initialize()).await;
        assert_eq!(opened["result"]["serverInfo"]["name"], "sortie", "{opened}");
    }

    pub(super) async fn is_served(&mut self) {
        let listed = self.ask(json!({"jsonrpc": "2.0", "id": 99, "method": "tools/list"})).await;
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 6, "{listed}");
    }
}

pub(super) fn initialize() -> Value {
    let client = json!({"name": "rough", "version": "1"});
    let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
    json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
}
