//! Hidden paths cannot be read, under any name and by any later command.

use std::os::unix::fs::symlink;

use super::cell::{Cell, WALLED, text_of};

#[test]
fn hidden_paths_cannot_be_read() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put("dir/key", "secret");
        cell.put(".env", "secret");
        cell.put("shown", "shown");
        symlink(cell.outside.join("file"), cell.path("link")).unwrap();
        cell.walls.hidden = vec![cell.path("dir"), cell.path(".env"), cell.path("link"), cell.path("absent")];
        let outside = cell.outside.display();
        for command in ["cat dir/key", "cat .env", "cat link", "cat dir/../.env", "cd dir && cat key"] {
            assert!(!cell.fail(command).contains("secret"), "{command}");
        }
        cell.fail(&format!("cat {outside}/file"));
        cell.fail("chmod 777 .env dir && cat .env dir/key");
        cell.fail("mv dir other && cat other/key");
        cell.fail("ln .env hard && cat hard");
        assert_eq!(cell.run("cat shown"), "shown");
        assert_eq!(text_of(&cell.path("dir/key")), "secret");
    }
}

#[test]
fn the_way_to_something_hidden_cannot_be_moved() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put(".config/deep/gh/hosts.yml", "secret");
        cell.put(".config/deep/token", "secret");
        cell.put(".config/shown", "shown");
        cell.walls.hidden = vec![cell.path(".config/deep/gh"), cell.path(".config/deep/token")];
        for command in [
            "mv .config c2",
            "mv .config/deep d2",
            "mv .config/deep/gh g2",
            "mv .config/deep/token t2",
            "perl -e 'rename(\".config\", \"c2\") or exit 1'",
            "rm -rf .config/deep/gh",
        ] {
            cell.fail(command);
        }
        assert_eq!(cell.run("cat c2/deep/gh/hosts.yml d2/gh/hosts.yml g2/hosts.yml t2 2> /dev/null; true"), "");
        assert_eq!(cell.run("cat .config/shown"), "shown");
        assert_eq!(text_of(&cell.path(".config/deep/gh/hosts.yml")), "secret");
    }
}

#[test]
fn a_protected_path_stays_protected_with_something_hidden_in_it() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put(".config/gh/hosts.yml", "secret");
        cell.put(".config/file", "as it was");
        cell.walls.hidden = vec![cell.path(".config/gh")];
        cell.protect(".config");
        cell.fail("cat .config/gh/hosts.yml");
        cell.fail("echo x > .config/file");
        cell.fail("echo x > .config/new");
        assert_eq!(text_of(&cell.path(".config/file")), "as it was");
    }
}

#[test]
fn a_protected_path_inside_a_hidden_one_is_not_an_obstacle() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put("dir/key", "secret");
        cell.walls.hidden = vec![cell.path("dir")];
        cell.protect("dir/key");
        cell.protect("dir/absent");
        cell.fail("cat dir/key");
        cell.fail("mkdir dir/absent");
        assert_eq!(std::fs::read_dir(cell.path("dir")).unwrap().count(), 1, "nothing is left of a placeholder");
    }
}
