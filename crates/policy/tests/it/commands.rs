//! Rules for shell commands.

use super::support::{Verdict, allow, command, command_in, deny, ground, judge, verdict};

fn permits(rule: &str, line: &str) -> bool {
    verdict(allow(&[rule]), "Bash", &command(line)) == Verdict::Allow
}

fn forbids(rule: &str, line: &str) -> bool {
    verdict(deny(&[rule]), "Bash", &command(line)) == Verdict::Deny
}

#[test]
fn a_prefix_matches_whole_words_and_other_patterns_match_exactly() {
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
fn no_pattern_permits_text_that_a_shell_would_expand() {
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
fn a_forbidding_rule_checks_every_command_of_a_line() {
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
fn a_refusal_names_only_the_rule_that_would_help() {
    let judge = judge([allow(&["Bash(ls:*)"])]);
    let said = |line: &str| ground(judge.decide("Bash", &command(line)));
    for (line, remedies) in [
        ("cargo test", &["Bash(cargo test)"][..]),
        ("ls | wc -l", &["Bash(wc -l)"]),
        ("git commit -m 'two words'", &["Bash(git commit -m 'two words')"]),
        ("ls > out.txt", &["Edit(/out.txt)"]),
        ("timeout 5 cargo test", &["Bash(cargo test)"]),
        ("cargo build && cargo test; cargo build", &["Bash(cargo build)", "Bash(cargo test)"]),
        ("echo hi > docs/x", &["Bash(echo hi)", "Edit(docs/x)"]),
        ("mv a b", &["Bash(mv a b)", "Edit(/b)"]),
        ("sudo cat f", &["Bash(sudo cat f)"]),
        ("true > f", &["Bash(true)", "Edit(/f)"]),
        ("cp a .", &["Bash(cp a .)", "Edit(/)"]),
        ("bash -c 'cargo build; ls'", &["Bash(cargo build)"]),
        ("uv run pytest", &["Bash(uv run pytest)"]),
        ("wget https://a.b/c", &["Bash(wget https://a.b/c)"]),
        ("a; b; c; d", &["Bash(a)", "Bash(b)", "Bash(c)", "Bash(d)"]),
    ] {
        let ground = said(line);
        assert_eq!(ground.remedies, remedies, "{line}");
        assert!(remedies.iter().all(|rule| ground.to_string().contains(rule)), "{ground}");
        let rules: Vec<&str> = ["Bash(ls:*)"].iter().chain(remedies).copied().collect();
        assert_eq!(verdict(allow(&rules), "Bash", &command(line)), Verdict::Allow, "{line}");
    }
    expect_test::expect![[r#"
        needs approval; `Bash(cargo build)` and `Bash(cargo test)` under [permissions] allow, or --allow 'Bash(cargo build)' --allow 'Bash(cargo test)', would allow it"#]]
    .assert_eq(&said("cargo build && cargo test").to_string());
}

#[test]
fn a_refusal_says_why_no_rule_helps() {
    let judge = judge([allow(&["Bash(ls:*)"])]);
    let said = |directory: &str, line: &str| ground(judge.decide("Bash", &command_in(directory, line)));
    for (directory, line, why) in [
        ("", "a; b; c; d; e", "it would take 5 of them"),
        ("sub", "./run", "rules name programs relative to the workspace root, and `./run` is not there"),
        ("", "cat \"it's\"", "no rule can name `cat 'it's'`"),
        ("", "> f", "it names no command"),
        ("", "env FOO=1 cargo test", "it sets the variable `FOO`"),
        ("", "nice env FOO=1 BAR=2 cargo test", "it sets the variable `FOO`"),
    ] {
        let ground = said(directory, line);
        assert!(ground.remedies.is_empty(), "{line}: {ground}");
        assert_eq!(ground.to_string(), format!("needs approval; no rule of user settings allows it, since {why}"));
    }
    let obscure = said("", "ls $x");
    assert!(obscure.remedies.is_empty());
    expect_test::expect![
        "needs approval; no rule of user settings allows it, since it has a word that is known only when it runs"
    ]
    .assert_eq(&obscure.to_string());
}
