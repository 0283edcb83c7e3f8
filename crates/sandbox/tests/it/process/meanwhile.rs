//! Others change the workspace while walls are built in it; the forbidden result is watched for during each attempt.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use sortie_sandbox::process::{Ended, SpawnError, Tier};

use super::cell::{CAPS, Cell, WALLED};

/// Number of commands started while something else makes changes.
const ROUNDS: usize = 40;

/// Repeats a change from before `attempt` begins until it is over.
fn beside(change: impl Fn() + Sync, attempt: impl FnOnce()) {
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                change();
            }
        });
        let _over = Over(&over);
        attempt();
    });
}

#[test]
fn a_writable_directory_that_becomes_a_link_opens_nothing_elsewhere() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        for directory in [cell.path("way/docs"), cell.outside.join("docs")] {
            fs::create_dir_all(directory).unwrap();
        }
        symlink(&cell.outside, cell.path("link")).unwrap();
        cell.walls.writable = vec![cell.path("way/docs")];
        let (way, link) = (cell.path("way"), cell.path("link"));
        let swap = || renameat_with(CWD, &way, CWD, &link, RenameFlags::EXCHANGE).unwrap();
        let command = format!("echo x > {0}/docs/new; echo x > {0}/new", cell.outside.display());
        beside(swap, || {
            for _ in 0..ROUNDS {
                match cell.spawn(&command) {
                    Ok(running) => drop(running.finish(CAPS, &mut |_| {}).unwrap()),
                    Err(SpawnError::Linked { .. } | SpawnError::Directory { .. } | SpawnError::Walls { .. }) => {}
                    Err(error) => panic!("{error}"),
                }
            }
        });
        assert!(!cell.outside.join("new").exists() && !cell.outside.join("docs/new").exists(), "{tier:?}");
    }
}

#[test]
fn files_that_come_and_go_do_not_fail_a_command() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put("stays", "x");
        let place = cell.path("comes/and/goes");
        fs::create_dir_all(place.join("secret")).unwrap();
        cell.walls.hidden = vec![place.join("secret"), place.join("token")];
        cell.walls.protected = vec![place.join("hooks"), place.join("config"), place.join("deep/hooks")];
        let change = || {
            // Another command's placeholder may be here, in which nothing may be created.
            fs::create_dir_all(place.join("secret")).ok();
            fs::create_dir_all(place.join("deep")).ok();
            fs::write(place.join("token"), "secret").ok();
            fs::write(place.join("config"), "x").ok();
            fs::remove_dir_all(cell.path("comes")).ok();
        };
        beside(change, || {
            for _ in 0..ROUNDS {
                cell.run("true");
            }
        });
        change();
        assert_eq!(fs::read_dir(&cell.root).unwrap().count(), 1, "{tier:?}: nothing is left of the placeholders");
    }
}

#[test]
fn a_placeholder_created_at_the_last_moment_is_removed_at_the_end() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.put("moves/config", "x");
    cell.protect("moves/config");
    let (place, aside) = (cell.path("moves"), cell.outside.join("aside"));
    let shift = |from: &Path, to: &Path| renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE).ok();
    for _ in 0..ROUNDS {
        let mut started = None;
        // If something else has taken its place when it is to come back, that stays.
        let move_away_and_back = || {
            shift(&place, &aside);
            shift(&aside, &place);
        };
        beside(move_away_and_back, || started = Some(cell.spawn("true").unwrap()));
        started.unwrap().finish(CAPS, &mut |_| {}).unwrap();
        shift(&aside, &place);
        assert!(place.join("config").exists(), "something else is in its place");
    }
}

#[test]
fn a_placeholder_that_somebody_fills_becomes_an_ordinary_directory() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.protect(".sortie/agents");
    let made = cell.path(".sortie");
    let running = cell.spawn("echo up; sleep 600").unwrap();
    let stopper = running.stopper();
    let mut is_up = false;
    let finished = running.finish(CAPS, &mut |_| {
        if !is_up {
            put_into_closed(&made, "agents");
            is_up = true;
            stopper.stop();
        }
    });
    finished.unwrap();
    assert!(is_up && made.join("agents").exists());
    let ordinary = fs::metadata(&cell.root).unwrap().permissions().mode() & 0o7777;
    assert_eq!(fs::metadata(&made).unwrap().permissions().mode() & 0o7777, ordinary);
}

#[test]
fn a_replaced_placeholder_is_not_removed() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.protect(".sortie");
    let made = cell.path(".sortie");
    let running = cell.spawn("echo up; sleep 600").unwrap();
    let stopper = running.stopper();
    let finished = running.finish(CAPS, &mut |_| {
        if made.metadata().unwrap().permissions().mode() & 0o777 == 0o555 {
            fs::remove_dir(&made).unwrap();
            fs::create_dir(&made).unwrap();
        }
        stopper.stop();
    });
    finished.unwrap();
    assert!(made.exists());
}

#[test]
fn a_closed_user_directory_with_content_is_not_a_placeholder() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.put("closed/open/file", "x");
    fs::set_permissions(cell.path("closed"), fs::Permissions::from_mode(0o1555)).unwrap();
    cell.protect("closed/open/hooks");
    cell.fail("mkdir closed/open/hooks");
    cell.run("echo x > closed/open/new");
    assert_eq!(fs::metadata(cell.path("closed")).unwrap().permissions().mode() & 0o7777, 0o1555);
    fs::set_permissions(cell.path("closed"), fs::Permissions::from_mode(0o755)).unwrap();
}

/// Creates a directory inside another that is closed to its owner, and closes the outer one again.
fn put_into_closed(directory: &Path, name: &str) {
    let closed = fs::metadata(directory).unwrap().permissions();
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(directory.join(name)).unwrap();
    fs::set_permissions(directory, closed).unwrap();
}

/// Far more than a wall takes to be put back; the command of a wall that stays open ends then.
const MENDED_WITHIN: Duration = Duration::from_secs(20);

/// Waits, within a command, until a path is a mount again.
const COVERED: &str = "until grep -q \" $PWD/PATH \" /proc/self/mountinfo; do :; done";

/// The ways by which somebody else puts something new in the place of a directory with one file.
fn replacements() -> [fn(&Path, &str); 3] {
    fn fill(directory: &Path, file: &str) {
        fs::create_dir(directory).unwrap();
        fs::write(directory.join(file), "new").unwrap();
    }
    [
        |directory, file| {
            fs::remove_dir_all(directory).unwrap();
            fill(directory, file);
        },
        |directory, file| {
            fs::rename(directory, directory.with_extension("moved")).unwrap();
            fill(directory, file);
        },
        |directory, file| {
            let prepared = directory.with_extension("prepared");
            fill(&prepared, file);
            renameat_with(CWD, &prepared, CWD, directory, RenameFlags::EXCHANGE).unwrap();
        },
    ]
}

/// Runs a command that says `up`, waits for the file `go` and for the cover of `path`, and then does `deed`. Meanwhile
/// somebody else makes a change.
fn replaced_meanwhile(cell: &Cell, path: &str, deed: &str, change: impl FnOnce()) -> (Ended, String) {
    let covered = COVERED.replace("PATH", path);
    let line = format!("echo up; until [ -e go ]; do :; done; {covered}; {deed}");
    let running = cell.spawn_until(&line, MENDED_WITHIN).unwrap();
    let (mut change, mut output) = (Some(change), Vec::new());
    let ended = running.finish(CAPS, &mut |bytes| {
        output.extend_from_slice(bytes);
        if let Some(change) = change.take() {
            change();
            fs::write(cell.path("go"), "").unwrap();
        }
    });
    (ended.unwrap(), String::from_utf8_lossy(&output).into_owned())
}

#[test]
fn a_hidden_directory_stays_hidden_whatever_comes_to_stand_there() {
    for replace in replacements() {
        let mut cell = Cell::new(Tier::Namespaces);
        cell.put("deep/secret/key", "as it was");
        let secret = cell.path("deep/secret");
        cell.walls.hidden.push(secret.clone());
        let deed = "cat deep/secret/key || ls deep/secret || echo hidden";
        let (ended, output) = replaced_meanwhile(&cell, "deep/secret", deed, || replace(&secret, "key"));
        assert!(output.ends_with("hidden\n") && !output.contains("new"), "{output}");
        assert_eq!(ended.replaced, [secret]);
    }
}

#[test]
fn a_protected_file_stays_protected_whatever_comes_to_stand_there() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.put(".git/config", "as it was");
    cell.protect(".git/config");
    let config = cell.path(".git/config");
    let replace = || {
        fs::write(config.with_extension("lock"), "new").unwrap();
        fs::rename(config.with_extension("lock"), &config).unwrap();
    };
    let (ended, output) =
        replaced_meanwhile(&cell, ".git/config", "cat .git/config; echo x > .git/config || echo kept", replace);
    assert!(output.contains("new") && output.ends_with("kept\n"), "{output}");
    assert_eq!((super::cell::text_of(&config), ended.replaced), ("new".to_owned(), vec![config]));
}

#[test]
fn a_new_repository_in_the_place_of_another_gets_its_walls() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.put(".git/hooks/pre-commit", "as it was");
    cell.put(".git/config", "as it was");
    cell.protect(".git/hooks");
    cell.protect(".git/config");
    let git = cell.path(".git");
    let init = || {
        fs::remove_dir_all(&git).unwrap();
        fs::create_dir_all(git.join("hooks")).unwrap();
        fs::write(git.join("config"), "new").unwrap();
    };
    let deed = "echo x > .git/hooks/pre-commit || mv .git away || echo kept";
    let (ended, output) = replaced_meanwhile(&cell, ".git/hooks", deed, init);
    assert!(output.ends_with("kept\n"), "{output}");
    assert!(!git.join("hooks/pre-commit").exists());
    // A watcher that comes between the removal of the hooks and that of the repository names them one by one.
    let one_by_one = [git.join("config"), git.join("hooks")];
    assert!(ended.replaced == [git] || ended.replaced == one_by_one, "{:?}", ended.replaced);
}
