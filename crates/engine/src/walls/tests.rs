use std::fs;
use std::path::Path;

use sortie_protocol::{Grant, GrantLayer, Mode};
use tempfile::TempDir;

use super::*;

/// A workspace with files in it, beside a home.
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

    fn reach(&self, layers: &[GrantLayer]) -> TaskReach {
        let places = Places {
            root: Some(self.path("work")),
            added: Vec::new(),
            home: Some(self.path("home")),
            own: vec![self.path("home/.config/sortie"), self.path("work/.mcp.json")],
        };
        let judge = Judge::new(&Grant { layers: layers.to_vec() }, places.clone()).unwrap();
        TaskReach::new(Arc::new(judge), places)
    }

    fn walls(&self, layers: &[GrantLayer]) -> Walls {
        self.reach(layers).walls(&Workspace::open(&self.path("work")).unwrap()).unwrap()
    }

    /// Paths as seen from here.
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

#[test]
fn what_may_be_written_follows_from_the_grant() {
    let place = Place::new(&["work/docs/a.md", "work/src/a.rs"]);
    let written = |layers: &[GrantLayer]| place.names(&place.walls(layers).writable);
    assert_eq!(written(&[]), ["work"]);
    assert_eq!(written(&[layer(Mode::Default, None, &[])]), ["work"], "who approves a command approves what it does");
    assert_eq!(written(&[layer(Mode::Plan, None, &[])]), [""; 0]);
    assert_eq!(written(&[layer(Mode::Bypass, Some(&["Read", "Grep", "Bash"]), &[])]), [""; 0], "a reader's shell");
    assert_eq!(written(&[layer(Mode::Bypass, Some(&["Bash", "KillShell"]), &[])]), ["work"], "an agent of commands");
    assert_eq!(written(&[layer(Mode::Bypass, Some(&["Read", "Bash", "Edit(docs/**)"]), &[])]), ["work/docs"]);
    assert_eq!(written(&[layer(Mode::Bypass, Some(&["Read", "Bash", "Edit(gone/**)"]), &[])]), [""; 0]);
    let child = layer(Mode::Bypass, None, &[]);
    assert_eq!(written(&[layer(Mode::Bypass, None, &["Edit"]), child]), [""; 0], "no child has more");
}

#[test]
fn a_task_whose_commands_write_nothing_says_whose_word_that_is() {
    let place = Place::new(&[]);
    let reach = place.reach(&[layer(Mode::Plan, None, &[])]);
    assert_eq!(reach.reads_only().as_deref(), Some("someone"));
    assert_eq!(place.reach(&[]).reads_only(), None);
}

#[test]
fn protected_names_are_kept_where_they_exist_and_some_where_they_do_not() {
    let place = Place::new(&["work/.envrc", "work/app/.vscode/tasks.json", "work/vendor/lib/.git/config", "work/a.rs"]);
    let protected = place.names(&place.walls(&[]).protected);
    assert_eq!(
        protected,
        [
            "work/.claude",
            "work/.envrc",
            "work/.git",
            "work/.sortie",
            "work/app/.vscode",
            "work/vendor/lib/.git/config",
            "work/vendor/lib/.git/hooks",
        ]
    );
}

#[test]
fn of_a_repository_only_that_is_kept_by_which_git_runs_something() {
    let place = Place::new(&[
        "work/.git/HEAD",
        "work/.git/objects/ab/config",
        "work/.git/info/attributes",
        "work/.git/modules/lib/hooks/post-checkout",
        "work/.mcp.json",
    ]);
    let protected = place.names(&place.walls(&[]).protected);
    let git: Vec<&String> = protected.iter().filter(|path| path.starts_with("work/.git")).collect();
    assert_eq!(
        git,
        ["work/.git/config", "work/.git/hooks", "work/.git/info/attributes", "work/.git/modules/lib/hooks"]
    );
    assert!(protected.contains(&"work/.mcp.json".to_owned()));
}

#[test]
fn a_work_tree_beside_its_repository_keeps_the_way_there_and_the_repository() {
    let place = Place::new(&["main/.git/HEAD", "main/.git/worktrees/w/HEAD", "work/a.rs"]);
    let git = place.path("main/.git/worktrees/w");
    fs::write(place.path("work/.git"), format!("gitdir: {}\n", git.display())).unwrap();
    fs::write(git.join("commondir"), "../..\n").unwrap();
    let protected = place.names(&place.walls(&[]).protected);
    for kept in ["work/.git", "main/.git/worktrees/w", "main/.git"] {
        assert!(protected.contains(&kept.to_owned()), "{kept}: {protected:?}");
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
fn secrets_of_the_user_and_of_sortie_itself_are_hidden() {
    let place = Place::new(&["work/.mcp.json"]);
    let hidden = place.names(&place.walls(&[]).hidden);
    for kept in ["home/.ssh", "home/.config/sortie"] {
        assert!(hidden.contains(&kept.to_owned()), "{kept}");
    }
    assert!(!hidden.contains(&"work/.mcp.json".to_owned()), "the project's own files can be read");
}

#[test]
fn hosts_are_reached_as_the_rules_about_fetching_say() {
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

#[test]
fn what_no_agent_may_make_is_told_in_words() {
    let reach = Place::new(&[]).reach(&[]);
    assert!(reach.protects(Path::new("app/.envrc")).is_some_and(|what| what.contains(".envrc")));
    assert_eq!(reach.protects(Path::new("app/main.rs")), None);
}
