//! No command leaves a set-user-id or set-group-id program behind: its bits would count once the walls are gone.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use sortie_sandbox::process::Tier;

use super::cell::{Cell, WALLED};

/// Ways to make such a program of `file`, or another next to it; the mode follows.
const WAYS: &[&str] = &[
    "chmod MODE file",
    "perl -e 'open(F, \"<\", \"file\"); chmod(MODE, *F) or exit 1'",
    "perl -e '$f = \"file\"; exit 1 if syscall(FCHMODAT, -100, $f, MODE) == -1'",
    "perl -e '$f = \"file\"; exit 1 if syscall(FCHMODAT2, -100, $f, MODE, 0) == -1'",
    "perl -e 'use Fcntl; sysopen(F, \"new\", O_CREAT | O_WRONLY, MODE) or exit 1'",
    "perl -e 'use Fcntl; $f = \"new\"; exit 1 if syscall(OPENAT, -100, $f, O_CREAT | O_WRONLY, MODE) == -1'",
    "perl -e '$f = \".\"; exit 1 if syscall(OPENAT, -100, $f, TMPFILE, MODE) == -1'",
    "perl -e '$f = \"new\"; exit 1 if syscall(MKNODAT, -100, $f, 0100000 | MODE, 0) == -1'",
];

/// Ways by calls that only this architecture has.
#[cfg(target_arch = "x86_64")]
const OLD_WAYS: &[&str] = &[
    "perl -e '$f = \"file\"; exit 1 if syscall(90, $f, MODE) == -1'",
    "perl -e 'use Fcntl; $f = \"new\"; exit 1 if syscall(2, $f, O_CREAT | O_WRONLY, MODE) == -1'",
    "perl -e '$f = \"new\"; exit 1 if syscall(85, $f, MODE) == -1'",
    "perl -e '$f = \"new\"; exit 1 if syscall(133, $f, 0100000 | MODE, 0) == -1'",
];
#[cfg(not(target_arch = "x86_64"))]
const OLD_WAYS: &[&str] = &[];

fn ways(mode: &'static str) -> impl Iterator<Item = String> {
    let numbers = [
        ("MODE", mode.to_owned()),
        // The longer name first: it contains the other.
        ("FCHMODAT2", 452.to_string()),
        ("FCHMODAT", libc::SYS_fchmodat.to_string()),
        ("OPENAT", libc::SYS_openat.to_string()),
        ("MKNODAT", libc::SYS_mknodat.to_string()),
        ("TMPFILE", (libc::O_TMPFILE | libc::O_WRONLY).to_string()),
    ];
    WAYS.iter()
        .chain(OLD_WAYS)
        .map(move |way| numbers.iter().fold((*way).to_owned(), |way, (name, number)| way.replace(name, number)))
}

#[test]
fn no_program_with_privileges_is_left_behind() {
    for tier in WALLED {
        let cell = Cell::new(tier);
        cell.put("file", "#!/bin/sh\n");
        for mode in ["04755", "02755", "06711"] {
            for way in ways(mode) {
                cell.fail(&way);
                for entry in fs::read_dir(&cell.root).unwrap() {
                    let mode = entry.unwrap().metadata().unwrap().permissions().mode();
                    assert_eq!(mode & 0o6000, 0, "{tier:?} {way}");
                }
            }
        }
    }
}

/// Each of the ways is open without the bits, and even with them if there are no walls.
#[test]
fn files_get_every_other_mode() {
    let modes = [(Tier::Namespaces, "01755"), (Tier::Landlock, "0755"), (Tier::None, "04755")];
    for (tier, mode) in modes {
        let cell = Cell::new(tier);
        cell.put("file", "#!/bin/sh\n");
        for way in ways(mode) {
            cell.run(&way);
            fs::remove_file(cell.path("new")).ok();
        }
    }
}
