//! One entry of the table: the armed words of some programs or of their subcommands.

use super::pattern::{abbreviates, means, named};
use super::subcommand::Front;
use crate::findings::{Arming, Word};

/// The armed words of some programs. Each list holds patterns, separated by blanks.
pub(super) struct Profile {
    pub(super) names: &'static str,
    /// The first operands to which the profile applies; all if empty.
    pub(super) subcommands: &'static str,
    /// True if it applies only to words before the first operand.
    pub(super) leading: bool,
    /// True if the first word may hold option letters without a dash.
    pub(super) bundled: bool,
    /// Words that make it execute something that is not judged.
    pub(super) runs: &'static str,
    /// Words that make it write unknown files.
    pub(super) spills: &'static str,
    /// Words that name a file it writes.
    pub(super) writes: &'static str,
    /// Words that make it obey other settings or work elsewhere.
    pub(super) turns: &'static str,
    pub(super) nature: Nature,
    /// Words that keep it from its nature.
    pub(super) excuses: &'static str,
}

/// Default behaviour of a program, without any word that asks for it.
#[derive(Clone, Copy)]
pub(super) enum Nature {
    Plain,
    /// It runs its input.
    RunsInput,
    /// It runs its input, unless it is given a file.
    RunsInputAlone,
    /// It writes files, unless a word names them.
    Spills,
}

/// Creates an empty profile for these programs.
pub(super) const fn profile(names: &'static str) -> Profile {
    Profile {
        names,
        subcommands: "",
        leading: false,
        bundled: false,
        runs: "",
        spills: "",
        writes: "",
        turns: "",
        nature: Nature::Plain,
        excuses: "",
    }
}

/// Creates a profile for some subcommands of these programs.
pub(super) const fn of_subcommands(names: &'static str, subcommands: &'static str) -> Profile {
    Profile { subcommands, ..profile(names) }
}

/// Creates a profile for the words before the first operand.
pub(super) const fn in_front(names: &'static str) -> Profile {
    Profile { leading: true, ..profile(names) }
}

impl Profile {
    /// Returns what the word at this position does. If several patterns match it, the worst counts.
    pub(super) fn arming(&self, at: usize, words: &[Word], front: &Front) -> Option<Arming> {
        if self.leading && at > front.end {
            return None;
        }
        let Some(text) = words[at].text() else {
            // Before the first operand an unknown word may be any option.
            return (self.leading && !self.runs.is_empty()).then_some(Arming::Runs);
        };
        let bundle = (self.bundled && at == 1).then(|| format!("-{text}"));
        let means =
            |pattern: &str| means(pattern, text) || bundle.as_ref().is_some_and(|bundle| means(pattern, bundle));
        let lists = [
            (self.runs, Arming::Runs),
            (self.spills, Arming::Spills),
            (self.writes, Arming::Writes),
            (self.turns, Arming::Turns),
        ];
        // An option spelled out in full is not an abbreviation of another.
        let written_out =
            lists.into_iter().find(|(list, _)| one_of(list).any(|own| means(own) && !abbreviates(text, own)));
        let found = written_out.or_else(|| lists.into_iter().find(|(list, _)| one_of(list).any(means)));
        found.map(|(_, arming)| arming)
    }

    /// Returns the file that the word at this position names for writing.
    pub(super) fn written(&self, at: usize, words: &[Word]) -> Option<Word> {
        one_of(self.writes).find_map(|pattern| named(pattern, at, words))
    }

    /// True if a word keeps the program from its nature.
    pub(super) fn is_excused(&self, words: &[Word]) -> bool {
        words[1..].iter().filter_map(Word::text).any(|text| one_of(self.excuses).any(|pattern| means(pattern, text)))
    }
}

pub(super) fn one_of(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(' ').filter(|word| !word.is_empty())
}
