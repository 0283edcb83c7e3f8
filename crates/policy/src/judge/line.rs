//! A command line as the layers see it: each command, file and directory is a call of its own.

use sortie_mutant::is_out;
use sortie_shell_reader::{self as shell_reader, Analysis, Part, WhyNot, Word};

use super::allow_rule::Gap;
use crate::matching::{Call, CalledTool, Matcher, RuleList, Target};
use crate::rule::Places;

/// A line split into calls.
pub(super) struct Line<'a> {
    /// The line itself, covered only by rules about every command.
    pub(super) whole: Call<'a>,
    pub(super) analysis: &'a Analysis,
    pub(super) places: &'a Places,
    pub(super) commands: Vec<LineCommand<'a>>,
    /// Files it writes, as calls of `Write`.
    pub(super) writes: Vec<Call<'a>>,
    /// Files it otherwise changes or reads, and commands that may choose the files they write. Only deny and ask rules
    /// apply to these.
    mentions: Vec<(Call<'a>, Option<&'a Part>)>,
}

/// One command of a line.
pub(super) struct LineCommand<'a> {
    pub(super) call: Call<'a>,
    pub(super) part: &'a Part,
    /// True if it needs no rule besides those for the other commands.
    harmless: bool,
    /// True if its program has a relative path that would mean another file from the workspace root.
    misplaced: bool,
}

/// Need of a rule for writing files of the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WorkspaceWrites {
    Allowed,
    NeedRule,
}

/// The part of a line that a list of rules does not cover.
pub(super) enum Uncovered<'a> {
    Nothing,
    /// Only a rule about every command can cover it.
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

    /// Returns everything that a rule may forbid, with the command it belongs to.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&Call<'a>, Option<&'a Part>)> {
        let commands = self.commands.iter().map(|command| (&command.call, Some(command.part)));
        let writes = self.writes.iter().map(|call| (call, None));
        let mentions = self.mentions.iter().map(|(call, part)| (call, *part));
        [(&self.whole, None)].into_iter().chain(commands).chain(writes).chain(mentions)
    }

    /// Returns the reason if a deny or ask rule only might be about a call of this line; `None` if it certainly is.
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

    /// Returns the part that these rules do not cover.
    ///
    /// A rule about every command covers any line. Otherwise the line must be understood and each command covered. Its
    /// writes must also be covered, unless files of the workspace may be written anyway.
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
            // A rule that names the runner in full covers this command as well.
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
            // Harmless commands are let through together with others, not on their own.
            Some(first) if has_no_command => gaps.insert(0, first.gap()),
            None => return Uncovered::Whole,
            Some(_) => {}
        }
        if gaps.is_empty() { Uncovered::Nothing } else { Uncovered::Gaps(gaps) }
    }

    fn covers(&self, rules: &RuleList, command: &LineCommand<'a>) -> bool {
        !command.misplaced && rules.find(&command.call).is_some() || self.is_spoken_for(rules, command)
    }

    /// True if a rule for a direct or indirect runner of this command covers it.
    fn is_spoken_for(&self, rules: &RuleList, command: &LineCommand<'a>) -> bool {
        self.runners(command).any(|index| {
            let runner = &self.commands[index];
            rules.speak_for(&runner.call, runner.part, command.part)
        })
    }

    /// Returns the runners of a command, from the nearest to the farthest.
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

/// True if a command does nothing, or moves to another place of the workspace.
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

/// True if its program has a relative path and does not run from the workspace root. Rules name programs from that
/// root.
fn is_misplaced(part: &Part, places: &Places) -> bool {
    let program = part.words.first().and_then(Word::text).unwrap_or_default();
    program.contains('/') && !program.starts_with('/') && part.directory != places.root
}
