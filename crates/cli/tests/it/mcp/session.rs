//! Session with the program over its standard streams: requests out, messages in, one a line.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::JoinHandle;

use serde_json::{Value, json};

use crate::world::Invocation;

pub(crate) struct Session {
    pub(crate) child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    stderr: JoinHandle<String>,
    sent: u64,
    /// Client information in each request, for revisions without a handshake.
    meta: Option<Value>,
    /// Roots with which it answers the server.
    pub(crate) roots: Value,
}

impl Session {
    /// Starts the program and opens a session, as a client with these capabilities.
    pub(crate) fn open(invocation: Invocation, capabilities: &Value) -> Self {
        Self::over(invocation.into_command(), capabilities)
    }

    /// Starts the program with this command, and opens a session.
    pub(crate) fn over(command: Command, capabilities: &Value) -> Self {
        let mut session = Self::start(command);
        let client = json!({"name": "a test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client});
        let opened = session.ask("initialize", params);
        assert_eq!(opened["result"]["serverInfo"]["name"], "sortie", "{opened}");
        session.notify("notifications/initialized", &json!({}));
        session
    }

    /// Opens a session as a client with these roots.
    pub(crate) fn with_roots(invocation: Invocation, roots: &[String]) -> Self {
        let mut session = Self::open(invocation, &json!({"roots": {"listChanged": true}}));
        session.have_roots(roots);
        session
    }

    /// Changes the client's roots.
    pub(crate) fn have_roots(&mut self, roots: &[String]) {
        self.roots = roots.iter().map(|uri| json!({"uri": uri})).collect();
    }

    /// Opens a session in the revision without a handshake.
    pub(crate) fn open_newest(invocation: Invocation, capabilities: &Value) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        Self { meta: Some(meta), ..Self::start(invocation.into_command()) }
    }

    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut errors = child.stderr.take().unwrap();
        let stderr = std::thread::spawn(move || {
            let mut text = String::new();
            errors.read_to_string(&mut text).unwrap();
            text
        });
        let output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.take();
        Self { child, input, output, stderr, sent: 0, meta: None, roots: json!([]) }
    }

    /// Sends a request and returns its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.sent += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        self.write(&json!({"jsonrpc": "2.0", "id": self.sent, "method": method, "params": params}));
        self.sent
    }

    pub(crate) fn notify(&mut self, method: &str, params: &Value) {
        self.write(&json!({"jsonrpc": "2.0", "method": method, "params": params}));
    }

    /// Sends a request and waits for its answer. Every line in between must also be a message.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let mut line = String::new();
            assert_ne!(self.output.read_line(&mut line).unwrap(), 0, "the server is gone");
            let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if message["method"] == "roots/list" {
                let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": self.roots}});
                self.write(&answer);
                continue;
            }
            match message.get("id") {
                // A request of the server, such as one for the model of this client, which never answers.
                Some(_) if message.get("method").is_some() => {}
                Some(answered) if *answered == json!(id) => return message,
                Some(other) => panic!("an answer to {other}, which was not waited for: {message}"),
                None => {}
            }
        }
    }

    /// Closes the input, as a host that goes away.
    pub(crate) fn close_input(&mut self) {
        drop(self.input.take());
    }

    /// Closes the session; returns the server's exit code, as in a shell, and its stderr. Its streams must end with it:
    /// whatever it has started must not keep them open.
    pub(crate) fn close(mut self) -> (i32, String) {
        use std::os::unix::process::ExitStatusExt as _;
        self.close_input();
        let status = self.child.wait().unwrap();
        self.output.read_to_end(&mut Vec::new()).unwrap();
        (status.code().unwrap_or_else(|| 128 + status.signal().unwrap()), self.stderr.join().unwrap())
    }

    fn write(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
        input.flush().unwrap();
    }
}
