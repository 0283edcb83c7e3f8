//! Plain requests: the lookups, the request that the server gets, and the answer for the client.

use super::*;

const ANSWER: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\nhere";

/// Sends bytes for `some.example`, answers them there after this many bytes of body, and returns everything that
/// arrived.
async fn arrived(request: &str, n_body_bytes: usize) -> String {
    let (listener, port) = server().await;
    let proxy = Proxy::to_here();
    let request = request.replace("PORT", &port.to_string());
    let serving = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        let head = head_of(&mut stream).await;
        let body = exactly(&mut stream, n_body_bytes).await;
        stream.write_all(ANSWER.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        format!("{head}{body}{}", rest(&mut stream).await).replace(&port.to_string(), "PORT")
    };
    let (arrived, answer) = tokio::join!(serving, proxy.ask(request));
    assert_eq!(answer, ANSWER);
    assert_eq!(proxy.guard.refused(), [""; 0]);
    arrived
}

#[tokio::test]
async fn a_request_reaches_the_host_it_names_and_the_answer_returns() {
    let request = "GET http://Some.Example:PORT/a?b HTTP/1.1\r\nHost: some.example:PORT\r\nProxy-Authorization: secret\r\n\
                   Accept: */*\r\n\r\n";
    assert_eq!(
        arrived(request, 0).await,
        "GET /a?b HTTP/1.1\r\nHost: some.example:PORT\r\nAccept: */*\r\nConnection: close\r\n\r\n"
    );
}

#[tokio::test]
async fn a_second_request_on_the_connection_reaches_nobody() {
    let second = "GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n";
    let head = "POST http://some.example:PORT/ HTTP/1.1\r\n";
    for (framing, body, sent) in [
        ("", "", ""),
        ("Content-Length: 4\r\n", "body", "body"),
        ("Transfer-Encoding: chunked\r\n", "04;a=b\r\nbody\r\n0\r\nA: b\r\n\r\n", "4\r\nbody\r\n0\r\n\r\n"),
    ] {
        let text = arrived(&format!("{head}{framing}\r\n{body}{second}"), sent.len()).await;
        let (_, after_head) = text.split_once("\r\n\r\n").unwrap();
        assert_eq!(after_head, sent, "{framing}");
    }
}

#[tokio::test]
async fn a_body_may_arrive_long_after_its_head() {
    let (listener, port) = server().await;
    let proxy = Proxy::to_here();
    let mut client = proxy.connect().await;
    let head = format!("PUT http://some.example:{port}/ HTTP/1.1\r\nContent-Length: 200000\r\n\r\n");
    client.write_all(head.as_bytes()).await.unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    head_of(&mut stream).await;
    stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await.unwrap();
    assert_eq!(head_of(&mut client).await, "HTTP/1.1 100 Continue\r\n\r\n");
    let body = "b".repeat(200_000);
    let (sent, received) = tokio::join!(client.write_all(body.as_bytes()), exactly(&mut stream, body.len()));
    sent.unwrap();
    assert!(received == body);
}

#[tokio::test]
async fn a_server_learns_that_the_rest_of_a_body_is_missing() {
    let (listener, port) = server().await;
    let proxy = Proxy::to_here();
    let request = format!("PUT http://some.example:{port}/ HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n");
    let serving = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        head_of(&mut stream).await;
        assert_eq!(rest(&mut stream).await, "");
        stream.write_all(ANSWER.as_bytes()).await.unwrap();
    };
    assert_eq!(tokio::join!(proxy.ask(request), serving).0, ANSWER);
}

#[tokio::test]
async fn a_host_refused_by_the_grant_is_not_looked_up_and_the_rule_is_named() {
    let proxy = Proxy::start(&[("evil.example", &["127.0.0.1"])], &["127.0.0.1"]);
    for _ in 0..2 {
        proxy.ask("CONNECT evil.example:443 HTTP/1.1\r\n\r\n").await;
    }
    let answer = proxy.ask("GET http://EVIL.example./ HTTP/1.1\r\n\r\n").await;
    expect![[r#"
        HTTP/1.1 403 Forbidden
        Content-Type: text/plain; charset=utf-8
        Content-Length: 79
        Connection: close

        `evil.example` was not reached: `WebFetch(domain:evil.example)` would allow it
    "#]]
    .assert_eq(&answer.replace('\r', ""));
    assert_eq!(proxy.names.asked.lock().unwrap().as_slice(), [""; 0]);
    assert_eq!(
        proxy.guard.refused(),
        ["`evil.example` was not reached: `WebFetch(domain:evil.example)` would allow it"]
    );
}

#[tokio::test]
async fn an_inner_address_is_not_reached_in_any_spelling() {
    let (listener, port) = server().await;
    let proxy = Proxy::start(&[("inner.example", &["127.0.0.1"]), ("mapped.example", &["::ffff:127.0.0.1"])], &[]);
    for host in ["127.0.0.1", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "169.254.169.254", "0"] {
        for request in [format!("GET http://{host}:{port}/"), format!("CONNECT {host}:{port}")] {
            let answer = proxy.ask(format!("{request} HTTP/1.1\r\n\r\n")).await;
            assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{request}: {answer}");
        }
    }
    for host in ["inner.example", "mapped.example"] {
        let answer = proxy.ask(format!("GET http://{host}:{port}/ HTTP/1.1\r\n\r\n")).await;
        assert!(answer.contains("which is loopback") && answer.contains("under [web]"), "{answer}");
    }
    let connecting = std::future::poll_fn(|context| std::task::Poll::Ready(listener.poll_accept(context).is_pending()));
    assert!(connecting.await, "somebody has connected");
    assert!(proxy.guard.refused()[0].starts_with("`127.0.0.1` is loopback"), "{:?}", proxy.guard.refused());
}

#[tokio::test]
async fn our_own_server_is_not_reached_even_if_its_place_is_allowed() {
    let (_listener, port) = server().await;
    let own = format!("127.0.0.1:{port}");
    let rules = WebRules::new(["127.0.0.1"], [own.as_str()]).unwrap();
    let proxy = Proxy::start_with(&[("some.example", &["127.0.0.1"])], &rules);
    let answer = proxy.ask(format!("GET http://some.example:{port}/ HTTP/1.1\r\n\r\n")).await;
    assert!(answer.starts_with("HTTP/1.1 403") && answer.contains("this program itself uses"), "{answer}");
}

#[tokio::test]
async fn a_connection_goes_to_the_address_that_was_checked() {
    let (_inner, port) = server().await;
    let public = TcpListener::bind(("127.0.0.2", port)).await.unwrap();
    let proxy = Proxy::start(&[("some.example", &["127.0.0.2", "127.0.0.1"])], &["127.0.0.2"]);
    let request = format!("GET http://some.example:{port}/ HTTP/1.1\r\n\r\n");
    let serving = async {
        let (mut stream, _) = public.accept().await.unwrap();
        head_of(&mut stream).await;
        stream.write_all(ANSWER.as_bytes()).await.unwrap();
    };
    assert_eq!(tokio::join!(proxy.ask(&request), serving).0, ANSWER);
    assert_eq!(proxy.names.asked.lock().unwrap().len(), 1, "a second lookup could say something else");
    assert!(proxy.ask(&request).await.starts_with("HTTP/1.1 403 Forbidden\r\n"));
}

#[tokio::test]
async fn failures_are_distinguished_from_refusals() {
    let (listener, port) = server().await;
    // Nobody listens there: the port is held at another address.
    let proxy = Proxy::start(&[("some.example", &["127.0.0.1"]), ("shut.example", &["127.0.0.77"])], &["127.0.0.0/8"]);
    let ask = |host: &str| proxy.ask(format!("GET http://{host}:{port}/ HTTP/1.1\r\n\r\n"));
    let answer = ask("unknown.example").await;
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains("`unknown.example` was not found"), "{answer}");
    let answer = ask("shut.example").await;
    assert!(
        answer.starts_with("HTTP/1.1 502") && answer.contains("`shut.example` was not reached at 127.0.0.77"),
        "{answer}"
    );
    assert_eq!(proxy.guard.refused().len(), 2, "clients do not show why a tunnel failed");
    let serving = async {
        let (mut stream, _) = listener.accept().await.unwrap();
        head_of(&mut stream).await;
    };
    let (answer, ()) = tokio::join!(ask("some.example"), serving);
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains("without an answer"), "{answer}");
}

#[tokio::test]
async fn an_ambiguous_request_is_answered_and_not_forwarded() {
    let proxy = Proxy::to_here();
    for request in [
        "GET http://some.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        "GET http://some.example/ HTTP/1.1\r\nHost: some.example\r\nHost: evil.example\r\n\r\n",
        "CONNECT some.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n",
        "POST http://some.example/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
        "POST http://some.example/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET http://some.example/ HTTP/1.1\r\nA: b\r\n folded\r\n\r\n",
        "GET http://some.example/ HTTP/1.1\r\nA: b\0\r\n\r\n",
        "GET http://some.example/ HTTP/1.1\nA: b\n\n",
        "GET / HTTP/1.1\r\nHost: some.example\r\n\r\n",
        "GET https://some.example/ HTTP/1.1\r\n\r\n",
    ] {
        let answer = proxy.ask(request).await;
        assert!(answer.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{request:?}: {answer}");
    }
    assert_eq!(proxy.reach.asked.lock().unwrap().as_slice(), [""; 0]);
}
