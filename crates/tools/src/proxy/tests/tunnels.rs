//! Tunnels: they begin with a checked hello and carry the rest unchanged.

use super::*;

const ESTABLISHED: &str = "HTTP/1.1 200 Connection established\r\n\r\n";
const DENIED: [u8; 7] = [21, 3, 3, 0, 2, 2, 49];

/// Begins a tunnel with these bytes. Returns what the server got, what the client got once the tunnel was open, and the
/// refusals.
async fn ended(host: &str, first: &[u8]) -> (Vec<u8>, Vec<u8>, Vec<String>) {
    let (listener, port) = server().await;
    let proxy = Proxy::to_here();
    let mut client = proxy.connect().await;
    client.write_all(format!("CONNECT {host}:{port} HTTP/1.1\r\n\r\n").as_bytes()).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    assert_eq!(head_of(&mut client).await, ESTABLISHED);
    client.write_all(first).await.unwrap();
    let (mut at_server, mut at_client) = (Vec::new(), Vec::new());
    let (server_end, client_end) = tokio::join!(stream.read_to_end(&mut at_server), client.read_to_end(&mut at_client));
    assert!(server_end.is_ok() && client_end.is_ok());
    (at_server, at_client, proxy.guard.refused())
}

#[tokio::test]
async fn a_tunnel_carries_bytes_both_ways_until_both_sides_have_ended() {
    let (listener, port) = server().await;
    let proxy = Proxy::to_here();
    let mut client = proxy.connect().await;
    let hello = greeting("some.example", ServerName::Sent);
    // Some clients do this, without waiting.
    let head = format!("CONNECT some.example:{port} HTTP/1.1\r\nHost: some.example:{port}\r\n\r\n").into_bytes();
    client.write_all(&[head, hello[..10].to_vec()].concat()).await.unwrap();
    assert_eq!(head_of(&mut client).await, ESTABLISHED);
    client.write_all(&hello[10..]).await.unwrap();
    client.write_all(b"and more").await.unwrap();
    client.shutdown().await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut received = Vec::new();
    stream.read_to_end(&mut received).await.unwrap();
    assert!(received == [&*hello, b"and more"].concat());
    let answer = "answer".repeat(50_000);
    let (sent, heard) = tokio::join!(
        async {
            stream.write_all(answer.as_bytes()).await.unwrap();
            stream.shutdown().await
        },
        rest(&mut client)
    );
    sent.unwrap();
    assert!(heard == answer);
    assert_eq!(proxy.guard.refused(), [""; 0]);
}

#[tokio::test]
async fn a_tunnel_to_one_host_does_not_reach_another() {
    let mut text = String::new();
    for (server, name) in [
        ("other.example", ServerName::Sent),
        ("x.some.example", ServerName::Sent),
        ("some.example", ServerName::Withheld),
    ] {
        let (at_server, at_client, told) = ended("some.example", &greeting(server, name)).await;
        assert_eq!((at_server.as_slice(), at_client.as_slice()), (&[][..], &DENIED[..]), "{server}");
        text += &format!("{}\n", told.join("\n"));
    }
    expect![[r#"
        the tunnel to `some.example` was ended: its TLS asks for the server `other.example`
        the tunnel to `some.example` was ended: its TLS asks for the server `x.some.example`
        the tunnel to `some.example` was ended: its TLS does not name the server that it means (no SNI)
    "#]]
    .assert_eq(&text);
}

#[tokio::test]
async fn a_tunnel_carries_only_tls() {
    let plain = b"GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    let (at_server, at_client, told) = ended("some.example", plain).await;
    assert_eq!((at_server.as_slice(), at_client.as_slice()), (&[][..], &[][..]));
    expect![[r#"
        the tunnel to `some.example` was ended: only TLS goes through a tunnel; plain http is asked of the proxy without one
    "#]]
    .assert_eq(&format!("{}\n", told.join("\n")));
}

#[tokio::test]
async fn tls_to_an_address_names_no_server() {
    let (at_server, at_client, _) = ended("127.0.0.1", &greeting("some.example", ServerName::Sent)).await;
    assert_eq!((at_server.as_slice(), at_client.as_slice()), (&[][..], &DENIED[..]));
    let (listener, port) = server().await;
    let proxy = Proxy::to_here();
    let mut client = proxy.connect().await;
    let hello = greeting("127.0.0.1", ServerName::Sent);
    let head = format!("CONNECT 127.0.0.1:{port} HTTP/1.0\r\n\r\n").into_bytes();
    client.write_all(&[head, hello.clone()].concat()).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut received = vec![0; hello.len()];
    stream.read_exact(&mut received).await.unwrap();
    assert!(received == hello);
}
