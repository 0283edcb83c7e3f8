//! The walk through a line: it tracks the directory as the shell would and records everything that could run.

mod location;
mod simple_command;

use std::path::Path;

use sortie_mutant::is_out;

pub use self::location::after_cd;
use self::location::{After, Location};
use crate::findings::{Analysis, MAX_BYTES, MAX_PARTS, Part, Target, WhyNot, Word};
use crate::parse::{Assignment, Command, Item, List, Parsed, Pipeline, Redirect, Shape, Spelled, Then, parse};
use crate::program::{self, Obeyed, Variable};

/// Variables that only affect what programs display.
const HARMLESS_VARIABLES: [&str; 6] = ["CI", "LANG", "LC_ALL", "NO_COLOR", "RUST_BACKTRACE", "RUST_LOG"];

/// Finds everything that a line could execute and write when `bash` runs it.
///
/// `directory` is the working directory at the start of the line: absolute and resolved, or `None` if it is unknown.
pub fn analyse(line: &str, directory: Option<&Path>) -> Analysis {
    analyse_at(line, Location::new(directory))
}

fn analyse_at(line: &str, location: Location) -> Analysis {
    if line.len() > MAX_BYTES {
        return Analysis::of_anything(WhyNot::TooLong);
    }
    parse(line).map_or_else(Analysis::of_anything, |parsed| Walk::over(&parsed, location))
}

/// A walk through one line.
struct Walk {
    found: Analysis,
    /// True once a function or unknown command may have changed to any directory.
    lost: bool,
}

impl Walk {
    fn over(parsed: &Parsed, location: Location) -> Analysis {
        let mut walk = Self::new();
        walk.list(&parsed.list, location);
        for list in &parsed.here_runs {
            walk.list(list, Location::unknown());
        }
        let mut found = walk.found;
        if found.parts.len() > MAX_PARTS {
            return Analysis::of_anything(WhyNot::TooManyParts);
        }
        found.understood = found.why_not.is_none();
        found
    }

    fn new() -> Self {
        let found = Analysis {
            parts: Vec::new(),
            writes: Vec::new(),
            changes: Vec::new(),
            reads: Vec::new(),
            understood: false,
            why_not: None,
        };
        Self { found, lost: false }
    }

    fn not_understood(&mut self, why: WhyNot) {
        self.found.why_not.get_or_insert(why);
    }

    fn could_be_anything(&mut self, why: WhyNot) {
        self.not_understood(why);
        self.lost = true;
        self.found.parts.push(Part::anything());
    }

    fn list(&mut self, list: &List, location: Location) -> After {
        let mut after = After::either(location);
        for item in list {
            let location = after.any();
            after = if item.background {
                self.item(item, location.clone());
                After::either(location)
            } else {
                self.item(item, location)
            };
        }
        after
    }

    fn item(&mut self, item: &Item, location: Location) -> After {
        let mut after = self.pipeline(&item.first, location);
        for (then, pipeline) in &item.rest {
            after = match then {
                Then::OnSuccess => {
                    let next = self.pipeline(pipeline, after.success);
                    After { success: next.success, failure: after.failure.or(next.failure) }
                }
                Then::OnFailure => {
                    let next = self.pipeline(pipeline, after.failure);
                    After { success: after.success.or(next.success), failure: next.failure }
                }
            };
        }
        after
    }

    fn pipeline(&mut self, pipeline: &Pipeline, location: Location) -> After {
        if let [command] = &pipeline.commands[..] {
            let After { success, failure } = self.command(command, location);
            return if pipeline.negated {
                After { success: failure, failure: success }
            } else {
                After { success, failure }
            };
        }
        // Each command of a pipeline runs in a shell of its own.
        for command in &pipeline.commands {
            self.command(command, location.clone());
        }
        After::either(location)
    }

    fn command(&mut self, command: &Command, location: Location) -> After {
        let location = if self.lost { Location::unknown() } else { location };
        for redirect in &command.redirects {
            self.redirect(redirect, &location);
        }
        let after = self.shape(&command.shape, location);
        if self.lost { After::either(Location::unknown()) } else { after }
    }

    fn shape(&mut self, shape: &Shape, location: Location) -> After {
        match shape {
            Shape::Simple { assignments, words } => {
                self.assignments(assignments, &location);
                self.words(words, &location);
                self.simple(words, location)
            }
            Shape::Group(list) => self.list(list, location),
            Shape::Subshell(list) => {
                self.list(list, location.clone());
                After::either(location)
            }
            Shape::If { branches, otherwise } => self.condition(branches, otherwise.as_ref(), location),
            Shape::While { condition, body } => self.repeated(&[], &[condition, body], location),
            Shape::For { name, words, body } => {
                if program::is_obeyed(name) {
                    self.could_be_anything(WhyNot::Variable(name.clone()));
                }
                self.repeated(words, &[body], location)
            }
            Shape::Case { words, arms } => {
                self.words(words, &location);
                let mut after = location.clone();
                // An arm may fall through to the next.
                for arm in arms {
                    let start = after.clone().or(location.clone());
                    after = after.or(self.list(arm, start).any());
                }
                After::either(after)
            }
            Shape::Test(words) => {
                self.words(words, &location);
                After::either(location)
            }
            Shape::Function(body) => {
                self.not_understood(WhyNot::Unread("a function"));
                self.lost = true;
                self.command(body, Location::unknown())
            }
        }
    }

    fn condition(&mut self, branches: &[(List, List)], otherwise: Option<&List>, mut location: Location) -> After {
        let mut ends: Option<Location> = None;
        let mut end = |one: Location| ends = Some(ends.take().map_or(one.clone(), |ends| ends.or(one)));
        for (condition, body) in branches {
            let After { success, failure } = self.list(condition, location);
            end(self.list(body, success).any());
            location = failure;
        }
        end(otherwise.map_or(location.clone(), |list| self.list(list, location).any()));
        After::either(ends.unwrap_or_default())
    }

    /// Walks the lists of a loop. If the loop changes directory, its directory is unknown.
    fn repeated(&mut self, words: &[Spelled], lists: &[&List], location: Location) -> After {
        self.words(words, &location);
        let moves = lists.iter().any(|list| program::moves(list));
        let location = if moves { Location::unknown() } else { location };
        for list in lists {
            self.list(list, location.clone());
        }
        After::either(location)
    }

    /// Walks the lists run by substitutions in words.
    fn words(&mut self, words: &[Spelled], location: &Location) {
        for list in words.iter().flat_map(|word| &word.runs) {
            self.list(list, location.clone());
        }
    }

    fn assignments(&mut self, assignments: &[Assignment], location: &Location) {
        for Assignment { name, value } in assignments {
            self.words(std::slice::from_ref(value), location);
            let is_plain = matches!(value.word, Word::Plain(_));
            let value = value.word.text().map(str::to_owned);
            self.variable(&Variable { name: name.clone(), value, is_plain }, location);
        }
    }

    /// Records a variable that the line sets, and the command in it. Programs may obey it, unless it is known to
    /// affect only their display.
    fn variable(&mut self, Variable { name, value, is_plain }: &Variable, location: &Location) {
        if !is_plain || !HARMLESS_VARIABLES.contains(&name.as_str()) {
            self.not_understood(WhyNot::Variable(name.clone()));
        }
        if is_out("obeyed-variables") {
            return;
        }
        let is_number = value.as_ref().is_some_and(|value| value.bytes().all(|byte| byte.is_ascii_digit()));
        if program::is_computed(name) && !is_number {
            self.found.parts.push(Part::anything());
        }
        match (program::obeyed(name), value.as_deref()) {
            (Obeyed::Nothing, _) | (_, Some("")) => {}
            (Obeyed::Command, Some(command)) => self.script_in(&format!("{command} \"$@\""), location, None),
            (Obeyed::Command, None) | (Obeyed::Anything, _) => {
                self.found.parts.push(Part::anything());
            }
        }
    }

    fn redirect(&mut self, redirect: &Redirect, location: &Location) {
        match redirect {
            Redirect::Duplicate => {}
            Redirect::Text(runs) => runs.iter().for_each(|list| {
                self.list(list, location.clone());
            }),
            Redirect::Write(word) => {
                self.words(std::slice::from_ref(word), location);
                let targets = self.opened(&word.word, location);
                self.found.writes.extend(targets);
            }
            Redirect::Read(word) => {
                self.words(std::slice::from_ref(word), location);
                let targets = self.opened(&word.word, location);
                self.found.reads.extend(targets);
            }
        }
    }

    /// The files that a redirect opens.
    fn opened(&mut self, word: &Word, location: &Location) -> Vec<Target> {
        match word.text() {
            Some("/dev/null") => Vec::new(),
            // The shell treats these names as network addresses.
            Some(text) if text.starts_with("/dev/") => {
                self.not_understood(WhyNot::File);
                vec![Target::Unknown]
            }
            _ => self.named(word, location),
        }
    }

    /// The files that a word names.
    fn named(&mut self, word: &Word, location: &Location) -> Vec<Target> {
        if let Word::Respelled(text) = word {
            self.not_understood(WhyNot::Respelled(text.clone()));
        }
        let targets = word.text().map_or_else(|| vec![Target::Unknown], |text| location.targets(text));
        if targets.contains(&Target::Unknown) {
            self.not_understood(WhyNot::File);
        }
        targets
    }
}
