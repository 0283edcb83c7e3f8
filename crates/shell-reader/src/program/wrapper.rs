//! Programs that run another command, such as `env` and `timeout`, and where that command starts.

use super::runs::{Runs, Variable};
use super::shell;
use crate::findings::Word;

/// Command-line syntax of a wrapper, to find the command it runs.
struct Wrapper {
    name: &'static str,
    /// Short options without a value.
    alone: &'static str,
    /// Short options with a value.
    valued: &'static str,
    /// Number of operands before the command.
    operands: usize,
    /// True if `NAME=value` may stand before the command.
    variables: bool,
    transparent: bool,
}

const fn wrapper(name: &'static str, alone: &'static str, valued: &'static str) -> Wrapper {
    Wrapper { name, alone, valued, operands: 0, variables: false, transparent: true }
}

const WRAPPERS: [Wrapper; 13] = [
    wrapper("command", "p", ""),
    wrapper("builtin", "", ""),
    wrapper("exec", "cl", "a"),
    wrapper("nohup", "", ""),
    wrapper("setsid", "cfw", ""),
    wrapper("nice", "0123456789", "n"),
    wrapper("stdbuf", "", "ioe"),
    wrapper("ionice", "t", "cn"),
    wrapper("time", "pv", ""),
    Wrapper { operands: 1, ..wrapper("timeout", "v", "ks") },
    Wrapper { variables: true, ..wrapper("env", "i0", "u") },
    Wrapper { variables: true, transparent: false, ..wrapper("sudo", "nEHSkb", "ugp") },
    Wrapper { transparent: false, ..wrapper("xargs", "0rtx", "dEILnPs") },
];

/// Programs that run the command after one of their subcommands. Nothing unknown may stand in between.
const SUBCOMMANDS: [(&str, &str); 13] = [
    ("asdf", "exec"),
    ("bundle", "exec"),
    ("composer", "exec"),
    ("conda", "run"),
    ("hatch", "run"),
    ("mise", "exec"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("pnpm", "exec"),
    ("poetry", "run"),
    ("rye", "run"),
    ("uv", "run"),
    ("yarn", "exec"),
];

/// Programs that also run commands, in ways that are not analysed here.
const UNCLEAR: &str = "abduco at batch bwrap busybox capsh catchsegv cgexec chpst choom chroot chrt crontab \
    dbus-run-session doas dtach dumb-init eatmydata entr envdir expect faketime fakeroot firejail flock gdb gosu i386 \
    linux32 linux64 lldb logsave ltrace machinectl newgrp nodemon nsenter numactl parallel perf pkexec prlimit proot \
    proxychains proxychains4 rlwrap rr run-parts runuser runcon script setarch setpriv sg softlimit ssh-agent \
    start-stop-daemon strace su su-exec sudoedit systemd-run taskset tini torsocks toybox tsocks unbuffer uname26 \
    unshare valgrind watch watchexec x86_64 xe xvfb-run";

/// Name prefixes of dynamic loaders, which run the program they are given.
const LOADERS: [&str; 4] = ["ld-linux", "ld-musl", "ld.so", "ld64.so"];

/// Returns what a command with these words runs, if its program runs others.
pub(crate) fn runs(name: &str, words: &[Word]) -> Option<Runs> {
    if UNCLEAR.split(' ').any(|own| own == name) || LOADERS.iter().any(|loader| name.starts_with(loader)) {
        return Some(Runs::unclear());
    }
    if shell::is_shell(name) {
        return shell::runs(name, words);
    }
    if name == "find" || name == "gfind" {
        return found(words);
    }
    if let Some((_, subcommand)) = SUBCOMMANDS.iter().find(|(own, _)| *own == name) {
        return behind_subcommand(subcommand, words);
    }
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    if name == "command" && matches!(words.get(1).and_then(Word::text), Some("-v" | "-V")) {
        return Some(Runs { transparent: true, ..Runs::default() });
    }
    let Some(start) = wrapper.start(words) else { return Some(Runs::unclear()) };
    let is_variable = |word: &&Word| wrapper.variables && word.text().is_some_and(|text| text.contains('='));
    let variables: Vec<Variable> = words[start..].iter().take_while(is_variable).map(Variable::of).collect();
    let mut command = words[start + variables.len()..].to_vec();
    if name == "xargs" {
        command = extended(command, words, start)?;
    }
    Some(Runs {
        transparent: wrapper.transparent && !command.is_empty(),
        commands: if command.is_empty() { Vec::new() } else { vec![command] },
        variables,
        ..Runs::default()
    })
}

impl Wrapper {
    /// Returns the position after options and operands; `None` if an option is unknown.
    fn start(&self, words: &[Word]) -> Option<usize> {
        let mut at = 1;
        while let Some(word) = words.get(at) {
            let Some(option) = word.text()?.strip_prefix('-') else { break };
            if option == "-" {
                at += 1;
                break;
            }
            let first = option.chars().next()?;
            if option.chars().all(|letter| self.alone.contains(letter)) {
                at += 1;
            } else if self.valued.contains(first) {
                at += if option.len() == 1 { 2 } else { 1 };
            } else {
                return None;
            }
        }
        Some((at + self.operands).min(words.len()))
    }
}

/// Returns the command of `xargs`: more words follow, and some may be replaced.
fn extended(mut command: Vec<Word>, words: &[Word], start: usize) -> Option<Vec<Word>> {
    let replaces = words[..start].iter().any(|word| word.text().is_none_or(|text| text.starts_with("-I")));
    if command.is_empty() {
        command.push(Word::Plain("echo".to_owned()));
    }
    if replaces {
        let marks: Vec<&str> = words[..start].iter().filter_map(Word::text).collect();
        let at = marks.iter().position(|text| text.starts_with("-I"))?;
        let mark = marks[at].strip_prefix("-I").filter(|mark| !mark.is_empty()).or_else(|| marks.get(at + 1).copied());
        let mark = mark.unwrap_or("{}").to_owned();
        command = command.into_iter().map(|word| without(word, &mark)).collect();
    }
    command.push(Word::Unknown);
    Some(command)
}

fn without(word: Word, mark: &str) -> Word {
    if word.text().is_some_and(|text| text.contains(mark)) { Word::Unknown } else { word }
}

/// Returns the commands that `find` runs for its matches.
fn found(words: &[Word]) -> Option<Runs> {
    let mut runs = Runs::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        if !matches!(word.text(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        // `+` ends a command only after `{}`.
        let ends = |&end: &usize| match words[end].text() {
            Some("+") => words[end - 1].text() == Some("{}"),
            text => text == Some(";"),
        };
        let length = (at..words.len()).find(ends).unwrap_or(words.len()) - at;
        let command: Vec<Word> = words[at..at + length].iter().map(|word| without(word.clone(), "{}")).collect();
        if !command.is_empty() {
            runs.commands.push(command);
        }
        at += length;
    }
    (!runs.commands.is_empty()).then_some(runs)
}

/// Returns the command after a subcommand. Options in between may have values or run something themselves.
fn behind_subcommand(subcommand: &str, words: &[Word]) -> Option<Runs> {
    let text = |at: usize| words.get(at).and_then(Word::text);
    match (text(1), text(2)) {
        (Some(first), Some(program)) if first == subcommand && !program.starts_with('-') => {
            Some(Runs { commands: vec![words[2..].to_vec()], ..Runs::default() })
        }
        (Some(first), _) if first != subcommand && !first.starts_with('-') => None,
        _ if words.iter().any(|word| word.text().is_none_or(|text| text == subcommand)) => Some(Runs::unclear()),
        _ => None,
    }
}
