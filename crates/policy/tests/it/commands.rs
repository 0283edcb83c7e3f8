//! Rules for shell commands.

use super::support::{Verdict, allow, command, deny, ground, judge, verdict};

fn permits(rule: &str, line: &str) -> bool {
    verdict(allow(&[rule]), "Bash", &command(line)) == Verdict::Allow
}

fn forbids(rule: &str, line: &str) -> bool {
    verdict(deny(&[rule]), "Bash", &command(line)) == Verdict::Deny
}

#[test]
fn a_prefix_is_one_of_words_and_anything_else_is_exact() {
    for rule in ["Bash(git diff:*)", "Bash(git diff *)"] {
        for line in ["git diff", "git diff --stat", "git  diff HEAD", " git diff"] {
            assert!(permits(rule, line), "{rule}, {line}");
        }
        for line in ["git", "git difftool", "git push", "git -c a=b diff", "xgit diff", ""] {
            assert!(!permits(rule, line), "{rule}, {line}");
        }
    }
    assert!(permits("Bash(cargo test)", "cargo test"));
    assert!(!permits("Bash(cargo test)", "cargo test --all"));
    for everything in ["Bash", "Bash(*)", "Bash(:*)"] {
        assert!(permits(everything, "ls | wc -l"), "{everything}");
    }
}

#[test]
fn no_pattern_permits_what_a_shell_would_not_take_as_it_stands() {
    for line in [
        "git diff; id",
        "git diff && id",
        "git diff || id",
        "git diff | id",
        "git diff & id",
        "git diff\nid",
        "git diff\rid",
        "git diff\tx",
        "git diff $(id)",
        "git diff `id`",
        "git diff <(id)",
        "git diff > x",
        "git diff >| x",
        "git diff 2>x",
        "git diff ${x@P}",
        "git diff $IFS",
        "git diff {a,b}",
        "git diff 'x'",
        "git diff \"x\"",
        "git diff \\x",
        "git diff *",
        "git diff ?",
        "git diff [a]",
        "git diff ~",
        "git diff #x",
        "git diff !x",
        "git diff ^x",
        "git diff é",
        "git diff \0",
    ] {
        assert!(!permits("Bash(git diff:*)", line), "{line:?}");
        assert!(permits("Bash", line), "{line:?}");
    }
}

#[test]
fn what_forbids_looks_at_every_command_of_a_line() {
    for line in [
        "rm -rf x",
        "  rm",
        "ls; rm x",
        "ls && rm x",
        "ls || rm x",
        "ls | rm",
        "ls & rm x",
        "ls\nrm x",
        "(rm x)",
        "$(rm x)",
        "`rm x`",
        "{ rm x; }",
        "rm\tx",
    ] {
        assert!(forbids("Bash(rm:*)", line), "{line:?}");
    }
    for line in ["rmdir x", "echo rm", "ls"] {
        assert!(!forbids("Bash(rm:*)", line), "{line:?}");
    }
    assert!(forbids("Bash(git push)", "git push; ls"));
    assert!(!forbids("Bash(git push)", "git push origin"));
}

#[test]
fn a_line_that_no_pattern_can_permit_is_not_told_of_one() {
    let judge = judge([allow(&["Bash(ls:*)"])]);
    let plain = ground(judge.decide("Bash", &command("cargo test")));
    assert_eq!(plain.remedy.as_deref(), Some("Bash(cargo test)"));
    let piped = ground(judge.decide("Bash", &command("ls | wc")));
    assert_eq!(piped.remedy, None);
    assert_eq!(piped.to_string(), "needs approval; no rule of user settings allows it");
}
