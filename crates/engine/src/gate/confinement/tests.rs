use std::fs;

use sortie_protocol::{Grant, GrantLayer, Mode};
use tempfile::TempDir;

use super::*;

/// A workspace with files in it, and a home next to it.
struct Place {
    directory: TempDir,
}

impl Place {
    fn new(files: &[&str]) -> Self {
        let place = Self { directory: TempDir::new().unwrap() };
        fs::create_dir(place.path("work")).unwrap();
        fs::create_dir(place.path("home")).unwrap();
        for file in files {
            let path = place.path(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn workspace(&self) -> Workspace {
        Workspace::open(&self.path("work")).unwrap()
    }

    fn reach(&self, layers: &[GrantLayer]) -> TaskConfinement {
        let places = Places {
            root: Some(self.path("work")),
            added: Vec::new(),
            home: Some(self.path("home")),
            own: vec![self.path("home/.config/sortie"), self.path("work/.mcp.json")],
            private: vec![self.path("home/.config/sortie/config.toml"), self.path("work/state")],
            secrets: Vec::new(),
            other_homes: [self.path("work/other")].into_iter().filter(|home| home.exists()).collect(),
        };
        let judge = Judge::new(&Grant { layers: layers.to_vec() }, places.clone()).unwrap();
        TaskConfinement::new(Arc::new(judge), places)
    }

    fn writable(&self, layers: &[GrantLayer]) -> Writable {
        self.reach(layers).writable(&self.workspace())
    }

    fn walls(&self, layers: &[GrantLayer]) -> Walls {
        self.walls_around(layers, &Repositories::default())
    }

    fn walls_around(&self, layers: &[GrantLayer], repositories: &Repositories) -> Walls {
        let reach = self.reach(layers);
        let writable = reach.writable(&self.workspace()).directories;
        reach.walls(&self.workspace(), &writable, repositories).unwrap()
    }

    /// Returns the protected paths in the workspace's own Git directory, and in others.
    fn kept(&self, repositories: &Repositories) -> Vec<String> {
        let kept = self.names(&self.walls_around(&[], repositories).protected);
        let of_git = |path: &String| path.contains(".git") || path.contains(".bare") || path.contains("hooks");
        kept.into_iter().filter(of_git).collect()
    }

    /// Returns paths relative to the test's root.
    fn names(&self, paths: &[PathBuf]) -> Vec<String> {
        let top = self.path("");
        let mut names: Vec<String> = paths
            .iter()
            .filter_map(|path| path.strip_prefix(&top).ok())
            .map(|path| path.display().to_string())
            .collect();
        names.sort();
        names.dedup();
        names
    }
}

fn layer(mode: Mode, tools: Option<&[&str]>, deny: &[&str]) -> GrantLayer {
    let owned = |rules: &[&str]| rules.iter().map(|&rule| rule.to_owned()).collect();
    GrantLayer { mode: Some(mode), tools: tools.map(owned), deny: owned(deny), ..GrantLayer::new("someone") }
}

fn strings(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

#[test]
fn writable_directories_follow_from_the_grant() {
    let place = Place::new(&["work/docs/a.md", "work/src/a.rs"]);
    let written = |layers: &[GrantLayer]| place.names(&place.writable(layers).directories);
    assert_eq!(written(&[]), ["work"]);
    assert_eq!(written(&[layer(Mode::Default, None, &[])]), ["work"], "who approves a command approves what it does");
    assert_eq!(written(&[layer(Mode::Plan, None, &[])]), [""; 0]);
    assert_eq!(written(&[layer(Mode::Bypass, Some(&["Read", "Grep", "Bash"]), &[])]), [""; 0], "a reader's shell");
    assert_eq!(written(&[layer(Mode::Bypass, Some(&["Bash", "KillShell"]), &[])]), ["work"], "an agent of commands");
    assert_eq!(written(&[layer(Mode::Bypass, Some(&["Read", "Bash", "Edit(docs/**)"]), &[])]), ["work/docs"]);
    let child = layer(Mode::Bypass, None, &[]);
    assert_eq!(written(&[layer(Mode::Bypass, None, &["Edit"]), child]), [""; 0], "no child has more");
}

#[test]
fn homes_of_other_people_in_the_workspace_keep_their_secrets_and_their_keys() {
    let place = Place::new(&["work/other/.netrc", "work/other/notes.txt"]);
    let Walls { hidden, protected, .. } = place.walls(&[]);
    let (hidden, protected) = (place.names(&hidden), place.names(&protected));
    for secret in ["work/other/.netrc", "work/other/.ssh", "work/other/.aws"] {
        assert!(hidden.iter().any(|name| name == secret), "{secret}: {hidden:?}");
    }
    assert!(!hidden.iter().any(|name| name.ends_with("notes.txt")), "{hidden:?}");
    // Otherwise a command could put keys there that let somebody in.
    assert!(protected.contains(&"work/other/.ssh".to_owned()), "{protected:?}");
}

#[test]
fn a_read_only_shell_names_the_owner_of_the_rule() {
    let place = Place::new(&[]);
    let reach = place.reach(&[layer(Mode::Plan, None, &[])]);
    assert_eq!(reach.reads_only().as_deref(), Some("someone"));
    assert_eq!(place.reach(&[]).reads_only(), None);
}

/// An agent that edits within this rule.
fn editor(rule: &str) -> GrantLayer {
    layer(Mode::Bypass, Some(&["Read", "Bash", rule]), &[])
}

#[test]
fn a_directory_named_in_a_rule_is_created_but_a_file_is_not() {
    let place = Place::new(&["work/a.md"]);
    for (rule, expected) in [
        ("Edit(target/**)", &["work/target"][..]),
        ("Edit(deep/er/**)", &["work/deep/er"]),
        ("Edit(/b.md)", &[]),
        ("Edit(a.md)", &[]),
    ] {
        let writable = place.writable(&[editor(rule)]);
        assert_eq!((place.names(&writable.directories), writable.notes.len()), (strings(expected), 0), "{rule}");
    }
    assert!(place.path("work/target").is_dir() && place.path("work/deep/er").is_dir());
    assert!(!place.path("work/b.md").exists());
}

#[test]
fn link_targets_and_protected_paths_stay_closed_with_a_note() {
    let place = Place::new(&["work/real/x", "home/x", "work/.vscode/tasks.json"]);
    std::os::unix::fs::symlink("real", place.path("work/link")).unwrap();
    std::os::unix::fs::symlink("../home", place.path("work/out")).unwrap();
    for (rule, words) in [
        ("Edit(link/**)", "commands cannot write to `link`: it leads through a link to `real`"),
        ("Edit(out/**)", "commands cannot write to `out`: "),
        ("Edit(.vscode/**)", "commands cannot write to `.vscode`: it is what an editor runs or obeys"),
        ("Edit(new/.git/hooks/**)", "commands cannot write to `new/.git/hooks`: it is git's own files"),
    ] {
        let Writable { directories, notes } = place.writable(&[editor(rule)]);
        assert_eq!(directories, [""; 0].map(PathBuf::from), "{rule}");
        assert!(notes.len() == 1 && notes[0].starts_with(words), "{rule}: {notes:?}");
    }
    assert!(!place.path("work/new").exists());
}

#[test]
fn protected_names_at_the_top_are_kept_some_even_if_absent() {
    let place = Place::new(&[
        "work/.envrc",
        "work/.config/fish/x",
        "work/app/.vscode/tasks.json",
        "work/.mcp.json",
        "work/a.rs",
    ]);
    assert_eq!(
        place.names(&place.walls(&[]).protected),
        [
            "home/.config/sortie/config.toml",
            "home/.ssh",
            "work/.claude",
            "work/.config/fish",
            "work/.envrc",
            "work/.git",
            "work/.mcp.json",
            "work/.sortie",
            "work/state",
        ]
    );
}

#[test]
fn only_files_that_make_git_run_something_are_protected_in_a_repository() {
    let place = Place::new(&[
        "work/.git/HEAD",
        "work/.git/info/attributes",
        "work/.git/modules/lib/hooks/post-checkout",
        "work/.git/modules/new/config",
        "work/.git/worktrees/t/config.worktree",
        "work/vendor/.git/config",
        "work/.bare/hooks/x",
    ]);
    let path = |name: &str| place.path(name);
    let repositories = Repositories {
        top: vec![path("work/.git")],
        modules: vec![path("work/.git/modules/lib"), path("work/.git/modules/new")],
        worktrees: vec![path("work/.git/worktrees/t")],
        nested: vec![path("work/vendor/.git"), path("work/.bare")],
        lack: None,
    };
    assert_eq!(
        place.kept(&repositories),
        [
            "work/.bare/hooks",
            "work/.git/config",
            "work/.git/hooks",
            "work/.git/info/attributes",
            "work/.git/modules/lib/hooks",
            "work/.git/modules/new/config",
            "work/.git/modules/new/hooks",
            "work/.git/worktrees/t/config.worktree",
            "work/vendor/.git/config",
        ]
    );
}

#[test]
fn a_git_file_is_protected_together_with_its_target() {
    let place = Place::new(&["work/.bare/config", "work/.bare/worktrees/w/HEAD"]);
    fs::write(place.path("work/.git"), "gitdir: .bare\n").unwrap();
    let repositories = Repositories { top: vec![place.path("work/.bare")], ..Repositories::default() };
    assert_eq!(place.kept(&repositories), ["work/.bare/config", "work/.bare/hooks", "work/.git"]);
}

#[test]
fn targets_of_git_settings_and_hooks_are_protected_too() {
    let place = Place::new(&["work/.git/HEAD", "work/.git/hooks/x", "work/scripts/check", "work/shared.gitconfig"]);
    fs::write(place.path("work/.git/config"), "[core]\nhooksPath = my/hooks\n[include]\npath = ../shared.gitconfig\n")
        .unwrap();
    std::os::unix::fs::symlink("../../scripts/check", place.path("work/.git/hooks/pre-commit")).unwrap();
    let repositories = Repositories { top: vec![place.path("work/.git")], ..Repositories::default() };
    let kept = place.names(&place.walls_around(&[], &repositories).protected);
    for name in ["work/my/hooks", "work/shared.gitconfig", "work/.git/hooks/pre-commit"] {
        assert!(kept.contains(&name.to_owned()), "{name}: {kept:?}");
    }
}

#[test]
fn rules_about_single_files_bind_commands_too() {
    let place = Place::new(&["work/a.env", "work/deep/b.env", "work/deep/c.txt", "work/keys/k"]);
    let walls = place.walls(&[layer(Mode::Bypass, None, &["Read(**/*.env)", "Read(keys/**)", "Edit(deep/c.txt)"])]);
    let hidden = place.names(&walls.hidden);
    for kept in ["work/a.env", "work/deep/b.env", "work/keys"] {
        assert!(hidden.contains(&kept.to_owned()), "{kept}: {hidden:?}");
    }
    assert!(place.names(&walls.protected).contains(&"work/deep/c.txt".to_owned()));
    assert!(!hidden.contains(&"work/deep/c.txt".to_owned()));
}

#[test]
fn secrets_of_the_user_and_of_sortie_are_hidden_wherever_they_are() {
    let place = Place::new(&["work/.mcp.json", "work/state/journal"]);
    let hidden = place.names(&place.walls(&[]).hidden);
    for kept in ["home/.ssh", "home/.config/sortie", "home/.config/sortie/config.toml", "work/state"] {
        assert!(hidden.contains(&kept.to_owned()), "{kept}");
    }
    assert!(!hidden.contains(&"work/.mcp.json".to_owned()), "the project's own files can be read");
}

#[test]
fn rules_about_fetching_decide_which_hosts_are_reached() {
    let place = Place::new(&[]);
    let allowed =
        GrantLayer { allow: vec!["WebFetch(domain:example.com)".to_owned()], ..layer(Mode::Default, None, &[]) };
    let reach = place.reach(&[allowed]);
    assert_eq!(reach.network(), NetworkReach::Hosts);
    assert!(reach.may_reach("example.com").is_ok());
    assert!(reach.may_reach("example.org").is_err());
    assert_eq!(place.reach(&[layer(Mode::Default, None, &[])]).network(), NetworkReach::None);
    assert_eq!(place.reach(&[layer(Mode::Bypass, None, &[])]).network(), NetworkReach::All);
}
