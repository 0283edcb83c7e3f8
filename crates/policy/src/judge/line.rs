//! A command line as the layers look at it: each command, file and directory of it as a call of its own.

use std::path::Path;

use sortie_mutant::is_out;

use super::rules::Rules;
use super::target::Target;
use super::{Call, Called, Places};
use crate::command::{self, Analysis, Part, Word};
use crate::tool::Kind;

/// A line taken apart.
pub(super) struct Line<'a> {
    /// The line itself, which only rules about every command cover.
    pub(super) whole: Call<'a>,
    pub(super) analysis: &'a Analysis,
    pub(super) places: &'a Places,
    pub(super) commands: Vec<LineCommand<'a>>,
    /// What it writes, as calls of `Write`.
    pub(super) writes: Vec<Call<'a>>,
    /// What it changes otherwise, or reads: only what forbids is asked about it.
    pub(super) mentions: Vec<Call<'a>>,
}

/// One command of a line.
pub(super) struct LineCommand<'a> {
    pub(super) call: Call<'a>,
    pub(super) part: &'a Part,
    /// Whether it needs no rule beside those for the other commands.
    harmless: bool,
    /// Whether it names its program by a path that leads elsewhere from where it would run than from the root.
    misplaced: bool,
}

/// What a list of rules leaves open of a line.
pub(super) enum Open<'a> {
    Nothing,
    /// It cannot be covered but as a whole.
    Whole,
    Command(&'a Part),
    Write(&'a Path),
    /// More than one rule could cover.
    Several,
}

impl<'a> Line<'a> {
    pub(super) fn new(
        (tool, kind, names): (&'a str, Kind, Called),
        analysis: &'a Analysis,
        places: &'a Places,
    ) -> Result<Self, String> {
        let file = |tool: &'static str, target: &'a command::Target| {
            let target = match target {
                command::Target::Path(path) => Target::path(path, places)?,
                command::Target::Unknown => Target::any_path(),
            };
            Ok::<_, String>(Call { tool, kind: crate::tool::kind(tool), names: Called::new(tool), target })
        };
        let judged = if is_out("every-command") { 1 } else { analysis.parts.len() };
        let commands = analysis.parts.iter().take(judged).map(|part| LineCommand {
            call: Call { tool, kind, names, target: Target::part(part) },
            part,
            harmless: part.transparent || is_harmless(part, places),
            misplaced: is_misplaced(part, places),
        });
        let known = |target: &&command::Target| matches!(target, command::Target::Path(_));
        let changes = analysis.changes.iter().filter(known).map(|target| file("Write", target));
        let reads = analysis.reads.iter().filter(known).map(|target| file("Read", target));
        let writes = analysis.writes.iter().filter(|_| !is_out("judged-writes"));
        Ok(Self {
            whole: Call { tool, kind, names, target: Target::nothing() },
            analysis,
            places,
            commands: commands.collect(),
            writes: writes.map(|target| file("Write", target)).collect::<Result<_, _>>()?,
            mentions: changes.chain(reads).collect::<Result<_, _>>()?,
        })
    }

    /// Everything that a rule may forbid.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&Call<'a>, Option<&'a Part>)> {
        let commands = self.commands.iter().map(|command| (&command.call, Some(command.part)));
        let files = self.writes.iter().chain(&self.mentions).map(|call| (call, None));
        [(&self.whole, None)].into_iter().chain(commands).chain(files)
    }

    /// What these rules do not cover. A line is covered by a rule about every command, or command by command where all
    /// of it is understood; then its writes are to be covered, too, unless files of the workspace may be written anyway.
    pub(super) fn left_open(&self, rules: &Rules, may_write: bool) -> Open<'a> {
        if rules.find(&self.whole).is_some() {
            return Open::Nothing;
        }
        if !self.analysis.understood {
            return Open::Whole;
        }
        let mut open = Open::Nothing;
        let mut named = false;
        for command in &self.commands {
            let covered = self.covers(rules, command);
            named |= covered;
            if !covered && !command.harmless {
                open = open.and(if command.misplaced { Open::Several } else { Open::Command(command.part) });
            }
        }
        for (call, target) in self.writes.iter().zip(&self.analysis.writes) {
            if let command::Target::Path(path) = target
                && !(may_write && self.places.hold(path))
                && rules.find(call).is_none()
            {
                open = open.and(Open::Write(path));
            }
        }
        match (open, named) {
            // Harmless commands are let through beside others, not by themselves.
            (Open::Nothing, false) => self.commands.first().map_or(Open::Whole, |first| Open::Command(first.part)),
            (Open::Write(_), false) => Open::Several,
            (open, _) => open,
        }
    }

    fn covers(&self, rules: &Rules, command: &LineCommand<'a>) -> bool {
        !command.misplaced && rules.find(&command.call).is_some() || self.is_spoken_for(rules, command)
    }

    /// Whether a rule names in full what runs this command, directly or through others.
    fn is_spoken_for(&self, rules: &Rules, command: &LineCommand<'a>) -> bool {
        let runner = command.part.runner.and_then(|index| self.commands.get(index));
        runner.is_some_and(|runner| rules.speak_for(&runner.call, runner.part) || self.is_spoken_for(rules, runner))
    }
}

impl Open<'_> {
    fn and(self, other: Self) -> Self {
        if matches!(self, Open::Nothing) { other } else { Open::Several }
    }
}

/// Whether a command does nothing, or goes to another place of the workspace.
fn is_harmless(part: &Part, places: &Places) -> bool {
    let words: Vec<&str> = part.words.iter().filter_map(Word::text).collect();
    match &words[..] {
        [":" | "true" | "false"] => true,
        ["cd", to] => part.directory.as_deref().is_some_and(|directory| places.hold(&command::entered(directory, to))),
        _ => false,
    }
}

/// Rules name programs by paths from the workspace root.
fn is_misplaced(part: &Part, places: &Places) -> bool {
    let program = part.words.first().and_then(Word::text).unwrap_or_default();
    program.contains('/') && !program.starts_with('/') && part.directory != places.root
}
