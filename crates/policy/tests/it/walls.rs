//! Paths that walls protect from commands by name.

use std::path::Path;

use sortie_policy::{protected, protected_from_commands, protected_names, wall_names};

#[test]
fn git_works_but_cannot_be_made_to_run_something() {
    for free in [
        ".git",
        ".git/HEAD",
        ".git/index.lock",
        ".git/objects/ab/cdef",
        ".git/refs/heads/config",
        ".git/refs/heads/hooks/fix",
        ".git/logs/HEAD",
        ".git/info/exclude",
        ".git/worktrees/config/HEAD",
        ".git/modules/config/HEAD",
        ".git/modules/vendor/lib/refs/heads/config",
        ".git/modules/refs/index",
        "vendor/module/.git/index",
        "src/config",
        "src/hooks/a.rs",
        "src/a.rs",
    ] {
        assert_eq!(protected_from_commands(Path::new(free)), None, "{free}");
    }
    for kept in [
        ".git/hooks",
        ".git/hooks/pre-commit",
        ".git/config",
        ".git/config/x",
        ".git/config.worktree",
        ".git/commondir",
        ".git/info/attributes",
        ".git/worktrees/a/config.worktree",
        ".git/worktrees/a/commondir",
        ".git/modules/lib/hooks/post-checkout",
        ".git/modules/lib/config",
        ".git/modules/vendor/lib/config",
        ".git/modules/vendor/lib/info/attributes",
        ".git/modules/a/modules/b/hooks",
        ".git/modules/refs/config",
        ".GIT/Hooks/pre-commit",
        "vendor/module/.git/config",
        "/srv/data/.git/hooks",
        "GIT~1",
        ".gitmodules",
        ".claude/.git/index",
    ] {
        assert!(protected_from_commands(Path::new(kept)).is_some(), "{kept}");
        assert!(protected(Path::new(kept)).is_some(), "{kept}");
    }
    let said = |path: &str| protected_from_commands(Path::new(path)).map(|what| what.to_string());
    assert_eq!(said(".git/hooks/pre-commit").as_deref(), Some("a git hook (`hooks`)"));
    assert_eq!(said("a/.envrc").as_deref(), Some("what a shell runs (`.envrc`)"));
}

#[test]
fn every_name_that_can_be_looked_up_is_protected() {
    let names: Vec<&str> = protected_names().collect();
    for name in &names {
        assert!(protected(Path::new(name)).is_some(), "{name}");
    }
    for name in [".envrc", ".vscode", ".config/fish", ".mcp.json"] {
        assert!(names.contains(&name), "{name}");
    }
    assert_eq!(protected(Path::new("a/.envrc")).map(|what| what.what()), Some("what a shell runs"));
}

#[test]
fn walls_keep_protected_names() {
    let names = wall_names();
    for name in names.directories {
        assert!(protected(Path::new(name)).is_some(), "{name}");
        assert!(protected_from_commands(&Path::new("a").join(name)).is_some(), "{name}");
    }
    for name in names.git_directories.iter().chain(names.git_others) {
        assert!(protected_from_commands(&Path::new(".git").join(name)).is_some(), "{name}");
    }
    assert_eq!(names.directories, [".sortie", ".claude"]);
    assert_eq!(names.git_directories, ["hooks", "config"]);
    assert_eq!(names.git_others, ["config.worktree", "commondir", "info/attributes"]);
}
