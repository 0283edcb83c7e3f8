use std::io::{Read, Write};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::time::Duration;

use sortie_sandbox::process::{How, Network, SpawnError, Tier};

use super::cell::{CAPS, Cell, WALLED, marker};

/// Prints 0, or the error number, for a socket of a family and type.
fn socket(family: i32, kind: i32) -> String {
    format!("perl -MSocket -e 'print socket(my $s, {family}, {kind}, 0) ? 0 : $! + 0'")
}

const FAMILIES: [i32; 7] =
    [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK, libc::AF_PACKET, libc::AF_ALG, libc::AF_VSOCK];

#[test]
fn without_a_network_there_are_no_sockets_of_any_family() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        for family in FAMILIES {
            for kind in [libc::SOCK_STREAM, libc::SOCK_DGRAM, libc::SOCK_RAW] {
                assert_eq!(cell.run(&socket(family, kind)), "1", "family {family}, type {kind}");
            }
        }
    }
}

#[test]
fn no_service_of_this_machine_is_reached() {
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    tcp.set_nonblocking(true).unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    udp.set_nonblocking(true).unwrap();
    let (tcp_port, udp_port) = (tcp.local_addr().unwrap().port(), udp.local_addr().unwrap().port());
    for tier in WALLED {
        let cell = Cell::new(tier);
        cell.fail(&format!("echo x > /dev/tcp/127.0.0.1/{tcp_port}"));
        cell.fail(&format!("echo x > /dev/udp/127.0.0.1/{udp_port}"));
        cell.fail("getent ahosts example.com");
    }
    assert!(tcp.accept().is_err() && udp.recv(&mut [0]).is_err());
}

#[test]
fn sockets_of_other_programs_are_refused_on_every_network_not_by_chance() {
    let abstract_name = format!("sortie-test-{}", marker());
    let commands = [
        "perl -MSocket -e 'socket(A, AF_UNIX, SOCK_STREAM, 0) && connect(A, pack_sockaddr_un(\"stream\")) or exit 1'".to_owned(),
        format!("perl -MSocket -e 'socket(A, AF_UNIX, SOCK_STREAM, 0) && connect(A, pack(\"Sa*\", AF_UNIX, \"\\0{abstract_name}\")) or exit 1'"),
        "perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) && send(A, \"x\", 0, pack_sockaddr_un(\"datagram\")) or exit 1'".to_owned(),
        "perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_RAW, 0) && send(A, \"x\", 0, pack_sockaddr_un(\"datagram\")) or exit 1'".to_owned(),
    ];
    let address = SocketAddr::from_abstract_name(&abstract_name).unwrap();
    let abstract_stream = UnixListener::bind_addr(&address).unwrap();
    abstract_stream.set_nonblocking(true).unwrap();
    for (tier, network) in [
        (Tier::None, Network::All),
        (Tier::Namespaces, Network::None),
        (Tier::Landlock, Network::None),
        (Tier::Namespaces, Network::All),
        (Tier::Landlock, Network::All),
    ] {
        let mut cell = Cell::new(tier);
        cell.walls.network = network;
        let stream = UnixListener::bind(cell.path("stream")).unwrap();
        stream.set_nonblocking(true).unwrap();
        let datagram = UnixDatagram::bind(cell.path("datagram")).unwrap();
        datagram.set_nonblocking(true).unwrap();
        for command in &commands {
            if tier == Tier::None {
                cell.run(command)
            } else {
                cell.fail(command)
            };
        }
        let reached = [stream.accept().is_ok(), abstract_stream.accept().is_ok(), datagram.recv(&mut [0]).is_ok()];
        assert_eq!(reached, [tier == Tier::None; 3], "{tier:?} {network:?}");
    }
}

#[test]
fn socket_pairs_within_the_command_work() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        cell.run("perl -MSocket -e 'socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or exit 1'");
    }
}

#[test]
fn a_granted_network_reaches_others() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.walls.network = Network::All;
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        cell.run(&format!("echo hello > /dev/tcp/127.0.0.1/{port}"));
        let mut text = String::new();
        listener.accept().unwrap().0.read_to_string(&mut text).unwrap();
        assert_eq!(text, "hello\n");
        for family in [libc::AF_UNIX, libc::AF_NETLINK, libc::AF_PACKET, libc::AF_VSOCK] {
            assert_eq!(cell.run(&socket(family, libc::SOCK_STREAM)), "1", "family {family}");
        }
    }
}

#[test]
fn a_proxy_is_all_that_its_network_has() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.walls.network = Network::Proxy { port: 3128 };
    let outside = TcpListener::bind("127.0.0.1:0").unwrap();
    outside.set_nonblocking(true).unwrap();
    let port = outside.local_addr().unwrap().port();
    let command = format!(
        "exec 3<>/dev/tcp/127.0.0.1/3128; echo GET >&3; read answer <&3; echo $answer;\
         echo x > /dev/tcp/127.0.0.1/{port} || echo walled; echo x > /dev/udp/127.0.0.1/53 || echo walled"
    );
    let mut running = cell.spawn(&command).unwrap();
    let listener = running.listener().unwrap();
    let proxy = std::thread::spawn(move || {
        let mut client = listener.accept().unwrap().0;
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        client.read_exact(&mut [0; 4]).unwrap();
        client.write_all(b"answered\n").unwrap();
    });
    let mut output = Vec::new();
    let ended = running.finish(CAPS, &mut |bytes| output.extend_from_slice(bytes)).unwrap();
    let output = String::from_utf8_lossy(&output);
    proxy.join().unwrap();
    assert_eq!(ended.how, How::Exited { code: 0 }, "{output}");
    assert!(output.starts_with("answered\n") && output.matches("walled\n").count() == 2, "{output}");
    assert!(outside.accept().is_err());
}

#[test]
fn a_proxy_without_namespaces_is_refused_rather_than_open() {
    let mut cell = Cell::new(Tier::Landlock);
    cell.walls.network = Network::Proxy { port: 3128 };
    assert!(matches!(cell.spawn("true").unwrap_err(), SpawnError::NoOwnNetwork));
}

/// A listener of this test would show up in the machine's own list.
#[test]
fn no_command_sees_the_sockets_of_this_machine() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = format!(":{:04X} ", listener.local_addr().unwrap().port());
    let name = format!("sortie-test-{}", marker());
    let _named = UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).unwrap()).unwrap();
    let list = "cat /proc/net/tcp /proc/self/net/tcp /proc/$$/net/tcp /proc/thread-self/net/tcp /proc/net/unix";
    let free = Cell::new(Tier::None).run(list);
    assert!(free.contains(&port) && free.contains(&name));
    for network in [Network::None, Network::Proxy { port: 3128 }] {
        let mut cell = Cell::new(Tier::Namespaces);
        cell.walls.network = network;
        let seen = cell.run(list);
        assert!(!seen.contains(&port) && !seen.contains(&name), "{network:?}");
    }
}

#[test]
fn a_network_for_all_commands_has_nothing_that_is_up() {
    let cell = Cell::new(Tier::Namespaces);
    assert_eq!(cell.run("wc -l < /proc/net/route; wc -c < /proc/net/if_inet6"), "0\n0\n");
}
