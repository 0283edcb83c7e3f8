//! Mode, owner, times and extended attributes: a command changes them where it may write, and nowhere else.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use sortie_sandbox::process::Tier;

use super::cell::{Cell, WALLED};

/// Ways to change the mode or the times of `FILE`. None changes what is in it.
const WAYS: &[&str] = &[
    "chmod 700 FILE",
    "chmod 700 $(realpath FILE)",
    "cd $(dirname FILE) && chmod 700 $(basename FILE)",
    "ln -sf $(realpath FILE) mine && chmod 700 mine",
    "perl -e 'open F, q(<), q(FILE) or exit 1; chmod(0700, *F) or exit 1'",
    "chmod 700 /dev/stdin < FILE",
    "chmod 700 /proc/self/fd/3 3< FILE",
    "exec 3< FILE && chmod 700 /dev/fd/3",
    "python3 -c 'import os; os.chmod(\"FILE\", 0o700)'",
    "touch -d @1000000000 FILE",
    "touch -h -d @1000000000 FILE",
    "perl -e 'utime(1000000000, 1000000000, q(FILE)) or exit 1'",
    "python3 -c 'import os; os.utime(\"FILE\", ns=(1, 1000000000 * 10**9))'",
    "python3 -c 'import os; fd = os.open(\"FILE\", os.O_RDONLY); os.utime(fd, (1, 1000000000))'",
    "python3 -c 'import os; fd = os.open(\"/\", os.O_RDONLY); os.utime(\"FILE\".strip(\"/\"), (1, 1000000000), dir_fd=fd)'",
];

/// Further ways to change something about `FILE`, which not every file system has.
const OTHER_WAYS: &[&str] = &[
    "chown $(id -u) FILE",
    "chgrp $(id -g) FILE",
    "python3 -c 'import os; os.setxattr(\"FILE\", \"user.x\", b\"y\")'",
    "perl -e 'open F, q(<), q(FILE) or exit 1; $n = pack q(L), 0x40; ioctl(F, 0x40086602, $n) or exit 1'",
    "perl -e 'open F, q(<), q(FILE) or exit 1; $n = pack q(Q), 7; ioctl(F, 0x40086604, $n) or exit 1'",
    "perl -e 'open F, q(<), q(FILE) or exit 1; ioctl(F, 0x660c, 0) or exit 1'",
];

/// Everything about a file that these ways could change.
fn looks(path: &Path) -> (u32, u32, u32, i64) {
    let found = fs::metadata(path).unwrap();
    (found.mode() & 0o7777, found.uid(), found.gid(), found.mtime())
}

#[test]
fn mode_and_times_of_files_outside_stay_whatever_names_them() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        let file = cell.outside.join("file");
        let before = looks(&file);
        for way in WAYS.iter().chain(OTHER_WAYS) {
            cell.fail(&way.replace("FILE", file.to_str().unwrap()));
            assert_eq!(looks(&file), before, "{tier:?} {way}");
        }
        cell.fail(&format!("chmod 777 {}", cell.outside.display()));
        cell.fail("chmod 777 /etc");
    }
}

/// An open of a file waits as long as another process has a lease on it.
#[test]
fn no_command_makes_others_wait_for_a_file() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        let file = cell.outside.join("file");
        let lease =
            |kind| format!("perl -e 'open F, q(<), q({}) or exit 9; fcntl(F, 1024, {kind}) or exit 1'", file.display());
        for kind in [0, 1] {
            cell.fail(&lease(kind));
        }
        Cell::new(Tier::None).run(&lease(1));
    }
}

#[test]
fn mode_and_times_in_the_workspace_can_be_changed() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        for way in WAYS {
            let file = cell.path("dir/file");
            cell.put("dir/file", "x");
            fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
            cell.run(&way.replace("FILE", file.to_str().unwrap()));
            let (mode, .., time) = looks(&file);
            assert!(mode == 0o700 || time == 1_000_000_000, "{tier:?} {way}");
            fs::remove_dir_all(cell.path("dir")).unwrap();
        }
        cell.put("dir/file", "x");
        cell.run("chown $(id -u):$(id -g) dir/file && cp -p dir/file copy && install -m 755 copy tool && touch new");
        cell.run("tar cf all.tar dir && rm -r dir && tar xf all.tar && tar --same-owner -xf all.tar");
        cell.run("git init -q made && cd made && git config user.name a && git config user.email a");
        cell.run("echo 'int main() { return 0; }' > main.c && gcc main.c -o main && ./main && test -x main");
        cell.fail("chmod 700 missing");
        cell.fail("chmod 4755 tool");
    }
}

#[test]
fn protected_and_hidden_files_keep_their_mode_too() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put(".git/hooks/pre-commit", "#!/bin/sh\n");
        cell.put("secret", "x");
        cell.protect(".git/hooks");
        cell.walls.hidden.push(cell.path("secret"));
        symlink(".git/hooks/pre-commit", cell.path("link")).unwrap();
        let files = [".git/hooks/pre-commit", "secret"].map(|file| cell.path(file));
        let before = files.each_ref().map(|file| looks(file));
        for command in ["chmod 777 .git/hooks/pre-commit", "chmod 777 link", "chmod 777 secret", "touch -d @1 secret"] {
            cell.fail(command);
        }
        assert_eq!(files.each_ref().map(|file| looks(file)), before, "{tier:?}");
    }
}

#[test]
fn refused_calls_are_named_at_the_end_and_ordinary_ones_are_not() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        let refused = |command: &str| cell.end(command).0.refused_calls;
        assert_eq!(refused("true"), [""; 0], "{tier:?}");
        assert_eq!(refused("unshare --user true; mount -t tmpfs x /mnt"), ["mount", "unshare"]);
        assert_eq!(refused("touch x && chmod 4755 x"), ["fchmodat"]);
    }
}
