//! Command lines at the gate: a part that nobody allowed, or that a rule denies, does not run wherever it hides.

use std::fs;

use super::{ANY_COMMAND, BYPASS, Lines, NO_AGENT, NOBODY, allowing, bash};
use crate::aftermath::assert_all_failed;
use crate::calls::main_agent;
use crate::world::{World, as_each_user};

/// One denied command, with everything else allowed.
const DENYING: &[&str] = &["--permission-mode", "bypass", "--deny", "Bash(touch:*)"];
const DENIED: &str = "its rule `Bash(touch:*)`";

/// Asserts that neither allow rules for other commands nor permission for everything but one command lets these lines
/// through.
fn assert_judged(world: &World, lines: &[&str], allowed: &[&str]) {
    let lines = Lines::new(lines);
    lines.assert_refused(world, &allowing(allowed), NOBODY);
    lines.assert_refused(world, DENYING, DENIED);
    lines.assert_live(world);
}

#[test]
fn s17_every_command_of_a_chain_is_judged() {
    let lines = [
        "echo a; touch RAN",
        "echo a && touch RAN",
        "ls nowhere || touch RAN",
        "echo a | touch RAN",
        "echo a |& touch RAN",
        "echo a & touch RAN",
        "echo a\ntouch RAN",
        "echo a # a\n\ttouch\tRAN",
        "touch RAN; echo a",
        "(echo a; touch RAN)",
        "{ echo a; touch RAN; }",
        "if echo a; then touch RAN; fi",
        "for x in a; do touch RAN; done",
        "case a in a) touch RAN;; esac",
        "f() { touch RAN; }; f",
        "! touch RAN",
    ];
    as_each_user(|world| assert_judged(world, &lines, &["Bash(echo:*)", "Bash(ls:*)"]));
}

#[test]
fn s22_a_denied_command_is_found_in_a_variable() {
    let lines = [
        "echo 'touch RAN' > s1; BASH_ENV=./s1 bash -c :",
        "echo 'touch RAN' > s2; env BASH_ENV=./s2 bash -c :",
        "echo 'touch RAN' > s3; export BASH_ENV=./s3; bash -c :",
        "GIT_EXTERNAL_DIFF='touch RAN; :' git diff --no-index --ext-diff src/main.rs /etc/passwd",
    ];
    as_each_user(|world| assert_judged(world, &lines, &["Bash(bash:*)", "Bash(echo:*)", "Bash(git diff:*)", "Edit"]));
}

#[test]
fn s21_a_denied_subcommand_is_found_under_its_own_name() {
    let found = std::process::Command::new("git").arg("--exec-path").output().unwrap();
    let directory = String::from_utf8(found.stdout).unwrap();
    let line = format!("{}/git-init made", directory.trim());
    as_each_user(|world| {
        let denying = ["--permission-mode", "bypass", "--deny", "Bash(git init:*)"];
        let after = world.run(&denying, main_agent([bash(&line)]));
        after.assert_completed().answer_of("main").assert_refused("its rule `Bash(git init:*)`");
        assert!(!world.path("workspace/made").exists());
        world.run(BYPASS, main_agent([bash(&line)])).assert_completed();
        assert!(world.path("workspace/made").exists(), "it would have run");
    });
}

#[test]
fn s18_a_line_too_long_to_be_judged_does_not_run() {
    let lines = [51, 500, 5_000].map(|count| format!("{}touch RAN", ":;".repeat(count - 1)));
    let padded = format!("echo {}; touch RAN", "a".repeat(50_000));
    let lines: Vec<&str> = lines.iter().map(String::as_str).chain([padded.as_str()]).collect();
    as_each_user(|world| assert_judged(world, &lines, &["Bash(:)", "Bash(true)", "Bash(echo:*)"]));
}

#[test]
fn s19_commands_in_substitutions_are_judged() {
    let lines = [
        "echo $(touch RAN)",
        "echo `touch RAN`",
        "echo \"a $(touch RAN) b\"",
        "echo \"a `touch RAN` b\"",
        "echo $(echo $(touch RAN))",
        "cat <(touch RAN)",
        "cat <<END\n$(touch RAN)\nEND",
        "cat <<< `touch RAN`",
        "x=$(touch RAN) echo a",
        "echo a 2> /dev/null$(touch RAN)",
        "echo ${x:-$(touch RAN)}",
    ];
    as_each_user(|world| assert_judged(world, &lines, &["Bash(echo:*)", "Bash(cat:*)"]));
}

#[test]
fn s20_an_expansion_that_executes_is_refused() {
    let lines = [
        "x='$(touch RAN)'; echo \"${x@P}\"",
        "echo ${x:=$(touch RAN)}",
        "x='a[$(touch RAN)]'; echo ${!x}",
        "x='a[$(touch RAN)]'; echo $((x))",
        "echo $((a[$(touch RAN)]))",
        "x='a[$(touch RAN)]'; ((x))",
        "x='a[$(touch RAN)]'; [[ x -eq 1 ]]",
        "[[ -v 'a[$(touch RAN)]' ]]",
        "test -v 'a[$(touch RAN)]'",
        "printf -v 'a[$(touch RAN)]' a",
        "read 'a[$(touch RAN)]' <<< a",
        "a=(b); unset 'a[$(touch RAN)]'",
        "eval 'touch RAN'",
        "trap 'touch RAN' EXIT",
        "x=tou; ${x}ch RAN",
        "echo 'touch RAN' | sh",
        "bash -s <<< 'touch RAN'",
    ];
    let allowed = ["echo", "test", "printf", "read", "unset", "eval", "trap", "sh", "bash"];
    let allowed = allowed.map(|name| format!("Bash({name}:*)"));
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    as_each_user(|world| assert_judged(world, &lines, &allowed));
}

#[test]
fn s21_another_spelling_of_a_command_is_the_same_command() {
    let lines = [
        "t''ouch RAN",
        "\"touch\" RAN",
        "\\touch RAN",
        "$'\\x74ouch' RAN",
        "{touch,RAN}",
        "touch$IFS'RAN'",
        "/usr/bin/touch RAN",
        "/usr/bin/tou?h RAN",
        "../../../../../../../usr/bin/touch RAN",
        "command touch RAN",
        "env touch RAN",
        "env -i A=b touch RAN",
        "nice touch RAN",
        "timeout 5 touch RAN",
        "nohup touch RAN",
        "exec touch RAN",
        "A=b touch RAN",
        "bash -c 'touch RAN'",
        "echo RAN | xargs touch",
    ];
    let allowed = ["echo", "env", "nice", "timeout", "nohup", "bash", "xargs", "command", "exec"];
    let allowed = allowed.map(|name| format!("Bash({name}:*)"));
    let allowed: Vec<&str> = allowed.iter().map(String::as_str).collect();
    as_each_user(|world| assert_judged(world, &lines, &allowed));
}

#[test]
fn s22_a_rule_for_a_program_does_not_allow_its_dangerous_arguments() {
    let lines = [
        "find src -maxdepth 0 -exec touch RAN ;".replace(';', "\\;"),
        "find src -maxdepth 0 -fprint RAN".to_owned(),
        "sed -n 'w RAN' src/main.rs".to_owned(),
        "sed '1e touch RAN' src/main.rs".to_owned(),
        "sed 's/fn/touch RAN #/e' src/main.rs".to_owned(),
        "sort -o RAN src/main.rs".to_owned(),
        "sort --outp=RAN src/main.rs".to_owned(),
        "tar -cf /tmp/a.tar --checkpoint=1 --checkpoint-action=exec='touch RAN' src".to_owned(),
        "git -c alias.a='!touch RAN' a".to_owned(),
        "git diff --no-index --output=RAN src/main.rs /dev/null".to_owned(),
        "awk 'BEGIN { system(\"touch RAN\") }'".to_owned(),
        "awk 'BEGIN { print > \"RAN\" }'".to_owned(),
        "perl -e 'open F, \">RAN\"'".to_owned(),
        "split --filter='touch RAN' src/main.rs".to_owned(),
    ];
    let programs = ["find", "sed", "sort", "tar", "git", "awk", "perl", "split"];
    let rules = programs.map(|program| format!("Bash({program}:*)"));
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    // Edits are allowed, so they are not the reason for the refusal.
    let flags = [&["--permission-mode", "accept-edits"], &allowing(&rules)[..]].concat();
    as_each_user(|world| {
        let lines = Lines::new(&lines);
        lines.assert_refused(world, &flags, NOBODY);
        lines.assert_live(world);
        // The same programs without their dangerous arguments.
        let harmless =
            ["find src -name main.rs", "sed -n p src/main.rs", "sort src/main.rs", "awk '{ print }' src/main.rs"];
        let after = world.run(&flags, main_agent(harmless.map(bash)));
        after.assert_completed().answers().iter().for_each(crate::aftermath::Answer::assert_done);
    });
}

/// Ways for a command to write a file.
const WRITES: [&str; 12] = [
    "echo a > RAN",
    "echo a >> RAN",
    "echo a >| RAN",
    "echo a &> RAN",
    "echo a >& RAN",
    "ls nowhere 2> RAN",
    "echo a <> RAN",
    ">RAN echo a",
    "echo a | tee RAN",
    "dd if=src/main.rs of=RAN",
    "cp src/main.rs RAN",
    "cd src && echo a > ../RAN",
];

#[test]
fn s23_writes_of_a_command_are_judged_as_edits() {
    let rules = ["Bash(echo:*)", "Bash(ls:*)", "Bash(tee:*)", "Bash(dd:*)", "Bash(cp:*)"];
    as_each_user(|world| {
        let lines = Lines::new(WRITES);
        lines.assert_refused(world, &allowing(&rules), NOBODY);
        let denying = ["--permission-mode", "bypass", "--deny", "Edit(RAN*)"];
        lines.assert_refused(world, &denying, "its rule `Edit(RAN*)`");
        lines.assert_live(world);
    });
}

#[test]
fn s23_no_way_to_write_reaches_protected_files() {
    as_each_user(|world| {
        world.write("workspace/.git/config", "first line\n");
        let plain = |path: &str| WRITES.map(|line| bash(&line.replace("RAN", path)));
        for flags in [BYPASS, ANY_COMMAND] {
            for path in [".git/config", ".git/hooks/pre-commit", ".envrc", ".sortie/config.toml"] {
                // Walls do not keep absent files that have ordinary uses.
                world.write("workspace/.envrc", "");
                let answers = world.run(flags, main_agent(plain(path))).assert_completed().answers();
                // The last line goes up again: only the kernel knows where that leads.
                let (last, others) = answers.split_last().unwrap();
                for answer in others {
                    answer.assert_refused(NO_AGENT);
                }
                assert!(last.failed, "{path}: {last:#?}");
                let changed = fs::read_to_string(world.path("workspace").join(path)).unwrap_or_default();
                assert!(changed.is_empty() || changed == "first line\n", "{path}: {changed}");
            }
            // The walls stop what the gate cannot see through.
            let hidden = |line: &str| bash(&format!("set -e; f=.git/con; {}", line.replace("RAN", "\"${f}fig\"")));
            let after = world.run(flags, main_agent(WRITES.map(hidden)));
            assert_all_failed(&after.assert_completed().answers(), "");
            assert_eq!(world.text("workspace/.git/config"), "first line\n", "{after:#?}");
        }
    });
}
