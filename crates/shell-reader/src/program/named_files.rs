//! Programs that write or remove the files they are given.

use crate::findings::Word;

/// Files named by a command, by what it does to them.
#[derive(Debug, Default)]
pub(crate) struct NamedFiles {
    pub(crate) written: Vec<Word>,
    /// Removed, altered without new content, or named for writing by an armed word.
    pub(crate) changed: Vec<Word>,
}

/// Command-line syntax of a program that copies, to find its target.
struct Copying {
    /// Letters of options without a value; with them the last operand stays the target.
    alone: &'static str,
    /// Letters of options whose value is not a file.
    valued: &'static str,
    /// True if a colon marks files on other machines.
    remote: bool,
}

const CP: Copying = Copying { alone: "-abdfHilLnPpRrsTuvxZ", valued: "S", remote: false };
const LN: Copying = Copying { alone: "-bfiLnPrsTv", valued: "S", remote: false };
const INSTALL: Copying = Copying { alone: "-bcCDpsTv", valued: "gmoS", remote: false };
const RSYNC: Copying = Copying { alone: "-0aAcdgHhiklLnNoOpPqrStuvWxXz", valued: "BfT", remote: true };
const SCP: Copying = Copying { alone: "-346BCpqrTv", valued: "ciloP", remote: true };

/// Returns the files that a command with this program names.
pub(crate) fn named_files(name: &str, words: &[Word]) -> NamedFiles {
    let mut files = NamedFiles::default();
    match name {
        "tee" | "sponge" => files.written = operands(words, ""),
        "truncate" | "fallocate" => files.written = operands(words, "srlo"),
        "uniq" | "xxd" => files.written = operands(words, "").into_iter().skip(1).collect(),
        "dd" => files.written = output_file(words),
        "zip" => files.written = operands(words, "").into_iter().take(1).collect(),
        "mv" => {
            files.changed = operands(words, "");
            files.written = CP.written(words);
        }
        "cp" => files.written = CP.written(words),
        "ln" => files.written = LN.written(words),
        "install" => files.written = INSTALL.written(words),
        "rsync" => files.written = RSYNC.written(words),
        "scp" => files.written = SCP.written(words),
        "rm" | "rmdir" | "unlink" | "shred" | "touch" | "mkdir" | "mkfifo" => files.changed = operands(words, ""),
        "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz" | "unxz" | "zstd" | "unzstd" | "lz4" | "strip" => {
            files.changed = operands(words, "");
        }
        "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" => {
            files.changed = operands(words, "").into_iter().skip(1).collect();
        }
        _ => {}
    }
    files
}

/// Returns the words that are neither options nor values of these short options.
fn operands(words: &[Word], valued: &str) -> Vec<Word> {
    let mut found = Vec::new();
    let (mut skip, mut options) = (false, true);
    for word in &words[1..] {
        let option = word.text().and_then(|text| text.strip_prefix('-')).filter(|option| options && !option.is_empty());
        match option {
            _ if skip => skip = false,
            Some("-") => options = false,
            Some(option) => skip = option.len() == 1 && valued.contains(option),
            None if word.text() == Some("-") => {}
            None => found.push(word.clone()),
        }
    }
    found
}

fn output_file(words: &[Word]) -> Vec<Word> {
    let named = |word: &Word| match word.text() {
        None => Some(Word::Unknown),
        Some(text) => text.strip_prefix("of=").map(|file| Word::Plain(file.to_owned())),
    };
    words[1..].iter().filter_map(named).filter(|word| word.text() != Some("/dev/null")).collect()
}

impl Copying {
    /// Returns the target, and the path of each source in it in case it is a directory. Unknown options make the target
    /// unknown. If no option of the program names the target, it may then be any operand.
    fn written(&self, words: &[Word]) -> Vec<Word> {
        let operands = operands(words, self.valued);
        let Some((target, sources)) = operands.split_last() else { return Vec::new() };
        if self.remote && !words[1..].iter().all(|word| self.knows(word)) {
            return operands.into_iter().filter(|word| !word.text().is_some_and(is_remote)).collect();
        }
        let (Some(target), true) = (target.text(), words[1..].iter().all(|word| self.knows(word))) else {
            return vec![Word::Unknown];
        };
        if self.remote && is_remote(target) {
            return Vec::new();
        }
        let mut written = vec![Word::Plain(target.to_owned())];
        // A single operand is created in the current directory, under its own name.
        let (target, sources) = if sources.is_empty() { (".", &operands[..]) } else { (target, sources) };
        for source in sources {
            let source = source.text().unwrap_or_default().trim_end_matches('/');
            let separators: &[char] = if self.remote { &['/', ':'] } else { &['/'] };
            let name = source.rsplit(separators).next().unwrap_or_default();
            // Within `.` the path is the name itself.
            let within = if target == "." { name.to_owned() } else { format!("{target}/{name}") };
            written.push(Word::Plain(within));
        }
        written
    }

    fn knows(&self, word: &Word) -> bool {
        let Some(text) = word.text() else { return false };
        let has_value = text.chars().nth(1).is_some_and(|letter| self.valued.contains(letter));
        !text.starts_with('-') || has_value || text.chars().all(|letter| self.alone.contains(letter))
    }
}

/// True if a file is on another machine: a colon precedes any slash.
fn is_remote(name: &str) -> bool {
    name.split('/').next().is_some_and(|start| start.contains(':'))
}
