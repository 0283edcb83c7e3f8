//! Git: Sortie does not run programs that a repository configures, and no command can plant one.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;
use sortie_testkit::{Script, ScriptedServer};

use super::{BYPASS, NO_AGENT, bash, traces};
use crate::aftermath::Answer;
use crate::calls::{call, main_agent, main_agent_in_turns, read, write};
use crate::world::{World, as_each_user};

/// Plain git, as called by a person without configuration.
fn plain(world: &World, directory: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(world.path(directory)).stdin(Stdio::null()).stdout(Stdio::null());
    command.env("HOME", world.path("outside")).env_remove("XDG_CONFIG_HOME").env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "a").env(format!("GIT_{role}_EMAIL"), "a@example.com");
    }
    command
}

/// Runs plain git, which must succeed.
fn git(world: &World, directory: &str, arguments: &[&str]) {
    let output = plain(world, directory, arguments).stderr(Stdio::piped()).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
}

/// Creates a repository with one commit in the workspace.
fn with_repository(world: &World) {
    git(world, "workspace", &["init", "-q", "-b", "main"]);
    git(world, "workspace", &["add", "."]);
    git(world, "workspace", &["commit", "-q", "-m", "first"]);
}

/// Command of a canary in a configuration.
fn canary(world: &World) -> String {
    format!("touch {} #", world.name("workspace/RAN"))
}

fn set(world: &World, name: &str, value: &str) {
    git(world, "workspace", &["config", name, value]);
}

/// Lines of `sortie doctor` about the repository. It is the part of the program that calls git.
fn doctor(world: &World, flags: &[&str]) -> String {
    let server = ScriptedServer::start(Script::new()).unwrap();
    let output = world.command(&[], &[&["doctor"], flags].concat(), &server).output().unwrap();
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Asserts that each trap springs under plain git but not under Sortie's, and that Sortie's message has these words.
fn assert_sprung_by_plain_git_alone(trap: impl Fn(&World), words: &str) {
    as_each_user(|world| {
        with_repository(world);
        trap(world);
        plain(world, "workspace", &["status"]).status().unwrap();
        assert_eq!(traces(world).len(), 1, "the trap does not work");
        fs::remove_file(world.path("workspace/RAN")).unwrap();
        // As it was for plain git, so that there is a difference again.
        world.write("workspace/src/main.rs", "fn main() {}\n");
        let said = doctor(world, &[]);
        assert!(traces(world).is_empty(), "{said}");
        assert!(said.contains(words), "{said}");
        // Neither does an agent's run.
        world.run(BYPASS, main_agent([read("src/main.rs"), write("src/main.rs")])).assert_completed();
        assert!(traces(world).is_empty());
    });
}

#[test]
fn s32_a_repositorys_fsmonitor_does_not_run() {
    assert_sprung_by_plain_git_alone(|world| set(world, "core.fsmonitor", &canary(world)), "branch main");
}

#[test]
fn s32_a_repositorys_hooks_do_not_run() {
    let trap = |world: &World| {
        world.program("workspace/hooks/post-index-change", &canary(world));
        set(world, "core.hooksPath", "hooks");
        world.write("workspace/src/main.rs", "fn main() {}\n");
    };
    assert_sprung_by_plain_git_alone(trap, "branch main");
}

#[test]
fn s33_a_repository_with_its_own_filters_is_not_queried() {
    let trap = |world: &World| {
        world.write("workspace/.gitattributes", "*.rs filter=x\n");
        set(world, "filter.x.clean", &canary(world));
        world.write("workspace/src/main.rs", "fn main() {}\n");
    };
    assert_sprung_by_plain_git_alone(trap, "filter.x.clean");
}

#[test]
fn s34_a_directory_that_poses_as_a_repository_is_not_entered() {
    as_each_user(|world| {
        with_repository(world);
        git(world, "workspace", &["init", "-q", "--bare", "docs/notes"]);
        git(world, "workspace/docs/notes", &["config", "core.fsmonitor", &canary(world)]);
        git(world, "workspace/docs/notes", &["config", "core.bare", "false"]);
        git(world, "workspace/docs/notes", &["config", "core.worktree", &world.name("workspace")]);
        plain(world, "workspace/docs/notes", &["status"]).status().unwrap();
        assert_eq!(traces(world).len(), 1, "the trap does not work");
        fs::remove_file(world.path("workspace/RAN")).unwrap();
        for directory in ["docs/notes", "docs", "."] {
            let said = doctor(world, &["--cwd", directory]);
            assert!(traces(world).is_empty(), "{directory}: {said}");
        }
        // In a repository without the one around it, likewise.
        fs::rename(world.path("workspace/.git"), world.path("workspace/gone")).unwrap();
        let said = doctor(world, &["--cwd", "docs/notes"]);
        assert!(traces(world).is_empty(), "{said}");
    });
}

/// Paths, from the top of a working tree, where git finds programs to run.
const RUN_BY_GIT: [&str; 7] = [
    ".git/hooks/pre-commit",
    ".git/config",
    ".git/config.worktree",
    ".git/commondir",
    ".git/info/attributes",
    ".git/modules/sub/hooks/pre-commit",
    ".git/modules/sub/config",
];

#[test]
fn s35_no_command_writes_files_that_git_would_run() {
    as_each_user(|world| {
        with_repository(world);
        world.write("workspace/.git/modules/sub/config", "[core]\n");
        fs::remove_dir_all(world.path("workspace/.git/hooks")).unwrap();
        let config = world.text("workspace/.git/config");
        let plain = |path: &str| bash(&format!("mkdir -p $(dirname {path}); echo hostile > {path}"));
        for answer in world.run(BYPASS, main_agent(RUN_BY_GIT.map(plain))).assert_completed().answers() {
            answer.assert_refused(NO_AGENT);
        }
        let hidden = |path: &str| {
            let tail = path.strip_prefix(".git").unwrap();
            bash(&format!("g=git; mkdir -p $(dirname .$g{tail}) 2> /dev/null; echo hostile > .$g{tail}"))
        };
        let mut calls: Vec<_> = RUN_BY_GIT.iter().map(|path| vec![hidden(path)]).collect();
        let lines = [
            "git config core.hooksPath evil",
            "git config --file .git/conf''ig core.fsmonitor evil",
            "git config --worktree core.fsmonitor evil",
            "g=git; mv .$g old && cp -r old .$g",
            "g=git; mv .$g/modules .$g/old && mkdir -p .$g/modules/sub",
            "g=git; ln -s ../evil .$g/hooks",
            "g=git; rm -rf .$g/config && echo '[core]' > .$g/config",
            "g=git; echo x > .$g/config.new; mv .$g/config.new .$g/config",
            "git init -q --template=evil",
        ];
        calls.extend(lines.map(|line| vec![bash(line)]));
        let after = world.run(BYPASS, main_agent_in_turns(calls));
        let told = RUN_BY_GIT.iter().chain(&lines).zip(after.assert_completed().answers());
        for (attempt, answer) in told {
            assert!(answer.failed || answer.text.contains("was removed (kept as"), "{attempt}: {answer:#?}");
        }
        assert_eq!(world.text("workspace/.git/config"), config);
        assert_eq!(world.text("workspace/.git/modules/sub/config"), "[core]\n");
        let absent = RUN_BY_GIT.iter().filter(|path| !path.ends_with("/config"));
        for path in absent {
            assert!(!world.path("workspace").join(path).exists(), "{path}");
        }
    });
}

/// A command prepares a repository that git would obey instead of the one that the user sees.
#[test]
fn s35_a_repository_that_a_command_substitutes_is_removed_or_reported() {
    as_each_user(|world| {
        with_repository(world);
        let evil = format!("g=git; cp -r .$g evil; git config --file evil/config core.fsmonitor '{}'", canary(world));
        let ways = [
            "g=git; echo ../evil > .$g/commondir",
            "g=git; mkdir new; cp -r evil new/.$g",
            "g=git; echo 'gitdir: ../evil' > src/.$g",
            "g=git; cp -r evil/* .; rm .$g/HEAD",
        ];
        let mut calls = vec![vec![bash(&evil)]];
        calls.extend(ways.map(|way| vec![bash(way)]));
        let after = world.run(BYPASS, main_agent_in_turns(calls));
        let answers = after.assert_completed().answers();
        let told = [
            "`.git/commondir` was removed (kept as",
            "`new/.git` (git's own files) was created or changed",
            "`src/.git` (git's own files) was created or changed",
            "the workspace is no longer a repository",
        ];
        let notices = after.of_type("outcome").next().unwrap()["notices"].to_string();
        for (told, answer) in told.iter().zip(&answers[1..]) {
            assert!(answer.text.contains(told) && notices.contains(told), "{told}: {answer:#?}: {notices}");
        }
        assert!(notices.contains("`HEAD`, `objects` and `refs` were created at the top"), "{notices}");
        assert!(!world.path("workspace/.git/commondir").exists());
    });
}

#[test]
fn s35_programs_that_git_finds_through_settings_and_links_are_protected_too() {
    as_each_user(|world| {
        with_repository(world);
        world.program("workspace/my/hooks/pre-push", "true");
        world.program("workspace/scripts/check", "true");
        world.write("workspace/shared.gitconfig", "[core]\n");
        world.link("../../scripts/check", "workspace/.git/hooks/pre-commit");
        set(world, "core.hooksPath", "my/hooks");
        set(world, "include.path", "../shared.gitconfig");
        let files = ["my/hooks/pre-push", "scripts/check", "shared.gitconfig"];
        let before = files.map(|file| world.text(&format!("workspace/{file}")));
        let ways =
            ["echo hostile > $f", "rm -f $f; echo hostile > $f", "d=$(dirname $f); [ $d != . ] && mv $d elsewhere"];
        let lines = files.iter().flat_map(|file| ways.map(|way| bash(&format!("f={file}; {way}"))));
        let answers = world.run(BYPASS, main_agent(lines)).assert_completed().answers();
        assert!(answers.iter().all(|answer| answer.failed), "{answers:#?}");
        assert_eq!(files.map(|file| world.text(&format!("workspace/{file}"))), before);
    });
}

/// Everyday lines of people and agents, in a repository whose branch `other` has protected names.
const ORDINARY: [&str; 6] = [
    "git checkout -q other && test -f .envrc -a -f sub/.vscode/tasks.json && git status --short && git checkout -q main",
    "git worktree add -q ../workspace/tree -b third && cd tree && echo x > y && git add y && git commit -q -m x",
    "git init -q fresh && cd fresh && touch x && git add x && git commit -q -m x",
    "git clone -q . copy && git -C copy log --format=%s",
    "rm -rf node_modules && test ! -e node_modules",
    "git stash -q -u; git gc -q",
];

#[test]
fn s35_git_and_cleanup_still_work() {
    as_each_user(|world| {
        with_repository(world);
        world.write("workspace/.gitignore", "node_modules\nfresh\ncopy\ntree\n");
        git(world, "workspace", &["add", "."]);
        git(world, "workspace", &["commit", "-q", "-m", "second"]);
        git(world, "workspace", &["checkout", "-q", "-b", "other"]);
        world.write("workspace/.envrc", "x\n");
        world.write("workspace/sub/.vscode/tasks.json", "{}\n");
        git(world, "workspace", &["add", "."]);
        git(world, "workspace", &["commit", "-q", "-m", "third"]);
        git(world, "workspace", &["checkout", "-q", "main"]);
        git(world, "workspace", &["init", "-q", "node_modules/dep"]);
        world.write("workspace/node_modules/dep/.vscode/settings.json", "{}\n");
        world.write("workspace/node_modules/other/.npmrc", "x\n");
        let name = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@x GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@x";
        let calls = ORDINARY.map(|line| vec![bash(&format!("{name}; {line}"))]);
        for (line, answer) in
            ORDINARY.iter().zip(world.run(BYPASS, main_agent_in_turns(calls)).assert_completed().answers())
        {
            assert!(!answer.failed && !answer.text.contains("was removed (kept as"), "{line}: {answer:#?}");
        }
    });
}

#[test]
fn s35_git_still_works() {
    as_each_user(|world| {
        with_repository(world);
        let commit = "echo new > new.txt && git add new.txt && \
             git -c user.name=a -c user.email=a@example.com commit -q -m second && git log --format=%s";
        let after = world.run(BYPASS, main_agent([bash(commit)]));
        let answer = after.assert_completed().answer_of("main");
        answer.assert_done();
        assert!(answer.text.starts_with("second\nfirst\n"), "{answer:#?}");
    });
}

#[test]
fn s35_the_repository_of_a_worktree_is_protected_too() {
    as_each_user(|world| {
        with_repository(world);
        // The workspace of this run is the worktree; the repository itself was added.
        git(world, "workspace", &["worktree", "add", "-q", "../tree", "-b", "other"]);
        world.link(world.path("workspace"), "tree/repository");
        let repository = world.name("workspace");
        let config = world.text("workspace/.git/config");
        let flags = [BYPASS, &["--cwd", "../tree", "--add-dir", &repository]].concat();
        let lines = [
            "r=$(git rev-parse --git-common-dir); echo hostile > $r/hooks/pre-commit",
            "r=$(git rev-parse --git-common-dir); echo hostile >> $r/config",
            "r=$(git rev-parse --git-dir); echo hostile > $r/config.worktree",
            "r=$(git rev-parse --git-dir); echo hostile > $r/commondir",
            "echo hostile > repository/.g*/config",
            "g=git; echo 'gitdir: evil' > .$g",
            "g=git; rm .$g; mkdir -p .$g/hooks",
        ];
        let pointer = world.text("tree/.git");
        let answers =
            world.run(&flags, main_agent_in_turns(lines.map(|line| vec![bash(line)]))).assert_completed().answers();
        let is_stopped = |answer: &Answer| answer.failed || answer.text.contains("was removed (kept as");
        assert!(answers.iter().all(is_stopped), "{answers:#?}");
        assert_eq!(world.text("workspace/.git/config"), config);
        assert_eq!(world.text("tree/.git"), pointer);
        let gitdir = world.path("workspace/.git/worktrees/tree");
        assert!(!gitdir.join("config.worktree").exists() && !world.path("workspace/.git/hooks/pre-commit").exists());
        assert_eq!(fs::read_to_string(gitdir.join("commondir")).unwrap(), "../..\n");
    });
}

#[test]
fn s35_the_hooks_of_a_nested_repository_are_protected_too() {
    as_each_user(|world| {
        with_repository(world);
        git(world, "workspace", &["init", "-q", "docs/inner"]);
        let config = world.text("workspace/docs/inner/.git/config");
        let lines = [
            "cd docs/inner/.g* && echo hostile > hooks/pre-commit",
            "cd docs/inner && git config core.fsmonitor evil",
            "cd docs && mv inner old && mkdir -p inner/.g''it/hooks",
        ];
        let calls = lines
            .map(|line| vec![bash(line)])
            .into_iter()
            .chain([vec![call("Bash", json!({"command": "echo hostile > con''fig", "cwd": "docs/inner/.git"}))]]);
        let answers = world.run(BYPASS, main_agent_in_turns(calls)).assert_completed().answers();
        assert!(answers.iter().all(|answer| answer.failed), "{answers:#?}");
        assert_eq!(world.text("workspace/docs/inner/.git/config"), config);
        assert!(!world.path("workspace/docs/inner/.git/hooks/pre-commit").exists());
    });
}
