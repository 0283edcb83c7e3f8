//! A greedy command gets no more than its limits.

use std::time::Duration;

use sortie_sandbox::process::{How, Tier};

use super::cell::{Cell, WALLED};

#[test]
fn processes_are_limited() {
    const FORK: &str = "perl -e 'my $n = 0; while ($n < 2000) { my $p = fork; last unless defined $p; \
                        $p or sleep 600; $n++ } print $n'";
    let mut cell = Cell::new(Tier::Namespaces);
    cell.walls.limits.processes = 310;
    let count: u64 = cell.run(FORK).parse().unwrap();
    assert!((250..310).contains(&count), "{count}");
}

#[test]
fn memory_is_limited() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        let output = cell.fail("perl -e '$x = \"a\" x (10 * 1024 ** 3); print \"all of it\"'");
        assert!(!output.contains("all of it"));
        cell.run("perl -e '$x = \"a\" x (100 * 1024 ** 2)'");
    }
}

/// Maps 30 MiB of shared memory, and prints how often that works.
const MAP_SHARED: &str =
    "perl -e 'my $n = 0; $n++ while $n < 9 && syscall(SYS_MMAP, 0, 30 << 20, 3, 0x21, -1, 0) != -1; print $n'";

#[test]
fn shared_memory_is_limited_for_all_processes_together() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.walls.limits.memory = 100 << 20;
        let map = MAP_SHARED.replace("SYS_MMAP", &libc::SYS_mmap.to_string());
        assert_eq!(cell.run(&format!("{map}; {map}")), "30", "{tier:?}");
        assert_eq!(cell.run(&map), "3", "{tier:?}: each command has its own");
        assert_eq!(cell.call(libc::SYS_mmap, "0, -1, 3, 0x21, -1, 0"), libc::ENOMEM, "{tier:?}");
    }
    let mut cell = Cell::new(Tier::Namespaces);
    cell.walls.limits.memory = 100 << 20;
    let segments = "perl -e 'my $n = 0; $n++ while $n < 9 && defined shmget(0, 30 << 20, 01600); print $n'";
    assert_eq!(cell.run(segments), "3");
}

#[test]
fn no_memory_escapes_the_limits_through_a_file() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        assert_eq!(cell.call(libc::SYS_memfd_create, "0, 0"), libc::ENOSYS);
        assert_eq!(cell.call(libc::SYS_memfd_secret, "0"), libc::ENOSYS);
        // Mapped by somebody who may write it, this device is shared memory.
        cell.fail("exec 3<> /dev/zero");
        assert_eq!(cell.run("head -c 3 /dev/zero | wc -c"), "3\n");
    }
}

#[test]
fn files_are_limited_in_size_and_number() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.walls.limits.file_size = 1 << 20;
        cell.walls.limits.open_files = 20;
        assert_eq!(cell.end("exec head -c 3000000 /dev/zero > big").0.how, How::Signalled { signal: libc::SIGXFSZ });
        assert_eq!(std::fs::metadata(cell.path("big")).unwrap().len(), 1 << 20);
        cell.fail("perl -e 'for (1 .. 30) { open($f[$_], \"<\", \"/dev/null\") or exit 1 }'");
    }
}

#[test]
fn the_private_directories_are_limited() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.walls.limits.temporary = 1 << 20;
    cell.fail("head -c 3000000 /dev/zero > /tmp/big");
    cell.fail("head -c 3000000 /dev/zero > /dev/shm/big");
    // Empty files also take memory, though byte limits do not count it.
    for directory in ["/tmp", "/dev/shm"] {
        cell.fail(&format!("cd {directory} && perl -e 'for (1 .. 2000) {{ open(F, \">\", $_) or die $! }}'"));
    }
}

#[test]
fn processor_time_is_limited() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.walls.limits.cpu_seconds = 1;
        let ended = cell.end("while :; do :; done").0;
        assert!(matches!(ended.how, How::Signalled { .. }), "{ended:?}");
        assert!(ended.cpu < Duration::from_secs(3), "{ended:?}");
    }
}

#[test]
fn when_memory_runs_out_a_command_is_killed_first() {
    for tier in WALLED {
        assert_eq!(Cell::new(tier).run("cat /proc/self/oom_score_adj"), "1000\n");
    }
}

#[test]
fn no_process_dumps_core() {
    let cell = Cell::new(Tier::Namespaces);
    assert_eq!(cell.run("ulimit -c"), "0\n");
}
