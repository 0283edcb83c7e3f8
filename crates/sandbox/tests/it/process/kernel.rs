//! System calls that no command may make, and privileges that no command has.

use std::fs;
use std::process::{Child, Command};

use sortie_sandbox::process::{How, Tier, probe};

use super::cell::{Cell, WALLED, is_alive, marker, program};

/// Each with arguments that succeed or fail with another error than "not permitted" if there is no wall.
const REFUSED: &[(i64, &str)] = &[
    (libc::SYS_ptrace, "0, 0, 0, 0"),
    (libc::SYS_unshare, "0"),
    (libc::SYS_setns, "-1, 0"),
    (libc::SYS_mount, "1, 1, 1, 0, 0"),
    (libc::SYS_process_vm_readv, "$$, 0, 0, 0, 0, 0"),
    (libc::SYS_process_vm_writev, "$$, 0, 0, 0, 0, 0"),
    (libc::SYS_kcmp, "$$, $$, 99, 0, 0"),
    (libc::SYS_add_key, "1, 1, 0, 0, 0"),
    (libc::SYS_request_key, "1, 1, 0, 0"),
    (libc::SYS_keyctl, "999, 0, 0, 0, 0"),
    (libc::SYS_io_uring_setup, "0, 1"),
    (libc::SYS_io_uring_enter, "-1, 0, 0, 0, 0, 0"),
    (libc::SYS_io_uring_register, "-1, 0, 0, 0"),
    (libc::SYS_userfaultfd, "-1"),
    (libc::SYS_name_to_handle_at, "-1, 1, 1, 1, 0"),
    (libc::SYS_pidfd_getfd, "-1, 0, 0"),
    (libc::SYS_ioctl, "0, 0x5412, 0"),
    (libc::SYS_prlimit64, "$$, 7, 0, 0"),
    (libc::SYS_clone, "0x10000000 | 0x20000000 | 0x200, 0, 0, 0, 0"),
];

/// Refused to a user without privileges anyway; to root only by the walls.
const PRIVILEGED: &[i64] = &[
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_mount_setattr,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_open_by_handle_at,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_swapon,
    libc::SYS_reboot,
    libc::SYS_syslog,
];

#[test]
fn dangerous_system_calls_are_refused_in_the_walls_and_not_by_chance() {
    let free = Cell::new(Tier::None);
    for tier in WALLED {
        let cell = Cell::new(tier);
        for &(number, arguments) in REFUSED {
            assert_eq!(cell.call(number, arguments), libc::EPERM, "{tier:?} {number}");
        }
        for &number in PRIVILEGED {
            assert_eq!(cell.call(number, "0, 0, 0, 0, 0"), libc::EPERM, "{tier:?} {number}");
        }
    }
    // With these flags `clone` creates a process, which has to end.
    for &(number, arguments) in REFUSED.iter().filter(|(number, _)| *number != libc::SYS_clone) {
        assert_ne!(free.call(number, arguments), libc::EPERM, "{number}");
    }
}

#[test]
fn a_command_can_limit_only_itself() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        assert_eq!(cell.run("ulimit -n 64 && ulimit -n"), "64\n");
        cell.fail("prlimit --pid $PPID --nofile=0:0");
    }
}

/// A changed priority outlasts the command, and only root could raise it again.
#[test]
fn other_processes_keep_their_priority_and_their_processors() {
    let other = Sleeping(Command::new("sleep").arg(marker()).spawn().unwrap());
    let number = other.0.id();
    // Priority, nice value, scheduling policy and processors.
    let looks = || {
        let stat = fs::read_to_string(format!("/proc/{number}/stat")).unwrap();
        let stat: Vec<String> = stat.rsplit_once(')').unwrap().1.split_whitespace().map(str::to_owned).collect();
        let status = fs::read_to_string(format!("/proc/{number}/status")).unwrap();
        let processors = status.lines().find(|line| line.starts_with("Cpus_allowed:")).unwrap().to_owned();
        ([15, 16, 38].map(|field| stat[field].clone()), processors)
    };
    let before = looks();
    let idle = "pack(q(l), 0)";
    let calls = [
        (libc::SYS_setpriority, format!("0, {number}, 5")),
        (libc::SYS_setpriority, "1, 0, 0".to_owned()),
        (libc::SYS_ioprio_set, format!("1, {number}, 3 << 13")),
        (libc::SYS_ioprio_set, "3, $<, 4 << 13 | 9".to_owned()),
        (libc::SYS_sched_setscheduler, format!("{number}, 5, {idle}")),
        (libc::SYS_sched_setparam, format!("{number}, {idle}")),
        (libc::SYS_sched_setaffinity, format!("{number}, 8, pack(q(Q), 1)")),
        (libc::SYS_sched_setattr, format!("{number}, pack(q(LLQlLQQQ), 48, 5, 0, 0, 0, 0, 0, 0), 0")),
    ];
    for tier in WALLED {
        let cell = Cell::new(tier);
        for (call, arguments) in &calls {
            let answer = cell.call(*call, arguments);
            assert!(tier == Tier::Namespaces || answer == libc::EPERM, "{call} {arguments}: {answer}");
            assert_eq!(looks(), before, "{tier:?} {call} {arguments}");
        }
        cell.run("nice -n 5 true && ionice -c 3 true && taskset 1 true && chrt --idle 0 true");
    }
}

#[test]
fn calls_that_cannot_be_inspected_do_not_exist() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        assert_eq!(cell.call(libc::SYS_clone3, "0, 0"), libc::ENOSYS);
        assert_eq!(cell.call(libc::SYS_openat2, "-100, 0, 0, 0"), libc::ENOSYS);
        if cfg!(target_arch = "x86_64") {
            // The interface of 32-bit pointers has numbers of its own, for sockets among others.
            assert_eq!(cell.call(0x4000_0000 + 41, "2, 1, 0"), libc::ENOSYS);
        }
    }
}

/// Calls of recent kernels that no list has: about mounts, security modules, and attributes of files.
#[test]
fn calls_on_no_list_do_not_exist() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        for number in [457, 458, 459, 468, 469, 999] {
            assert_eq!(cell.call(number, "0, 0, 0, 0, 0"), libc::ENOSYS, "{tier:?} {number}");
        }
    }
}

#[test]
fn no_queue_segment_or_semaphore_outlives_a_command() {
    let make = "perl -e '$k = 4242; $r = (defined msgget($k, 01600)) + (defined shmget($k, 9, 01600)) \
                + (defined semget($k, 1, 01600)); print $r'";
    let left = || ["msg", "shm", "sem"].map(|kind| fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap());
    let before = left();
    assert_eq!(Cell::new(Tier::Namespaces).run(make), "3", "they are the command's own");
    assert_eq!(Cell::new(Tier::Landlock).run(make), "0");
    for tier in WALLED {
        Cell::new(tier)
            .end("python3 -c 'import ctypes; ctypes.CDLL(\"librt.so.1\").mq_open(b\"/sortie\", 66, 384, 0)'");
    }
    assert_eq!(left(), before);
}

#[test]
fn there_are_no_privileges_and_no_way_to_gain_any() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        let status = cell.run("cat /proc/self/status");
        for set in ["CapInh", "CapPrm", "CapEff", "CapAmb"] {
            assert!(status.contains(&format!("{set}:\t0000000000000000\n")), "{tier:?} {status}");
        }
        if tier == Tier::Namespaces || rustix::process::geteuid().is_root() {
            assert!(status.contains("CapBnd:\t0000000000000000\n"), "{status}");
        }
        assert!(status.contains("NoNewPrivs:\t1\n") && status.contains("Seccomp:\t2\n"), "{status}");
    }
}

#[test]
fn other_processes_are_neither_seen_nor_killed() {
    let marker = marker();
    let other = Sleeping(Command::new("sleep").arg(&marker).spawn().unwrap());
    for tier in WALLED {
        let cell = Cell::new(tier);
        cell.fail(&format!("kill -9 {}", other.0.id()));
        cell.fail(&format!("cat /proc/{}/environ", other.0.id()));
        cell.fail(&format!("readlink /proc/{}/fd/0", other.0.id()));
        cell.fail(&format!("head -c 1 /proc/{}/mem", other.0.id()));
    }
    let cell = Cell::new(Tier::Namespaces);
    let processes = cell.run("echo /proc/[0-9]*");
    assert!(processes.split_whitespace().count() <= 3, "{processes}");
    assert!(is_alive(&marker));
}

/// A process of the test's own; it ends with the test, even if that fails.
struct Sleeping(Child);

impl Drop for Sleeping {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

#[test]
fn the_environment_of_its_parents_is_out_of_reach() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        cell.fail(&format!("cat /proc/{}/environ", std::process::id()));
        cell.fail("cat /proc/$PPID/environ");
        cell.fail("cat /proc/$PPID/maps");
    }
}

#[test]
fn there_is_no_terminal_no_input_and_nothing_else_open() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        assert_eq!(cell.run("cat; ls /proc/self/fd | wc -l; test -t 0 || test -t 1 || echo none"), "4\nnone\n");
        assert!(matches!(cell.end("exec 3< /dev/tty").0.how, How::Exited { code: 1 }));
    }
}

#[test]
fn the_strongest_walls_stand_here() {
    let probe = probe(program());
    assert_eq!(probe.tier, Tier::Namespaces, "{:?}", probe.missing);
    assert!(probe.landlock >= 6, "scopes for signals and abstract sockets came with version 6, not {}", probe.landlock);
}
