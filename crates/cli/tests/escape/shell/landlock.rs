//! Commands where namespaces are refused, so that Landlock and the broker are the walls around files.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use super::{ANY_COMMAND, bash};
use crate::calls::main_agent;
use crate::world::as_each_user;

/// Runs the program with nothing but the privileges of a user, where nobody can make a namespace.
const WITHOUT_NAMESPACES: [&str; 6] = [
    "unshare",
    "--map-root-user",
    "sh",
    "-c",
    "echo 0 > /proc/sys/user/max_user_namespaces && exec setpriv --bounding-set=-all --inh-caps=-all \"$@\"",
    "sh",
];

/// Prints which walls stand: in the other tier, `/tmp` is the command's own.
const WHICH: &str = "grep -q ' /tmp .* - tmpfs tmp ' /proc/self/mountinfo && echo namespaces || echo landlock";

/// Ways to change mode or times of the file `$f`, which the gate does not see.
const WAYS: [&str; 7] = [
    "chmod 777 $f",
    "chmod 777 /dev/stdin < $f",
    "chmod 777 /proc/self/fd/3 3< $f",
    "ln -sf $f link; chmod 777 link",
    "perl -e 'open F, q(<), $ENV{f} or die; chmod(0777, *F) or die'",
    "touch -d @1000000000 $f",
    "perl -e 'utime(1000000000, 1000000000, $ENV{f}) or die'",
];

fn looks(path: &Path) -> (u32, u32, u32, i64) {
    let found = fs::metadata(path).unwrap();
    (found.mode(), found.uid(), found.gid(), found.mtime())
}

#[test]
fn s09_no_command_changes_mode_or_times_of_files_outside_in_any_tier() {
    as_each_user(|world| {
        world.canary("home/notes.txt");
        let state = world.write("state/kept", "x");
        fs::set_permissions(&state, fs::Permissions::from_mode(0o600)).unwrap();
        let files = ["outside/canary.txt", "home/notes.txt", "state/kept"].map(|file| world.path(file));
        world.hand_over();
        for (outer, tier) in [(&[][..], "namespaces"), (&WITHOUT_NAMESPACES, "landlock")] {
            let before: Vec<_> = files.iter().map(|file| looks(file)).collect();
            let lines = files.iter().flat_map(|file| {
                // In two halves, so that no rule sees which file it is.
                let name = file.to_str().unwrap();
                let (head, tail) = name.split_at(name.len() / 2);
                WAYS.map(|way| format!("h={head}; export f=${{h}}{tail}; {way}"))
            });
            let calls = lines.map(|line| bash(&line)).chain([bash(WHICH), bash("chmod 700 src && touch -d @5 src")]);
            let after = world.run_under(outer, ANY_COMMAND, main_agent(calls));
            let answers = after.assert_completed().answers();
            let (attacks, own) = answers.split_at(files.len() * WAYS.len());
            assert!(attacks.iter().all(|answer| answer.failed && !answer.refused), "{tier}: {attacks:#?}");
            assert!(own[0].text.contains(tier), "{tier}: {own:#?}");
            own[1].assert_done();
            assert_eq!(files.iter().map(|file| looks(file)).collect::<Vec<_>>(), before, "{tier}");
            let src = looks(&world.path("workspace/src"));
            assert_eq!((src.0 & 0o777, src.3), (0o700, 5), "{tier}: its own files are its own");
        }
    });
}
