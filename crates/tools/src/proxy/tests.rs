//! The proxy over real sockets, with a scripted name lookup.

mod hostile;
mod plain;
mod second_readers;
mod tunnels;

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use expect_test::expect;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use sortie_sandbox::Workspace;
use sortie_sandbox::process::Walls;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use super::*;
use crate::port::future::BoxFuture;
use crate::port::shell_reach::{NetworkReach, Repositories, Writable};
use crate::web::lookup::Lookup;

/// The presence of a server name in a TLS hello.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ServerName {
    Sent,
    Withheld,
}

/// The first bytes of a TLS client of this server.
pub(super) fn greeting(server: &str, name: ServerName) -> Vec<u8> {
    let mut config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(RootCertStore::empty())
        .with_no_client_auth();
    config.enable_sni = name == ServerName::Sent;
    let mut client = ClientConnection::new(Arc::new(config), server.to_owned().try_into().unwrap()).unwrap();
    let mut bytes = Vec::new();
    client.write_tls(&mut bytes).unwrap();
    bytes
}

/// Allows every host except those beginning with `evil`.
#[derive(Default)]
struct Reach {
    asked: Mutex<Vec<String>>,
    /// True if nothing is allowed.
    is_closed: bool,
}

impl ShellReach for Reach {
    fn writable(&self, _: &Workspace) -> Writable {
        Writable::default()
    }

    fn walls(&self, _: &Workspace, _: &[PathBuf], _: &Repositories) -> Result<Walls, String> {
        Err("nothing runs here".to_owned())
    }

    fn reads_only(&self) -> Option<String> {
        None
    }

    fn network(&self) -> NetworkReach {
        NetworkReach::Hosts
    }

    fn may_reach(&self, host: &str) -> Result<(), String> {
        self.asked.lock().unwrap().push(host.to_owned());
        if self.is_closed || host.starts_with("evil") {
            Err(format!("`WebFetch(domain:{host})` would allow it"))
        } else {
            Ok(())
        }
    }
}

/// Scripted answers for names: in order, the last one forever.
#[derive(Default)]
struct Names {
    answers: HashMap<&'static str, Vec<IpAddr>>,
    asked: Mutex<Vec<String>>,
}

impl Lookup for Names {
    fn addresses<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut asked = self.asked.lock().unwrap();
        let n_before = asked.iter().filter(|asked| *asked == host).count();
        asked.push(host.to_owned());
        let answers = self.answers.get(host);
        let answer = answers.and_then(|answers| answers.get(n_before).or(answers.last()));
        Box::pin(std::future::ready(
            answer.map(|&address| vec![address]).ok_or_else(|| io::Error::other("no such name")),
        ))
    }
}

/// A running proxy, and the lookups it makes.
struct Proxy {
    guard: ProxyGuard,
    address: SocketAddr,
    reach: Arc<Reach>,
    names: Arc<Names>,
}

impl Proxy {
    /// Names with their successive addresses, and the permitted inner places.
    fn start(names: &[(&'static str, &[&str])], private: &[&str]) -> Self {
        Self::start_with(names, &WebRules::new(private, &[]).unwrap())
    }

    fn start_with(names: &[(&'static str, &[&str])], rules: &WebRules) -> Self {
        let parse = |answers: &[&str]| answers.iter().map(|address| address.parse().unwrap()).collect();
        let answers = names.iter().map(|&(name, answers)| (name, parse(answers))).collect();
        let (reach, names) = (Arc::new(Reach::default()), Arc::new(Names { answers, asked: Mutex::default() }));
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let guard = Guard::new(rules.clone()).with_lookup(names.clone());
        let guard = start(listener, Dialer::new(reach.clone(), guard)).unwrap();
        Self { guard, address, reach, names }
    }

    /// A proxy for which `some.example` is on this machine.
    fn to_here() -> Self {
        Self::start(&[("some.example", &["127.0.0.1"])], &["127.0.0.1"])
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Sends these bytes and returns everything that comes back.
    async fn ask(&self, bytes: impl AsRef<[u8]>) -> String {
        let mut client = self.connect().await;
        client.write_all(bytes.as_ref()).await.unwrap();
        rest(&mut client).await
    }
}

/// Returns everything still to come.
async fn rest(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// A server on this machine, which answers when a test does.
async fn server() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

/// Reads this many bytes as text.
async fn exactly(stream: &mut TcpStream, n_bytes: usize) -> String {
    let mut bytes = vec![0; n_bytes];
    stream.read_exact(&mut bytes).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

/// Reads a head, up to its empty line.
async fn head_of(stream: &mut TcpStream) -> String {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap().into());
    }
    head
}

#[test]
fn the_environment_names_the_proxy_and_exempts_loopback() {
    let variables = variables(8080, &Reach::default(), &WebRules::default());
    let text: Vec<_> = variables.into_iter().map(|(name, value)| format!("{name}={value}\n")).collect();
    expect![[r#"
        HTTP_PROXY=http://127.0.0.1:8080
        HTTPS_PROXY=http://127.0.0.1:8080
        ALL_PROXY=http://127.0.0.1:8080
        http_proxy=http://127.0.0.1:8080
        https_proxy=http://127.0.0.1:8080
        all_proxy=http://127.0.0.1:8080
        NO_PROXY=localhost,127.0.0.1,::1
        no_proxy=localhost,127.0.0.1,::1
        NODE_USE_ENV_PROXY=1
    "#]]
    .assert_eq(&text.concat());
}

#[test]
fn loopback_means_this_machine_if_grant_and_settings_allow_it() {
    let direct = |reach: &dyn ShellReach, private: &[&str]| {
        let web = WebRules::new(private.iter().copied(), []).unwrap();
        variables(8080, reach, &web).into_iter().find(|(name, _)| name == "NO_PROXY").unwrap().1
    };
    let granted = Reach::default();
    assert_eq!(direct(&granted, &["127.0.0.1:9000"]), "::1");
    assert_eq!(direct(&granted, &["localhost"]), "127.0.0.1,::1");
    assert_eq!(direct(&granted, &["::1"]), "localhost,127.0.0.1");
    assert_eq!(direct(&granted, &["10.0.0.0/8"]), "localhost,127.0.0.1,::1");
    assert_eq!(direct(&Reach { is_closed: true, ..Reach::default() }, &["127.0.0.0/8"]), "localhost,127.0.0.1,::1");
    assert_eq!(*granted.asked.lock().unwrap().last().unwrap(), "[::1]", "as a grant knows it");
}
