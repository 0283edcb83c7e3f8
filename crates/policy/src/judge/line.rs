//! A command line as the layers look at it: each command, file and directory of it as a call of its own.

use sortie_mutant::is_out;
use sortie_shell_reader::{self as shell_reader, Analysis, Part, WhyNot, Word};

use super::allow_rule::Gap;
use crate::matching::{Call, CalledTool, Matcher, RuleList, Target};
use crate::rule::Places;

/// A line taken apart.
pub(super) struct Line<'a> {
    /// The line itself, which only rules about every command cover.
    pub(super) whole: Call<'a>,
    pub(super) analysis: &'a Analysis,
    pub(super) places: &'a Places,
    pub(super) commands: Vec<LineCommand<'a>>,
    /// What it writes, as calls of `Write`.
    pub(super) writes: Vec<Call<'a>>,
    /// What it changes otherwise, or reads, and which command may choose what it writes: only what forbids is asked
    /// about it.
    mentions: Vec<(Call<'a>, Option<&'a Part>)>,
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

/// Whether a line may write files of the workspace without a rule for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkspaceWrites {
    Allowed,
    NeedRule,
}

/// The part of a line that a list of rules does not cover.
pub(super) enum Uncovered<'a> {
    Nothing,
    /// It cannot be covered but as a whole.
    Whole,
    /// Each of these needs a rule.
    Gaps(Vec<Gap<'a>>),
}

impl<'a> Line<'a> {
    pub(super) fn new(tool: CalledTool<'a>, analysis: &'a Analysis, places: &'a Places) -> Result<Self, String> {
        let (read, write) = (CalledTool::named("Read"), CalledTool::named("Write"));
        let file = |tool: CalledTool<'a>, target: &'a shell_reader::Target| {
            let target = match target {
                shell_reader::Target::Path(path) => Target::path(path, places)?,
                shell_reader::Target::Unknown => Target::any_path(),
            };
            Ok::<_, String>(Call { tool, target })
        };
        let judged = if is_out("every-command") { 1 } else { analysis.parts.len() };
        let commands = analysis.parts.iter().take(judged).map(|part| LineCommand {
            call: Call { tool, target: Target::part(part) },
            part,
            harmless: part.transparent || is_harmless(part, places),
            misplaced: is_misplaced(part, places),
        });
        let chosen = || Call { tool: write, target: Target::some_path() };
        let changes = analysis.changes.iter().map(|target| match target {
            shell_reader::Target::Unknown => Ok(chosen()),
            target @ shell_reader::Target::Path(_) => file(write, target),
        });
        let known = |target: &&shell_reader::Target| matches!(target, shell_reader::Target::Path(_));
        let reads = analysis.reads.iter().filter(known).map(|target| file(read, target));
        let mentions: Vec<Call<'a>> = changes.chain(reads).collect::<Result<_, _>>()?;
        let spilling = analysis.parts.iter().filter(|part| part.writes_anything().is_some());
        let writes = analysis.writes.iter().filter(|_| !is_out("judged-writes"));
        Ok(Self {
            whole: Call { tool, target: Target::nothing() },
            analysis,
            places,
            commands: commands.collect(),
            writes: writes.map(|target| file(write, target)).collect::<Result<_, _>>()?,
            mentions: mentions
                .into_iter()
                .map(|call| (call, None))
                .chain(spilling.map(|part| (chosen(), Some(part))))
                .collect(),
        })
    }

    /// Everything that a rule may forbid, with the command that it belongs to.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&Call<'a>, Option<&'a Part>)> {
        let commands = self.commands.iter().map(|command| (&command.call, Some(command.part)));
        let writes = self.writes.iter().map(|call| (call, None));
        let mentions = self.mentions.iter().map(|(call, part)| (call, *part));
        [(&self.whole, None)].into_iter().chain(commands).chain(writes).chain(mentions)
    }

    /// Why a rule that forbids a call of this line only could be about it; `None` where it is.
    pub(super) fn doubt(&self, rule: &Matcher, call: &Call<'a>, part: Option<&Part>) -> Option<WhyNot> {
        let own = || self.analysis.why_not.clone();
        match part {
            _ if rule.is_about_all(call.tool) => None,
            Some(part) if call.target.is_unknown() => part.writes_anything(),
            _ if call.target.is_unknown() => own().or(Some(WhyNot::File)),
            Some(part) if !rule.could_name(part) => part.runs_anything(),
            Some(part) if part.words.contains(&Word::Unknown) => own(),
            _ => None,
        }
    }

    /// The part that these rules do not cover.
    ///
    /// A rule about every command covers a line. Otherwise each command has to be covered, and the line understood;
    /// then its writes have to be covered, too, unless files of the workspace may be written anyway.
    pub(super) fn uncovered_by(&self, rules: &RuleList, writes: WorkspaceWrites) -> Uncovered<'a> {
        if rules.find(&self.whole).is_some() {
            return Uncovered::Nothing;
        }
        if !self.analysis.understood {
            return Uncovered::Whole;
        }
        let covered: Vec<bool> = self.commands.iter().map(|command| self.covers(rules, command)).collect();
        let is_open = |index: usize| !covered[index] && !self.commands[index].harmless;
        let mut gaps = Vec::new();
        for (index, command) in self.commands.iter().enumerate() {
            // A rule that names in full what runs it speaks for it.
            if is_open(index) && !self.runners(command).any(is_open) {
                gaps.push(command.gap());
            }
        }
        let has_no_command = gaps.is_empty() && !covered.contains(&true);
        for (call, target) in self.writes.iter().zip(&self.analysis.writes) {
            if let shell_reader::Target::Path(path) = target
                && !(writes == WorkspaceWrites::Allowed && self.places.hold(path))
                && rules.find(call).is_none()
            {
                gaps.push(Gap::Write(path));
            }
        }
        match self.commands.first() {
            // Harmless commands are let through beside others, not by themselves.
            Some(first) if has_no_command => gaps.insert(0, first.gap()),
            None => return Uncovered::Whole,
            Some(_) => {}
        }
        if gaps.is_empty() { Uncovered::Nothing } else { Uncovered::Gaps(gaps) }
    }

    fn covers(&self, rules: &RuleList, command: &LineCommand<'a>) -> bool {
        !command.misplaced && rules.find(&command.call).is_some() || self.is_spoken_for(rules, command)
    }

    /// Whether a rule for what runs this command, directly or through others, speaks for it.
    fn is_spoken_for(&self, rules: &RuleList, command: &LineCommand<'a>) -> bool {
        self.runners(command).any(|index| {
            let runner = &self.commands[index];
            rules.speak_for(&runner.call, runner.part, command.part)
        })
    }

    /// What runs a command, from the nearest to the farthest.
    fn runners(&self, command: &LineCommand<'a>) -> impl Iterator<Item = usize> {
        let runner = |part: &Part| part.runner.filter(|&index| index < self.commands.len());
        std::iter::successors(runner(command.part), move |&index| runner(self.commands[index].part))
    }
}

impl<'a> LineCommand<'a> {
    fn gap(&self) -> Gap<'a> {
        if self.misplaced { Gap::Misplaced(self.part) } else { Gap::Command(self.part) }
    }
}

/// Whether a command does nothing, or goes to another place of the workspace.
fn is_harmless(part: &Part, places: &Places) -> bool {
    let words: Vec<&str> = part.words.iter().filter_map(Word::text).collect();
    match &words[..] {
        [":" | "true" | "false"] => true,
        ["cd", to] => {
            part.directory.as_deref().is_some_and(|directory| places.hold(&shell_reader::after_cd(directory, to)))
        }
        _ => false,
    }
}

/// Rules name programs by paths from the workspace root.
fn is_misplaced(part: &Part, places: &Places) -> bool {
    let program = part.words.first().and_then(Word::text).unwrap_or_default();
    program.contains('/') && !program.starts_with('/') && part.directory != places.root
}
