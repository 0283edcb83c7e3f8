//! Protected paths that stay unchanged in a writable workspace.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use sortie_sandbox::process::Tier;

use super::cell::{CAPS, Cell, WALLED, text_of};

/// A repository with protected hooks and configuration.
fn repository(tier: Tier) -> Cell {
    let mut cell = Cell::new(tier);
    cell.put(".git/hooks/pre-commit", "as it was");
    cell.put(".git/config", "as it was");
    cell.put(".git/HEAD", "ref");
    cell.put("code", "code");
    cell.protect(".git/hooks");
    cell.protect(".git/config");
    cell
}

fn assert_untouched(cell: &Cell) {
    assert_eq!(text_of(&cell.path(".git/hooks/pre-commit")), "as it was");
    assert_eq!(text_of(&cell.path(".git/config")), "as it was");
    assert_eq!(fs::read_dir(cell.path(".git/hooks")).unwrap().count(), 1);
}

#[test]
fn hooks_and_configuration_are_read_only() {
    for tier in WALLED {
        let cell = repository(tier);
        assert_eq!(cell.run("cat .git/hooks/pre-commit .git/config"), "as it wasas it was");
        for command in [
            "echo x > .git/hooks/pre-commit",
            "echo x > .git/hooks/post-checkout",
            "rm .git/hooks/pre-commit",
            "rm -rf .git/hooks",
            "echo x > .git/config",
            "echo x > .git/config.lock && mv .git/config.lock .git/config",
            "ln .git/config hard && echo x > hard",
        ] {
            cell.fail(command);
        }
        assert_untouched(&cell);
    }
}

#[test]
fn the_rest_of_a_repository_can_be_written() {
    let cell = repository(Tier::Namespaces);
    cell.run("echo new > .git/HEAD && mkdir .git/objects && echo x > .git/index.lock && mv .git/index.lock .git/index");
    assert_eq!(text_of(&cell.path(".git/HEAD")), "new\n");
}

#[test]
fn the_parents_of_a_protected_path_cannot_be_moved() {
    for tier in WALLED {
        let cell = repository(tier);
        cell.fail("mv .git away && mkdir -p .git/hooks && echo x > .git/hooks/pre-commit");
        cell.fail("perl -e 'rename(\".git\", \"away\") or exit 1'");
        assert_untouched(&cell);
    }
}

#[test]
fn a_missing_protected_path_cannot_be_created() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put("dir/file", "x");
        for path in [".sortie/agents", ".sortie/settings.toml", ".mcp.json", "dir/.git/hooks"] {
            cell.protect(path);
        }
        for command in [
            "mkdir -p .sortie/agents && echo x > .sortie/agents/a.md",
            "echo x > .sortie/settings.toml",
            "ln -s dir .sortie",
            "rmdir .sortie && mkdir -p .sortie/agents",
            "mv .sortie away && mkdir .sortie",
            "echo x > .mcp.json",
            "mv dir/file .mcp.json/",
            "mkdir -p dir/.git/hooks",
            "mv dir away && mkdir -p dir/.git/hooks",
        ] {
            cell.fail(command);
        }
        assert_eq!(fs::read_dir(&cell.root).unwrap().count(), 1, "nothing is left of the placeholders");
        assert_eq!(fs::read_dir(cell.path("dir")).unwrap().count(), 1);
    }
}

#[test]
fn simultaneous_commands_share_placeholders() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.protect(".sortie");
    let make = "mkdir -p .sortie/agents 2> /dev/null || echo walled";
    let first = format!("read line < go; {make}");
    // The first waits on a FIFO that the second writes to after a third has come and gone.
    rustix::fs::mknodat(rustix::fs::CWD, cell.path("go"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let waiting = cell.spawn(&first).unwrap();
    assert_eq!(cell.run(make), "walled\n");
    assert!(cell.path(".sortie").exists(), "the first still needs it");
    cell.run("echo > go");
    let mut output = Vec::new();
    waiting.finish(CAPS, &mut |bytes| output.extend_from_slice(bytes)).unwrap();
    assert_eq!(output, b"walled\n");
    assert!(!cell.path(".sortie").exists());
}

#[test]
fn a_leftover_placeholder_is_removed() {
    let mut cell = Cell::new(Tier::Namespaces);
    cell.protect(".sortie/agents");
    fs::create_dir(cell.path(".sortie")).unwrap();
    fs::set_permissions(cell.path(".sortie"), fs::Permissions::from_mode(0o1555)).unwrap();
    cell.fail("mkdir .sortie/agents");
    assert!(!cell.path(".sortie").exists());
}

#[test]
fn an_empty_user_directory_stays() {
    let mut cell = Cell::new(Tier::Namespaces);
    fs::create_dir(cell.path("agents")).unwrap();
    cell.protect("agents");
    cell.fail("echo x > agents/new");
    assert!(cell.path("agents").exists());
}

#[test]
fn a_link_in_place_of_a_protected_path_is_no_bypass() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put("elsewhere/hooks/pre-commit", "as it was");
        cell.put("rules.md", "as it was");
        cell.put(".git/HEAD", "ref");
        symlink("../elsewhere/hooks", cell.path(".git/hooks")).unwrap();
        symlink("rules.md", cell.path("AGENTS.md")).unwrap();
        cell.protect(".git/hooks");
        cell.protect("AGENTS.md");
        for command in [
            "echo x > elsewhere/hooks/pre-commit",
            "rm .git/hooks && mkdir .git/hooks",
            "rm AGENTS.md && echo x > AGENTS.md",
            "echo x > AGENTS.md",
            "echo x > rules.md",
        ] {
            cell.fail(command);
        }
        assert_eq!(cell.run("cat AGENTS.md"), "as it was");
        assert!(cell.path(".git/hooks").is_symlink() && cell.path("AGENTS.md").is_symlink());
        assert_eq!(text_of(&cell.path("elsewhere/hooks/pre-commit")), "as it was");
    }
}

#[test]
fn protecting_a_path_behind_a_link_opens_nothing_there() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        symlink(&cell.outside, cell.path("link")).unwrap();
        cell.protect("link/agents");
        cell.fail("echo x > link/file");
        cell.fail(&format!("echo x > {}/file", cell.outside.display()));
        assert_eq!(text_of(&cell.outside.join("file")), "as it was");
    }
}

#[test]
fn a_dangling_link_cannot_be_given_a_target() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put(".git/HEAD", "ref");
        symlink("../nowhere/hooks", cell.path(".git/hooks")).unwrap();
        symlink("first", cell.path("second")).unwrap();
        symlink("second", cell.path("first")).unwrap();
        cell.protect(".git/hooks");
        cell.protect("first");
        cell.fail("mkdir -p nowhere/hooks && echo x > nowhere/hooks/pre-commit");
        cell.fail("rm .git/hooks && mkdir .git/hooks");
        cell.fail("rm first && echo x > first");
        assert!(!cell.path("nowhere").exists() && cell.path("first").is_symlink(), "{tier:?}");
    }
}

#[test]
fn a_workspace_named_through_a_link_is_protected_all_the_same() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put(".git/config", "as it was");
        let alias = cell.outside.join("alias");
        symlink(&cell.root, &alias).unwrap();
        cell.walls.protected.push(alias.join(".git/config"));
        cell.fail("echo x > .git/config");
        assert_eq!(text_of(&cell.path(".git/config")), "as it was");
    }
}

#[test]
fn the_git_file_of_a_worktree_is_protected() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put(".git", "gitdir: /elsewhere");
        cell.protect(".git/hooks");
        cell.fail("echo gitdir: /mine > .git");
        cell.fail("rm .git");
        assert_eq!(text_of(&cell.path(".git")), "gitdir: /elsewhere");
    }
}

#[test]
fn a_command_runs_in_a_directory_that_is_closed_and_cannot_open_it_for_a_protected_name() {
    for tier in WALLED {
        let mut cell = Cell::new(tier);
        cell.put("sub/file", "as it was");
        cell.protect(".sortie");
        cell.protect("sub/.git/hooks");
        let close = |path: &str, mode| fs::set_permissions(cell.path(path), fs::Permissions::from_mode(mode)).unwrap();
        close("sub", 0o555);
        close("", 0o555);
        assert_eq!(cell.run("cat sub/file"), "as it was");
        for command in ["chmod 755 . && mkdir .sortie/x", "chmod 755 sub && mkdir -p sub/.git/hooks/x"] {
            cell.fail(command);
        }
        assert!(!cell.path(".sortie").exists() && !cell.path("sub/.git").exists(), "{tier:?}");
        close("", 0o755);
        close("sub", 0o755);
    }
}
