//! Programs that run what follows them: which words of theirs are the command.

use super::Word;

/// What a program runs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Runs {
    pub(super) commands: Vec<Vec<Word>>,
    /// Lines for a shell.
    pub(super) scripts: Vec<Word>,
    /// Whether the program does nothing but run them.
    pub(super) transparent: bool,
    /// Whether it may run something else.
    pub(super) unclear: bool,
    pub(super) sets_variables: bool,
}

impl Runs {
    fn unclear() -> Self {
        Self { unclear: true, ..Self::default() }
    }
}

/// How to find the command among the words of a wrapper.
struct Wrapper {
    name: &'static str,
    /// Short options that stand alone.
    alone: &'static str,
    /// Short options with a value.
    valued: &'static str,
    /// How many words stand before the command.
    operands: usize,
    /// Whether `NAME=value` may stand before the command.
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

const SHELLS: [&str; 8] = ["ash", "bash", "dash", "fish", "ksh", "rbash", "sh", "zsh"];

/// They run commands too, in ways that are not taken apart here.
const UNCLEAR: [&str; 26] = [
    "at",
    "batch",
    "busybox",
    "chroot",
    "chrt",
    "crontab",
    "doas",
    "entr",
    "expect",
    "flock",
    "gdb",
    "ltrace",
    "nsenter",
    "parallel",
    "pkexec",
    "rlwrap",
    "runuser",
    "script",
    "setpriv",
    "strace",
    "su",
    "systemd-run",
    "taskset",
    "toybox",
    "unshare",
    "watch",
];

/// What a command with these words runs, if its program is one that runs others.
pub(super) fn runs(name: &str, words: &[Word]) -> Option<Runs> {
    if UNCLEAR.contains(&name) {
        return Some(Runs::unclear());
    }
    if SHELLS.contains(&name) {
        return shell(words);
    }
    if name == "find" {
        return found(words);
    }
    let wrapper = WRAPPERS.iter().find(|wrapper| wrapper.name == name)?;
    if name == "command" && matches!(words.get(1).and_then(Word::text), Some("-v" | "-V")) {
        return Some(Runs { transparent: true, ..Runs::default() });
    }
    let Some(start) = wrapper.start(words) else { return Some(Runs::unclear()) };
    let is_variable = |word: &&Word| wrapper.variables && word.text().is_some_and(|text| text.contains('='));
    let variables = words[start..].iter().take_while(is_variable).count();
    let mut command = words[start + variables..].to_vec();
    if name == "xargs" {
        command = extended(command, words, start)?;
    }
    Some(Runs {
        transparent: wrapper.transparent && !command.is_empty(),
        commands: if command.is_empty() { Vec::new() } else { vec![command] },
        sets_variables: variables > 0,
        ..Runs::default()
    })
}

impl Wrapper {
    /// The position behind options and operands; `None` where an option is not known.
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

/// The command of `xargs`: more words follow, and some may be replaced.
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

/// What `find` runs for what it finds.
fn found(words: &[Word]) -> Option<Runs> {
    let mut runs = Runs::default();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        if !matches!(word.text(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        // Only behind `{}` does `+` end a command.
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

/// What a shell runs: the line behind `-c`, a file as any program, or else what it reads.
fn shell(words: &[Word]) -> Option<Runs> {
    let (mut at, mut is_line) = (1, false);
    while let Some(word) = words.get(at) {
        let Some(text) = word.text() else { return Some(Runs::unclear()) };
        match text {
            "--version" | "--help" => return None,
            "-o" | "+o" | "-O" | "+O" => at += 1,
            // Some of them make it read its input, or run files beside the one that is named.
            _ if text.starts_with("--") || text.starts_with('-') && text.contains('s') => return Some(Runs::unclear()),
            _ if text.starts_with(['-', '+']) => is_line |= text.starts_with('-') && text.contains('c'),
            _ => break,
        }
        at += 1;
    }
    match (words.get(at), is_line) {
        (Some(script), true) => Some(Runs { scripts: vec![script.clone()], ..Runs::default() }),
        (Some(_), false) => None,
        (None, _) => Some(Runs::unclear()),
    }
}
