//! A scripted HTTP server on loopback that speaks the providers' wires, streaming and not.
//!
//! It replies by a [`Script`], rejects what the real providers reject, and controls every byte that it sends, so that
//! faults are exact. It runs on a thread of its own: a test's runtime, paused clock or blocking call cannot disturb it.

mod anthropic;
mod connection;
mod delivery;
mod dialect;
mod exchange;
mod gemini;
mod http;
mod openai;
mod openai_responses;
mod strict;
mod strict_anthropic;
mod strict_gemini;
mod strict_openai;
mod strict_openai_responses;

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::gate::{Gate, Gates, Meetings};
use crate::script::{Playback, Script};
use crate::traffic::{Traffic, TrafficCounter};

/// A running server; dropping it closes the port and every connection.
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Callback for a server's events.
pub type Watch = Box<dyn Fn(ServerEvent<'_>) + Send + Sync>;

/// Options of a server.
#[derive(Default)]
pub struct ServerOptions {
    /// The port; 0 picks a free one.
    pub port: u16,
    /// The key that requests must carry. Absent: any key or none.
    pub key: Option<String>,
    /// Ids of the models that the server lists. Absent: it gives no list.
    pub models: Option<Vec<String>>,
    /// The model of another program. Its requests are answered without the checks, which know what our program sends.
    pub guest: Option<String>,
    /// Turns recording off, for servers that run long.
    pub forget_requests: bool,
    /// Receives every request and every reply, on the server's thread: it must be quick.
    pub watch: Option<Watch>,
}

/// An event at the server.
#[derive(Debug, Clone, Copy)]
pub enum ServerEvent<'a> {
    /// A request was read completely and is about to be checked.
    Arrived { request: &'a RecordedRequest, model: &'a str, turn: u32 },
    /// The last byte of the reply was sent.
    Answered { connection: u64, status: u16 },
    /// The client left before the end of its reply.
    Abandoned { connection: u64 },
}

/// A request as received.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The path, its query included.
    pub target: String,
    /// Names in lower case, in order of arrival.
    pub headers: Vec<(String, String)>,
    pub raw: Vec<u8>,
    /// `raw`, parsed; null if it is not JSON.
    pub body: Value,
    pub arrival: Instant,
    /// Number of its connection, from 1.
    pub connection: u64,
}

/// State shared by all connections of a server.
struct Shared {
    playback: Playback,
    options: ServerOptions,
    gates: Gates,
    meetings: Meetings,
    traffic: TrafficCounter,
    requests: Mutex<Vec<Arc<RecordedRequest>>>,
    lists_asked: AtomicUsize,
}

impl ScriptedServer {
    /// Starts a server on a free port of 127.0.0.1.
    pub fn start(script: Script) -> io::Result<Self> {
        Self::start_with(script, ServerOptions::default())
    }

    pub fn start_with(script: Script, options: ServerOptions) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, options.port))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            playback: Playback::new(script),
            options,
            gates: Gates::default(),
            meetings: Meetings::default(),
            traffic: TrafficCounter::new(),
            requests: Mutex::default(),
            lists_asked: AtomicUsize::default(),
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let served = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("scripted-server".to_owned()).spawn(move || {
            runtime.block_on(async {
                tokio::select! {
                    _ = stopped => {}
                    () = accept(listener, served) => {}
                }
            });
        })?;
        Ok(Self { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Number of questions for the list of models, which are not among the requests.
    pub fn lists_asked(&self) -> usize {
        self.shared.lists_asked.load(Ordering::Relaxed)
    }

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns all requests so far, in order of arrival, rejected ones included.
    pub fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Number of connections open now.
    pub fn open_connections(&self) -> u64 {
        self.traffic().open_connections
    }

    pub fn traffic(&self) -> Traffic {
        self.shared.traffic.counts()
    }

    /// Waits until the counts are as wanted, e.g. `|traffic| traffic.open_connections == 0`.
    pub async fn traffic_reaches(&self, wanted: impl FnMut(&Traffic) -> bool) -> Traffic {
        self.shared.traffic.reaches(wanted).await
    }

    /// Returns the gate that a script names with `held_by`.
    pub fn gate(&self, name: &str) -> Gate {
        self.shared.gates.gate(name)
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // That thread has already printed its panic.
            drop(thread.join());
        }
    }
}

impl RecordedRequest {
    /// The path without its query.
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }

    /// The value of a header; `name` in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

impl Shared {
    fn tell(&self, event: ServerEvent<'_>) {
        if let Some(watch) = &self.options.watch {
            watch(event);
        }
    }
}

async fn accept(listener: std::net::TcpListener, shared: Arc<Shared>) {
    let Ok(listener) = TcpListener::from_std(listener) else { return };
    let mut connection = 0;
    // An error of `accept` concerns a new connection, not the listener.
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            connection += 1;
            tokio::spawn(exchange::serve(stream, Arc::clone(&shared), connection));
        }
    }
}
