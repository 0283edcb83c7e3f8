//! Environment of commands: only harmless variables of Sortie's own, and nothing from earlier commands.

use std::collections::BTreeSet;

use super::{ANY_COMMAND, BYPASS, NOBODY, bash, traces};
use crate::aftermath::Aftermath;
use crate::calls::{main_agent, main_agent_in_turns};
use crate::world::{CANARY, World, as_each_user};

/// Runs the program with more variables in its environment.
fn run_with(world: &World, variables: &[String], lines: &[&str]) -> Aftermath {
    let outer: Vec<&str> = ["/usr/bin/env"].into_iter().chain(variables.iter().map(String::as_str)).collect();
    world.run_under(&outer, ANY_COMMAND, main_agent(lines.iter().map(|line| bash(line))))
}

#[test]
fn s25_a_command_inherits_nothing_from_the_one_before() {
    as_each_user(|world| {
        let poison = "export PAGER='touch RAN-0' GIT_EXTERNAL_DIFF='touch RAN-1' PATH=/nowhere LEFT=behind; \
             cd src; umask 0; alias ls='touch RAN-2'; ls() { touch RAN-3; }; export -f ls; \
             trap 'touch RAN-4' DEBUG; set -x; exec 9> /tmp/left";
        let look = "ls /tmp; pwd; umask; echo \"left: $LEFT\"; git diff --no-index src/main.rs /dev/null; : >&9";
        let after = world.run(ANY_COMMAND, main_agent_in_turns([vec![bash(poison)], vec![bash(look)]]));
        let answers = after.assert_completed().answers();
        answers[0].assert_done();
        let text = &answers[1].text;
        assert!(text.contains("left: \n") && text.contains("9: Bad file descriptor"), "{text}");
        let fresh = format!("{}\n0022\n", world.name("workspace"));
        assert!(text.starts_with(&fresh), "an empty /tmp, the root, the usual mask: {text}");
        assert!(text.contains("+++ /dev/null"), "git shows it itself: {text}");
        assert_eq!(traces(world), BTreeSet::new());
    });
}

#[test]
fn s25_no_variable_that_makes_programs_run_others_reaches_a_command() {
    as_each_user(|world| {
        let script = world.write("workspace/start.sh", "touch RAN-0\n").display().to_string();
        let variables = [
            format!("BASH_ENV={script}"),
            format!("ENV={script}"),
            "BASH_FUNC_ls%%=() { touch RAN-1; }".to_owned(),
            "SHELLOPTS=xtrace".to_owned(),
            "PS4=$(touch RAN-2)".to_owned(),
            "PROMPT_COMMAND=touch RAN-3".to_owned(),
            "GIT_EXTERNAL_DIFF=touch RAN-4".to_owned(),
            "GIT_PAGER=touch RAN-5".to_owned(),
            "PAGER=touch RAN-6".to_owned(),
            "GIT_CONFIG_COUNT=1".to_owned(),
            "GIT_CONFIG_KEY_0=diff.external".to_owned(),
            "GIT_CONFIG_VALUE_0=touch RAN-7".to_owned(),
            "PERL5OPT=-Mnowhere".to_owned(),
            "RIPGREP_CONFIG_PATH=/nowhere".to_owned(),
            "LD_LIBRARY_PATH=/nowhere".to_owned(),
            "LESSOPEN=|touch RAN-8".to_owned(),
            "NODE_OPTIONS=--nowhere".to_owned(),
            "PYTHONSTARTUP=/nowhere".to_owned(),
            "CDPATH=/".to_owned(),
            "IFS=a".to_owned(),
        ];
        let lines = ["ls; perl -e 1; git diff --no-index src/main.rs /dev/null; env"];
        let after = run_with(world, &variables, &lines);
        let text = after.assert_completed().answer_of("main").text;
        assert!(text.contains("main.rs"), "{text}");
        let known = ["GIT_PAGER=cat", "PAGER=cat"];
        let named = |variable: &&String| {
            let (name, _) = variable.split_once('=').unwrap();
            text.lines().any(|line| line.starts_with(&format!("{name}=")) && !known.contains(&line))
        };
        let leaked: Vec<&String> = variables.iter().filter(named).collect();
        assert!(leaked.is_empty(), "{leaked:?} in {text}");
        assert_eq!(traces(world), BTreeSet::new());
    });
}

#[test]
fn s26_programs_in_the_workspace_do_not_replace_the_systems() {
    as_each_user(|world| {
        let names = ["ls", "git", "bash", "sh", "env", "perl", "bwrap", "unshare", "sortie"];
        for name in names {
            world.program(&format!("workspace/{name}"), "touch RAN-0");
            world.program(&format!("workspace/bin/{name}"), "touch RAN-1");
        }
        let root = world.name("workspace");
        world.link("workspace/bin", "elsewhere");
        let path = format!("PATH={root}:{root}/bin:.:bin::{}:/usr/bin:/bin", world.name("elsewhere"));
        let lines = ["ls; git --version; perl -e 1; env > /dev/null; sh -c true; bash -c true", "echo $PATH"];
        let after = run_with(world, std::slice::from_ref(&path), &lines);
        let answers = after.assert_completed().answers();
        assert!(answers[0].text.contains("git version"), "{answers:#?}");
        assert!(!answers[1].text.contains(&root) && !answers[1].text.contains("elsewhere"), "{answers:#?}");
        assert_eq!(traces(world), BTreeSet::new(), "{answers:#?}");
        // A line that names them gets them.
        let after = run_with(world, &[path], &["./ls; bin/git"]);
        after.answer_of("main").assert_done();
        assert_eq!(traces(world).len(), 2, "{after:#?}");
    });
}

#[test]
fn s83_no_command_finds_a_secret_of_the_environment() {
    as_each_user(|world| {
        // The canary as a secret of its own, in addition to the world's.
        let variables = ["AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "LC_SECRET_OF_MINE", "HOME_OF_KEYS"];
        let variables: Vec<String> = variables.iter().map(|name| format!("{name}={CANARY}")).collect();
        let lines = [
            "env; export -p; set",
            "cat /proc/self/environ /proc/$PPID/environ /proc/1/environ",
            "for process in /proc/[0-9]*; do cat $process/environ $process/cmdline; done",
            "strings /proc/1/mem || perl -e 'open M, \"/proc/1/mem\" or die $!; print <M>'",
            "perl -e '$ENV{$_} and print \"$_=$ENV{$_}\\n\" for qw(LLM_API_KEY LLM_BASE_URL SORTIE_HOME)'",
        ];
        // The world checks its canary.
        let after = run_with(world, &variables, &lines);
        let told: String = after.assert_completed().answers().iter().map(|answer| answer.text.as_str()).collect();
        assert!(told.contains("TERM=dumb"), "{told}");
        for name in ["LLM_", "SECRET", "GITHUB_TOKEN", "SORTIE_HOME="] {
            assert!(!told.contains(name), "{name} in {told}");
        }
    });
}

#[test]
fn s39_a_repositorys_variables_and_shell_settings_reach_no_command() {
    as_each_user(|world| {
        let config = "[shell]\nopen_network = true\nunconfined = true\n[permissions]\nallow = [\"Bash\"]\n";
        world.write("workspace/.sortie/config.toml", config);
        world.write("workspace/.env", "PAGER=touch RAN-0\nLEAKED=yes\nSORTIE_SHELL__OPEN_NETWORK=true\n");
        let refused = world.run(&[], main_agent([bash("touch RAN-1")]));
        refused.assert_completed().answer_of("main").assert_refused(NOBODY);
        let after = world.run(BYPASS, main_agent([bash("env; touch ../outside/new.txt")]));
        let answer = after.assert_completed().answer_of("main");
        answer.assert_failed("Read-only file system");
        assert!(!answer.text.contains("LEAKED") && answer.text.contains("http_proxy="), "{answer:#?}");
        for ignored in ["`shell.open_network`", "`permissions.allow`"] {
            assert!(after.stderr().contains(ignored), "it is said what does not count: {after:#?}");
        }
        assert_eq!(traces(world), BTreeSet::new());
    });
}
