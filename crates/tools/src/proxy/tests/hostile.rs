//! Clients that are slow or never finish. The clock is paused and advances only if nothing else can happen.

use tokio::io::{DuplexStream, duplex};
use tokio::time::Instant;

use super::*;
use crate::proxy::body::Framing;
use crate::proxy::{connection, forward, tunnel};
use crate::web::target::Target;

fn door() -> Dialer {
    Dialer::new(Arc::new(Reach::default()), Guard::new(WebRules::default()).with_lookup(Arc::new(Names::default())))
}

/// Sends these bytes again and again, one each second, until the other end closes.
async fn trickle(client: &mut (impl tokio::io::AsyncWrite + Unpin), bytes: &[u8]) {
    for byte in bytes.iter().cycle() {
        if client.write_all(&[*byte]).await.is_err() {
            return;
        }
        sleep(Duration::from_secs(1)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_head_that_arrives_drop_by_drop_times_out() {
    let (client, near) = duplex(1 << 10);
    let (mut from_proxy, mut to_proxy) = tokio::io::split(client);
    let begin = Instant::now();
    let serving = async { connection::serve(near, &door()).await };
    let hearing = async {
        let text = rest(&mut from_proxy).await;
        (text, begin.elapsed())
    };
    let ((text, waited), (), ()) = tokio::join!(hearing, serving, trickle(&mut to_proxy, b"GET http://a/"));
    assert!(text.starts_with("HTTP/1.1 408 Request Timeout\r\n"), "{text}");
    assert_eq!(waited, Duration::from_secs(10));
    // A client that still sends could lose the answer if cut off at once; so it is drained for a moment, and no longer.
    let listened = Duration::from_secs(12)..=Duration::from_secs(13);
    assert!(listened.contains(&begin.elapsed()), "{:?}", begin.elapsed());
}

/// Runs a tunnel to `some.example`. Returns how long it stayed open, and the refusals.
async fn tunnel(first: &[u8], talk: impl AsyncFnOnce(&mut DuplexStream, &mut DuplexStream)) -> (Duration, Vec<String>) {
    let ((mut client, mut near), (server, mut far)) = (duplex(1 << 16), duplex(1 << 16));
    let (door, begin) = (door(), Instant::now());
    let target = Target::parse("http://some.example:443/").unwrap();
    let carrying = async {
        tunnel::carry(&mut near, server, first.to_vec(), &target, &door).await;
        begin.elapsed()
    };
    let (stood, ()) = tokio::join!(carrying, talk(&mut client, &mut far));
    (stood, door.refused())
}

#[tokio::test(start_paused = true)]
async fn tls_that_arrives_drop_by_drop_times_out() {
    let (stood, told) = tunnel(b"", async |client, _| {
        for byte in greeting("some.example", ServerName::Sent).into_iter().take(20) {
            client.write_all(&[byte]).await.unwrap();
            sleep(Duration::from_secs(1)).await;
        }
    })
    .await;
    assert_eq!(stood, Duration::from_secs(10));
    expect!["the tunnel to `some.example` was ended: it did not begin with TLS within 10 s"]
        .assert_eq(&told.join("\n"));
}

#[tokio::test(start_paused = true)]
async fn an_idle_tunnel_is_ended() {
    let hello = greeting("some.example", ServerName::Sent);
    let (stood, told) = tunnel(&hello, async |_, server| {
        sleep(IDLE / 2).await;
        server.write_all(b"a word").await.unwrap();
    })
    .await;
    assert_eq!(stood, IDLE / 2 * 3);
    assert_eq!(told, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_does_not_answer_times_out() {
    let ((_client, mut near), (server, _far)) = (duplex(1 << 10), duplex(1 << 10));
    let begin = Instant::now();
    let body = forward::Body { rest: Vec::new(), framing: Framing::Empty };
    forward::carry(&mut near, server, b"GET / HTTP/1.1\r\n\r\n", body).await.unwrap();
    assert_eq!(begin.elapsed(), IDLE);
}

#[tokio::test(start_paused = true)]
async fn connections_beyond_the_limit_wait_until_others_end() {
    let proxy = Proxy::to_here();
    let mut silent = Vec::new();
    for _ in 0..MAX_CONNECTIONS {
        silent.push(proxy.connect().await);
    }
    let begin = Instant::now();
    let answer = proxy.ask("GET http://evil.example/ HTTP/1.1\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{answer}");
    assert!(begin.elapsed() >= Duration::from_secs(10), "there was room for another one");
}

#[tokio::test]
async fn a_client_is_told_that_its_head_is_too_long() {
    let proxy = Proxy::to_here();
    let head = format!("GET http://some.example/ HTTP/1.1\r\nA: {}\r\n\r\n", "a".repeat(300_000));
    let answer = proxy.ask(head).await;
    assert!(answer.starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n"), "{answer}");
}

#[tokio::test]
async fn a_proxy_that_is_dropped_ends_all_its_connections() {
    let (listener, port) = server().await;
    let proxy = Proxy::to_here();
    let mut client = proxy.connect().await;
    let head = format!("CONNECT some.example:{port} HTTP/1.1\r\n\r\n").into_bytes();
    client.write_all(&[head, greeting("some.example", ServerName::Sent)].concat()).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.read_u8().await.unwrap();
    let mut silent = proxy.connect().await;
    let address = proxy.address;
    drop(proxy);
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).await.unwrap();
    client.read_to_end(&mut bytes).await.unwrap();
    // A connection that was not accepted yet is reset.
    silent.read_to_end(&mut bytes).await.ok();
    assert!(TcpStream::connect(address).await.is_err(), "somebody still listens");
}
