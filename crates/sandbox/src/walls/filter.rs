//! The system-call filter: one for each tier and kind of network, compiled once.
//!
//! It allows what is known to be needed. Known dangers are told to the keeper, which refuses them and can name them
//! afterwards; everything unknown is absent.

mod by_arguments;
mod by_number;
mod instructions;
mod known_calls;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use libc::c_long;
use seccompiler::{BackendError, SeccompAction, SeccompFilter, TargetArch, sock_filter};
use sortie_mutant::is_out;

use self::by_number::Verdict;
use self::instructions::{REFUSE, RETURN, TELL};
use self::known_calls::{ALLOWED, ATTRIBUTES, Call, EXTENDED_ATTRIBUTES, LASTING, NEWER, OLD, OLD_ATTRIBUTES, REFUSED};
pub(crate) use self::known_calls::{SYS_FCHMODAT2, name_of};
use crate::walls::SpawnError;
use crate::walls::{Network, Tier};

/// One instruction per number: code, jumps and operand from high to low.
pub(crate) type FilterProgram = Vec<u64>;

/// The program to install; empty without walls.
pub(crate) fn program(tier: Tier, network: Network) -> Result<FilterProgram, SpawnError> {
    static COMPILED: [[OnceLock<Result<FilterProgram, String>>; 3]; 2] = [const { [const { OnceLock::new() }; 3] }; 2];
    let of_tier = match tier {
        Tier::Namespaces => &COMPILED[0],
        Tier::Landlock => &COMPILED[1],
        Tier::None => return Ok(FilterProgram::new()),
    };
    let place = match network {
        Network::None => &of_tier[0],
        Network::Proxy { .. } => &of_tier[1],
        Network::All => &of_tier[2],
    };
    let compiled = place.get_or_init(|| compile(tier, network).map_err(|error| error.to_string())).clone();
    compiled.map_err(|reason| SpawnError::NoFilter { reason })
}

fn compile(tier: Tier, network: Network) -> Result<FilterProgram, BackendError> {
    let mut verdicts = verdicts(tier, network);
    let mut rules = by_arguments::rules(tier, network)?;
    rules.retain(|number, _| verdicts.get(&key(*number)) == Some(&Verdict::Allow));
    verdicts.extend(rules.keys().map(|number| (key(*number), Verdict::Rest)));
    let by_number = by_number::program(&verdicts);
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?;
    let by_arguments: Vec<sock_filter> = filter.try_into()?;
    let told = by_arguments.into_iter().map(|instruction| replaced(instruction, REFUSE, TELL));
    // Jumps are relative, so one program can precede another.
    Ok(pack(&by_number.into_iter().chain(told).collect::<Vec<_>>()))
}

/// Decisions by number alone, before any argument is looked at.
fn verdicts(tier: Tier, network: Network) -> BTreeMap<u32, Verdict> {
    let mut verdicts = BTreeMap::new();
    let mut give = |calls: &[Call], verdict| {
        verdicts.extend(calls.iter().map(|call| (key(call.number), verdict)));
    };
    let is_brokered = tier == Tier::Landlock && !is_out("brokered-attributes");
    let outside = if is_brokered { Verdict::Tell } else { Verdict::Allow };
    let lasting = if tier == Tier::Landlock && !is_out("lasting-objects") { Verdict::Tell } else { Verdict::Allow };
    for calls in [ALLOWED, NEWER, OLD] {
        give(calls, Verdict::Allow);
    }
    for calls in [ATTRIBUTES, OLD_ATTRIBUTES, EXTENDED_ATTRIBUTES] {
        give(calls, outside);
    }
    give(&[Call { number: SYS_FCHMODAT2, name: "SYS_fchmodat2" }], outside);
    give(LASTING, lasting);
    give(REFUSED, Verdict::Tell);
    // The broker counts shared memory.
    verdicts.insert(key(libc::SYS_shmget), Verdict::Tell);
    if is_out("allowed-calls") {
        let unknown = (0..1000).filter(|number| !verdicts.contains_key(number)).collect::<Vec<_>>();
        verdicts.extend(unknown.into_iter().map(|number| (number, Verdict::Allow)));
    }
    if network == Network::None {
        verdicts.insert(key(libc::SYS_socket), Verdict::Tell);
    }
    verdicts
}

/// True for a call that sets or removes an extended attribute, such as an access list.
pub(crate) fn is_extended(number: c_long) -> bool {
    EXTENDED_ATTRIBUTES.iter().any(|call| call.number == number)
}

/// The number as the kernel shows it to a filter.
fn key(number: c_long) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// The program for a kernel that can tell nobody: everything told is refused.
pub(crate) fn untold(program: &[sock_filter]) -> Vec<sock_filter> {
    program.iter().map(|instruction| replaced(instruction.clone(), TELL, REFUSE)).collect()
}

fn replaced(instruction: sock_filter, answer: u32, other: u32) -> sock_filter {
    let is_it = instruction.code == RETURN && instruction.k == answer;
    if is_it { sock_filter { k: other, ..instruction } } else { instruction }
}

fn pack(program: &[sock_filter]) -> FilterProgram {
    let number = |filter: &sock_filter| {
        u64::from(filter.code) << 48 | u64::from(filter.jt) << 40 | u64::from(filter.jf) << 32 | u64::from(filter.k)
    };
    program.iter().map(number).collect()
}

/// The instructions as the kernel takes them.
pub(crate) fn unpack(program: &[u64]) -> Vec<sock_filter> {
    let instruction = |number: &u64| sock_filter {
        code: (number >> 48) as u16,
        jt: (number >> 40) as u8,
        jf: (number >> 32) as u8,
        k: *number as u32,
    };
    program.iter().map(instruction).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_nobody_knows_is_absent_and_a_known_danger_is_told() {
        let verdicts = verdicts(Tier::Namespaces, Network::All);
        for absent in known_calls::ABSENT.map(key).into_iter().chain([457, 463, 470, 999]) {
            assert_eq!(verdicts.get(&absent), None, "{absent}");
        }
        for call in REFUSED {
            assert_eq!(verdicts.get(&key(call.number)), Some(&Verdict::Tell), "{}", call.name);
        }
    }

    /// The calls that `strace` counted of gcc, g++, cargo with its tests, python3 with pip, node with npm, java with
    /// javac. Those of git, perl, and the ordinary tools for files, archives and processes are here too. It saw one
    /// other call, `clone3`, which the C library does without.
    const MEASURED: &str = "access arch_prctl bind brk capget chdir chmod chown clock_getres clock_gettime \
                            clock_nanosleep clone close close_range connect copy_file_range creat dup dup2 \
                            epoll_create1 epoll_ctl epoll_pwait epoll_wait eventfd2 execve faccessat2 fadvise64 \
                            fchdir fchmod fchmodat fchown fchownat fcntl fdatasync fgetxattr flistxattr flock \
                            fsetxattr fstat fstatfs fsync ftruncate futex get_mempolicy getcwd getdents64 getegid \
                            geteuid getgid getgroups getpeername getpgrp getpid getppid getrandom getrusage \
                            getsockname getsockopt gettid getuid getxattr inotify_add_watch inotify_init1 \
                            inotify_rm_watch ioctl link linkat listen listxattr llistxattr lseek lstat madvise \
                            mkdir mkdirat mmap mprotect mremap munmap nanosleep newfstatat open openat pipe2 \
                            pkey_alloc poll prctl pread64 prlimit64 pwrite64 read readlink readlinkat recvfrom \
                            recvmsg removexattr rename renameat2 restart_syscall rmdir rseq rt_sigaction \
                            rt_sigprocmask rt_sigreturn rt_sigsuspend sched_getaffinity sched_yield sendfile \
                            sendmmsg sendto set_mempolicy set_robust_list set_tid_address setpgid setsid \
                            setsockopt setxattr shutdown sigaltstack socket socketpair stat statfs statx symlink \
                            symlinkat sysinfo tgkill timer_create timer_settime umask uname unlink unlinkat \
                            utimensat vfork wait4 write";

    #[test]
    fn calls_that_tools_were_seen_to_make_are_allowed() {
        for name in MEASURED.split(' ') {
            let is_it = |call: &&Call| call.name == format!("SYS_{name}");
            let lists = [ALLOWED, NEWER, ATTRIBUTES, EXTENDED_ATTRIBUTES, LASTING, OLD, OLD_ATTRIBUTES];
            let is_old = cfg!(not(target_arch = "x86_64"));
            assert!(is_old || lists.into_iter().flatten().any(|call| is_it(&call)), "{name}");
        }
    }

    #[test]
    fn no_call_is_on_two_lists() {
        let lists = [ALLOWED, NEWER, ATTRIBUTES, EXTENDED_ATTRIBUTES, LASTING, OLD, OLD_ATTRIBUTES, REFUSED];
        let mut seen = BTreeMap::new();
        for call in lists.into_iter().flatten() {
            assert_eq!(seen.insert(call.number, call.name), None, "{}", call.name);
        }
    }
}
