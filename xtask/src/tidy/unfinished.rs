//! Unfinished work in code: open places, tests that do not run, silenced lints, sleeping tests.

use super::file::{CodeLine, File, has_word};
use super::finding::Finding;

pub(super) fn nothing_left_open(file: &File) -> Vec<Finding> {
    each_line(file, |line| {
        if has_word(line.code, "#[ignore") {
            return Some(("a test that never runs", "make it run, or delete it"));
        }
        let open = ["todo!", "unimplemented!"].iter().any(|word| has_word(line.code, word));
        open.then_some(("an unfinished place", "finish it, or return an error that says what is missing"))
    })
}

pub(super) fn no_silenced_lints(file: &File) -> Vec<Finding> {
    each_line(file, |line| {
        let silenced = ["#[allow(", "#![allow("].iter().any(|word| line.code.contains(word));
        silenced.then_some((
            "a lint is silenced with `allow`",
            "write `#[expect(the_lint, reason = \"...\")]`: it ends by itself when it is no longer needed",
        ))
    })
}

/// A test may sleep only where no signal could do it, e.g. to be killed at a random moment, and says so.
pub(super) fn no_sleeping_tests(file: &File) -> Vec<Finding> {
    const ON_PURPOSE: &str = "sleeps on purpose:";
    let explained = |line: CodeLine<'_>| {
        let above = file.text().lines().nth(line.number.saturating_sub(2)).unwrap_or_default();
        above.trim_start().starts_with("//") && above.to_lowercase().contains(ON_PURPOSE)
    };
    each_line(file, |line| {
        let sleeps = ["thread::sleep", "time::sleep", "time::sleep_until"].iter().any(|word| has_word(line.code, word));
        (line.test && sleeps && !explained(line)).then_some((
            "a test sleeps",
            "wait for a signal (a channel, a Notify), or use tokio's paused clock and `time::advance`; \
             where only time will do, put `// Sleeps on purpose: ...` above it",
        ))
    })
}

fn each_line(file: &File, rule: impl Fn(CodeLine<'_>) -> Option<(&'static str, &'static str)>) -> Vec<Finding> {
    file.lines().filter_map(|line| rule(line).map(|(what, mend)| Finding::at(file, line.number, what, mend))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::render;
    use super::*;

    #[test]
    fn open_places_are_found() {
        let file = File::new(
            "crates/a/tests/it/a.rs",
            "#[test]\n#[ignore = \"slow\"]\nfn a() { todo!() }\nfn b() { unimplemented!(\"x\") }\n// todo! later\n",
        );
        assert_eq!(
            render(&nothing_left_open(&file)),
            "crates/a/tests/it/a.rs:2: a test that never runs\n\
             crates/a/tests/it/a.rs:3: an unfinished place\n\
             crates/a/tests/it/a.rs:4: an unfinished place\n"
        );
    }

    #[test]
    fn allow_is_found_and_expect_is_not() {
        let file = File::new("crates/a/src/a.rs", "#![allow(dead_code)]\n#[allow(x)]\n#[expect(x, reason = \"y\")]\n");
        assert_eq!(no_silenced_lints(&file).len(), 2);
    }

    #[test]
    fn sleeping_is_for_code_and_not_for_tests() {
        let text = "fn a() { std::thread::sleep(d); }\n#[cfg(test)]\nmod tests {\n    use tokio::time::sleep;\n}\n";
        let file = File::new("crates/a/src/a.rs", text);
        assert_eq!(render(&no_sleeping_tests(&file)), "crates/a/src/a.rs:4: a test sleeps\n");
    }

    #[test]
    fn a_test_may_sleep_where_it_says_why() {
        let sleep = "std::thread::sleep(d);";
        let check =
            |comment: &str| no_sleeping_tests(&File::new("crates/a/tests/it/a.rs", format!("{comment}\n{sleep}\n")));
        assert_eq!(check("// Sleeps on purpose: the moment of death must be random."), []);
        assert_eq!(check("// wait a bit").len(), 1);
        assert_eq!(check("let sleeps = \"sleeps on purpose:\";").len(), 1);
    }
}
