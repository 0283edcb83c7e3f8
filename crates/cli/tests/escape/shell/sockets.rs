//! Sockets of this machine's other programs: agents with keys, daemons, desktops.

use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};

use super::{ANY_COMMAND, BYPASS, bash};
use crate::calls::main_agent;
use crate::world::{World, as_each_user};

/// Listener on every kind of socket.
struct Daemon {
    streams: Vec<UnixListener>,
    datagrams: UnixDatagram,
    /// One line for each way to reach it.
    lines: Vec<String>,
}

impl Daemon {
    fn listening(world: &World) -> Self {
        let name = format!("sortie-test-{}-{}", std::process::id(), world.uid());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let paths = ["workspace/agent.sock", "outside/agent.sock"].map(|path| world.path(path));
        let datagram = world.path("workspace/log.sock");
        let mut streams: Vec<UnixListener> = paths.iter().map(|path| UnixListener::bind(path).unwrap()).collect();
        streams.push(UnixListener::bind_addr(&address).unwrap());
        let datagrams = UnixDatagram::bind(&datagram).unwrap();
        for stream in &streams {
            stream.set_nonblocking(true).unwrap();
        }
        datagrams.set_nonblocking(true).unwrap();
        let to = |address: String| {
            format!("perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0) && connect(S, {address}) or die $!'")
        };
        let named = |path: &std::path::Path| format!("pack_sockaddr_un(\"{}\")", path.display());
        let mut lines: Vec<String> = paths.iter().map(|path| to(named(path))).collect();
        lines.push(to(format!("pack(\"Sa*\", AF_UNIX, \"\\0{name}\")")));
        lines.push(format!(
            "perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) && send(A, \"x\", 0, {}) or die $!'",
            named(&datagram)
        ));
        Self { streams, datagrams, lines }
    }

    /// Number of ways that have reached it since the last count.
    fn count(&self) -> usize {
        let connected = self.streams.iter().filter(|stream| stream.accept().is_ok()).count();
        connected + usize::from(self.datagrams.recv(&mut [0; 8]).is_ok())
    }
}

#[test]
fn s29_no_command_talks_to_another_program_through_a_socket_of_this_machine() {
    as_each_user(|world| {
        let daemon = Daemon::listening(world);
        let networks: [&[&str]; 3] = [
            &["--allow", "Bash"],
            &["--permission-mode", "bypass"],
            &["--permission-mode", "bypass", "--set", "shell.open_network=true"],
        ];
        let calls = || main_agent(daemon.lines.iter().map(|line| bash(line)));
        for flags in networks {
            let after = world.run(flags, calls());
            for answer in after.assert_completed().answers() {
                answer.assert_failed("Operation not permitted");
            }
            assert_eq!(daemon.count(), 0, "{flags:?}: {after:#?}");
        }
        let after = world.run(&["--permission-mode", "bypass", "--unconfined"], calls());
        assert_eq!(daemon.count(), daemon.lines.len(), "without walls all of them lead there: {after:#?}");
    });
}

/// In a network of its own, or in the empty one of all commands without a network, a command sees no other sockets.
#[test]
fn s29_no_command_sees_the_sockets_of_this_machine() {
    as_each_user(|world| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = format!(":{:04X} ", listener.local_addr().unwrap().port());
        let lists = "cat /proc/net/tcp /proc/self/net/tcp /proc/$$/net/tcp /proc/thread-self/net/tcp";
        for flags in [ANY_COMMAND, BYPASS] {
            let answer = world.run(flags, main_agent([bash(lists)])).assert_completed().answer_of("main");
            answer.assert_done();
            assert!(!answer.text.contains(&port) && answer.text.contains("local_address"), "{flags:?}: {answer:#?}");
        }
        let unconfined = ["--permission-mode", "bypass", "--unconfined"];
        let answer = world.run(&unconfined, main_agent([bash(lists)])).assert_completed().answer_of("main");
        assert!(answer.text.contains(&port), "without walls it is there: {answer:#?}");
    });
}
