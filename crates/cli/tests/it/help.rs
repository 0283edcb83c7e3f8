//! Help, usage and completions.

use expect_test::expect;

use crate::world::World;

const COMMANDS: &[&[&str]] = &[
    &["run"],
    &["resume"],
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
    &["tasks", "output"],
    &["tasks", "stop"],
    &["tasks", "send"],
    &["tasks", "release"],
    &["tasks", "resume"],
    &["tasks", "retry"],
    &["tasks", "prune"],
    &["task-status"],
    &["cost"],
    &["mcp"],
    &["mcp", "install"],
    &["models"],
    &["schema"],
    &["config"],
    &["config", "show"],
    &["config", "path"],
    &["config", "edit"],
    &["explain"],
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
        let name = command.join(" ").replace("tasks resume", "resume");
        assert!(examples.contains(&format!("sortie {name}")), "{command:?}: {examples}");
        assert_eq!(help.stderr, "");
    }
}

#[test]
fn detach_says_that_it_needs_the_text_format() {
    let world = World::new();
    for command in ["run", "resume"] {
        let help = world.sortie([command, "--help"]).run().stdout;
        assert!(help.contains("Exit once only background sub-agents are running; text format only"), "{help}");
    }
}

#[test]
fn only_the_top_help_lists_global_options() {
    let world = World::new();
    expect![[r#"
        exit 0
        --- stdout
        Stop a task and its sub-agents, whichever process runs them

        Usage: sortie tasks stop [OPTIONS] <ID>

        Arguments:
          <ID>  Task id or its first letters, with or without `agent-`

        Options:
              --json  Print the ids of stopped tasks as JSON
          -h, --help  Print help

        Global options: see `sortie --help`

        Examples:
          sortie tasks stop kvbq
          sortie tasks stop kvbq --json | jq -r '.stopped[]'
    "#]]
    .assert_eq(&world.sortie(["tasks", "stop", "--help"]).run().transcript());
    for &command in COMMANDS {
        let help = world.sortie(command.iter().chain(&["--help"])).run().stdout;
        assert_eq!(help.matches("\nGlobal options: see `sortie --help`\n").count(), 1, "{help}");
        assert!(["--contract <", "--allow <", "--set <"].iter().all(|option| !help.contains(option)), "{help}");
    }
}

#[test]
fn global_options_count_before_and_after_a_subcommand() {
    let world = World::new();
    let after = world.sortie(["config", "show", "--set", "task_tool.max_depth=7", "--contract", "typed"]).run();
    let before = world.sortie(["--set", "task_tool.max_depth=7", "config", "--contract", "typed", "show"]).run();
    assert_eq!((after.code, &after.stdout), (0, &before.stdout));
    assert!(after.stdout.lines().any(|line| line.starts_with("task_tool.max_depth ") && line.contains(" 7 ")));
}

#[test]
fn the_first_screen_names_the_commands_and_the_exit_codes() {
    let help = World::new().sortie(["--help"]).run();
    expect![[r#"
        exit 0
        --- stdout
        Delegate work to sub-agents, each with a clean context, and collect their reports

        Usage: sortie [OPTIONS] <COMMAND>

        Commands:
          run          Answer a request, delegating to sub-agents where that helps
          resume       Resume an interrupted or failed task, or follow up on a finished one
          task         Run one sub-agent and print its result
          agents       List, show, check, create or match agents
          templates    List or show task templates
          tasks        List, show, follow, stop, message, release, resume, retry or prune tasks
          task-status  Show the status of a task: activity, open questions, figures and outcome
          cost         Show tokens and cost of a run, by task and by model
          mcp          Serve sub-agents to other agents over the Model Context Protocol
          models       List model routes and aliases; --check calls them
          schema       Print the JSON schema of the Task tool, with your agents
          config       Show or edit settings
          explain      Explain why a tool call is allowed, denied or needs approval
          trust        Trust a project's own files, or withdraw trust
          doctor       Check the installation: settings, models, agents, journal, git and walls
          completions  Print a completion script for a shell
          help         Print this message or the help of the given subcommand(s)

        Options:
          -h, --help     Print help
          -V, --version  Print version

        Settings:
              --config <FILE>    Use this configuration file instead of your own
              --env-file <FILE>  Read variables such as `LLM_API_KEY` from this file; overrides the
                                 environment
              --cwd <DIR>        Work in the project of this directory [default: the current directory]
              --set <KEY=VALUE>  Override one setting, e.g. `task_tool.max_depth=1`; see `sortie config
                                 show`
              --trust            Trust the project's own files for this run; see `sortie trust --dry-run`
              --contract <NAME>  JSON dialect of the Task tool, from the list below [default: sortie]

        Permissions:
              --allow <RULE>            Allow matching calls without asking, e.g. `Edit(docs/**)`;
                                        repeatable
              --ask <RULE>              Ask before matching calls, even where another rule allows them;
                                        repeatable
              --deny <RULE>             Refuse matching calls, even where another rule allows them;
                                        repeatable
              --permission-mode <MODE>  Permission mode: plan, default, accept-edits or bypass
              --add-dir <DIR>           Give tools access to this directory as well; repeatable
              --unconfined              Run commands without walls, with all your rights; see `sortie
                                        doctor`

        Contracts, the JSON dialects of the Task tool, by the kind of host they suit:
          sortie        any host: every field, limits and the full outcome (default)
          envelope      all tools answer in one envelope; fixed roles, two models
          result        users write their own agents and see the messages of each
          delegate      large jobs are handed off to keep the host's own context small
          typed         like Claude Code: agent types, model tiers, background, resuming
          child         like opencode: a parent session opens child sessions
          child-recipe  a minimal agent loop: the shorter form of `child`
        The names s0 to s4 stand for envelope, result, delegate, typed and child.

        Examples:
          sortie run "Where are authentication errors handled?"
          ANTHROPIC_API_KEY=… sortie run "Explain how requests are retried"
          sortie task --agent explore --description Find --prompt "Where is the config?"
          sortie tasks list

        Exit codes:
          0    completed
          1    failed, partial, cancelled or rejected; no such task or agent; a task
               that is unavailable (running in another process, awaited by its parent,
               or with a damaged log); a journal that cannot be used, or a full disk
          2    wrong usage or configuration
          129  interrupted by SIGHUP, 130 by SIGINT, 143 by SIGTERM
    "#]]
    .assert_eq(&help.transcript());
}

#[test]
fn commands_that_run_something_name_their_exit_codes() {
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
fn completions_work_for_each_shell_even_with_a_broken_configuration() {
    let world = World::new();
    world.config("this is not toml");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ended = world.sortie(["completions", shell]).run();
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        for word in [
            "output-format",
            "completions",
            "max-turns",
            "max-cost-usd",
            "doctor",
            "match",
            "check",
            "cost",
            "unconfined",
        ] {
            assert!(ended.stdout.contains(word), "{shell}: {word}");
        }
    }
}
