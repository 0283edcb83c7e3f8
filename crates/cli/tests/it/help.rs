//! Help, usage and completions.

use expect_test::expect;

use crate::world::World;

const COMMANDS: [&[&str]; 9] = [
    &["run"],
    &["task"],
    &["agents", "list"],
    &["agents", "show"],
    &["tasks", "list"],
    &["tasks", "show"],
    &["schema"],
    &["config", "show"],
    &["completions"],
];

#[test]
fn every_command_has_help_with_examples() {
    let world = World::new();
    for command in COMMANDS {
        let help = world.sortie(command.iter().chain(&["--help"])).run();
        assert_eq!(help.code, 0, "{command:?}");
        let (_, examples) =
            help.stdout.rsplit_once("Example").unwrap_or_else(|| panic!("{command:?}: {}", help.stdout));
        assert!(examples.contains(&format!("sortie {}", command.join(" "))), "{command:?}: {examples}");
        assert_eq!(help.stderr, "");
    }
}

#[test]
fn the_first_screen_names_the_commands_and_the_exit_codes() {
    let help = World::new().sortie(["--help"]).run();
    expect![[""]].assert_eq(&help.transcript());
}

#[test]
fn no_command_at_all_is_wrong_usage_and_shows_the_help() {
    let ended = World::new().sortie([""; 0]).run();
    assert_eq!((ended.code, ended.stdout.as_str()), (2, ""));
    assert!(ended.stderr.contains("Usage: sortie"), "{}", ended.stderr);
}

#[test]
fn completions_are_made_for_each_shell_even_where_nothing_else_works() {
    let world = World::new();
    world.config("this is not toml");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = world.sortie(["completions", shell]).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        for word in ["stream-json", "completions", "max-turns"] {
            assert!(ended.stdout.contains(word), "{shell}: {word}");
        }
    }
}
