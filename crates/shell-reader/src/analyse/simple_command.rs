//! One simple command: the programs it runs, the files it writes, and the shell's directory afterwards.

use std::path::Path;

use super::location::{After, Location};
use super::{Walk, analyse_at};
use crate::armed;
use crate::findings::{Part, Target, WhyNot, Word};
use crate::parse::Spelled;
use crate::program::{self, Effect, NamedFiles, Runs, Variable};

/// Maximum nesting of wrappers that is followed.
const MAX_WRAPPED: usize = 8;

impl Walk {
    pub(super) fn simple(&mut self, words: &[Spelled], location: Location) -> After {
        let Some(program) = words.first() else { return After::either(location) };
        let mut plain: Vec<Word> = words.iter().map(|spelled| spelled.word.clone()).collect();
        if let (Word::Plain(text), false) = (&program.word, program.bare) {
            plain[0] = Word::Respelled(text.clone());
        }
        let is_cd = program.word.text() == Some("cd");
        self.part(plain, &location, None, 0);
        if is_cd { self.entered(words, location) } else { After::either(location) }
    }

    /// Location after `cd`. It is unknown if the operand is missing or not plain, or if there are options.
    fn entered(&mut self, words: &[Spelled], location: Location) -> After {
        let word = match words {
            [_, word] => word.word.text().filter(|text| !text.is_empty() && !text.starts_with('-')),
            _ => None,
        };
        match word {
            Some(word) if !location.is_unknown() => After { success: location.entered(word), failure: location },
            _ => {
                self.not_understood(WhyNot::Directory);
                After::either(Location::unknown())
            }
        }
    }

    /// Records a part and everything it runs.
    fn part(&mut self, mut words: Vec<Word>, location: &Location, runner: Option<usize>, wrapped: usize) {
        for word in &words {
            match word {
                Word::Plain(_) => {}
                Word::Respelled(text) => self.not_understood(WhyNot::Respelled(text.clone())),
                Word::Unknown => self.not_understood(WhyNot::UnknownWord),
            }
        }
        let directory = location.only().map(Path::to_owned);
        // Such a name is a link to any program.
        let is_link = |first: &&mut Word| first.text().is_some_and(|text| Path::new(text).starts_with("/proc"));
        if let Some(first) = words.first_mut().filter(is_link) {
            *first = Word::Unknown;
        }
        let Some(name) = words.first().and_then(Word::text).map(|text| base_name(text).to_owned()) else {
            self.lost = true;
            let anything = Part::anything();
            self.found.parts.push(Part { words, directory, runner, ..anything });
            return;
        };
        let (arms, runs) = (armed::arms(&name, &words), program::runs(&name, &words));
        let index = self.found.parts.len();
        let transparent = runs.as_ref().is_some_and(|runs| runs.transparent);
        self.builtin(&name, &words, wrapped);
        if ["export", "readonly"].contains(&name.as_str()) {
            let set: Vec<Variable> = words[1..].iter().filter(|word| sets_variable(word)).map(Variable::of).collect();
            for variable in &set {
                self.variable(variable, location);
            }
        }
        self.files(program::named_files(&name, &words), location);
        self.files(NamedFiles { written: Vec::new(), changed: arms.written }, location);
        self.found.parts.insert(index, Part { words, directory, armed: arms.armed, transparent, runner });
        if let Some(runs) = runs {
            self.runs(&name, runs, location, index, wrapped);
        }
    }

    fn runs(&mut self, name: &str, runs: Runs, location: &Location, index: usize, wrapped: usize) {
        if runs.unclear || wrapped > MAX_WRAPPED {
            self.could_be_anything(WhyNot::Wrapper(name.to_owned()));
        }
        for variable in &runs.variables {
            self.variable(variable, location);
        }
        for script in runs.scripts {
            self.script(name, &script, location, index);
        }
        for words in runs.commands {
            if wrapped <= MAX_WRAPPED {
                self.part(words, location, Some(index), wrapped + 1);
            }
        }
    }

    /// Walks a line that is passed to another shell.
    fn script(&mut self, name: &str, script: &Word, location: &Location, index: usize) {
        let Some(script) = script.text() else { return self.could_be_anything(WhyNot::Wrapper(name.to_owned())) };
        self.script_in(script, location, Some(index));
    }

    /// Walks a line that a program with this index, or an unknown one, passes to a shell.
    pub(super) fn script_in(&mut self, script: &str, location: &Location, runner: Option<usize>) {
        // Each level is quoted within the one above, so the recursion ends with the line.
        let inner = analyse_at(script, location.clone());
        if let Some(why) = inner.why_not {
            self.not_understood(why);
        }
        let first = self.found.parts.len();
        self.found.parts.extend(inner.parts.into_iter().map(|part| {
            let runner = part.runner.map(|inner| inner + first).or(runner);
            Part { runner, ..part }
        }));
        self.found.writes.extend(inner.writes);
        self.found.changes.extend(inner.changes);
        self.found.reads.extend(inner.reads);
    }

    fn builtin(&mut self, name: &str, words: &[Word], wrapped: usize) {
        match program::effect(name, words) {
            Effect::None => {}
            Effect::Unclear if program::sets_obeyed(name, words) => {
                self.could_be_anything(WhyNot::Builtin(name.to_owned()));
            }
            Effect::Unclear => self.not_understood(WhyNot::Builtin(name.to_owned())),
            Effect::Anything => self.could_be_anything(WhyNot::Builtin(name.to_owned())),
            Effect::Moves if wrapped == 0 && name == "cd" => {}
            Effect::Moves => {
                self.not_understood(WhyNot::Directory);
                self.lost = true;
            }
        }
    }

    fn files(&mut self, files: NamedFiles, location: &Location) {
        for word in files.written {
            let targets = self.named(&word, location);
            self.found.writes.extend(targets);
        }
        for word in files.changed {
            let targets = word.text().map_or_else(|| vec![Target::Unknown], |text| location.targets(text));
            self.found.changes.extend(targets);
        }
    }
}

/// True for `NAME=value`.
fn sets_variable(word: &Word) -> bool {
    word.text().is_some_and(|text| text.contains('=') && !text.starts_with('-'))
}

/// The name of a program without its directory.
fn base_name(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or(text)
}
