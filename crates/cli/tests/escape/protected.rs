//! No agent changes files that steer Sortie, other agents, git, editors or shells, whatever the rules allow.

use std::fs;

use crate::calls::{delegated, every_change, main_agent, main_agent_in_turns, read, write};
use crate::world::{World, as_each_user};

/// The widest permissions.
const BYPASS: &[&str] = &["--permission-mode", "bypass", "--allow", "Edit", "--allow", "Write", "--allow", "MultiEdit"];
const NO_AGENT: &str = "which no agent may change";

/// Missing files that would take effect from the next start on.
const ABSENT: [&str; 12] = [
    ".sortie/config.toml",
    ".sortie/agents/explore.md",
    ".sortie/prompts/main_prompt.md",
    ".claude/settings.json",
    ".claude/agents/new.md",
    ".mcp.json",
    ".git/hooks/pre-commit",
    ".vscode/tasks.json",
    ".idea/workspace.xml",
    ".envrc",
    "src/.git/config",
    "docs/.husky/pre-push",
];

#[test]
fn s40_missing_protected_files_cannot_be_created() {
    as_each_user(|world| {
        let after = world.run(BYPASS, main_agent(ABSENT.map(write)));
        for answer in after.assert_completed().answers() {
            answer.assert_refused(NO_AGENT);
        }
        for path in ABSENT {
            assert!(!world.path("workspace").join(path).exists(), "{path}");
        }
        assert!(!world.path("workspace/.sortie").exists(), "not even a directory is made");
    });
}

#[test]
fn s42_settings_and_agent_definitions_are_changed_by_no_tool_and_under_no_name() {
    as_each_user(|world| {
        world.write("workspace/.sortie/config.toml", "# first line\n");
        world.agent("helper", "tools: [Read]");
        world.write("workspace/.vscode/tasks.json", "first line\n");
        world.link(".sortie", "workspace/alias");
        world.link(".sortie/config.toml", "workspace/alias.toml");
        let named = [".sortie/config.toml", ".sortie/agents/helper.md", ".vscode/tasks.json"];
        let spelled = ["alias/config.toml", "alias.toml", "./.sortie/./config.toml", "src/../.sortie/config.toml"];
        let folded =
            [".SORTIE/config.toml", ".Sortie/agents/helper.md", ".ſortie/config.toml", ".sortie\u{200b}/config.toml"];
        let before = contents(world);
        for path in named.into_iter().chain(spelled).chain(folded) {
            let turns = [vec![read(path)], every_change(path)];
            let answers = world.run(BYPASS, main_agent_in_turns(turns)).assert_completed().answers();
            for answer in &answers[1..] {
                answer.assert_refused(NO_AGENT);
            }
        }
        assert_eq!(contents(world), before);
    });
}

fn contents(world: &World) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut files: Vec<_> =
        world.files("workspace").into_iter().map(|file| (file.clone(), fs::read(file).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn s42_the_users_own_settings_state_and_shell_files_are_changed_by_nobody() {
    as_each_user(|world| {
        world.write("home/.config/sortie/config.toml", "# first line\n");
        world.write("home/.bashrc", "# first line\n");
        let (home, state) = (world.name("home"), world.name("state"));
        let flags = [BYPASS, &["--add-dir", &home, "--add-dir", &state]].concat();
        let paths = [
            format!("{home}/.config/sortie/config.toml"),
            format!("{home}/.config/sortie/agents/new.md"),
            format!("{home}/.bashrc"),
            format!("{home}/.ssh/authorized_keys"),
            format!("{state}/trusted.json"),
            format!("{state}/reports/new.txt"),
            format!("{state}/journal.db"),
        ];
        for agent in ["general-purpose", "main"] {
            let turns = [paths.iter().map(|path| write(path)).collect::<Vec<_>>()];
            let script = match agent {
                "main" => main_agent_in_turns(turns),
                agent => delegated(agent, turns.concat()),
            };
            for answer in world.run(&flags, script).assert_completed().answers_of(agent) {
                if answer.tool == "Write" {
                    answer.assert_refused(NO_AGENT);
                }
            }
        }
        assert_eq!(world.text("home/.bashrc"), "# first line\n");
        assert_eq!(world.text("home/.config/sortie/config.toml"), "# first line\n");
        assert!(!world.path("home/.ssh").exists() && !world.path("home/.config/sortie/agents").exists());
    });
}

/// Files by which git runs something, in places whose names do not show it. `HEAD` completes a repository.
const OBEYED_BY_GIT: [&str; 9] = [
    "bare/hooks/post-checkout",
    "bare/config.worktree",
    "lib/store.git/hooks/pre-receive",
    "lib/store.git/CONFIG.worktree",
    "scripts/on-commit/pre-commit",
    "team.gitconfig",
    "tools/linked.sh",
    "users/pre-push",
    "planted/HEAD",
];

#[test]
fn s42_what_git_obeys_is_changed_under_no_other_name() {
    as_each_user(|world| {
        for bare in ["bare", "lib/store.git"] {
            for entry in ["HEAD", "objects/x", "refs/x", "config"] {
                world.write(&format!("workspace/{bare}/{entry}"), "first line\n");
            }
        }
        world.write("workspace/planted/objects/x", "");
        world.write("workspace/planted/refs/x", "");
        world.write(
            "workspace/.git/config",
            "[core]\n\thooksPath = scripts/on-commit\n[include]\n\tpath = ../team.gitconfig\n",
        );
        world.link("../../tools/linked.sh", "workspace/.git/hooks/post-merge");
        world.write("home/.gitconfig", "[core]\n\thooksPath = users\n");
        let answers = world.run(BYPASS, main_agent(OBEYED_BY_GIT.map(write)));
        for answer in answers.assert_completed().answers() {
            answer.assert_refused(NO_AGENT);
        }
        for path in OBEYED_BY_GIT {
            assert!(!world.path("workspace").join(path).exists(), "{path}");
        }
        for config in ["bare/config", "lib/store.git/config"] {
            let answers = world.run(BYPASS, main_agent_in_turns([vec![read(config)], every_change(config)]));
            for answer in &answers.assert_completed().answers()[1..] {
                answer.assert_refused(NO_AGENT);
            }
            assert_eq!(world.text(&format!("workspace/{config}")), "first line\n");
        }
        let ordinary = ["lib/config", "src/HEAD", "scripts/other.sh", "bare/notes.md"];
        for answer in world.run(BYPASS, main_agent(ordinary.map(write))).assert_completed().answers() {
            assert!(!answer.text.contains(NO_AGENT), "{}", answer.text);
        }
    });
}

/// Names that programs obey of their own accord, found in a second round of attacks.
const OBEYED: [&str; 16] = [
    ".crush.json",
    ".factory/mcp.json",
    ".amazonq/mcp.json",
    ".junie/mcp/mcp.json",
    ".kilocode/mcp.json",
    ".openhands/setup.sh",
    ".github/hooks/start.json",
    ".pdbrc",
    ".pryrc",
    ".pnpmfile.cjs",
    ".yarn/releases/yarn.cjs",
    ".yarn/plugins/x.cjs",
    "rust-toolchain.toml",
    ".mise/config.toml",
    "mise.toml",
    ".tool-versions",
];

#[test]
fn s42_programs_that_start_by_themselves_obey_nothing_that_an_agent_wrote() {
    as_each_user(|world| {
        let after = world.run(BYPASS, main_agent(OBEYED.map(write)));
        for answer in after.assert_completed().answers() {
            answer.assert_refused(NO_AGENT);
        }
        assert!(OBEYED.iter().all(|path| !world.path("workspace").join(path).exists()));
    });
}
