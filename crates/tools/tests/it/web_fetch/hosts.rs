//! Hosts that look like others (S71): the judged host is the one that is looked up and connected to.

use super::server::Server;
use super::web::{Names, Web};

#[tokio::test]
async fn the_judged_host_is_the_fetched_host() {
    let server = Server::with("text/plain", "here");
    let port = server.port();
    for (url, host) in [
        ("http://trusted.io:PORT/", "trusted.io"),
        ("http://TRUSTED.io:PORT/", "trusted.io"),
        ("http://trusted.io.:PORT/", "trusted.io"),
        ("http://ｔｒｕｓｔｅｄ.io:PORT/", "trusted.io"),
        ("http://trusted。io:PORT/", "trusted.io"),
        ("http://tru\tst\ned.io:PORT/", "trusted.io"),
        ("http:\\\\trusted.io:PORT\\@evil.com/", "trusted.io"),
        ("http:trusted.io:PORT/", "trusted.io"),
        ("http:///trusted.io:PORT/", "trusted.io"),
        ("http://trusted.io:PORT/#@evil.com/", "trusted.io"),
        ("http://trusted.io:PORT?@evil.com/", "trusted.io"),
        ("http://trusted.io.evil.com:PORT/", "trusted.io.evil.com"),
        ("http://trusted.io%2eevil.com:PORT/", "trusted.io.evil.com"),
        ("http://eviltrusted.io:PORT/", "eviltrusted.io"),
        ("http://evil.com:PORT\\.trusted.io/", "evil.com"),
        ("http://evil.com:PORT#trusted.io", "evil.com"),
        ("http://@evil.com:PORT/trusted.io", "evil.com"),
        ("http://trüsted.io:PORT/", "xn--trsted-4ya.io"),
        // With a Cyrillic letter.
        ("http://truѕted.io:PORT/", "xn--truted-kvf.io"),
    ] {
        let names = Names::new(&[
            ("trusted.io", &[&["127.0.0.1"]]),
            ("trusted.io.evil.com", &[&["127.0.0.1"]]),
            ("eviltrusted.io", &[&["127.0.0.1"]]),
            ("evil.com", &[&["127.0.0.1"]]),
            ("xn--trsted-4ya.io", &[&["127.0.0.1"]]),
            ("xn--truted-kvf.io", &[&["127.0.0.1"]]),
        ]);
        let web = Web::of(&server).with_names(&names);
        let url = url.replace("PORT", &port.to_string());
        assert_eq!(web.judged(&url).as_deref(), Some(host), "{url}");
        assert!(web.done(&url).await.ends_with("here"));
        assert_eq!(names.asked(), [host], "{url}");
        let request = server.requests().pop().unwrap();
        assert!(request.contains(&format!("host: {host}:{port}\r\n")), "{url}: {request}");
    }
}

#[tokio::test]
async fn a_url_without_a_plain_host_is_refused_before_any_lookup() {
    let names = Names::new(&[("evil.com", &[&["127.0.0.1"]]), ("trusted.io", &[&["127.0.0.1"]])]);
    let server = Server::with("text/plain", "here");
    let web = Web::of(&server).with_names(&names);
    for (url, reason) in [
        ("http://trusted.io@evil.com/", "user name or password before its host `evil.com`"),
        ("http://trusted.io:80@evil.com/", "user name or password before its host `evil.com`"),
        ("http://user:pass@trusted.io/", "user name or password"),
        ("http://trusted.io%00.evil.com/", "invalid international domain name"),
        ("http://trusted.io .evil.com/", "invalid"),
        ("http://trusted..io/", "its host has an empty part"),
        ("http://.trusted.io/", "its host has an empty part"),
        ("http://./", "its host has an empty part"),
        ("http://", "empty host"),
        ("http://[fe80::1%25eth0]/", "invalid IPv6 address"),
        ("http://1.2.3.4.5/", "invalid IPv4 address"),
        ("http://trusted.io:99999/", "invalid port number"),
        ("trusted.io", "it has no scheme"),
        ("trusted.io:80/x", "it has no scheme"),
        ("//trusted.io", "it has no scheme"),
        ("", "it has no scheme"),
        ("file:///etc/passwd", "a `file:` URL; only http and https"),
        ("ftp://trusted.io/", "a `ftp:` URL"),
        ("data:text/plain,x", "a `data:` URL"),
        ("javascript:alert(1)", "a `javascript:` URL"),
        ("view-source:http://trusted.io/", "a `view-source:` URL"),
        (&format!("http://trusted.io/{}", "x".repeat(5000)), "at most 4096 are allowed"),
    ] {
        assert_eq!(web.judged(url), None, "{url}");
        let text = web.failed(url).await;
        assert!(text.contains(reason), "{url}: {text}");
    }
    assert_eq!(names.asked(), [""; 0]);
    assert_eq!(server.requests(), [""; 0]);
}
