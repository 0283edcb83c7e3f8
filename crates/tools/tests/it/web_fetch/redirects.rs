//! Redirects (S73): followed on the same host alone, each hop checked.

use super::server::{Server, page, redirect};
use super::web::{Names, Web};

/// A server that redirects from `/` to a location, and has a page everywhere else.
fn redirecting(status: u16, location: &str) -> Server {
    let location = location.to_owned();
    Server::start(move |path, out| {
        let there = if path == "/" { redirect(status, &location) } else { page("200 OK", "text/plain", b"there") };
        out.write_all(&there)
    })
}

#[tokio::test]
async fn redirects_on_the_same_host_are_followed_with_nothing_added() {
    for status in [301, 302, 303, 307, 308] {
        let server = redirecting(status, "/next?a=b#part");
        let text = Web::of(&server).done(&server.url("/")).await;
        assert_eq!(text, format!("{}: 200, text/plain, 5 bytes\nthere", server.url("/next?a=b")));
        let [first, second] = server.requests().try_into().unwrap();
        assert!(second.starts_with("GET /next?a=b HTTP/1.1\r\n"), "{second}");
        let after_path = |head: &str| head.split_once("\r\n").unwrap().1.to_owned();
        assert_eq!(after_path(&first), after_path(&second));
    }
}

#[tokio::test]
async fn only_what_the_fetch_needs_is_sent() {
    let server = Server::with("text/plain", "here");
    Web::of(&server).done(&server.url("/a?b#c")).await;
    let [request] = server.requests().try_into().unwrap();
    let expected = format!(
        "GET /a?b HTTP/1.1\r\n\
         accept: text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5\r\n\
         user-agent: sortie/{}\r\n\
         accept-encoding: gzip\r\n\
         host: 127.0.0.1:{}\r\n\r\n",
        env!("CARGO_PKG_VERSION"),
        server.port()
    );
    assert_eq!(request, expected);
}

#[tokio::test]
async fn redirects_to_another_host_are_reported_and_not_followed() {
    let other = Server::with("text/plain", "other");
    let server = redirecting(302, &format!("http://other.example:{}/x#y", other.port()));
    let names = Names::new(&[("other.example", &[&["127.0.0.1"]])]);
    let web = Web::new(&["127.0.0.1"], &[]).with_names(&names);
    let (from, to) = (server.url("/"), format!("http://other.example:{}/x", other.port()));
    assert_eq!(
        web.done(&from).await,
        format!("{from} redirects (302) to another host, which was not followed: {to}\nFetch that URL if you need it.")
    );
    assert_eq!((names.asked().len(), other.requests().len()), (0, 0));
    assert!(web.done(&to).await.ends_with("other"));
}

#[tokio::test]
async fn redirects_to_urls_that_are_never_fetched_are_refused() {
    for (location, reason) in [
        ("http://169.254.169.254/latest/meta-data", "`169.254.169.254` is link-local"),
        ("http://2852039166/", "`169.254.169.254` is link-local"),
        ("http://[::1]/", "`[::1]` is loopback"),
        ("//10.0.0.1/", "`10.0.0.1` is a private network"),
        ("file:///etc/passwd", "a `file:` URL"),
        ("gopher://127.0.0.1/", "a `gopher:` URL"),
        ("javascript:alert(1)", "a `javascript:` URL"),
        ("http://user:pass@127.0.0.1/x", "user name or password"),
        ("http://", "empty host"),
    ] {
        let server = redirecting(302, location);
        let text = Web::of(&server).failed(&server.url("/")).await;
        assert!(
            text.contains("redirects to a place that is not fetched") && text.contains(reason),
            "{location}: {text}"
        );
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn redirects_to_another_port_of_the_same_host_are_checked() {
    let secret = Server::with("text/plain", "a secret");
    let server = redirecting(302, &secret.url("/"));
    let text = Web::of(&server).failed(&server.url("/")).await;
    assert!(text.contains("`127.0.0.1` is loopback"), "{text}");
    assert_eq!(secret.requests(), [""; 0]);
}

#[tokio::test]
async fn a_name_that_leads_inside_after_the_first_hop_is_refused() {
    let server = Server::start_at(([127, 0, 0, 2], 0).into(), |_, out| out.write_all(&redirect(302, "/next")));
    let secret = Server::start_at(([127, 0, 0, 1], server.port()).into(), |_, _| Ok(()));
    let names = Names::new(&[("moving.example", &[&["127.0.0.2"], &["127.0.0.1"]])]);
    let web = Web::of(&server).with_names(&names);
    let text = web.failed(&format!("http://moving.example:{}/", server.port())).await;
    assert!(text.contains("`moving.example` leads to 127.0.0.1, which is loopback"), "{text}");
    assert_eq!((server.requests().len(), secret.requests().len()), (1, 0));
}

#[tokio::test]
async fn redirect_loops_end_after_five() {
    let server = redirecting(302, "/");
    let text = Web::of(&server).failed(&server.url("/")).await;
    let url = server.url("/");
    assert_eq!(text, format!("{url} was not fetched: it redirects more than 5 times, last to {url}"));
    assert_eq!(server.requests().len(), 6);
}

#[tokio::test]
async fn five_redirects_in_a_row_are_followed() {
    let server = Server::start(|path, out| {
        let n: usize = path[1..].parse().unwrap();
        let next = if n < 5 { redirect(307, &format!("/{}", n + 1)) } else { page("200 OK", "text/plain", b"end") };
        out.write_all(&next)
    });
    assert!(Web::of(&server).done(&server.url("/0")).await.ends_with("end"));
}

#[tokio::test]
async fn a_redirect_that_leads_nowhere_is_an_error() {
    for status in ["301 Moved", "302 Found", "303 See", "307 T", "308 P"] {
        let server = Server::start(move |_, out| out.write_all(&page(status, "text/plain", b"no location")));
        let text = Web::of(&server).failed(&server.url("/")).await;
        let expected = format!(
            "{} was not fetched: it redirects (status {}) without saying where to",
            server.url("/"),
            &status[..3]
        );
        assert_eq!(text, expected);
    }
}

#[tokio::test]
async fn a_3xx_status_that_is_not_a_redirect_is_a_page() {
    let server = Server::start(|_, out| out.write_all(&page("304 Not Modified", "text/plain", b"")));
    let text = Web::of(&server).done(&server.url("/")).await;
    assert!(text.contains(": 304, text/plain, 0 bytes\n"), "{text}");
}
