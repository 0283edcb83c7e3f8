//! System calls known by name: those that programs need, and those that no command may make.
//!
//! The first list was measured: compilers, package managers, language runtimes, git and test drivers of browsers make
//! no other call that they cannot do without. A call on neither list, such as one of a later kernel, is reported as
//! absent, and C libraries fall back to an older one.

use libc::c_long;

/// A system call: its number and its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) number: c_long,
    pub(crate) name: &'static str,
}

macro_rules! calls {
    ($($name:ident)*) => { &[$(Call { number: libc::$name, name: stringify!($name) }),*] };
}

/// Allowed with any arguments, unless `by_arguments` has a rule.
pub(super) const ALLOWED: &[Call] = calls! {
    SYS_accept SYS_accept4 SYS_bind SYS_brk SYS_capget SYS_capset SYS_chdir SYS_clock_getres
    SYS_clock_gettime SYS_clock_nanosleep SYS_clone SYS_close SYS_close_range SYS_connect SYS_copy_file_range SYS_dup
    SYS_dup3 SYS_epoll_create1 SYS_epoll_ctl SYS_epoll_pwait SYS_epoll_pwait2 SYS_eventfd2 SYS_execve SYS_execveat
    SYS_exit SYS_exit_group SYS_faccessat SYS_faccessat2 SYS_fadvise64 SYS_fallocate SYS_fchdir SYS_fcntl SYS_fdatasync
    SYS_fgetxattr SYS_flistxattr SYS_flock SYS_fstat SYS_fstatfs SYS_fsync SYS_ftruncate SYS_futex     SYS_futex_waitv SYS_get_mempolicy SYS_get_robust_list SYS_getcpu SYS_getcwd
    SYS_getdents64 SYS_getegid SYS_geteuid SYS_getgid SYS_getgroups SYS_getitimer SYS_getpeername SYS_getpgid
    SYS_getpid SYS_getppid SYS_getpriority SYS_getrandom SYS_getresgid SYS_getresuid SYS_getrusage SYS_getsid
    SYS_getsockname SYS_getsockopt SYS_gettid SYS_gettimeofday SYS_getuid SYS_getxattr SYS_inotify_add_watch
    SYS_inotify_init1 SYS_inotify_rm_watch SYS_io_cancel SYS_io_destroy SYS_io_getevents SYS_io_setup SYS_io_submit
    SYS_ioctl SYS_ioprio_get SYS_ioprio_set SYS_kill SYS_landlock_add_rule SYS_landlock_create_ruleset
    SYS_landlock_restrict_self SYS_lgetxattr SYS_linkat SYS_listen SYS_listxattr SYS_llistxattr SYS_lseek SYS_madvise
    SYS_mbind SYS_membarrier SYS_mincore SYS_mkdirat SYS_mknodat SYS_mlock
    SYS_mlock2 SYS_mlockall SYS_mmap SYS_mprotect SYS_mq_getsetattr SYS_mq_notify SYS_mq_timedreceive
    SYS_mq_timedsend SYS_mremap SYS_mseal SYS_msync SYS_munlock SYS_munlockall SYS_munmap SYS_nanosleep SYS_openat
    SYS_personality SYS_pidfd_open SYS_pidfd_send_signal SYS_pipe2 SYS_pkey_alloc SYS_pkey_free SYS_pkey_mprotect
    SYS_ppoll SYS_prctl SYS_pread64 SYS_preadv SYS_preadv2 SYS_prlimit64 SYS_pselect6 SYS_pwrite64 SYS_pwritev
    SYS_pwritev2 SYS_read SYS_readahead SYS_readlinkat SYS_readv SYS_recvfrom SYS_recvmmsg SYS_recvmsg
    SYS_remap_file_pages SYS_renameat2 SYS_restart_syscall SYS_rseq SYS_rt_sigaction SYS_rt_sigpending
    SYS_rt_sigprocmask SYS_rt_sigqueueinfo SYS_rt_sigreturn SYS_rt_sigsuspend SYS_rt_sigtimedwait
    SYS_rt_tgsigqueueinfo SYS_sched_get_priority_max SYS_sched_get_priority_min SYS_sched_getaffinity
    SYS_sched_getattr SYS_sched_getparam SYS_sched_getscheduler SYS_sched_rr_get_interval SYS_sched_setaffinity
    SYS_sched_setattr SYS_sched_setparam SYS_sched_setscheduler SYS_sched_yield SYS_seccomp SYS_sendfile SYS_sendmmsg
    SYS_sendmsg SYS_sendto SYS_set_mempolicy SYS_set_robust_list SYS_set_tid_address SYS_setfsgid SYS_setfsuid
    SYS_setgid SYS_setgroups SYS_setitimer SYS_setpgid SYS_setpriority SYS_setregid SYS_setresgid SYS_setresuid
    SYS_setreuid SYS_setsid SYS_setsockopt SYS_setuid SYS_shutdown SYS_sigaltstack SYS_signalfd4 SYS_socket
    SYS_socketpair SYS_splice SYS_statfs SYS_statx SYS_symlinkat SYS_sync SYS_sync_file_range SYS_syncfs SYS_sysinfo
    SYS_tee SYS_tgkill SYS_timer_create SYS_timer_delete SYS_timer_getoverrun SYS_timer_gettime SYS_timer_settime
    SYS_timerfd_create SYS_timerfd_gettime SYS_timerfd_settime SYS_times SYS_tkill SYS_truncate SYS_umask SYS_uname
    SYS_unlinkat SYS_vmsplice SYS_wait4 SYS_waitid SYS_write SYS_writev
};

/// Allowed too. Numbers from 424 on are the same on all architectures, but not named on all.
pub(super) const NEWER: &[Call] = &[
    Call { number: 451, name: "SYS_cachestat" },
    Call { number: 453, name: "SYS_map_shadow_stack" },
    Call { number: 454, name: "SYS_futex_wake" },
    Call { number: 455, name: "SYS_futex_wait" },
    Call { number: 456, name: "SYS_futex_requeue" },
];

/// Change the mode, owner, times or other attributes of a file, wherever it is.
pub(super) const ATTRIBUTES: &[Call] = calls! {
    SYS_fchmod SYS_fchmodat SYS_fchown SYS_fchownat SYS_utimensat
};

/// Attributes beyond the ordinary ones.
pub(super) const EXTENDED_ATTRIBUTES: &[Call] = calls! {
    SYS_fremovexattr SYS_fsetxattr SYS_lremovexattr SYS_lsetxattr SYS_removexattr SYS_setxattr
};

/// Make or remove objects that outlive every process, outside a namespace of their own.
pub(super) const LASTING: &[Call] = calls! {
    SYS_mq_open SYS_mq_unlink SYS_msgctl SYS_msgget SYS_msgrcv SYS_msgsnd SYS_semctl SYS_semget SYS_semop SYS_semtimedop
    SYS_shmat SYS_shmctl SYS_shmdt SYS_shmget
};

/// Number of the call that sets a mode with flags; it has no name on all architectures.
pub(crate) const SYS_FCHMODAT2: c_long = 452;

/// Allowed or brokered calls of older interfaces, which only this architecture still has.
#[cfg(target_arch = "x86_64")]
pub(super) const OLD: &[Call] = calls! {
    SYS_access SYS_alarm SYS_arch_prctl SYS_creat SYS_dup2 SYS_epoll_create SYS_epoll_wait SYS_eventfd SYS_fork
    SYS_getdents SYS_getpgrp SYS_getrlimit SYS_inotify_init SYS_link SYS_lstat SYS_mkdir SYS_mknod SYS_newfstatat
    SYS_open SYS_pause SYS_pipe SYS_poll SYS_readlink SYS_rename SYS_renameat SYS_rmdir SYS_select SYS_setrlimit
    SYS_signalfd SYS_stat SYS_symlink SYS_time SYS_unlink SYS_vfork
};
#[cfg(target_arch = "x86_64")]
pub(super) const OLD_ATTRIBUTES: &[Call] = calls! {
    SYS_chmod SYS_chown SYS_futimesat SYS_lchown SYS_utime SYS_utimes
};
#[cfg(target_arch = "aarch64")]
pub(super) const OLD: &[Call] = calls! { SYS_getrlimit SYS_newfstatat SYS_renameat SYS_setrlimit };
#[cfg(target_arch = "riscv64")]
pub(super) const OLD: &[Call] = calls! { SYS_getrlimit SYS_newfstatat SYS_setrlimit };
#[cfg(not(target_arch = "x86_64"))]
pub(super) const OLD_ATTRIBUTES: &[Call] = &[];

/// Refused whatever their arguments: they reach other processes, change the view of files, load code into the kernel,
/// or bypass the filter.
pub(super) const REFUSED: &[Call] = calls! {
    SYS_acct SYS_add_key SYS_adjtimex SYS_bpf SYS_chroot SYS_clock_adjtime SYS_clock_settime SYS_delete_module
    SYS_fanotify_init SYS_fanotify_mark SYS_finit_module SYS_fsconfig SYS_fsmount SYS_fsopen SYS_fspick
    SYS_init_module SYS_io_uring_enter SYS_io_uring_register SYS_io_uring_setup SYS_kcmp SYS_kexec_file_load SYS_kexec_load
    SYS_keyctl
    SYS_migrate_pages SYS_mount SYS_mount_setattr SYS_move_mount SYS_move_pages SYS_name_to_handle_at
    SYS_open_by_handle_at SYS_open_tree SYS_perf_event_open SYS_pidfd_getfd SYS_pivot_root SYS_process_madvise
    SYS_process_mrelease SYS_process_vm_readv SYS_process_vm_writev SYS_ptrace SYS_quotactl SYS_quotactl_fd SYS_reboot
    SYS_request_key SYS_setdomainname SYS_sethostname SYS_setns SYS_settimeofday SYS_swapoff SYS_swapon SYS_syslog
    SYS_umount2 SYS_unshare SYS_userfaultfd SYS_vhangup
};

/// The arguments of the first two cannot be inspected, so they are absent. The C library manages without the first, and
/// programs that use the second cope with kernels that lack it. The others make files in memory that no limit covers;
/// programs use a file in `/dev/shm` or `/tmp` instead.
#[cfg(test)]
pub(super) const ABSENT: [c_long; 4] =
    [libc::SYS_clone3, libc::SYS_openat2, libc::SYS_memfd_create, libc::SYS_memfd_secret];

/// The name of a call that is on one of the lists.
pub(crate) fn name_of(number: c_long) -> Option<&'static str> {
    if number == SYS_FCHMODAT2 {
        return Some("fchmodat2");
    }
    let all = [ALLOWED, NEWER, ATTRIBUTES, EXTENDED_ATTRIBUTES, LASTING, OLD, OLD_ATTRIBUTES, REFUSED];
    let known = all.into_iter().flatten().find(|call| call.number == number)?;
    known.name.strip_prefix("SYS_")
}
