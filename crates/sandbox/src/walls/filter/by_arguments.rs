//! The second part of a filter: calls told to the keeper for some arguments. It refuses them, but counts shared memory.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{BackendError, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompRule};
use sortie_mutant::is_out;

use crate::walls::filter::known_calls::SYS_FCHMODAT2;
use crate::walls::{Network, Tier};

/// By system call: it is told if one of its rules matches.
type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Flags of `clone`. Those of `clone3` cannot be inspected.
const NAMESPACE_FLAGS: [i32; 7] = [
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Requests that insert terminal input, which other users of the terminal would read.
const TERMINAL_REQUESTS: [u64; 2] = [0x5412, 0x541c];

/// The bits of a socket's type that are not flags.
const TYPE_BITS: u64 = 0xf;

/// The flags of a mapping that tell its kind, and those of shared memory without a file.
const MAPPING_BITS: u64 = 0x0f | libc::MAP_ANONYMOUS as u64;
const SHARED_WITHOUT_A_FILE: u64 = (libc::MAP_SHARED | libc::MAP_ANONYMOUS) as u64;

/// The mode bits that run a program as its owner or its group.
const PRIVILEGE_BITS: [u64; 2] = [0o4000, 0o2000];

/// Open flags that create a file, so that its mode counts. The second creates a file without a name.
const MAKING_FLAGS: [i32; 2] = [libc::O_CREAT, libc::O_TMPFILE & !libc::O_DIRECTORY];

/// Kinds of requests to file systems, by their second byte. They set flags, versions, projects, keys or checksums of
/// any file that can be read, and create snapshots. Landlock knows requests only for devices.
const FILE_SYSTEM_KINDS: [u64; 4] = [0x5800, 0x6600, 0x7600, 0x9400];
const KIND_BITS: u64 = 0xff00;

/// Requests of these kinds that only look, or copy to a file that is open for writing.
const HARMLESS_REQUESTS: [u64; 9] = [
    0x8008_6601,
    0x8004_6601,
    0xc020_660b,
    0x8008_7601,
    0x8004_7601,
    0x801c_581f,
    0x4004_9409,
    0x4020_940d,
    0xc018_9436,
];

/// Request for a lease: while it lasts, everybody else who opens the file has to wait.
const LEASE: u64 = 1024;

/// Calls that say how a process is scheduled, and the index of its number among their arguments. 0 is the caller.
const SCHEDULING: [(c_long, u8); 6] = [
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// Those of them whose first argument can also mean a group or all processes of a user, and its value for one process.
const OF_MANY: [(c_long, u64); 2] = [(libc::SYS_setpriority, 0), (libc::SYS_ioprio_set, 1)];

/// Calls that set a file's mode, and the index of the mode among their arguments.
const MODES: &[(c_long, u8)] = &[
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (SYS_FCHMODAT2, 2),
    (libc::SYS_mknodat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
];

/// Calls that may create a file, and the indices of flags and mode among their arguments.
const OPENS: &[(c_long, u8, u8)] = &[
    (libc::SYS_openat, 2, 3),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1, 2),
];

/// Without `socket` if it is always refused.
pub(super) fn rules(tier: Tier, network: Network) -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    let flags = NAMESPACE_FLAGS.map(|flag| u64::from(flag.cast_unsigned()));
    rules.insert(libc::SYS_clone, each(flags.map(|flag| rule([has(0, flag)])))?);
    let mut requests = each(TERMINAL_REQUESTS.map(|request| rule([condition(1, SeccompCmpOp::Eq, request)])))?;
    if tier == Tier::Landlock {
        requests.extend(each(FILE_SYSTEM_KINDS.map(of_file_system))?);
        rules.extend(scheduling()?);
    }
    rules.insert(libc::SYS_ioctl, requests);
    rules.insert(libc::SYS_fcntl, each([rule([condition(1, SeccompCmpOp::Eq, LEASE)])])?);
    // A command may not limit another process of the user, above all its keeper. Pid 0 means itself.
    rules.insert(libc::SYS_prlimit64, each([rule([condition(0, SeccompCmpOp::Ne, 0)])])?);
    // A datagram socket pair can be redirected to any other socket; permanently connected pairs cannot.
    rules.insert(libc::SYS_socketpair, types_but(&[libc::SOCK_STREAM, libc::SOCK_SEQPACKET])?);
    if let Some(sockets) = sockets(network)? {
        rules.insert(libc::SYS_socket, sockets);
    }
    if !is_out("shared-memory") {
        let shared = condition(3, SeccompCmpOp::MaskedEq(MAPPING_BITS), SHARED_WITHOUT_A_FILE);
        rules.insert(libc::SYS_mmap, each([rule([shared])])?);
    }
    rules.extend(without_privilege_bits()?);
    Ok(rules)
}

/// Matches requests of a kind that may change something.
fn of_file_system(kind: u64) -> Result<SeccompRule, BackendError> {
    let is_kind = condition(1, SeccompCmpOp::MaskedEq(KIND_BITS), kind);
    let is_other = HARMLESS_REQUESTS.iter().filter(|request| *request & KIND_BITS == kind);
    let is_other = is_other.map(|request| condition(1, SeccompCmpOp::Ne, *request));
    SeccompRule::new([is_kind].into_iter().chain(is_other).collect::<Result<_, _>>()?)
}

/// Without a process namespace, these calls reach every process of the user, and what they do to it outlasts the
/// command. So a command may only schedule the thread that asks.
fn scheduling() -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    if is_out("other-priorities") {
        return Ok(rules);
    }
    for (call, number) in SCHEDULING {
        rules.insert(call, each([rule([condition(number, SeccompCmpOp::Ne, 0)])])?);
    }
    for (call, one) in OF_MANY {
        rules.entry(call).or_default().push(rule([condition(0, SeccompCmpOp::Ne, one)])?);
    }
    Ok(rules)
}

/// Within the walls such a bit has no effect, but the file outlives them.
fn without_privilege_bits() -> Result<Rules, BackendError> {
    let mut rules = Rules::new();
    for &(call, mode) in MODES {
        rules.insert(call, each(PRIVILEGE_BITS.map(|bit| rule([has(mode, bit)])))?);
    }
    for &(call, flags, mode) in OPENS {
        let making = MAKING_FLAGS.map(|flag| u64::from(flag.cast_unsigned()));
        let with_bits =
            making.iter().flat_map(|flag| PRIVILEGE_BITS.map(|bit| rule([has(flags, *flag), has(mode, bit)])));
        rules.insert(call, each(with_bits)?);
    }
    Ok(rules)
}

/// The rules that refuse `socket`; `None` refuses it always.
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
    each(others.map(|other| rule([condition(1, SeccompCmpOp::MaskedEq(TYPE_BITS), other)])))
}

fn each(rules: impl IntoIterator<Item = Result<SeccompRule, BackendError>>) -> Result<Vec<SeccompRule>, BackendError> {
    rules.into_iter().collect()
}

/// Matches if all of its conditions do.
fn rule<const N: usize>(conditions: [Result<SeccompCondition, BackendError>; N]) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(conditions.into_iter().collect::<Result<_, _>>()?)
}

/// Matches if an argument has a bit.
fn has(argument: u8, bit: u64) -> Result<SeccompCondition, BackendError> {
    condition(argument, SeccompCmpOp::MaskedEq(bit), bit)
}

fn condition(argument: u8, operator: SeccompCmpOp, value: u64) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}
