//! `WebFetch`: internal addresses stay out of reach, however they are spelt and wherever a server redirects.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use sortie_testkit::{Script, ScriptedServer};

use crate::aftermath::assert_all_failed;
use crate::calls::{fetch, main_agent};
use crate::world::{CANARY, as_each_user};

/// Loopback server with one answer to everybody.
pub(crate) struct Inside {
    pub(crate) port: u16,
    answered: Arc<AtomicUsize>,
}

impl Inside {
    pub(crate) fn saying(status: &str, head: &str, body: &str) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let answered = Arc::new(AtomicUsize::new(0));
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\n{head}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
        );
        let count = Arc::clone(&answered);
        // It ends with the test's process.
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = BufReader::new(stream.unwrap());
                count.fetch_add(1, Ordering::SeqCst);
                let mut line = String::new();
                while stream.read_line(&mut line).is_ok_and(|count| count > 2) {
                    line.clear();
                }
                stream.get_mut().write_all(answer.as_bytes()).ok();
            }
        });
        Self { port, answered }
    }

    /// Server whose every word is a leak.
    pub(crate) fn secret() -> Self {
        Self::saying("200 OK", "", CANARY)
    }

    fn redirecting(location: &str) -> Self {
        Self::saying("302 Found", &format!("location: {location}\r\n"), "")
    }

    pub(crate) fn assert_never_called(&self) {
        assert_eq!(self.answered.load(Ordering::SeqCst), 0, "somebody connected");
    }

    fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

#[test]
fn s71_a_rule_for_a_host_is_for_that_host_alone() {
    as_each_user(|world| {
        let secret = Inside::secret();
        let port = secret.port;
        // Any fetch would go to the loopback.
        let flags = ["--allow", "WebFetch(domain:trusted.example)", "--set", "web.private=127.0.0.0/8"];
        let urls = [
            format!("http://trusted.example.127.0.0.1.nip.invalid:{port}/"),
            format!("http://eviltrusted.example:{port}/"),
            format!("http://trusted.example.evil.example:{port}/"),
            format!("http://trusted.example@127.0.0.1:{port}/"),
            format!("http://trusted.example:pass@127.0.0.1:{port}/"),
            format!("http://127.0.0.1:{port}/trusted.example"),
            format!("http://127.0.0.1:{port}\\@trusted.example/"),
            format!("http://127.0.0.1:{port}?trusted.example"),
            format!("http://127.0.0.1:{port}#@trusted.example"),
            format!("http://trusted。example.127.0.0.1:{port}/"),
            format!("http://trusted.exаmple:{port}/"),
            format!("http:trusted.example@127.0.0.1:{port}"),
            format!("//trusted.example@127.0.0.1:{port}/"),
        ];
        let after = world.run(&flags, main_agent(urls.iter().map(|url| fetch(url))));
        let answers = after.assert_completed().answers();
        assert_all_failed(&answers, "");
        let by_the_gate = answers.iter().filter(|answer| answer.refused).count();
        assert!(by_the_gate >= 6, "{answers:#?}");
        secret.assert_never_called();
    });
}

#[test]
fn s72_no_spelling_of_an_internal_address_is_fetched() {
    as_each_user(|world| {
        let secret = Inside::secret();
        let port = secret.port;
        let hosts = [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "2130706433",
            "0x7f000001",
            "0x7f.1",
            "017700000001",
            "0177.0.0.1",
            "127.0.0.1.",
            "127.255.255.254",
            "0",
            "0.0.0.0",
            "[::1]",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[::127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[64:ff9b:1::7f00:1]",
            "[2002:7f00:1::]",
            "[fe80::1]",
            "[fc00::1]",
            "[fec0::1]",
            "localhost",
            "LOCALHOST",
            "localhost.",
            "①②⑦.⓪.⓪.①",
            "169.254.169.254",
            "2852039166",
            "0xA9FEA9FE",
            "[::ffff:169.254.169.254]",
            "10.0.0.1",
            "192.168.0.1",
            "172.16.0.1",
            "100.64.0.1",
        ];
        let calls = hosts.map(|host| fetch(&format!("http://{host}:{port}/")));
        let after = world.run(&["--allow", "WebFetch"], main_agent(calls));
        assert_all_failed(&after.assert_completed().answers(), "");
        let explained =
            after.answers().iter().filter(|answer| answer.text.contains("under [web] in the configuration")).count();
        assert!(explained >= 25, "{after:#?}");
        secret.assert_never_called();
    });
}

#[test]
fn s73_a_redirect_is_judged_like_a_first_request() {
    as_each_user(|world| {
        let secret = Inside::secret();
        let inner = format!("http://{}/", secret.address());
        let places = [
            (inner.as_str(), "only the internet is fetched"),
            ("http://169.254.169.254/latest/meta-data/", "only the internet is fetched"),
            ("http://[::1]/", "only the internet is fetched"),
            ("file:///etc/passwd", "redirects to a place that is not fetched"),
            ("gopher://127.0.0.1/", "redirects to a place that is not fetched"),
            ("/again", "redirects more than 5 times"),
        ];
        for (location, words) in places {
            let first = Inside::redirecting(location);
            let private = format!("web.private={}", first.address());
            let flags = ["--allow", "WebFetch", "--set", &private];
            let after = world.run(&flags, main_agent([fetch(&format!("http://{}/", first.address()))]));
            after.assert_completed().answer_of("main").assert_failed(words);
            assert!(first.answered.load(Ordering::SeqCst) >= 1, "{location}: the first hop was made");
        }
        secret.assert_never_called();
    });
}

#[test]
fn s77_the_programs_own_servers_are_never_fetched() {
    as_each_user(|world| {
        let server = ScriptedServer::start(Script::new()).unwrap();
        let port = server.address().port();
        // A second route, whose server the main agent's model wants to see.
        world.write(
            "home/.config/sortie/config.toml",
            format!("[routes.other]\nbase_url = \"http://127.0.0.1:{port}\"\nmodel = \"m\"\nwire = \"anthropic\"\n"),
        );
        let hosts = ["127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0", "127.0.0.2"];
        let flags = ["--allow", "WebFetch", "--set", r#"web.private=["127.0.0.0/8", "localhost", "0.0.0.0/8", "::1"]"#];
        let after =
            world.run(&flags, main_agent(hosts.map(|host| fetch(&format!("http://{host}:{port}/v1/messages")))));
        assert_all_failed(&after.assert_completed().answers(), "is a server that this program itself uses");
        assert!(server.requests().is_empty() && server.traffic().connections == 0, "nobody came");
    });
}
