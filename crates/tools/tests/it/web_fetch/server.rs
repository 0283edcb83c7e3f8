//! A server that answers with exactly the bytes that a test wants.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

/// Writes an answer to a request for a path. An error means that the client has gone.
type Answer = dyn Fn(&str, &mut dyn Write) -> io::Result<()> + Send + Sync;

pub(crate) struct Server {
    address: SocketAddr,
    heads: Arc<Mutex<Vec<String>>>,
    is_over: Arc<AtomicBool>,
    listening: Option<JoinHandle<()>>,
}

impl Server {
    pub(crate) fn start(answer: impl Fn(&str, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static) -> Self {
        Self::start_at(SocketAddr::from(([127, 0, 0, 1], 0)), answer)
    }

    pub(crate) fn start_at(
        address: SocketAddr,
        answer: impl Fn(&str, &mut dyn Write) -> io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(address).unwrap();
        let address = listener.local_addr().unwrap();
        let mut server = Self { address, heads: Arc::default(), is_over: Arc::default(), listening: None };
        let (heads, is_over, answer) = (server.heads.clone(), server.is_over.clone(), Arc::new(answer));
        let listen = move || {
            for stream in listener.incoming() {
                if is_over.load(Ordering::SeqCst) {
                    return;
                }
                let (heads, answer) = (heads.clone(), answer.clone());
                thread::spawn(move || serve(&stream.unwrap(), &heads, &*answer));
            }
        };
        server.listening = Some(thread::spawn(listen));
        server
    }

    /// A server that answers every request with the same page.
    pub(crate) fn with(content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let page = page("200 OK", content_type, &body.into());
        Self::start(move |_, out| out.write_all(&page))
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    pub(crate) fn ip(&self) -> IpAddr {
        self.address.ip()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The heads of all requests so far; empty for a connection that sent nothing.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.heads.lock().unwrap().clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
        drop(TcpStream::connect(self.address));
        // After this nobody listens there any more.
        drop(self.listening.take().map(JoinHandle::join));
    }
}

fn serve(stream: &TcpStream, heads: &Mutex<Vec<String>>, answer: &Answer) {
    let mut reader = BufReader::new(stream);
    let mut head = String::new();
    while reader.read_line(&mut head).is_ok_and(|n_bytes| n_bytes > 0) && !head.ends_with("\r\n\r\n") {}
    heads.lock().unwrap().push(head.clone());
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    // The client may have gone; some tests are about that.
    drop(answer(&path, &mut &*stream));
}

/// A complete answer.
pub(crate) fn page(status: &str, content_type: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

pub(crate) fn redirect(status: u16, location: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nSet-Cookie: session=1\r\nContent-Length: 0\r\n\
         Connection: close\r\n\r\n"
    )
    .into_bytes()
}
