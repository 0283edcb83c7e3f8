//! The system calls that no command makes: a filter per kind of network, compiled once.

mod by_number;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use libc::c_long;
use seccompiler::{
    BackendError, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use sortie_mutant::is_out;

use super::error::SpawnError;
use super::walls::Network;

/// One instruction per number: code, jumps and operand from high to low.
pub(super) type Program = Vec<u64>;

/// Refused whatever their arguments: what reaches other processes, changes the view of files, loads code into the
/// kernel, or is a way round the filter.
const REFUSED: &[c_long] = &[
    libc::SYS_acct,
    libc::SYS_add_key,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_chroot,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fsopen,
    libc::SYS_fspick,
    libc::SYS_init_module,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_io_uring_setup,
    libc::SYS_kcmp,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_keyctl,
    libc::SYS_mount,
    libc::SYS_mount_setattr,
    libc::SYS_move_mount,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_open_tree,
    libc::SYS_perf_event_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_pivot_root,
    libc::SYS_process_madvise,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_ptrace,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_request_key,
    libc::SYS_setns,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_umount2,
    libc::SYS_unshare,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Of `clone`. What `clone3` is asked for cannot be seen, so it does not exist here, and the C library falls back.
const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Terminal input that would be read by whoever shares the terminal.
const TERMINAL_REQUESTS: [u64; 2] = [0x5412, 0x541c];

/// The bits of a socket's type that are not flags.
const TYPE_BITS: u64 = 0xf;

/// The program to install for a network.
pub(super) fn program(network: Network) -> Result<Program, SpawnError> {
    static COMPILED: [OnceLock<Result<Program, String>>; 3] = [const { OnceLock::new() }; 3];
    let place = match network {
        Network::None => &COMPILED[0],
        Network::Proxy { .. } => &COMPILED[1],
        Network::All => &COMPILED[2],
    };
    let compiled = place.get_or_init(|| compile(network).map_err(|error| error.to_string())).clone();
    compiled.map_err(|reason| SpawnError::NoFilter { reason })
}

fn compile(network: Network) -> Result<Program, BackendError> {
    let mut rules = BTreeMap::new();
    let flags = NAMESPACE_FLAGS.map(|flag| u64::from(flag.cast_unsigned()));
    let clone = flags.map(|flag| rule([condition(0, SeccompCmpOp::MaskedEq(flag), flag)]));
    rules.insert(libc::SYS_clone, clone.into_iter().collect::<Result<_, _>>()?);
    let ioctl = TERMINAL_REQUESTS.map(|request| rule([condition(1, SeccompCmpOp::Eq, request)]));
    rules.insert(libc::SYS_ioctl, ioctl.into_iter().collect::<Result<_, _>>()?);
    let mut refused = REFUSED.to_vec();
    match sockets(network)? {
        Some(sockets) => drop(rules.insert(libc::SYS_socket, sockets)),
        None => refused.push(libc::SYS_socket),
    }
    // A pair of datagram sockets can be turned to any other; pairs that are connected for good cannot.
    rules.insert(libc::SYS_socketpair, types_but(&[libc::SOCK_STREAM, libc::SOCK_SEQPACKET])?);
    let by_number = by_number::program(&refused, &rules.keys().copied().collect::<Vec<_>>());
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?;
    let by_arguments: Vec<sock_filter> = filter.try_into()?;
    // Jumps are relative, so one program can stand before another.
    Ok(pack(&[by_number, by_arguments].concat()))
}

/// The rules by which `socket` is refused; `None`: always.
fn sockets(network: Network) -> Result<Option<Vec<SeccompRule>>, BackendError> {
    let types: &[i32] = match network {
        Network::None => return Ok(None),
        Network::Proxy { .. } => &[libc::SOCK_STREAM],
        Network::All => &[libc::SOCK_STREAM, libc::SOCK_DGRAM],
    };
    let families = [libc::AF_INET, libc::AF_INET6].map(|family| u64::from(family.cast_unsigned()));
    let mut rules = types_but(types)?;
    if !is_out("foreign-sockets") {
        rules.push(rule(families.map(|family| condition(0, SeccompCmpOp::Ne, family)))?);
    }
    Ok(Some(rules))
}

/// Rules for all types of sockets but these.
fn types_but(types: &[i32]) -> Result<Vec<SeccompRule>, BackendError> {
    let others = (0..=TYPE_BITS).filter(|other| !types.iter().any(|kind| u64::from(kind.cast_unsigned()) == *other));
    others.map(|other| rule([condition(1, SeccompCmpOp::MaskedEq(TYPE_BITS), other)])).collect()
}

fn rule<const N: usize>(conditions: [Result<SeccompCondition, BackendError>; N]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

fn pack(program: &[sock_filter]) -> Program {
    let number = |filter: &sock_filter| {
        u64::from(filter.code) << 48 | u64::from(filter.jt) << 40 | u64::from(filter.jf) << 32 | u64::from(filter.k)
    };
    program.iter().map(number).collect()
}

/// The instructions as the kernel takes them.
pub(super) fn unpack(program: &[u64]) -> Vec<sock_filter> {
    let instruction = |number: &u64| sock_filter {
        code: (number >> 48) as u16,
        jt: (number >> 40) as u8,
        jf: (number >> 32) as u8,
        k: *number as u32,
    };
    program.iter().map(instruction).collect()
}
