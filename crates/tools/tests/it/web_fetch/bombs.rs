//! Answers made to cost time or memory (S76).

use std::io::{self, Write};
use std::iter;
use std::net::IpAddr;
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::future::join_all;
use sortie_tools::{BoxFuture, Lookup};

use super::server::{Server, page};
use super::web::Web;
use crate::memory::{MAX_EXTRA_KIB, alone, extra_kib};

const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";

/// Ten gibibytes of zeros in ten megabytes: a thousand compressed members in a row.
fn gzip_bomb() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(&vec![b'0'; 10 << 20]).unwrap();
    let member = encoder.finish().unwrap();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n";
    [head.to_vec(), member.repeat(1024)].concat()
}

#[test]
fn a_body_that_decompresses_to_gibibytes_is_cut_within_its_cost() {
    alone("web_fetch::bombs::a_body_that_decompresses_to_gibibytes_is_cut_within_its_cost", || {
        let bomb = gzip_bomb();
        assert!((8 << 20..16 << 20).contains(&bomb.len()), "{} bytes", bomb.len());
        let server = Server::start(move |_, out| out.write_all(&bomb));
        costs_little(&server, "[cut at 5 MiB; the rest was not read; the first 50 KiB of 5120 KiB;");
    });
}

#[test]
fn an_endless_body_is_cut_within_its_cost() {
    alone("web_fetch::bombs::an_endless_body_is_cut_within_its_cost", || {
        let server = Server::start(|_, out| {
            out.write_all(HEAD)?;
            loop {
                out.write_all(&[b'x'; 8 * 1024])?;
            }
        });
        costs_little(&server, "[cut at 5 MiB; the rest was not read; the first 50 KiB of 5120 KiB;");
    });
}

/// Pages that make endless trees of elements, or trees deeper than any stack.
#[test]
fn pages_made_to_break_parsers_cost_little() {
    alone("web_fetch::bombs::pages_made_to_break_parsers_cost_little", || {
        let n = 1 << 15;
        for (html, expected) in [
            ("<div>".repeat(n) + "deep", "\ndeep"),
            ("<b>".repeat(n) + "bold", "bold**"),
            ("<blockquote>".repeat(n / 4) + "quoted", "> quoted"),
            ("<ul><li>".repeat(n / 4) + "listed", "- listed"),
            ("<table><tr><td>".repeat(n / 4) + "cell", "cell"),
            (numbered("<b id=", n / 16, ">") + &"<p>x".repeat(n), "KiB of"),
            ("<p>".repeat(n) + "para", "para"),
            ("<a href=x>".repeat(n / 4) + "link", "link]("),
            (
                format!("<base href='http://h/{}/'>", "y".repeat(1500)) + &"<a href=x>l</a>".repeat(n / 4),
                "too much text",
            ),
            ("<td colspan=999999999>x".repeat(n), "KiB of"),
            (format!("<table>{}</table>", "<tr><td colspan=999999999>x".repeat(4 * n)), "too much text"),
            ("</div>".repeat(n / 2) + "ends", "ends"),
            ("&lt".repeat(n / 2), "<<<"),
            ("<pre>".repeat(n / 2) + "pre", "pre"),
            ("<!--".repeat(n / 2), "the page has no text"),
        ] {
            let start: String = html.chars().take(20).collect();
            let server = Server::with("text/html", html);
            let began = Instant::now();
            costs_little(&server, expected);
            assert!(began.elapsed() < Duration::from_secs(20), "{start}: {:?}", began.elapsed());
        }
    });
}

#[tokio::test]
async fn a_tag_with_a_million_attributes_is_given_up_in_time() {
    let attributes = numbered(" a", 500_000, "");
    let server = Server::with("text/html", format!("<p>before<i{attributes}>after"));
    let began = Instant::now();
    let text = Web::of(&server).done(&server.url("/")).await;
    assert!(text.contains("before"), "{text}");
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

fn numbered(before: &str, count: usize, after: &str) -> String {
    (0..count).map(|n| format!("{before}{n}{after}")).collect::<Vec<_>>().concat()
}

fn costs_little(server: &Server, expected: &str) {
    let web = Web::of(server);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (output, extra) = extra_kib(|| runtime.block_on(web.fetch(&server.url("/"))));
    let end: String = output.for_model.chars().rev().take(300).collect::<Vec<_>>().into_iter().rev().collect();
    assert!(!output.failed && output.for_model.contains(expected), "{expected}: {end}");
    assert!(output.for_model.len() < 51 * 1024, "{}", output.for_model.len());
    assert!(extra < MAX_EXTRA_KIB, "{extra} KiB: {end}");
}

#[tokio::test]
async fn a_dripping_body_is_returned_as_far_as_it_arrived() {
    let server = Server::start(|_, out| {
        out.write_all(HEAD)?;
        loop {
            out.write_all(b"a")?;
            // Sleeps on purpose: a server that is never silent for long and never done.
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let web = Web::of(&server).within(Duration::from_millis(300));
    let began = Instant::now();
    let text = web.done(&server.url("/")).await;
    assert!(text.contains("bytes\na") && text.ends_with("a\n[stopped after 0.3 s; the rest was not read]"), "{text}");
    assert!(began.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn a_silent_server_is_abandoned_in_time() {
    let is_over = Arc::new(Barrier::new(2));
    let waits = is_over.clone();
    let server = Server::start(move |path, out| {
        if path == "/head" {
            out.write_all(HEAD)?;
        }
        waits.wait();
        Ok(())
    });
    let web = Web::of(&server).within(Duration::from_millis(200));
    for (path, reason) in [("/", "no answer within 0.2 s"), ("/head", "no content within 0.2 s")] {
        let url = server.url(path);
        assert_eq!(web.failed(&url).await, format!("{url} was not fetched: {reason}"));
        is_over.wait();
    }
}

/// Never answers.
struct Silent;

impl Lookup for Silent {
    fn addresses<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        Box::pin(std::future::pending())
    }
}

/// In a process of its own, because the slots belong to the whole process.
#[test]
fn fetches_that_hang_do_not_pile_up() {
    alone("web_fetch::bombs::fetches_that_hang_do_not_pile_up", || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let within = |seconds| Web::new(&[], &[]).with_lookup(Arc::new(Silent)).within(Duration::from_secs(seconds));
        let (first, later) = (within(30), within(10));
        let webs = iter::repeat_n(&first, 32).chain(iter::repeat_n(&later, 8));
        let texts = runtime.block_on(join_all(webs.map(|web| web.failed("http://slow.example/"))));
        let n_ended = |end: &str| texts.iter().filter(|text| text.ends_with(end)).count();
        assert_eq!(n_ended("no answer within 30 s"), 32);
        assert_eq!(n_ended("other fetches took all the time it had; try again"), 8);
    });
}

#[tokio::test]
async fn a_silent_name_server_is_abandoned_in_time() {
    let web = Web::new(&[], &[]).with_lookup(Arc::new(Silent)).within(Duration::from_millis(50));
    assert!(web.failed("http://slow.example/").await.ends_with("no answer within 0.1 s"));
}

#[tokio::test]
async fn a_cancelled_fetch_ends_at_once_and_closes_its_connection() {
    let is_gone = Arc::new(Barrier::new(2));
    let gone = is_gone.clone();
    let server = Server::start(move |_, out| {
        out.write_all(HEAD)?;
        // Ends when nobody reads any more.
        while out.write_all(b"x").is_ok() {
            // Sleeps on purpose: only by sending does a server learn that the client has gone.
            std::thread::sleep(Duration::from_millis(5));
        }
        gone.wait();
        Ok(())
    });
    let web = Web::of(&server);
    let url = server.url("/");
    let (output, ()) = tokio::join!(web.fetch(&url), async {
        while server.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        web.cancel.cancel();
    });
    assert_eq!((output.for_model.as_str(), output.failed), ("cancelled before it finished", true));
    tokio::task::spawn_blocking(move || is_gone.wait()).await.unwrap();
}

#[tokio::test]
async fn a_head_of_a_megabyte_is_refused() {
    for head in ["X-Big: ".to_owned() + &"x".repeat(1 << 20), "X: y\r\n".repeat(100_000)] {
        let server =
            Server::start(move |_, out| out.write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes()));
        let text = Web::of(&server).failed(&server.url("/")).await;
        assert!(text.contains("message head is too large"), "{text}");
    }
}

#[tokio::test]
async fn a_badly_compressed_body_is_reported() {
    let gzip = |body: &[u8]| {
        let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\n\r\n";
        [head, body].concat()
    };
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(b"packed").unwrap();
    let packed = encoder.finish().unwrap();
    for (body, expected) in [
        (packed.clone(), ": 200, text/plain, 6 bytes\npacked"),
        (packed[..packed.len() - 4].to_vec(), "packed\n[the rest is missing: it cannot be decompressed: "),
        (b"not packed".to_vec(), "was not fetched: it cannot be decompressed: invalid gzip header"),
    ] {
        let bytes = gzip(&body);
        let server = Server::start(move |_, out| out.write_all(&bytes));
        let text = Web::of(&server).fetch(&server.url("/")).await.for_model;
        assert!(text.contains(expected), "{text}");
    }
    let server = Server::start(|_, out| {
        let page = page("200 OK", "text/plain\r\nContent-Encoding: br", b"x");
        out.write_all(&page)
    });
    let text = Web::of(&server).failed(&server.url("/")).await;
    assert!(text.contains("compressed as `br`, which was not requested and cannot be read"), "{text}");
}
