use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use sortie_sandbox::process::{SpawnError, Tier, Walls};

use super::cell::{Cell, WALLED, text_of};

#[test]
fn a_command_reads_and_writes_its_workspace() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        cell.put("sub/old", "old");
        assert_eq!(
            cell.run("cat sub/old && echo new > sub/new && mkdir d && mv sub/old d/ && ln -s d l && cat l/old"),
            "oldold"
        );
        assert_eq!(text_of(&cell.path("sub/new")), "new\n");
    }
}

#[test]
fn nothing_outside_is_written() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        symlink(&cell.outside, cell.path("link")).unwrap();
        let outside = cell.outside.display();
        for command in [
            format!("echo x > {outside}/file"),
            format!("echo x >> {outside}/file"),
            format!("echo x > {outside}/new"),
            format!("mkdir {outside}/new"),
            format!("rm {outside}/file"),
            format!("mv {outside}/file ."),
            format!("truncate -s 0 {outside}/file"),
            format!("perl -e 'truncate(\"{outside}/file\", 0) or exit 1'"),
            "echo x > link/new".to_owned(),
            "echo x > ../new".to_owned(),
        ] {
            cell.fail(&command);
        }
        assert_eq!(text_of(&cell.outside.join("file")), "as it was");
        assert_eq!(fs::read_dir(&cell.outside).unwrap().count(), 1, "{tier:?}");
    }
}

#[test]
fn a_read_only_workspace_cannot_be_written() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put("file", "as it was");
        cell.walls = Walls::reading(cell.root.clone());
        assert_eq!(cell.run("cat file"), "as it was");
        for command in ["echo x > file", "echo x > new", "rm file", "mkdir d", "ln file hard"] {
            cell.fail(command);
        }
        assert_eq!(text_of(&cell.path("file")), "as it was");
        assert_eq!(fs::read_dir(&cell.root).unwrap().count(), 1);
    }
}

#[test]
fn a_writable_directory_is_named_without_links() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        fs::create_dir_all(cell.outside.join("docs")).unwrap();
        symlink(&cell.outside, cell.path("link")).unwrap();
        for path in ["link", "link/docs", "sub/../link"] {
            cell.walls.writable = vec![cell.path(path)];
            fs::create_dir_all(cell.path("sub")).unwrap();
            let error = cell.spawn("true").unwrap_err();
            assert!(matches!(error, SpawnError::Linked { .. }), "{tier:?} {path}: {error}");
        }
        cell.walls.writable = vec![cell.path("absent")];
        assert!(matches!(cell.spawn("true").unwrap_err(), SpawnError::Directory { .. }));
    }
}

#[test]
fn a_workspace_and_paths_beneath_it_can_be_named_through_a_link() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        fs::create_dir(cell.path("docs")).unwrap();
        let alias = cell.outside.join("alias");
        symlink(&cell.root, &alias).unwrap();
        symlink(&cell.outside, cell.path("link")).unwrap();
        cell.walls = Walls { writable: vec![alias.join("docs")], ..Walls::reading(alias.clone()) };
        cell.run("echo made > docs/made");
        cell.walls.writable = vec![alias.clone()];
        cell.run("echo made > made");
        cell.walls.writable = vec![alias.join("link")];
        assert!(matches!(cell.spawn("true").unwrap_err(), SpawnError::Linked { .. }));
    }
}

#[test]
fn another_writable_directory_can_be_written_but_not_its_neighbour() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        fs::create_dir(cell.outside.join("granted")).unwrap();
        cell.walls.writable.push(cell.outside.join("granted"));
        let outside = cell.outside.display();
        cell.run(&format!("echo x > {outside}/granted/new"));
        cell.fail(&format!("echo x > {outside}/new"));
        assert_eq!(text_of(&cell.outside.join("granted/new")), "x\n");
    }
}

#[test]
fn temporary_files_are_the_commands_own() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        let file = tempfile::NamedTempFile::new().unwrap();
        let path = file.path().display().to_string();
        let own = cell.run("mktemp");
        assert!(!Path::new(own.trim()).exists(), "it is gone: {own}");
        cell.end(&format!("echo x > {path}; rm -rf /tmp/* {path}"));
        assert_eq!(text_of(file.path()), "");
    }
    let cell = Cell::new(Tier::Namespaces);
    assert_eq!(cell.run("ls -A /tmp"), "");
    cell.run("echo x > /dev/shm/mine && echo '#!/bin/sh' > /tmp/program && chmod +x /tmp/program && /tmp/program");
}

#[test]
fn a_workspace_in_the_temporary_directory_is_still_there() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    for walls in [Walls::writing(directory.path().to_owned()), Walls::reading(directory.path().to_owned())] {
        let mut cell = Cell::new(Tier::Namespaces);
        cell.root = directory.path().to_owned();
        cell.put("file", "here");
        cell.walls = walls;
        assert_eq!(cell.run("cat file"), "here");
    }
}

#[test]
fn one_writable_directory_of_a_workspace_in_tmp_leaves_the_rest_read_only() {
    let directory = tempfile::tempdir_in("/tmp").unwrap();
    let root = directory.path().canonicalize().unwrap();
    fs::create_dir(root.join("docs")).unwrap();
    let mut cell = Cell::new(Tier::Namespaces);
    cell.walls = Walls { writable: vec![root.join("docs")], ..Walls::reading(root.clone()) };
    cell.root = root;
    cell.run("echo made > docs/made");
    cell.fail("echo made > made");
    assert_eq!(text_of(&cell.path("docs/made")), "made\n");
    assert!(!cell.path("made").exists());
}

#[test]
fn devices_are_the_harmless_ones() {
    let cell = Cell::new(Tier::Namespaces);
    let devices = cell.run("for file in /dev/*; do if [ ! -L $file -a -c $file ]; then echo $file; fi; done");
    assert_eq!(devices, "/dev/full\n/dev/null\n/dev/random\n/dev/urandom\n/dev/zero\n");
    for tier in WALLED {
        let cell = Cell::new(tier);
        cell.run("head -c 10 /dev/urandom > /dev/null && cat < /dev/null && cat <(echo x)");
        cell.fail("mknod disk b 8 0");
        cell.fail("mknod memory c 1 1");
        cell.fail("echo < /dev/tty");
        cell.fail("exec 3< /dev/ptmx");
    }
}

/// Every change asks for what is there already: a test that fails must not break the machine.
#[test]
fn device_nodes_can_be_written_but_keep_their_mode_owner_and_times() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        for device in ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"] {
            for command in [
                "chmod $(stat -c %a DEVICE) DEVICE",
                "chown $(stat -c %u:%g DEVICE) DEVICE",
                "touch -c -r DEVICE DEVICE",
                "perl -e 'chmod((stat STDIN)[2] & 07777, *STDIN) or exit 1' < DEVICE",
                "perl -e 'utime((stat STDIN)[8, 9], *STDIN) or exit 1' < DEVICE",
                "chmod $(stat -c %a DEVICE) /proc/self/fd/3 3< DEVICE",
            ] {
                cell.fail(&command.replace("DEVICE", device));
            }
        }
        cell.run("echo x > /dev/null && echo x >> /dev/null && echo x | tee /dev/null && exec 3<> /dev/null");
    }
}

/// Each of these walls has others behind it, so it is inspected rather than attacked.
#[test]
fn every_mount_is_unprivileged_and_only_its_own_are_writable() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.put(".git/config", "");
    cell.protect(".git/config");
    let own = [cell.root.clone(), cell.path(".git"), "/tmp".into(), "/dev".into()];
    let mounts = cell.run("cat /proc/self/mountinfo");
    assert!(mounts.contains(" /proc "), "{mounts}");
    for mount in mounts.lines() {
        let fields: Vec<&str> = mount.split(' ').collect();
        let (place, options) = (Path::new(fields[4]), fields[5]);
        if place.starts_with("/dev") && place != Path::new("/dev") {
            continue;
        }
        let has = |option: &str| options.split(',').any(|one| one == option);
        assert!(has("nosuid") && has("nodev"), "{mount}");
        assert!(has("ro") || own.iter().any(|own| own == place), "{mount}");
    }
}

/// Without Landlock, the private `/dev` would be writable.
#[test]
fn landlock_stands_behind_the_view() {
    let cell = Cell::new(Tier::Namespaces);
    assert!(cell.fail("echo x > /dev/new").contains("Permission denied"));
}

#[test]
fn kernel_switches_cannot_be_changed() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        cell.fail("echo x > /proc/sys/kernel/core_pattern");
        cell.fail("echo b > /proc/sysrq-trigger");
        cell.fail("echo 0 > /proc/self/oom_score_adj");
        cell.fail("mkdir /sys/fs/cgroup/mine");
    }
}

#[test]
fn the_working_directory_must_lie_within() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        let root = std::mem::replace(&mut cell.root, cell.outside.clone());
        assert!(matches!(cell.spawn("true").unwrap_err(), SpawnError::Outside { .. }));
        symlink(&cell.outside, root.join("link")).unwrap();
        cell.root = root.join("link");
        assert!(matches!(cell.spawn("true").unwrap_err(), SpawnError::Outside { .. }));
        cell.root = root.join("absent");
        assert!(matches!(cell.spawn("true").unwrap_err(), SpawnError::Directory { .. }));
    }
}
