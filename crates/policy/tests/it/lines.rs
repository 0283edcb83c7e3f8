//! Command lines as a whole: every command, substitution and file of a line is judged. S17 to S23 of the catalogue.

use sortie_policy::remedies;
use sortie_protocol::{GrantLayer, Mode};

use super::support::Verdict::{self, Allow, Ask, Deny};
use super::support::{
    allow, command, command_in, deny, ground, in_mode, judge, places, settings, texts, tools, verdict,
};

/// The verdict of the user's settings with these allow rules.
fn allowed(rules: &[&str], line: &str) -> Verdict {
    verdict(allow(rules), "Bash", &command(line))
}

/// The verdict under these deny rules, with everything else allowed.
fn denied(rules: &[&str], line: &str) -> Verdict {
    verdict(GrantLayer { deny: texts(rules), ..in_mode(Mode::Bypass) }, "Bash", &command(line))
}

/// The verdict of a layer that allows some commands and denies others.
fn both(allow: &[&str], deny: &[&str], line: &str) -> Verdict {
    let layer = GrantLayer { allow: texts(allow), deny: texts(deny), ..in_mode(Mode::Default) };
    verdict(layer, "Bash", &command(line))
}

#[test]
fn s17_every_command_of_a_chain_is_judged() {
    for between in ["; ", ";", " && ", "&&", " || ", " | ", "|", " |& ", " & ", "\n", "\n\n", " &&\n", " # x\n"] {
        let line = format!("git status{between}git log");
        assert_eq!(allowed(&["Bash(git status:*)"], &line), Ask, "{line:?}");
        assert_eq!(allowed(&["Bash(git status:*)", "Bash(git log:*)"], &line), Allow, "{line:?}");
        assert_eq!(denied(&["Bash(git log:*)"], &line), Deny, "{line:?}");
    }
    // For the shell a carriage return does not end a line, and a tab is a blank.
    assert_eq!(allowed(&["Bash(git status:*)"], "git status\rid"), Ask);
    assert_eq!(denied(&["Bash(id)"], "git status\rid"), Deny);
    assert_eq!(allowed(&["Bash(git status:*)"], "git status\t-s"), Allow);
}

#[test]
fn s17_commands_within_commands_are_judged() {
    for line in [
        "(id)",
        "{ id; }",
        "! id",
        "time id",
        "if id; then ls; fi",
        "if ls; then id; fi",
        "if ls; then ls; elif id; then ls; fi",
        "if ls; then ls; else id; fi",
        "while id; do ls; done",
        "until ls; do id; done",
        "for x in a b; do id; done",
        "case a in a) id;; esac",
        "case a in (b) ls;; *) id;; esac",
        "f() { id; }; f",
        "ls & id & ls",
        "[[ -n $(id) ]]",
        "X=$(id) ls",
        "ls 2> $(id)",
        "a=`id`",
    ] {
        assert_eq!(denied(&["Bash(id)"], line), Deny, "{line}");
        assert_eq!(allowed(&["Bash(ls:*)"], line), Ask, "{line}");
        assert_eq!(denied(&["Bash(rm:*)"], line), Allow, "{line}");
    }
    let both = ["Bash(ls:*)", "Bash(id)"];
    assert_eq!(allowed(&both, "if ls; then id; else ( ls -l ) fi"), Allow);
    assert_eq!(allowed(&both, "for x in a b; do id; ls; done | ls"), Allow);
}

#[test]
fn s18_a_line_over_the_cap_is_never_allowed_and_refused_under_a_deny_rule() {
    for segments in [51, 200, 201, 500, 50_000] {
        let line = "true; ".repeat(segments - 1) + "rm x";
        assert_eq!(denied(&["Bash(rm:*)"], &line), Deny, "{segments}");
        assert_eq!(allowed(&["Bash(true)"], &line), Ask, "{segments}");
    }
    let line = "true; ".repeat(300) + "true";
    assert_eq!(denied(&["Bash(rm:*)"], &line), Deny, "what is not judged may be what is denied");
    assert_eq!(denied(&["Edit(secrets/**)"], &line), Deny);
    assert_eq!(allowed(&["Bash(true)"], &line), Ask);
    let words = format!("echo {}", "x".repeat(10_000));
    assert_eq!(denied(&["Bash(rm:*)"], &words), Deny);
    assert_eq!(allowed(&["Bash(echo:*)"], &words), Ask);
    assert_eq!(allowed(&["Bash"], &words), Allow, "a rule for every command covers this one");
    let deep = "(".repeat(5_000);
    assert_eq!(allowed(&["Bash(rm:*)"], &deep), Ask);
}

#[test]
fn s19_commands_in_substitutions_are_judged() {
    for line in [
        "echo $(rm x)",
        "echo `rm x`",
        "echo \"a $(rm x) b\"",
        "echo \"a `rm x` b\"",
        "cat <(rm x)",
        "ls > >(rm x)",
        "cat <<E\n$(rm x)\nE",
        "cat <<E\n`rm x`\nE",
        "cat <<-E\n\t$(rm x)\n\tE",
        "cat <<< $(rm x)",
        "echo $(echo $(rm x))",
        "echo `echo \\`rm x\\``",
        "echo \"$(echo \"$(rm x)\")\"",
        "git commit -m \"$(cat <<'E'\ntext\nE\n)\"; rm x",
    ] {
        assert_eq!(denied(&["Bash(rm:*)"], line), Deny, "{line:?}");
        assert_eq!(allowed(&["Bash(echo:*)", "Bash(cat:*)", "Bash(ls:*)", "Bash(git:*)"], line), Ask, "{line:?}");
    }
    for line in ["echo '$(rm x)'", "echo \\$(id)", "cat <<'E'\n$(rm x)\nE", "echo \"\\$(rm x)\"", "# rm x\nls"] {
        assert_ne!(both(&[], &["Bash(rm x)", "Bash(rm)"], line), Allow, "{line:?}");
    }
    assert_eq!(denied(&["Bash(rm:*)"], "echo '$(rm x)'"), Allow);
    assert_eq!(denied(&["Bash(rm:*)"], "cat <<'E'\n$(rm x)\nE"), Allow);
    assert_eq!(allowed(&["Bash(cat:*)"], "cat <<'E'\n$(rm x)\nE"), Allow);
}

#[test]
fn s20_expansions_that_execute_are_not_understood() {
    for line in [
        "echo ${x@P}",
        "echo ${x:=a}",
        "echo ${!x}",
        "echo $((a[$(id)]))",
        "echo $((x))",
        "echo $[x]",
        "echo ${x[$(id)]}",
        "echo ${x:y}",
        "((x))",
        "[[ x -eq 1 ]]",
        "[[ -v a ]]",
        "[[ -f a && -o ]] || ls",
        "[[ -n ]]",
        "[[ a == ]]",
        "a[$(id)]=1",
        "a=(b)",
        "let x",
        "test -v 'a[$(id)]'",
        "printf -v 'a[$(id)]' x",
        "read 'a[$(id)]'",
        "unset 'a[$(id)]'",
        "eval ls",
        "source f",
        ". f",
        "alias ls=rm\nls",
        "trap id EXIT",
        "shopt -s expand_aliases",
        "mapfile -C id",
        "$x",
        "{echo,a}",
        "bash",
        "echo id | sh",
        "bash -c \"$x\"",
        "echo $\"a\"",
        "echo 'a",
        "echo \"a",
        "echo `a",
        "echo $(a",
        "for x",
        "if a",
        "a )",
        "a | ",
        "a && ",
        "echo a \\",
        "cat <<E\n",
        "select x in a; do b; done",
        "coproc a",
        "e\\\nval a",
    ] {
        assert_eq!(denied(&["Bash(rm:*)"], line), Deny, "{line:?}");
        let some =
            ["echo", "bash", "sh", "test", "printf", "read", "unset", "eval", "let", "alias", "trap", "a", "cat"];
        let rules: Vec<String> = some.iter().map(|name| format!("Bash({name}:*)")).collect();
        let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
        assert_eq!(allowed(&rules, line), Ask, "{line:?}");
    }
}

#[test]
fn s21_a_denied_command_is_found_in_every_spelling() {
    for line in [
        "r''m x",
        "r\"\"m x",
        "\\rm x",
        "'rm' x",
        "\"rm\" x",
        "$'\\x72m' x",
        "$'\\162\\u006d' x",
        "/bin/rm x",
        "../../bin/rm x",
        "RM x",
        "rm$IFS-rf",
        "$y x",
        "{rm,x}",
        "command rm x",
        "builtin rm x",
        "exec rm x",
        "exec -a ls rm x",
        "env rm x",
        "env A=b rm x",
        "env -i -u HOME rm x",
        "env - rm x",
        "env -S 'rm x'",
        "timeout 5 rm x",
        "timeout -k 1 -s KILL 5 rm x",
        "timeout --preserve-status 5 rm x",
        "nice rm x",
        "nice -n 5 rm x",
        "nohup rm x",
        "setsid rm x",
        "stdbuf -oL rm x",
        "time rm x",
        "sudo rm x",
        "sudo -u root rm x",
        "xargs rm",
        "xargs -n 1 -I % rm %",
        "xargs -I % %",
        "nice timeout 5 env sudo rm x",
        "find . -exec rm {} \\;",
        "find . -name a -execdir ls {} + -ok rm {} ;",
        "bash -c 'rm x'",
        "sh -ec 'ls; rm x'",
        "bash -c -e 'rm x'",
        "bash -s x",
        "bash -es x",
        "bash -c \"bash -c 'rm x'\"",
        "busybox rm x",
        "watch rm x",
        "LANG=C rm x",
        ">f rm x",
    ] {
        assert_eq!(denied(&["Bash(rm:*)"], line), Deny, "{line}");
        assert_eq!(denied(&["Bash(unheard:*)"], "ls -l"), Allow);
    }
    for line in ["git -C sub push", "git --no-pager push", "git -c a=b push origin", "git -P -C x push"] {
        assert_eq!(denied(&["Bash(git push:*)"], line), Deny, "{line}");
    }
    for line in ["/usr/lib/git-core/git-push", "git-push origin", "/usr/libexec/git-core/git-push -f", "GIT-push"] {
        assert_eq!(denied(&["Bash(git push:*)"], line), Deny, "{line}");
    }
    for line in ["git-pull", "/usr/lib/git-core/git-fetch-pack", "git-", "-push", "legit-push"] {
        assert_eq!(denied(&["Bash(git push:*)"], line), Allow, "{line}");
    }
    assert_eq!(denied(&["Bash(cargo publish)"], "cargo-publish"), Deny);
    assert_eq!(denied(&["Bash(git push:*)"], "git $x"), Deny, "it could be");
    assert_eq!(denied(&["Bash(git push:*)"], "git log $x"), Allow, "it cannot be");
}

#[test]
fn s21_a_respelled_command_is_not_allowed() {
    let rules = ["Bash(cat:*)", "Bash(nice:*)", "Bash(git:*)"];
    for line in [
        "c''at f",
        "\\cat f",
        "'cat' f",
        "\"cat\" f",
        "$'\\x63at' f",
        "{cat,f}",
        "cat$IFS/etc/passwd",
        "cat f''g",
        "cat \\f",
        "cat $'f'",
        "cat *",
        "cat f?",
        "cat [f]",
        "cat ~",
        "cat {f,g}",
        "cat f{1..2}",
        "cat é",
        "/bin/cat f",
        "cat \"$x\"",
        "cat x=~",
        "A=b cat f",
        "PATH=. cat f",
        "env A=b cat f",
        "cat \u{1b}f",
    ] {
        assert_eq!(allowed(&rules, line), Ask, "{line:?}");
    }
    for line in [
        "cat f",
        "cat 'f g'",
        "cat \"f g\"",
        "cat -- f",
        "cat --x='a b'",
        "cat HEAD~1",
        "cat a^ @{u} {} a,b x=y !",
        "cat f#g",
        "cat f # g",
        "cat \\( \\)",
        "cat f\\ g",
        "cat 'é'",
        "nice cat f",
        "timeout 5 cat f",
        "command cat f",
        "RUST_BACKTRACE=1 cat f",
        "cat \\\n  f",
        "cat \"it's\" '\"'",
        "git commit -m \"fix: it's {a, b}\"",
    ] {
        assert_eq!(allowed(&rules, line), Allow, "{line:?}");
    }
}

#[test]
fn s23_files_written_by_a_line_are_judged_as_edits() {
    for line in [
        "echo x > out",
        "echo x >> out",
        "echo x >| out",
        "echo x >out",
        ">out echo x",
        "echo x &> out",
        "echo x &>> out",
        "echo x >& out",
        "echo x 2> out",
        "echo x 2>>out",
        "echo x <> out",
        "(echo x) > out",
        "{ echo x; } > out",
        "if echo x; then echo y; fi > out",
        "echo x | tee out",
        "echo x | tee -a out",
        "dd if=a of=out",
        "cp a out",
        "cp -r a out",
        "mv a out",
        "ln -s a out",
        "install a out",
        "truncate -s 0 out",
        "cd . && echo x > out",
    ] {
        let programs = ["Bash(echo:*)", "Bash(tee:*)", "Bash(dd:*)", "Bash(cp:*)", "Bash(mv:*)", "Bash(ln:*)"];
        let more = ["Bash(install:*)", "Bash(truncate:*)"];
        let rules = [&programs[..], &more[..]].concat();
        assert_eq!(allowed(&rules, line), Ask, "{line}");
        assert_eq!(allowed(&[&rules[..], &["Edit(out)"]].concat(), line), Allow, "{line}");
        assert_eq!(allowed(&[&rules[..], &["Edit(/g)"]].concat(), line), Ask, "{line}");
        assert_eq!(both(&["Bash"], &["Edit(out)"], line), Deny, "{line}");
        let hook = line.replace("out", ".git/hooks/pre-commit");
        assert_eq!(verdict(in_mode(Mode::Bypass), "Bash", &command(&hook)), Deny, "{hook}");
    }
    let edits = GrantLayer { allow: texts(&["Bash(echo:*)"]), ..in_mode(Mode::AcceptEdits) };
    assert_eq!(verdict(edits.clone(), "Bash", &command("echo x > f")), Allow);
    assert_eq!(verdict(edits, "Bash", &command("echo x > /elsewhere/f")), Ask, "that is not of the workspace");
    for line in [
        "echo x > $f",
        "echo x > sub/../f",
        "cd sub && echo x > ../f",
        "echo x > /dev/tcp/host/80",
        "echo x > *",
        "cd $x; echo x > f",
    ] {
        assert_eq!(allowed(&["Bash(echo:*)", "Edit"], line), Ask, "{line}");
        assert_eq!(both(&["Bash"], &["Edit(f)"], line), Deny, "{line}: it could be that file");
    }
    // There are no links above the directory in which a line starts.
    for line in ["echo x > ../f", "cd sub && cd .. && echo x > ../f"] {
        assert_eq!(both(&["Bash"], &["Read(secret/**)"], line), Allow, "{line}");
        assert_eq!(both(&["Bash"], &["Edit(~/f)"], line), Deny, "{line}");
        let asked = judge([allow(&["Bash(echo:*)"])]).decide("Bash", &command(line));
        assert_eq!(ground(asked).remedies, ["Edit(//people/me/f)"], "{line}");
    }
    for line in ["echo x 2>&1", "echo x >/dev/null", "echo x 2>/dev/null >&2", "echo x <&-"] {
        assert_eq!(allowed(&["Bash(echo:*)"], line), Allow, "{line}");
        assert_eq!(both(&["Bash"], &["Edit(f)"], line), Allow, "{line}");
    }
    assert_eq!(both(&["Bash"], &["Read(secrets/**)"], "wc < secrets/key"), Deny);
    assert_eq!(both(&["Bash"], &["Edit(secrets/**)"], "rm -r secrets"), Deny);
    assert_eq!(denied(&[], "rm -rf .git"), Deny);
}

#[test]
fn files_are_named_from_the_directory_that_a_line_has_changed_to() {
    let rules = ["Bash(echo:*)", "Edit(/sub/**)"];
    for line in [
        "cd sub && echo x > f",
        "cd sub && cd deep && echo x > f",
        "cd sub/deep/.. && echo x > f",
        "(cd sub && echo x > f)",
        "cd sub && (echo x; echo y > f) | echo z",
        "cd /people/me/project/sub && echo x > f",
        "if cd sub; then echo x > f; fi",
        "cd sub || echo x; echo y",
    ] {
        assert_eq!(allowed(&rules, line), Allow, "{line}");
    }
    for line in [
        "echo x > f",
        "cd sub; echo x > f",
        "cd sub || echo x > f",
        "cd sub | echo x > f",
        "cd sub & echo x > f",
        "(cd sub); echo x > f",
        "cd sub && cd .. && echo x > f",
        "cd sub && cd && echo x > f",
        "cd sub && cd - && echo x > f",
        "pushd sub && echo x > f",
        "cd -P sub && echo x > f",
        "cd $x && echo x > f",
        "for x in a b; do cd sub; echo x > f; done",
        "! cd sub && echo x > f",
        "cd /elsewhere && echo x",
        "cd .. && echo x",
        "cd sub",
        "true",
    ] {
        assert_eq!(allowed(&rules, line), Ask, "{line}");
    }
    assert_eq!(allowed(&["Bash(./run)"], "./run"), Allow);
    assert_eq!(allowed(&["Bash(./run)"], "cd sub && ./run"), Ask, "that is another program");
    let judge = judge([allow(&rules)]);
    let decided = |directory: &str| judge.decide("Bash", &command_in(directory, "echo x > f"));
    assert!(decided("sub").is_allowed());
    assert!(!decided("").is_allowed());
}

#[test]
fn a_line_is_judged_in_the_directory_that_it_would_run_in() {
    let says =
        |rules: &[&str], directory: &str, line: &str| verdict(allow(rules), "Bash", &command_in(directory, line));
    // A rule names a program by its path from the workspace root.
    assert_eq!(says(&["Bash(./run)"], "", "./run"), Allow);
    for elsewhere in ["sub", "sub/inner", "/srv/data"] {
        assert_eq!(says(&["Bash(./run)"], elsewhere, "./run"), Ask, "{elsewhere}");
        assert_eq!(says(&["Bash(run)"], elsewhere, "run"), Allow, "{elsewhere}");
        assert_eq!(says(&["Bash(/bin/run)"], elsewhere, "/bin/run"), Allow, "{elsewhere}");
        assert_eq!(says(&["Bash"], elsewhere, "./run"), Allow, "{elsewhere}");
    }
    assert_eq!(says(&["Bash(./run)"], "sub", "cd .. && ./run"), Allow);
    // Moving within the workspace or an added directory needs no rule.
    let echo = ["Bash(echo:*)", "Edit(sub/**)", "Edit(//srv/data/out/**)"];
    for (directory, line, verdict) in [
        ("sub", "cd .. && echo x", Allow),
        ("sub", "cd ../.. && echo x", Ask),
        ("", "cd /srv/data && echo x", Allow),
        ("/srv/data", "cd inner && echo x", Allow),
        ("/srv/data", "cd .. && echo x", Ask),
        ("sub", "echo x > f", Allow),
        ("sub", "echo x > inner/f", Allow),
        ("other", "echo x > f", Ask),
        ("/srv/data", "echo x > f", Ask),
        ("/srv/data/out", "echo x > f", Allow),
        ("sub/../x", "echo x", Deny),
    ] {
        assert_eq!(says(&echo, directory, line), verdict, "{directory}: {line}");
    }
    for (directory, line) in [(".git", "echo x > config"), ("a/.claude", "echo x > settings.json"), ("", "tee .envrc")]
    {
        assert_eq!(says(&["Bash", "Edit"], directory, line), Deny, "{directory}: {line}");
    }
    let edits = GrantLayer { allow: texts(&["Bash(echo:*)"]), ..in_mode(Mode::AcceptEdits) };
    assert_eq!(verdict(edits.clone(), "Bash", &command_in("/srv/data", "echo x > f")), Allow, "as its edits are");
    assert_eq!(verdict(edits, "Bash", &command_in("/srv/data", "echo x > /srv/f")), Ask);
}

#[test]
fn a_rule_is_suggested_only_if_it_would_help() {
    let named = |directory: &str, line: &str| remedies("Bash", &command_in(directory, line), &places());
    assert_eq!(named("", "./run a"), ["Bash(./run a)"]);
    assert!(named("sub", "./run a").is_empty(), "in a rule that is another program");
    assert_eq!(named("sub", "cargo test > f"), ["Bash(cargo test)", "Edit(sub/f)"]);
    let asked = judge([allow(&[])]).decide("Bash", &command_in("sub", "./run"));
    assert!(ground(asked).remedies.is_empty());
    // Each layer may lack another part of the line.
    let below = |rules: &[&str]| GrantLayer { shares_allow: true, ..allow(rules) };
    let asked = |below| ground(judge([allow(&["Bash(ls)"]), below]).decide("Bash", &command("ls | wc"))).remedies;
    assert_eq!(asked(below(&["Bash(ls)"])), ["Bash(wc)"]);
    assert_eq!(asked(below(&[])), ["Bash(wc)", "Bash(ls)"]);
    assert_eq!(asked(below(&["Bash(wc)"])), ["Bash(wc)", "Bash(ls)"]);
    assert!(asked(allow(&[])).is_empty(), "its rules come from elsewhere");
}

#[test]
fn a_command_line_gives_an_agent_no_more_than_its_tools() {
    let agent = || tools(&["Bash(git log:*)", "Bash(git diff:*)"]);
    let says = |line: &str| verdict(agent(), "Bash", &command(line));
    assert_eq!(says("git log && git diff"), Allow);
    for line in ["git log; git push", "git log $(id)", "git log > f", "git log --output=f", "git diff \"$x\""] {
        assert_eq!(says(line), Deny, "{line}");
    }
    let said = |line: &str| ground(judge([agent()]).decide("Bash", &command(line))).to_string();
    expect_test::expect![[r#"
        denied by agent explore: its tools are Bash(git log:*), Bash(git diff:*), which do not cover `git push`
        denied by agent explore: its tools are Bash(git log:*), Bash(git diff:*), which do not cover a write to `/people/me/project/f`
        denied by agent explore: its tools are Bash(git log:*), Bash(git diff:*), which do not cover `git log --output=f`
        denied by agent explore: its tools are Bash(git log:*), Bash(git diff:*), and no pattern covers it, since it has a word that is known only when it runs"#]]
    .assert_eq(&["git log; git push", "git log > f", "git log --output=f", "git log $x"].map(said).join("\n"));
    let writes = tools(&["Bash(git log:*)", "Write"]);
    assert_eq!(verdict(writes, "Bash", &command("git log > f")), Allow);
    assert_eq!(verdict(tools(&["Bash"]), "Bash", &command("git log $(id) > f")), Allow, "it has the whole tool");
    let quiet = GrantLayer { never_asks: true, ..settings() };
    let layers = judge([allow(&["Bash(ls:*)"]), quiet]);
    assert!(layers.decide("Bash", &command("ls $x")).is_denied());
    assert_eq!(verdict(deny(&["Bash(ls)"]), "Bash", &command("")), Allow);
    assert_eq!(allowed(&["Bash(ls)"], ""), Ask);
}
