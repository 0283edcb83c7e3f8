//! The system-call filter: one for each kind of network, compiled once.

mod by_arguments;
mod by_number;

use std::sync::OnceLock;

use libc::c_long;
use seccompiler::{BackendError, SeccompAction, SeccompFilter, TargetArch, sock_filter};

use crate::walls::Network;
use crate::walls::SpawnError;

/// One instruction per number: code, jumps and operand from high to low.
pub(crate) type FilterProgram = Vec<u64>;

/// Refused whatever their arguments: they reach other processes, change the view of files, load code into the kernel,
/// or bypass the filter.
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

/// The program to install for a network.
pub(crate) fn program(network: Network) -> Result<FilterProgram, SpawnError> {
    static COMPILED: [OnceLock<Result<FilterProgram, String>>; 3] = [const { OnceLock::new() }; 3];
    let place = match network {
        Network::None => &COMPILED[0],
        Network::Proxy { .. } => &COMPILED[1],
        Network::All => &COMPILED[2],
    };
    let compiled = place.get_or_init(|| compile(network).map_err(|error| error.to_string())).clone();
    compiled.map_err(|reason| SpawnError::NoFilter { reason })
}

fn compile(network: Network) -> Result<FilterProgram, BackendError> {
    let rules = by_arguments::rules(network)?;
    let mut refused = REFUSED.to_vec();
    if network == Network::None {
        refused.push(libc::SYS_socket);
    }
    let by_number = by_number::program(&refused, &rules.keys().copied().collect::<Vec<_>>());
    let refuse = SeccompAction::Errno(libc::EPERM.cast_unsigned());
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, refuse, architecture)?;
    let by_arguments: Vec<sock_filter> = filter.try_into()?;
    // Jumps are relative, so one program can precede another.
    Ok(pack(&[by_number, by_arguments].concat()))
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
