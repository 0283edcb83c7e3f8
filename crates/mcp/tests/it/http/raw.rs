//! Requests as bytes: a client that sends what no library would.

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::host::{AT_MOST, Host, TOKEN};

/// A valid request until a test changes it. Its connection is closed after the reply.
#[derive(Clone)]
pub(crate) struct Request {
    address: SocketAddr,
    line: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn new(host: &Host, line: &str) -> Self {
        let request = Self { address: host.address, line: line.to_owned(), headers: Vec::new(), body: Vec::new() };
        request
            .with("Host", &host.address.to_string())
            .with("Authorization", &format!("Bearer {TOKEN}"))
            .with("Accept", "application/json, text/event-stream")
            .with("Connection", "close")
    }

    /// A request with a protocol message.
    pub(crate) fn post(host: &Host, message: &Value) -> Self {
        Self::bytes(host, message.to_string().as_bytes())
    }

    pub(crate) fn bytes(host: &Host, body: &[u8]) -> Self {
        let request = Self::new(host, "POST /mcp HTTP/1.1").with("Content-Type", "application/json");
        Self { body: body.to_owned(), ..request.with("Content-Length", &body.len().to_string()) }
    }

    /// The first message of a session.
    pub(crate) fn initialize(host: &Host) -> Self {
        Self::post(host, &initialize())
    }

    /// A call as newer clients make it: each request carries all information of a session.
    pub(crate) fn stateless_call(host: &Host, tool: &str) -> Self {
        let version = "2026-07-28";
        let mut message = call(1, tool);
        message["params"]["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        Self::post(host, &message)
            .with("MCP-Protocol-Version", version)
            .with("Mcp-Method", "tools/call")
            .with("Mcp-Name", tool)
    }

    /// Sets a header, replacing its value.
    pub(crate) fn with(self, name: &str, value: &str) -> Self {
        self.without(name).and(name, value)
    }

    /// Adds a header, even if there is one of this name.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn line(self, line: &str) -> Self {
        Self { line: line.to_owned(), ..self }
    }

    pub(crate) fn within(self, session: &str) -> Self {
        self.with("Mcp-Session-Id", session)
    }

    /// Sends it, and leaves the reply to be read.
    pub(crate) async fn begin(&self) -> Connection {
        self.on(Connection { stream: TcpStream::connect(self.address).await.unwrap() }).await
    }

    /// Sends it on an existing connection.
    pub(crate) async fn on(&self, connection: Connection) -> Connection {
        let Connection { mut stream } = connection;
        let headers = self.headers.iter().map(|(name, value)| format!("{name}: {value}"));
        let lines: Vec<String> = std::iter::once(self.line.clone()).chain(headers).collect();
        stream.write_all(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes()).await.unwrap();
        // A request refused by its head may be disconnected before the body is sent.
        stream.write_all(&self.body).await.ok();
        Connection { stream }
    }

    pub(crate) async fn send(&self) -> Reply {
        self.begin().await.reply().await
    }
}

pub(crate) fn initialize() -> Value {
    let params =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn initialized() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

pub(crate) fn call(id: u64, tool: &str) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": tool, "arguments": {} } })
}

/// A connection with a request sent on it.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
}

impl Connection {
    /// Reads everything until the end.
    pub(crate) async fn reply(mut self) -> Reply {
        let mut bytes = Vec::new();
        let read = self.stream.read_to_end(&mut bytes);
        // A cut connection has also ended; everything received by then counts.
        tokio::time::timeout(AT_MOST, read).await.expect("the answer has no end").ok();
        Reply::parse(&bytes)
    }

    /// Reads until a text arrives; returns everything received by then.
    pub(crate) async fn until(&mut self, text: &str) -> String {
        let mut seen = Vec::new();
        while !String::from_utf8_lossy(&seen).contains(text) {
            let mut buffer = [0; 4096];
            let read = tokio::time::timeout(AT_MOST, self.stream.read(&mut buffer));
            match read.await.expect("it does not come").unwrap() {
                0 => panic!("{text} never came: {}", String::from_utf8_lossy(&seen)),
                read => seen.extend_from_slice(&buffer[..read]),
            }
        }
        String::from_utf8_lossy(&seen).into_owned()
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    /// 0 if the connection ended without a reply.
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or_default();
        let is_chunked = head.to_ascii_lowercase().contains("transfer-encoding: chunked");
        let body = if is_chunked { joined(body) } else { body.to_owned() };
        Self { status, head: head.to_owned(), body }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// Returns the code of an error reply.
    pub(crate) fn error_code(&self) -> i64 {
        let error: Value = serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"));
        assert_eq!(error["jsonrpc"], "2.0", "{self:?}");
        error["error"]["code"].as_i64().unwrap_or_else(|| panic!("no error: {self:?}"))
    }
}

/// Joins the chunks of a body without their frames.
fn joined(mut chunks: &str) -> String {
    let mut body = String::new();
    while let Some((length, rest)) = chunks.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap_or_default();
        let Some(chunk) = rest.get(..length) else { break };
        body.push_str(chunk);
        chunks = rest.get(length + 2..).unwrap_or_default();
    }
    body
}

/// Starts a session, announces that the client is ready, and returns the session's id.
pub(crate) async fn open_session(host: &Host) -> String {
    open_session_by(host, |request| request).await
}

/// Starts a session with requests changed by the test.
pub(crate) async fn open_session_by(host: &Host, change: impl Fn(Request) -> Request) -> String {
    let reply = change(Request::initialize(host)).send().await;
    assert_eq!(reply.status, 200, "{reply:?}");
    let session = reply.header("mcp-session-id").unwrap().to_owned();
    let reply = change(Request::post(host, &initialized()).within(&session)).send().await;
    assert_eq!(reply.status, 202, "{reply:?}");
    session
}

/// Starts a session on the only connection that the server permits, and returns that connection for further use.
pub(crate) async fn open_session_on_one_connection(host: &Host) -> (String, Connection) {
    let mut connection = Request::initialize(host).with("Connection", "keep-alive").begin().await;
    let opened = Reply::parse(connection.until("\r\n0\r\n\r\n").await.as_bytes());
    let session = opened.header("mcp-session-id").unwrap().to_owned();
    let ready = Request::post(host, &initialized()).within(&session).with("Connection", "keep-alive");
    let mut connection = ready.on(connection).await;
    connection.until("202 Accepted").await;
    (session, connection)
}

/// Waits until there is room again, for a connection or for a session.
pub(crate) async fn until_there_is_room(host: &Host) {
    let room = async { while Request::initialize(host).send().await.status == 503 {} };
    tokio::time::timeout(AT_MOST, room).await.expect("there is no room");
}
