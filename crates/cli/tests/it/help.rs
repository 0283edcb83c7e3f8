//! Help, usage and completions.

use expect_test::expect;

use crate::world::World;

const COMMANDS: &[&[&str]] = &[
    &["run"],
    &["task"],
    &["agents"],
    &["agents", "list"],
    &["agents", "show"],
    &["agents", "check"],
    &["agents", "new"],
    &["agents", "match"],
    &["templates"],
    &["templates", "list"],
    &["templates", "show"],
    &["tasks"],
    &["tasks", "list"],
    &["tasks", "show"],
    &["cost"],
    &["mcp"],
    &["models"],
    &["schema"],
    &["config"],
    &["config", "show"],
    &["config", "path"],
    &["config", "edit"],
    &["trust"],
    &["doctor"],
    &["completions"],
];

#[test]
fn every_command_has_help_with_examples() {
    let world = World::new();
    for &command in COMMANDS {
        let help = world.sortie(command.iter().chain(&["--help"])).run();
        assert_eq!(help.code, 0, "{command:?}");
        let (_, examples) =
            help.stdout.rsplit_once("Example").unwrap_or_else(|| panic!("{command:?}: {}", help.stdout));
        assert!(examples.contains(&format!("sortie {}", command.join(" "))), "{command:?}: {examples}");
        assert_eq!(help.stderr, "");
    }
}

#[test]
fn what_holds_for_one_format_alone_is_said_where_it_is_offered() {
    let world = World::new();
    for command in ["run", "resume"] {
        let help = world.sortie([command, "--help"]).run().stdout;
        let words: Vec<&str> = help.split_whitespace().collect();
        let said = "`sortie resume`; only with text on stdout, since a run that is left has no outcome";
        assert!(words.join(" ").contains(said), "{help}");
    }
}

#[test]
fn the_first_screen_names_the_commands_and_the_exit_codes() {
    let help = World::new().sortie(["--help"]).run();
    expect![[r#"
        exit 0
        --- stdout
        Send sub-agents out to work, each with a clean context, and get their reports back

        Usage: sortie [OPTIONS] <COMMAND>

        Commands:
          run          Answer a request, with sub-agents where they help
          resume       Go on with a task: where it was interrupted, beyond a limit or a failure, or with a
                       follow-up
          task         Run one sub-agent and print its result
          agents       List, show, check, write or choose agents
          templates    List or show templates: tasks that were put into words before
          tasks        List tasks; show, follow or stop one, write to it, go on with it, or remove old ones
          task-status  Say where a task stands: what it does, what it waits for, and how it ended
          cost         Say what a run has used and cost: each task with all below it, each model, and what a
                       cache could serve
          mcp          Serve sub-agents to other agents over the Model Context Protocol
          models       List the routes to models and what each name means; call them with --check
          schema       Print the Task tool's schema, with the agents that there are
          config       Show settings, or edit them
          explain      Say whether a call is allowed, asked about or denied, and by whom
          trust        Trust a project's own files, or take trust back
          doctor       Say what works here: settings, models, agents, journal, git, walls
          completions  Print a completion script for a shell
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version

        Settings:
              --config <FILE>    Read this configuration instead of the user's own
              --env-file <FILE>  Read variables like `LLM_API_KEY` from this file; they win over the
                                 environment
              --cwd <DIR>        Work in this directory's project instead of the current one's
              --set <KEY=VALUE>  Set one setting for this run, e.g. `task_tool.max_depth=1`; `sortie config
                                 show` lists them
              --trust            Trust this project's own files for this run; `sortie trust` says what they
                                 would do
              --contract <NAME>  Speak this dialect of the Task tool: envelope, result, delegate, typed,
                                 child (or s0 to s4), child-recipe, sortie

        Permissions:
              --allow <RULE>            Allow what this rule covers without a question, e.g.
                                        `Edit(docs/**)`; can be repeated
              --ask <RULE>              Ask before what this rule covers, whatever is allowed; can be
                                        repeated
              --deny <RULE>             Refuse what this rule covers, whatever else is said; can be repeated
              --permission-mode <MODE>  What is allowed without a question: plan, default, accept-edits or
                                        bypass
              --add-dir <DIR>           Let tools see this directory, too; can be repeated
              --unconfined              Run commands without walls: they can do whatever you can. For
                                        machines on which `sortie doctor` finds none

        Examples:
          sortie run "Where are authentication errors handled?"
          ANTHROPIC_API_KEY=… sortie run "Explain how requests are retried"
          sortie task --agent explore --description "Find it" --prompt "Where is X?"
          sortie tasks list

        Exit codes:
          0    completed
          1    failed, partial, cancelled or rejected; no such task or agent; a task that
               cannot be had now: it runs elsewhere, its parent waits for it, or its log
               is damaged; a disk that is full or fails
          2    wrong usage or configuration
          129  ended by SIGHUP, 130 by SIGINT, 143 by SIGTERM
    "#]]
    .assert_eq(&help.transcript());
}

#[test]
fn what_runs_something_names_its_exit_codes() {
    for command in ["run", "task"] {
        let help = World::new().sortie([command, "--help"]).run().stdout;
        assert!(help.contains("\nExit codes:\n  0    completed\n"), "{help}");
    }
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
        for word in ["output-format", "completions", "max-turns", "max-cost-usd", "doctor", "match", "check", "cost"] {
            assert!(ended.stdout.contains(word), "{shell}: {word}");
        }
    }
}
