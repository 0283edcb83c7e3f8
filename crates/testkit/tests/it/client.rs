//! A client that shows every byte of a response, in order: these tests look at details that a library would hide.

use std::io::{Read, Write};
use std::net::{TcpStream, ToSocketAddrs};

use serde_json::{Value, json};
use sortie_testkit::ScriptedServer;

/// One connection to a scripted server.
pub(crate) struct Client {
    stream: TcpStream,
    /// Received bytes, not yet taken.
    inbox: Vec<u8>,
}

/// A response without its framing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
    /// Sizes of the HTTP chunks; empty if the length was announced.
    pub(crate) chunks: Vec<usize>,
    /// True if the response ended properly.
    pub(crate) whole: bool,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Client {
    pub(crate) fn connect(server: &ScriptedServer) -> Self {
        Self::to(server.address())
    }

    pub(crate) fn to(address: impl ToSocketAddrs) -> Self {
        Self { stream: TcpStream::connect(address).unwrap(), inbox: Vec::new() }
    }

    /// Sends raw bytes.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    pub(crate) fn post(&mut self, path: &str, headers: &[(&str, &str)], body: &Value) {
        let body = body.to_string();
        let mut request = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n", body.len());
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        self.send(format!("{request}\r\n{body}").as_bytes());
    }

    pub(crate) fn post_anthropic(&mut self, body: &Value) {
        self.post("/v1/messages", &[("anthropic-version", "2023-06-01")], body);
    }

    pub(crate) fn post_openai(&mut self, body: &Value) {
        self.post("/v1/chat/completions", &[], body);
    }

    /// Posts a request whose path names the model and the streaming mode.
    pub(crate) fn post_gemini(&mut self, request: &Value) {
        let mut body = request.clone();
        let mut take = |field: &str| body.as_object_mut().and_then(|body| body.remove(field)).unwrap_or_default();
        let (model, streams) = (take("model"), take("stream") == true);
        let model = model.as_str().unwrap_or("scripted");
        let method = if streams { "streamGenerateContent?alt=sse" } else { "generateContent" };
        self.post(&format!("/v1beta/models/{model}:{method}"), &[], &body);
    }

    pub(crate) fn post_openai_responses(&mut self, body: &Value) {
        self.post("/v1/responses", &[], body);
    }

    /// Sends a request to the endpoint of its wire.
    pub(crate) fn post_on(&mut self, wire: Wire, request: &Value) {
        match wire {
            Wire::Anthropic => self.post_anthropic(request),
            Wire::Gemini => self.post_gemini(request),
            Wire::OpenAi => self.post_openai(request),
            Wire::OpenAiResponses => self.post_openai_responses(request),
        }
    }

    /// Reads one response, however it ends.
    pub(crate) fn receive(&mut self) -> Response {
        let head = self.take_through("\r\n\r\n").expect("an answer has a head");
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a head has a status");
        let mut response = Response { status, head, body: String::new(), chunks: Vec::new(), whole: false };
        let mut body = Vec::new();
        if let Some(length) = response.header("content-length") {
            let length: usize = length.parse().unwrap();
            body = self.take(length);
            response.whole = body.len() == length;
        } else {
            response.whole = self.receive_chunks(&mut body, &mut response.chunks);
        }
        response.body = String::from_utf8_lossy(&body).into_owned();
        response
    }

    fn receive_chunks(&mut self, body: &mut Vec<u8>, chunks: &mut Vec<usize>) -> bool {
        while let Some(line) = self.take_through("\r\n") {
            let size = usize::from_str_radix(line.trim_end(), 16).unwrap();
            body.extend(self.take(size));
            if self.take(2) != b"\r\n" {
                return false;
            }
            if size == 0 {
                return true;
            }
            chunks.push(size);
        }
        false
    }

    /// Reads until `text` arrives, and takes everything up to its end. `None`: the server disconnected before.
    pub(crate) fn take_through(&mut self, text: &str) -> Option<String> {
        loop {
            if let Some(at) = self.inbox.windows(text.len()).position(|window| window == text.as_bytes()) {
                return String::from_utf8(self.take(at + text.len())).ok();
            }
            if !self.read_more() {
                return None;
            }
        }
    }

    /// Takes this many bytes, or fewer if the server disconnected before.
    fn take(&mut self, bytes: usize) -> Vec<u8> {
        while self.inbox.len() < bytes && self.read_more() {}
        let rest = self.inbox.split_off(bytes.min(self.inbox.len()));
        std::mem::replace(&mut self.inbox, rest)
    }

    fn read_more(&mut self) -> bool {
        let mut buffer = [0; 4096];
        let count = self.stream.read(&mut buffer).unwrap_or(0);
        self.inbox.extend_from_slice(&buffer[..count]);
        count > 0
    }

    /// True if the server has closed the connection, or does so now.
    pub(crate) fn is_closed_by_server(&mut self) -> bool {
        !self.read_more()
    }
}

/// A small valid request to Anthropic.
pub(crate) fn anthropic_request(prompt: &str) -> Value {
    json!({ "model": "scripted", "max_tokens": 64, "messages": [{ "role": "user", "content": prompt }] })
}

/// A small valid request to OpenAI.
pub(crate) fn openai_request(prompt: &str) -> Value {
    json!({ "model": "scripted", "messages": [{ "role": "user", "content": prompt }] })
}

/// A small valid request to Gemini; [`Client::post_gemini`] puts the model into the path.
pub(crate) fn gemini_request(prompt: &str) -> Value {
    json!({ "model": "scripted", "contents": [{ "role": "user", "parts": [{ "text": prompt }] }] })
}

/// A small valid request to OpenAI's Responses.
pub(crate) fn openai_responses_request(prompt: &str) -> Value {
    json!({ "model": "scripted", "store": false, "input": [{ "role": "user", "content": prompt }] })
}

/// Makes a request streaming.
pub(crate) fn streaming(mut request: Value) -> Value {
    request["stream"] = Value::from(true);
    request
}

/// Sends one request over a connection of its own.
pub(crate) fn ask(server: &ScriptedServer, wire: Wire, request: &Value) -> Response {
    let mut client = Client::connect(server);
    client.post_on(wire, request);
    client.receive()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    Anthropic,
    Gemini,
    OpenAi,
    OpenAiResponses,
}

impl Wire {
    pub(crate) const ALL: [Self; 4] = [Self::Anthropic, Self::Gemini, Self::OpenAi, Self::OpenAiResponses];

    pub(crate) fn request(self, prompt: &str) -> Value {
        match self {
            Self::Anthropic => anthropic_request(prompt),
            Self::Gemini => gemini_request(prompt),
            Self::OpenAi => openai_request(prompt),
            Self::OpenAiResponses => openai_responses_request(prompt),
        }
    }
}
