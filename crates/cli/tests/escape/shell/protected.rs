//! No command changes files that steer Sortie, other agents, git, editors or shells, whether the gate sees through it
//! or not.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::{BYPASS, NO_AGENT, background, bash};
use crate::aftermath::Aftermath;
use crate::calls::{delegated, main_agent, main_agent_in_turns};
use crate::world::{World, as_each_user};

/// Missing files that would take effect from the next start on, and are kept by walls.
const KEPT: [&str; 5] = [
    ".sortie/config.toml",
    ".sortie/agents/explore.md",
    ".claude/settings.json",
    ".git/hooks/pre-commit",
    ".git/config",
];

/// Missing files that have ordinary uses too: a command can make them, with a notice.
const TOLD: [&str; 7] =
    [".mcp.json", ".envrc", ".npmrc", ".vscode/tasks.json", ".gitmodules", "src/.envrc", "src/.sortie/config.toml"];

/// Words of that notice.
const LOOK: &str = "created or changed while a command ran: check";

/// Line that makes a file without naming it.
fn making(path: &str) -> String {
    let (head, tail) = path.split_at(path.find(|letter: char| letter.is_alphabetic()).unwrap() + 2);
    format!("x={head}; f=\"${{x}}{tail}\"; mkdir -p $(dirname $f) 2> /dev/null; echo hostile > $f")
}

fn assert_absent<'a>(world: &World, paths: impl IntoIterator<Item = &'a &'a str>) {
    for path in paths {
        let found = world.path("workspace").join(path).symlink_metadata();
        assert!(found.is_err(), "{path}: {:?}", found.map(|found| found.file_type()));
    }
    for directory in ["workspace/.sortie", "workspace/.claude", "workspace/.git/hooks"] {
        assert!(!world.path(directory).exists(), "not even a directory is left: {directory}");
    }
}

/// Notices of the root task, as one text.
fn notices(after: &Aftermath) -> String {
    after.of_type("outcome").next().unwrap()["notices"].to_string()
}

#[test]
fn s40_no_command_creates_a_missing_protected_file() {
    as_each_user(|world| {
        let plain = |path: &&str| bash(&format!("mkdir -p $(dirname {path}); echo hostile > {path}"));
        for answer in world.run(BYPASS, main_agent(KEPT.iter().chain(&TOLD).map(plain))).assert_completed().answers() {
            answer.assert_refused(NO_AGENT);
        }
        assert_absent(world, KEPT.iter().chain(&TOLD));
        // The gate does not see these; the walls stop them.
        let after = world.run(BYPASS, main_agent_in_turns(KEPT.map(|path| vec![bash(&making(path))])));
        assert!(after.assert_completed().answers().iter().all(|answer| answer.failed), "{after:#?}");
        assert_absent(world, &KEPT);
    });
}

#[test]
fn s40_a_protected_file_that_a_command_does_create_is_reported_and_left() {
    as_each_user(|world| {
        let after = world.run(BYPASS, main_agent_in_turns(TOLD.map(|path| vec![bash(&making(path))])));
        let answers = after.assert_completed().answers();
        let told = notices(&after);
        for (path, answer) in TOLD.iter().zip(answers) {
            let name = path.strip_suffix("/tasks.json").unwrap_or(path);
            assert!(answer.text.contains(&format!("`{name}` (")) && answer.text.contains(LOOK), "{path}: {answer:#?}");
            assert!(told.contains(&format!("`{name}` (")) && told.contains(LOOK), "{path}: {told}");
            assert_eq!(world.text(&format!("workspace/{path}")), "hostile\n", "nothing of a project is removed");
        }
    });
}

#[test]
fn s40_background_commands_and_sub_agents_create_none_either() {
    as_each_user(|world| {
        let calls = KEPT.map(|path| bash(&making(path)));
        world.run(BYPASS, delegated("general-purpose", calls)).assert_completed();
        assert_absent(world, &KEPT);
        world.run(BYPASS, delegated("bash", KEPT.map(|path| background(&making(path))))).assert_completed();
        assert_absent(world, &KEPT);
    });
}

#[test]
fn s40_a_protected_name_cannot_appear_by_any_other_way() {
    as_each_user(|world| {
        world.write("workspace/evil/agents/explore.md", "hostile\n");
        world.write("workspace/evil/config", "hostile\n");
        world.write("workspace/evil/link/config.toml", "hostile\n");
        let lines = [
            "d=sortie; mv evil .$d",
            "d=sortie; ln -s evil .$d",
            "d=sortie; cp -r evil .$d",
            "d=sortie; ln -sfn evil/link .$d",
            "d=git/hooks; mv evil .$d",
            "d=git; mv .$d old; mkdir -p .$d/hooks; cp evil/config .$d/hooks/pre-commit",
            "d=git; mkdir new; ln -s ../evil new/hooks; mv new/* .$d/",
        ];
        // In sequence: they want the same names.
        world.run(BYPASS, main_agent_in_turns(lines.map(|line| vec![bash(line)]))).assert_completed();
        let names: Vec<String> = world.listing("workspace").iter().map(|path| name(path)).collect();
        assert!(!names.iter().any(|name| name == ".sortie"), "{names:?}");
        assert!(world.path("workspace/.git").is_dir() && !world.path("workspace/.git/hooks").exists());
    });
}

#[test]
fn s40_a_new_protected_name_is_always_reported() {
    as_each_user(|world| {
        world.write("workspace/evil/config", "hostile\n");
        let lines = [
            "d=envrc; cp evil/config x; mv x .$d",
            "d=envrc; ln evil/config .$d",
            "d=envrc; ln -s evil/config .$d",
            "d=ENVRC; cp evil/config .$d",
            "d=envrc; mkdir src/deep; echo '*' > src/deep/.gitignore; cp evil/config src/deep/.$d",
        ];
        for line in lines {
            // In its own run: walls keep files that exist when a command starts.
            fs::remove_file(world.path("workspace/.envrc")).ok();
            let answer = world.run(BYPASS, main_agent([bash(line)])).answer_of("main");
            assert!(answer.text.contains(LOOK), "{line}: {answer:#?}");
        }
    });
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

#[test]
fn s42_no_command_changes_settings_agent_files_or_editor_tasks() {
    as_each_user(|world| {
        world.write("workspace/.sortie/config.toml", "# first line\n");
        world.agent("helper", "tools: [Read]");
        world.write("workspace/.vscode/tasks.json", "first line\n");
        world.write("workspace/.envrc", "first line\n");
        world.link(".sortie", "workspace/alias");
        world.link(".envrc", "workspace/alias.txt");
        let before = protected_contents(world);
        let ways = [
            "echo hostile > $f",
            "echo hostile >> $f",
            "sed -i s/first/hostile/ $f",
            "perl -pi -e s/first/hostile/ $f",
            "rm -f $f",
            "mv $f elsewhere",
            "cp src/main.rs $f",
            "ln -f src/main.rs $f",
            "truncate -s 0 $f",
            "chmod 777 $f && exit 1",
            "exec 3<> $f && echo hostile >&3",
            "d=$(dirname $f); [ $d != . ] && mv $d elsewhere",
            "d=$(dirname $f); [ $d != . ] && rm -rf $d",
        ];
        let paths = [
            ".sortie/config.toml",
            ".sortie/agents/helper.md",
            ".vscode/tasks.json",
            ".envrc",
            "alias/config.toml",
            "alias.txt",
        ];
        for path in paths {
            let (head, tail) = path.split_at(3);
            let calls = ways.map(|way| bash(&format!("x={head}; f=${{x}}{tail}; {way}")));
            let after = world.run(BYPASS, main_agent(calls));
            after.assert_completed();
            assert_eq!(protected_contents(world), before, "{path}: {after:#?}");
        }
    });
}

#[test]
fn s42_no_command_changes_the_users_own_settings_state_and_shell_files() {
    as_each_user(|world| {
        world.write("home/.config/sortie/config.toml", "# first line\n");
        world.write("home/.bashrc", "# first line\n");
        let before = contents(world, "home");
        let (home, state) = (world.name("home"), world.name("state"));
        let lines = [
            "echo hostile >> ~/.bashrc",
            "h=$HOME; echo hostile >> $h/.bash\"\"rc",
            "h=$HOME; mkdir -p $h/.ssh && echo hostile > $h/.ssh/authorized_keys",
            "h=$HOME; echo '[routes.main]' > $h/.config/sortie/config.toml",
            "h=$HOME; mkdir -p $h/.config/sortie/agents",
            &format!("d={state}; echo '[]' > $d/trusted.json"),
            &format!("d={state}; rm -f $d/journal.db; touch $d/reports/new.txt"),
        ];
        let answers = world.run(BYPASS, main_agent(lines.map(bash))).assert_completed().answers();
        assert!(answers.iter().all(|answer| answer.failed), "{answers:#?}");
        // Also in added directories: the first is writable, the second is Sortie's own.
        let flags = [BYPASS, &["--add-dir", &home, "--add-dir", &state]].concat();
        let after = world.run(&flags, main_agent_in_turns(lines.map(|line| vec![bash(line)])));
        assert_eq!(contents(world, "home"), before, "{:#?}", after.assert_completed());
        assert!(world.path("state/journal.db").exists() && !world.path("state/trusted.json").exists());
    });
}

/// Content of paths with a leading dot and everything below. Links count as names of their own: removing one changes
/// nothing.
fn protected_contents(world: &World) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut contents = contents(world, "workspace");
    let root = world.path("workspace");
    let has_dot =
        |file: &Path| file.strip_prefix(&root).unwrap().iter().any(|name| name.to_str().unwrap().starts_with('.'));
    contents.retain(|file, _| has_dot(file));
    contents
}

fn contents(world: &World, directory: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    world.files(directory).into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect()
}
