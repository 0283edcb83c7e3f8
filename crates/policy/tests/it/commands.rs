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
        "git diff $(id)",
        "git diff `id`",
        "git diff <(id)",
        "git diff > x",
        "git diff >| x",
        "git diff 2>x",
        "git diff ${x@P}",
        "git diff $IFS",
        "git diff {a,b}",
        "git diff x''y",
        "git diff \\x",
        "git diff *",
        "git diff ?",
        "git diff [a]",
        "git diff ~",
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
fn a_refusal_names_the_rule_that_is_missing_and_none_that_would_not_do() {
    let judge = judge([allow(&["Bash(ls:*)"])]);
    let said = |line: &str| ground(judge.decide("Bash", &command(line)));
    assert_eq!(said("cargo test").remedy.as_deref(), Some("Bash(cargo test)"));
    assert_eq!(said("ls | wc -l").remedy.as_deref(), Some("Bash(wc -l)"));
    assert_eq!(said("git commit -m 'two words'").remedy.as_deref(), Some("Bash(git commit -m 'two words')"));
    assert_eq!(said("ls > out.txt").remedy.as_deref(), Some("Edit(/out.txt)"));
    assert_eq!(said("timeout 5 cargo test").remedy.as_deref(), Some("Bash(cargo test)"));
    assert_eq!(said("cat a | wc").remedy, None, "two are missing");
    let obscure = said("ls $x");
    assert_eq!(obscure.remedy, None);
    expect_test::expect![
        "needs approval; no rule of user settings allows it, since it has a word that is only known when it runs"
    ]
    .assert_eq(&obscure.to_string());
}
