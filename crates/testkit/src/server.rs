//! A scripted HTTP server on the loopback that speaks the providers' wires, streaming and not.
//!
//! It answers by a [`Script`], refuses what the real providers refuse, and controls every byte that it sends, so that
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
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use serde_json::Value;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::gate::{Gate, Gates};
use crate::script::{Playback, Script};
use crate::traffic::{Traffic, TrafficCounter};

/// A running server; dropping it closes the port and every connection.
pub struct ScriptedServer {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Told of a server's events.
pub type Watch = Box<dyn Fn(ServerEvent<'_>) + Send + Sync>;

/// How a server differs from the ordinary one.
#[derive(Default)]
pub struct ServerOptions {
    /// The port; 0 takes a free one.
    pub port: u16,
    /// The key that requests must bring. Absent: any key will do, and none too.
    pub key: Option<String>,
    /// Keeps no requests, for servers that run long.
    pub forget_requests: bool,
    /// Is told of every request and every reply, on the server's thread: it must be quick.
    pub watch: Option<Watch>,
}

/// Something that a server noticed.
#[derive(Debug, Clone, Copy)]
pub enum ServerEvent<'a> {
    /// A request was read whole and is about to be checked.
    Arrived { request: &'a RecordedRequest, model: &'a str, turn: u32 },
    /// The last byte of the answer is out.
    Answered { connection: u64, status: u16 },
}

/// A request as it arrived.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// The path, its query included.
    pub target: String,
    /// Names in lower case, in the order in which they came.
    pub headers: Vec<(String, String)>,
    pub raw: Vec<u8>,
    /// `raw`, parsed; null where it is not JSON.
    pub body: Value,
    pub arrival: Instant,
    /// Counts from 1; requests with one number came over one connection.
    pub connection: u64,
}

/// What all connections of a server share.
struct Shared {
    playback: Playback,
    options: ServerOptions,
    gates: Gates,
    traffic: TrafficCounter,
    requests: Mutex<Vec<Arc<RecordedRequest>>>,
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
            traffic: TrafficCounter::new(),
            requests: Mutex::default(),
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

    /// `http://127.0.0.1:PORT`, without a path.
    pub fn base_url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// All requests so far, in the order of their arrival, refused ones included.
    pub fn requests(&self) -> Vec<Arc<RecordedRequest>> {
        self.shared.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many connections are open now.
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

    /// The gate that a script names with `held_by`.
    pub fn gate(&self, name: &str) -> Gate {
        self.shared.gates.gate(name)
    }
}

impl Drop for ScriptedServer {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A panic on the server's thread has been printed by that thread already.
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
    // An error of `accept` concerns the connection that was about to be made, not the listener.
    loop {
        if let Ok((stream, _)) = listener.accept().await {
            connection += 1;
            tokio::spawn(exchange::serve(stream, Arc::clone(&shared), connection));
        }
    }
}
