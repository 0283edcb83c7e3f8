//! Admission of requests, decided by their heads alone.

use sortie_mcp::http::{BindError, Listener, Reach};

use super::host::{Host, OTHER_TOKEN, TOKEN};
use super::raw::{Request, call, initialize, open_session};

#[tokio::test]
async fn a_program_with_the_token_is_answered() {
    let host = Host::start().await;
    let session = open_session(&host).await;
    let reply = Request::post(&host, &call(1, "echo")).within(&session).send().await;
    assert_eq!(reply.status, 200, "{reply:?}");
    assert!(reply.body.contains("\"text\":\"echo\""), "{reply:?}");
}

#[tokio::test]
async fn s61_a_request_to_another_host_name_is_refused() {
    let host = Host::start().await;
    let port = host.address.port();
    for name in ["evil.example", &format!("evil.example:{port}"), "127.0.0.1", "localhost:1", "127.0.0.1:"] {
        let reply = Request::initialize(&host).with("Host", name).send().await;
        assert_eq!((reply.status, reply.error_code()), (403, -32600), "{name}: {reply:?}");
    }
    let ours = host.address.to_string();
    for wrong in [
        Request::initialize(&host).without("Host"),
        Request::initialize(&host).and("Host", "evil.example"),
        Request::initialize(&host).with("Host", "evil.example").and("Host", &ours),
        Request::initialize(&host).line("POST http://evil.example/mcp HTTP/1.1"),
    ] {
        assert_eq!(wrong.send().await.status, 403);
    }
    for name in [format!("localhost:{port}"), format!("[::1]:{port}"), ours] {
        assert_eq!(Request::initialize(&host).with("Host", &name).send().await.status, 200, "{name}");
    }
}

#[tokio::test]
async fn s62_every_request_from_pages_of_other_sites_is_refused() {
    let host = Host::start().await;
    let page = |name: &str, value: &str| Request::initialize(&host).with(name, value);
    for (request, what) in [
        (page("Origin", "http://evil.example"), "another origin"),
        (page("Origin", "http://evil.example").with("Content-Type", "text/plain"), "a form"),
        (page("Origin", "null"), "no origin to speak of"),
        (page("Origin", "http://127.0.0.1:1"), "another port"),
        (page("Origin", &format!("http://{}", host.address)).and("Origin", "http://evil.example"), "two origins"),
        (page("Sec-Fetch-Site", "cross-site"), "a browser that hides the origin"),
        (page("Sec-Fetch-Site", "same-site"), "a page on another port"),
        (page("Origin", "http://evil.example").line("OPTIONS /mcp HTTP/1.1"), "a question whether it may"),
        (page("Origin", "http://evil.example").line("GET /mcp HTTP/1.1"), "a stream"),
    ] {
        let reply = request.send().await;
        assert_eq!((reply.status, reply.error_code()), (403, -32600), "{what}: {reply:?}");
        assert_eq!(reply.header("Access-Control-Allow-Origin"), None, "{what}");
    }
    for (name, value) in [("Origin", format!("http://{}", host.address)), ("Sec-Fetch-Site", "none".to_owned())] {
        let reply = page(name, &value).send().await;
        assert_eq!((reply.status, reply.header("Access-Control-Allow-Origin")), (200, None), "{name}: {reply:?}");
    }
}

#[tokio::test]
async fn s62_a_message_without_the_json_type_is_refused() {
    let host = Host::start().await;
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", "", "text/plain;application/json"]
    {
        let reply = Request::initialize(&host).with("Content-Type", kind).send().await;
        assert_eq!((reply.status, reply.error_code()), (415, -32600), "{kind}: {reply:?}");
    }
    for kind in ["application/json; charset=utf-8", "Application/JSON"] {
        assert_eq!(Request::initialize(&host).with("Content-Type", kind).send().await.status, 200, "{kind}");
    }
}

#[tokio::test]
async fn s64_a_client_without_a_token_learns_only_that_one_is_needed() {
    let host = Host::start().await;
    let session = open_session(&host).await;
    let with = |value: &str| Request::initialize(&host).with("Authorization", value);
    for (request, challenge) in [
        (Request::initialize(&host).without("Authorization"), "Bearer realm=\"sortie\""),
        (with(&format!("Basic {TOKEN}")), "Bearer realm=\"sortie\""),
        (with(TOKEN), "Bearer realm=\"sortie\""),
        (with(&format!("Bearer {TOKEN}")).and("Authorization", "Bearer x"), "Bearer realm=\"sortie\""),
        (with(&format!("Bearer {OTHER_TOKEN}")), "Bearer realm=\"sortie\", error=\"invalid_token\""),
        (with(&format!("Bearer {}", &TOKEN[1..])), "Bearer realm=\"sortie\", error=\"invalid_token\""),
        (with("Bearer "), "Bearer realm=\"sortie\""),
    ] {
        for request in [request.clone(), request.clone().within(&session), request.within("no-such-session")] {
            let reply = request.send().await;
            assert_eq!((reply.status, reply.error_code()), (401, -32600), "{reply:?}");
            assert_eq!(reply.header("WWW-Authenticate"), Some(challenge), "{reply:?}");
            assert!(!format!("{reply:?}").contains(TOKEN), "{reply:?}");
        }
    }
}

#[tokio::test]
async fn s64_a_token_in_the_address_opens_nothing() {
    let host = Host::start().await;
    for query in [format!("token={TOKEN}"), format!("access_token={TOKEN}"), format!("Authorization=Bearer%20{TOKEN}")]
    {
        let request = Request::initialize(&host).line(&format!("POST /mcp?{query} HTTP/1.1")).without("Authorization");
        assert_eq!(request.send().await.status, 401);
    }
}

#[tokio::test]
async fn s64_the_token_goes_no_further_than_the_gate() {
    let host = Host::start().await;
    let session = open_session(&host).await;
    let reply = Request::post(&host, &call(1, "headers")).within(&session).send().await;
    assert!(reply.body.contains("mcp-session-id") && !reply.body.contains(TOKEN), "{reply:?}");
    assert!(!reply.body.contains("authorization"), "{reply:?}");
}

#[tokio::test]
async fn s65_a_connection_is_never_upgraded() {
    let host = Host::start().await;
    let upgrade = Request::new(&host, "GET /mcp HTTP/1.1")
        .with("Connection", "Upgrade, close")
        .with("Upgrade", "websocket")
        .with("Sec-WebSocket-Version", "13")
        .with("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==");
    assert_eq!(upgrade.clone().with("Origin", "http://evil.example").send().await.status, 403);
    assert_eq!(upgrade.clone().without("Authorization").send().await.status, 401);
    let reply = upgrade.send().await;
    assert_eq!((reply.status, reply.error_code()), (400, -32600), "{reply:?}");
}

#[tokio::test]
async fn only_the_one_path_is_served() {
    let host = Host::start().await;
    for path in ["/", "/mcp/", "/MCP", "/mcp/../etc/passwd", "//mcp", "/.well-known/oauth-protected-resource"] {
        let reply = Request::initialize(&host).line(&format!("POST {path} HTTP/1.1")).send().await;
        assert_eq!((reply.status, reply.error_code()), (404, -32600), "{path}: {reply:?}");
    }
    let reply = Request::new(&host, "PUT /mcp HTTP/1.1").send().await;
    assert_eq!((reply.status, reply.header("Allow")), (405, Some("GET, POST, DELETE")), "{reply:?}");
}

#[tokio::test]
async fn a_refusal_comes_before_the_body_is_sent() {
    let host = Host::start().await;
    let request = Request::new(&host, "POST /mcp HTTP/1.1")
        .with("Content-Type", "application/json")
        .with("Content-Length", &initialize().to_string().len().to_string())
        .with("Authorization", "Bearer wrong");
    assert_eq!(request.send().await.status, 401);
}

#[tokio::test]
async fn s66_an_address_reachable_from_other_machines_needs_consent() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0", "[::ffff:0.0.0.0]:0"] {
        let refused = Listener::bind(address.parse().unwrap(), Reach::ThisMachine).await;
        assert!(matches!(refused, Err(BindError::Wide { .. })), "{address}: {refused:?}");
    }
    for address in ["127.0.0.1:0", "127.0.0.2:0"] {
        Listener::bind(address.parse().unwrap(), Reach::ThisMachine).await.unwrap();
    }
    Listener::bind("0.0.0.0:0".parse().unwrap(), Reach::Everywhere { names: Vec::new() }).await.unwrap();
}
