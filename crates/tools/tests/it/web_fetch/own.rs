//! The program's own servers (S77) are refused whatever else is allowed.

use super::server::Server;
use super::web::{Names, Web};

const EVERYTHING: &[&str] = &["0.0.0.0/0", "::/0"];

#[tokio::test]
async fn a_server_of_our_own_is_refused_by_every_address_that_it_may_answer_at() {
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
async fn a_server_of_our_own_is_refused_by_name_and_by_what_the_name_leads_to() {
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
async fn what_our_own_server_is_called_cannot_be_found_out_it_might_be_any() {
    let server = Server::with("text/plain", "a key");
    let web = Web::new(EVERYTHING, &[&format!("gone.internal:{}", server.port())]).with_names(&Names::new(&[]));
    assert!(web.failed(&server.url("/")).await.contains("a server that this program itself uses"));
}

#[tokio::test]
async fn other_servers_on_the_same_machine_are_not_our_own() {
    let (server, own) = (Server::with("text/plain", "here"), Server::with("text/plain", "a key"));
    let web = Web::new(EVERYTHING, &[&own.url("")]);
    assert!(web.done(&server.url("/")).await.ends_with("here"));
}
