//! The program's own servers (S77) are refused whatever else is allowed.

use super::server::Server;
use super::web::{Names, Web};

const EVERYTHING: &[&str] = &["0.0.0.0/0", "::/0"];

#[tokio::test]
async fn our_own_server_is_refused_at_every_address_it_may_answer_at() {
    let server = Server::with("text/plain", "a key");
    let port = server.port();
    for own in ["127.0.0.1:PORT", "http://127.0.0.1:PORT/v1", "http://localhost:PORT", "[::1]:PORT", "0.0.0.0:PORT"] {
        let web = Web::new(EVERYTHING, &[&own.replace("PORT", &port.to_string())]);
        for host in ["127.0.0.1", "localhost", "127.9.9.9", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "192.168.77.77"] {
            let text = web.failed(&format!("http://{host}:{port}/")).await;
            assert!(text.contains("a server that this program itself uses"), "{own} {host}: {text}");
        }
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[tokio::test]
async fn our_own_server_is_refused_by_name_and_by_the_addresses_of_the_name() {
    let server = Server::with("text/plain", "a key");
    let port = server.port();
    let names = Names::new(&[
        ("models.internal", &[&["127.0.0.1"]]),
        ("alias.example", &[&["127.0.0.1"]]),
        ("api.example", &[&["127.0.0.1"]]),
    ]);
    let own = [format!("https://models.internal:{port}/v1"), "https://API.example".to_owned()];
    let web = Web::new(EVERYTHING, &own.each_ref().map(String::as_str)).with_names(&names);
    for url in ["http://models.internal:PORT", "http://Models.Internal.:PORT", "http://alias.example:PORT"] {
        let text = web.failed(&url.replace("PORT", &port.to_string())).await;
        assert!(text.contains("a server that this program itself uses"), "{url}: {text}");
    }
    assert!(web.failed("https://api.example./v1/models").await.contains("`api.example` at port 443 is a server"));
    assert_eq!(server.requests(), [""; 0]);
}

#[tokio::test]
async fn if_our_own_servers_name_cannot_be_looked_up_it_might_be_any() {
    let server = Server::with("text/plain", "a key");
    let web = Web::new(EVERYTHING, &[&format!("gone.internal:{}", server.port())]).with_names(&Names::new(&[]));
    assert!(web.failed(&server.url("/")).await.contains("a server that this program itself uses"));
}

#[tokio::test]
async fn other_servers_on_this_machine_are_not_our_own() {
    let (server, own) = (Server::with("text/plain", "here"), Server::with("text/plain", "a key"));
    let web = Web::new(EVERYTHING, &[&own.url("")]);
    assert!(web.done(&server.url("/")).await.ends_with("here"));
}
