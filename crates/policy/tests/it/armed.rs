//! Programs that run others or write files by a flag or by nature: what a rule for them covers, and what is denied with
//! them. `bash` cannot check these, so each is a line of a table.

use sortie_protocol::{GrantLayer, Mode};

use super::support::Verdict::{self, Allow, Ask, Deny};
use super::support::{allow, command, ground, in_mode, judge, texts, verdict};

fn allowed(rules: &[&str], line: &str) -> Verdict {
    verdict(allow(rules), "Bash", &command(line))
}

fn denying(rules: &[&str]) -> GrantLayer {
    GrantLayer { deny: texts(rules), ..in_mode(Mode::Bypass) }
}

/// The verdict under these deny rules, with everything else allowed.
fn denied(rules: &[&str], line: &str) -> Verdict {
    verdict(denying(rules), "Bash", &command(line))
}

fn lines(table: &'static str) -> impl Iterator<Item = &'static str> {
    table.lines().filter(|line| !line.is_empty())
}

/// Fails with all lines of a table that have another verdict.
fn assert_each(table: &'static str, expected: Verdict, says: impl Fn(&str) -> Verdict) {
    let wrong: Vec<&str> = lines(table).filter(|line| says(line) != expected).collect();
    assert!(wrong.is_empty(), "not {expected:?}: {wrong:#?}");
}

/// A rule for everything that a line's program does.
fn of_program(line: &str) -> String {
    format!("Bash({}:*)", line.split(' ').next().unwrap_or_default())
}

const ARMED: &str = include_str!("lines/armed.txt");
const UNARMED: &str = include_str!("lines/unarmed.txt");
const VERBS: &str = include_str!("lines/verbs.txt");
const RUNS: &str = include_str!("lines/runs.txt");
const TURNS: &str = include_str!("lines/turns.txt");
const SPILLS: &str = include_str!("lines/spills.txt");
const WRAPPED: &str = include_str!("lines/wrapped.txt");

#[test]
fn s22_a_rule_for_a_program_does_not_cover_what_arms_it() {
    assert_each(ARMED, Ask, |line| allowed(&[&of_program(line), "Bash(ls:*)", "Edit"], line));
    // A rule that names the whole line. No rule names what `find` puts in place of `{}`.
    let in_full = |line: &str| line.contains("{}") || allowed(&[&format!("Bash({line})"), "Edit"], line) == Allow;
    assert_each(ARMED, Allow, |line| if in_full(line) { Allow } else { Ask });
    assert_each(UNARMED, Allow, |line| allowed(&[&of_program(line), "Edit"], line));
    assert_eq!(allowed(&["Bash(cargo test:*)"], "cargo test --workspace -- --nocapture"), Allow);
    assert_eq!(allowed(&["Bash(sed -i:*)"], "sed -i s/a/b/ f"), Allow, "the rule names what arms it");
    assert_eq!(allowed(&["Bash(sed -i:*)"], "sed -i s/a/b/e f"), Ask, "and not the rest");
    assert_eq!(allowed(&["Bash(xargs:*)", "Bash(ls:*)"], "xargs ls"), Ask, "more words follow");
    assert_eq!(allowed(&["Bash(sudo:*)"], "sudo ls"), Ask, "the command that it runs also needs a rule");
    assert_eq!(allowed(&["Bash(sudo:*)", "Bash(ls)"], "sudo ls"), Allow);
    assert_eq!(allowed(&["Bash(ls)"], "sudo ls"), Ask);
    assert_eq!(allowed(&["Bash(ls)"], "ls; nice ls"), Allow);
    assert_eq!(allowed(&["Bash(ls)"], "ls; env"), Ask, "it runs nothing, and shows what is set");
}

#[test]
fn s22_a_rule_for_a_verb_does_not_cover_what_arms_it() {
    let whole = |line: &str| line.replace(" | ", " ");
    let named = |line: &str| format!("Bash({}:*)", line.split(" | ").next().unwrap_or_default());
    assert_each(VERBS, Ask, |line| allowed(&[&named(line), "Edit"], &whole(line)));
    assert_each(VERBS, Allow, |line| allowed(&[&format!("Bash({})", whole(line)), "Edit"], &whole(line)));
}

#[test]
fn a_line_that_can_execute_anything_is_denied_if_any_command_is() {
    assert_each(RUNS, Deny, |line| denied(&["Bash(git push:*)"], line));
    assert_each(RUNS, Deny, |line| denied(&["Bash(unheard of:*)"], line));
    assert_each(RUNS, Allow, |line| denied(&[], line));
    assert_each(UNARMED, Allow, |line| denied(&["Bash(unheard:*)"], line));
    assert_each(TURNS, Allow, |line| denied(&["Bash(unheard:*)"], line));
    let said = |line: &str| ground(judge([denying(&["Bash(git push:*)"])]).decide("Bash", &command(line))).to_string();
    expect_test::expect![[r#"
        denied by user settings: its rule `Bash(git push:*)` could be about it, since `-ix` can make `git` run something else
        denied by user settings: its rule `Bash(git push:*)` could be about it, since `python3` runs what it reads
        denied by user settings: its rule `Bash(git push:*)` could be about it, since it is not clear what `prlimit` would run
        denied by user settings: its rule `Bash(git push:*)`"#]]
    .assert_eq(&["git rebase -ix id", "python3", "prlimit ls", "git -c a=b push"].map(said).join("\n"));
}

#[test]
fn a_denied_command_is_found_behind_every_wrapper() {
    assert_each(WRAPPED, Deny, |line| denied(&["Bash(git push:*)"], line));
    for line in [
        "uv run pytest",
        "poetry run pytest -q",
        "bundle exec rspec",
        "uv sync",
        "pnpm install",
        "sh run.sh",
        "rustup show",
        "qemu-img info a",
    ] {
        assert_eq!(denied(&["Bash(git push:*)"], line), Allow, "{line}");
    }
}

/// Programs by their Debian package or registry.
const WRAPPERS: &str = include_str!("lines/wrappers.txt");

#[test]
fn a_denied_command_is_denied_behind_every_program_that_is_known_to_run_others() {
    let programs: Vec<&str> = lines(WRAPPERS).flat_map(|line| line.split_once(": ").unwrap().1.split(' ')).collect();
    let is_missed = |name: &&&str| denied(&["Bash(git push:*)"], &format!("{name} git push")) != Deny;
    assert_eq!(programs.iter().filter(is_missed).collect::<Vec<_>>(), [&""; 0]);
    assert!(programs.len() > 500);
}

#[test]
fn a_rule_covers_the_command_it_names_behind_a_wrapper() {
    for (rule, line, verdict) in [
        ("Bash(uv run pytest:*)", "uv run pytest -q", Allow),
        ("Bash(uv run:*)", "uv run pytest -q", Ask),
        ("Bash(uv:*)", "uv run pytest -q", Ask),
        ("Bash(uv run pytest)", "uv run pytest -q", Ask),
        ("Bash(uv run find:*)", "uv run find . -delete", Ask),
        ("Bash(sudo find . -delete:*)", "sudo find . -delete -print", Allow),
        ("Bash(pytest:*)", "uv run pytest -q", Ask),
    ] {
        assert_eq!(allowed(&[rule], line), verdict, "{rule}: {line}");
    }
}

#[test]
fn a_line_passed_to_a_shell_is_judged_like_any_line() {
    let rules = ["Bash(ls:*)", "Bash(wc:*)", "Edit(out)"];
    for line in [
        "bash -c 'ls'",
        "bash -c 'ls -l | wc' x",
        "sh -ec 'ls && wc'",
        "bash -lc 'ls > out'",
        "bash -o pipefail -c 'ls'",
        "bash -c \"sh -c 'ls'\"",
        "timeout 5 bash -c ls",
        "bash -c '[[ -f a && -f b ]] && ls'",
    ] {
        assert_eq!(allowed(&rules, line), Allow, "{line}");
        assert_eq!(denied(&["Bash(rm:*)"], line), Allow, "{line}");
        assert_eq!(denied(&["Bash(ls:*)"], line), Deny, "{line}");
    }
    for line in [
        "bash -c 'rm x'",
        "bash -c 'ls $x'",
        "bash -c 'ls > other'",
        "bash -ic ls",
        "bash -O extglob -c ls",
        "bash -o posix -c ls",
        "sh -c '[[ a && ls ]]'",
        "zsh -c ls",
        "fish -c ls",
    ] {
        assert_eq!(allowed(&[&rules[..], &["Bash(bash:*)", "Bash(sh:*)"]].concat(), line), Ask, "{line}");
    }
    assert_eq!(allowed(&["Bash(bash:*)"], "bash script"), Allow);
    assert_eq!(allowed(&["Bash(bash -c 'rm x')"], "bash -c 'rm x'"), Allow, "the rule names all of it");
    let asked = judge([allow(&["Bash(ls:*)"])]).decide("Bash", &command("bash -c 'ls; wc'"));
    assert_eq!(ground(asked).remedies, ["Bash(wc)"]);
}

#[test]
fn s23_files_named_by_flags_are_judged() {
    for line in [
        "sort -o OUT f",
        "sort -uoOUT f",
        "sort --outp=OUT f",
        "git log --output=OUT",
        "git archive -o OUT HEAD",
        "git archive -oOUT HEAD",
        "curl -sSLo OUT https://a.b",
        "curl --output OUT https://a.b",
        "wget -O OUT https://a.b",
        "iconv -f a -o OUT f",
        "openssl rand -out OUT 8",
        "sdiff -o OUT a b",
        "gcc -o OUT a.c",
        "gcc -oOUT a.c",
        "go build -o OUT ./x",
        "go test -coverprofile=OUT ./x",
        "sed -i s/a/b/ OUT",
        "sed -ni.bak -e p OUT",
        "gzip OUT",
        "rm OUT",
    ] {
        assert_eq!(denied(&["Edit(/OUT)"], line), Deny, "{line}");
        assert_eq!(denied(&["Edit(/other)"], line), Allow, "{line}");
        assert_eq!(denied(&[], &line.replace("OUT", ".git/hooks/a")), Deny, "{line}: no agent may change that");
    }
    for line in
        ["install -m 755 a out", "rsync -a a out", "rsync -av --delete a out", "scp host:a out", "cp -S x a out"]
    {
        let program = line.split(' ').next().unwrap_or_default();
        let named = if line.contains("--delete") { format!("Bash({line})") } else { format!("Bash({program}:*)") };
        assert_eq!(allowed(&[&named], line), Ask, "{line}");
        assert_eq!(allowed(&[&named, "Edit(/a)", "Edit(/out)"], line), Allow, "{line}");
        assert_eq!(denied(&["Edit(/out)"], line), Deny, "{line}");
    }
    assert_eq!(allowed(&["Bash(rsync:*)"], "rsync -a a host:b"), Allow, "that is another machine's");
    assert_eq!(allowed(&["Bash(dd:*)"], "dd if=a of=/dev/null"), Allow);
}

#[test]
fn a_line_that_can_write_anywhere_is_denied_if_an_edit_is() {
    assert_each(SPILLS, Deny, |line| denied(&["Edit(/secret/**)"], line));
    // Paths that are only closed to reading are kept by the walls.
    assert_each(SPILLS, Allow, |line| denied(&["Read(/secret/**)", "Bash(git push:*)"], line));
    assert_each(SPILLS, Ask, |line| allowed(&[&of_program(line), "Edit(/x)"], line));
    let said = |line: &str| ground(judge([denying(&["Edit(/a)"])]).decide("Bash", &command(line))).to_string();
    expect_test::expect![[r#"
        denied by user settings: its rule `Edit(/a)` could be about it, since `-O` can make `curl` write other files
        denied by user settings: its rule `Edit(/a)` could be about it, since `split` may write unknown files"#]]
    .assert_eq(&["curl -O https://a.b/c", "split f"].map(said).join("\n"));
}
