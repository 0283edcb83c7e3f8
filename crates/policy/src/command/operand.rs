//! Programs that write or remove the files that they are given.

use super::Word;

/// The files that a command names, by what it does to them.
#[derive(Debug, Default)]
pub(super) struct Files {
    pub(super) written: Vec<Word>,
    /// Removed, or altered without new content.
    pub(super) changed: Vec<Word>,
}

/// Options of programs that copy which have no value and leave the last operand the target.
const COPYING: &str = "-abdfHilLnPpRrsTuvxZ";

pub(super) fn files(name: &str, words: &[Word]) -> Files {
    let mut files = Files::default();
    match name {
        "tee" => files.written = operands(words, ""),
        "truncate" => files.written = operands(words, "sr"),
        "uniq" | "xxd" => files.written = operands(words, "").into_iter().skip(1).collect(),
        "dd" => files.written = output_file(words),
        "cp" | "mv" | "ln" | "install" => {
            if name == "mv" {
                files.changed = operands(words, "");
            }
            files.written = copied(words);
        }
        "rm" | "rmdir" | "unlink" | "shred" | "touch" | "mkdir" => files.changed = operands(words, ""),
        "chmod" | "chown" | "chgrp" => files.changed = operands(words, "").into_iter().skip(1).collect(),
        _ => {}
    }
    files
}

/// The words that are no options, nor values of these short ones.
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
    words[1..].iter().filter_map(named).collect()
}

/// The target of a copy: the last operand, and what would lie in it if it is a directory.
fn copied(words: &[Word]) -> Vec<Word> {
    let is_plain = |word: &Word| {
        word.text().is_some_and(|text| !text.starts_with('-') || text.chars().all(|letter| COPYING.contains(letter)))
    };
    let operands = operands(words, "");
    let Some((target, sources)) = operands.split_last() else { return Vec::new() };
    let (Some(target), true) = (target.text(), words[1..].iter().all(is_plain)) else { return vec![Word::Unknown] };
    let mut written = vec![Word::Plain(target.to_owned())];
    for source in sources {
        let name = source.text().and_then(|text| text.trim_end_matches('/').rsplit('/').next()).unwrap_or_default();
        // Within `.` that is the name itself.
        let within = if target == "." { name.to_owned() } else { format!("{target}/{name}") };
        written.push(Word::Plain(within));
    }
    written
}
