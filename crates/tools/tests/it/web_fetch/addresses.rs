//! Addresses inside the machine and its networks, in every spelling (S72).

use super::server::Server;
use super::web::{Names, Web};

const SPELLINGS: &[&str] = &[
    "127.0.0.1",
    "127.0.0.1.",
    "127.1",
    "127.0.1",
    "127.000.000.001",
    "2130706433",
    "0x7f000001",
    "0x7F.1",
    "0177.0.0.1",
    "017700000001",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "%31%32%37.0.0.1",
    "0",
    "0.0.0.0",
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::7f00:1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::]",
    "2852039166",
    "0xA9FEA9FE",
    "169.254.169.254",
    "[::ffff:169.254.169.254]",
    "[64:ff9b::a9fe:a9fe]",
    "[fe80::1]",
    "[fec0::1]",
    "[fd00:ec2::254]",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "100.64.0.1",
    "198.18.0.1",
    "192.0.2.1",
    "224.0.0.1",
    "255.255.255.255",
];

#[tokio::test]
async fn no_spelling_of_an_inner_address_is_reached() {
    let server = Server::with("text/plain", "a secret");
    let web = Web::new(&[], &[]);
    for spelling in SPELLINGS {
        let text = web.failed(&format!("http://{spelling}:{}/", server.port())).await;
        assert!(text.contains("only the internet is fetched"), "{spelling}: {text}");
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[tokio::test]
async fn no_name_of_an_inner_address_is_reached() {
    let server = Server::with("text/plain", "a secret");
    for address in ["127.0.0.1", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "169.254.169.254", "10.0.0.1", "0.0.0.0"]
    {
        let names = Names::new(&[("inner.example", &[&[address]])]);
        let web = Web::new(&[], &[]).with_names(&names);
        let text = web.failed(&format!("http://inner.example:{}/", server.port())).await;
        assert!(text.contains(&format!("`inner.example` leads to {address}, which is ")), "{text}");
    }
    let web = Web::new(&[], &[]);
    for name in ["localhost", "LOCALHOST", "localhost."] {
        let text = web.failed(&format!("http://{name}:{}/", server.port())).await;
        assert!(text.contains("`localhost` leads to "), "{text}");
    }
    assert_eq!(server.requests(), [""; 0]);
}

#[tokio::test]
async fn a_refusal_says_what_the_user_can_do_and_that_helps() {
    let server = Server::with("text/plain", "here");
    let (url, port) = (server.url("/"), server.port());
    let text = Web::new(&[], &[]).failed(&url).await;
    let remedy = format!("127.0.0.1:{port}");
    assert_eq!(
        text,
        format!(
            "{url} was not fetched: `127.0.0.1` is loopback, and only the internet is fetched; the user can allow it \
             with `private = [\"{remedy}\"]` under [web] in the configuration"
        )
    );
    assert!(Web::new(&[&remedy], &[]).done(&url).await.ends_with("here"));
    assert!(Web::new(&["127.0.0.0/8"], &[]).done(&url).await.ends_with("here"));
    assert!(Web::new(&["127.0.0.1:1", "127.0.0.2"], &[]).failed(&url).await.contains("loopback"));
}

#[tokio::test]
async fn only_addresses_that_pass_the_check_are_connected_to() {
    let server = Server::start_at(([127, 0, 0, 2], 0).into(), |_, out| out.write_all(b"HTTP/1.1 204 x\r\n\r\n"));
    let other = Server::start_at(([127, 0, 0, 1], server.port()).into(), |_, _| Ok(()));
    let names = Names::new(&[("mixed.example", &[&["127.0.0.1", "127.0.0.2", "::1"]])]);
    let web = Web::of(&server).with_names(&names);
    assert!(web.done(&format!("http://mixed.example:{}/", server.port())).await.contains(": 204, "));
    assert_eq!((server.requests().len(), other.requests().len()), (1, 0));
}

#[tokio::test]
async fn a_name_without_addresses_is_reported() {
    let names = Names::new(&[("empty.example", &[&[]])]);
    let web = Web::new(&[], &[]).with_names(&names);
    let text = web.failed("http://empty.example/").await;
    assert_eq!(text, "http://empty.example/ was not fetched: `empty.example` leads nowhere: it has no address");
    let text = web.failed("http://unknown.example/x#y").await;
    assert_eq!(text, "http://unknown.example/x was not fetched: `unknown.example` was not found (no such name)");
}
