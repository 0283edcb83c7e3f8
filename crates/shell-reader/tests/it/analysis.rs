//! Findings of a line, as `explain` shows them.

use std::path::Path;

use expect_test::{Expect, expect};
use sortie_shell_reader::{Analysis, Target, Word, analyse};

fn shown(analysis: &Analysis) -> String {
    let word = |word: &Word| match word {
        Word::Plain(text) => format!("{text:?}"),
        Word::Respelled(text) => format!("~{text:?}"),
        Word::Unknown => "?".to_owned(),
    };
    let mut text = String::new();
    for part in &analysis.parts {
        let words: Vec<String> = part.words.iter().map(word).collect();
        text += &words.join(" ");
        let directory = part.directory.as_deref().map_or("?".to_owned(), |directory| directory.display().to_string());
        text += &format!(" in {directory}");
        for armed in &part.armed {
            let word = words.get(armed.at).map_or("itself", String::as_str);
            text += &format!(", armed by {word} ({:?})", armed.arming);
        }
        if let Some(runner) = part.runner {
            text += &format!(", run by {}", word(&analysis.parts[runner].words[0]));
        }
        text += if part.transparent { ", which only runs another\n" } else { "\n" };
    }
    for (what, targets) in [("writes", &analysis.writes), ("changes", &analysis.changes), ("reads", &analysis.reads)] {
        for target in targets {
            text += &match target {
                Target::Path(path) => format!("{what} {}\n", path.display()),
                Target::Unknown => format!("{what} ?\n"),
            };
        }
    }
    let why = analysis.why_not.as_ref().map(|why| format!("not understood: {why}\n"));
    text + &why.unwrap_or_default()
}

fn check(line: &str, expected: &Expect) {
    expected.assert_eq(&shown(&analyse(line, Some(Path::new("/w")))));
}

#[test]
fn analysis_lists_commands_directories_and_files() {
    check(
        "cd sub && cargo test 2>&1 | tee log.txt; rm -r old < list",
        &expect![[r#"
        "cd" "sub" in /w
        "cargo" "test" in /w/sub
        "tee" "log.txt" in /w/sub
        "rm" "-r" "old" in ?
        writes /w/sub/log.txt
        changes /w/sub/old
        changes /w/old
        reads /w/sub/list
        reads /w/list
    "#]],
    );
    check(
        "timeout 5 nice git log --output=x && find . -exec rm {} +",
        &expect![[r#"
            "timeout" "5" "nice" "git" "log" "--output=x" in /w, which only runs another
            "nice" "git" "log" "--output=x" in /w, run by "timeout", which only runs another
            "git" "log" "--output=x" in /w, armed by "--output=x" (Writes), run by "nice"
            "find" "." "-exec" "rm" "{}" "+" in /w, armed by "-exec" (Turns)
            "rm" ? in /w, run by "find"
            changes /w/x
            changes ?
            not understood: it has a word that is known only when it runs
        "#]],
    );
    check(
        "bash -c 'ls $x > f' | (cd d; c''at \"$(id)\")",
        &expect![[r#"
            "bash" "-c" "ls $x > f" in /w, which only runs another
            "ls" ? in /w, run by "bash"
            "cd" "d" in /w
            "id" in ?
            ~"cat" ? in ?
            writes /w/f
            not understood: it has a word that is known only when it runs
        "#]],
    );
}

#[test]
fn the_reason_for_not_understanding_a_line_is_given_in_words() {
    let whole =
        |line: &str| analyse(line, Some(Path::new("/w"))).why_not.map(|why| why.to_string()).unwrap_or_default();
    let lines = [
        "ls",
        "ls *",
        "c''at",
        "eval x",
        "A=b ls",
        "cd $x",
        "ls > $x",
        "timeout --x 5 ls",
        "echo ${x@P}",
        "echo 'a",
        "f() { ls; }",
        "ls\u{7}",
    ];
    let mut said: Vec<String> = lines.iter().map(|line| format!("{line:?}: {}", whole(line))).collect();
    said.push(format!("long: {}", whole(&"x".repeat(10_001))));
    said.push(format!("many: {}", whole(&"ls;".repeat(201))));
    expect![[r#"
        "ls": 
        "ls *": it has a word that is known only when it runs
        "c''at": `cat` is spelled in an unusual way
        "eval x": `eval` can run or change anything that follows
        "A=b ls": it sets the variable `A`
        "cd $x": it has a word that is known only when it runs
        "ls > $x": a file it would write is unknown
        "timeout --x 5 ls": it is not clear what `timeout` would run
        "echo ${x@P}": it has an expansion that could run something
        "echo 'a": it has unclosed quotes
        "f() { ls; }": it has a function
        "ls\u{7}": it has a control character
        long: it is longer than 10000 bytes
        many: it has more than 200 commands"#]]
    .assert_eq(&said.join("\n"));
}
