//! The words that arm some programs, or some subcommands of theirs: one entry of the table.

use super::pattern::{abbreviates, means, named};
use super::subcommand::Front;
use crate::findings::{Arming, Word};

/// The words that arm some programs. Each list has patterns, with blanks in between.
pub(super) struct Profile {
    pub(super) names: &'static str,
    /// The first operands for which it holds; all where there are none.
    pub(super) subcommands: &'static str,
    /// Whether it is about words in front of the first operand only.
    pub(super) leading: bool,
    /// Whether letters of options may stand in the first word without a dash.
    pub(super) bundled: bool,
    /// What makes it execute what is not judged.
    pub(super) runs: &'static str,
    /// What makes it write files that are not known.
    pub(super) spills: &'static str,
    /// What names a file that it writes.
    pub(super) writes: &'static str,
    /// What makes it obey other settings, or work elsewhere.
    pub(super) turns: &'static str,
    pub(super) nature: Nature,
    /// What keeps it from doing what it does by nature.
    pub(super) excuses: &'static str,
}

/// What a program does that no word says.
#[derive(Clone, Copy)]
pub(super) enum Nature {
    Plain,
    /// It runs what it reads.
    RunsInput,
    /// It runs what it reads, unless it is given a file.
    RunsInputAlone,
    /// It writes files, unless a word says which.
    Spills,
}

/// An empty profile for these programs.
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

/// A profile for some subcommands of these programs.
pub(super) const fn of_subcommands(names: &'static str, subcommands: &'static str) -> Profile {
    Profile { subcommands, ..profile(names) }
}

/// A profile for the words in front of the first operand.
pub(super) const fn in_front(names: &'static str) -> Profile {
    Profile { leading: true, ..profile(names) }
}

impl Profile {
    /// What the word at this position does; the worst, where several patterns mean it.
    pub(super) fn arming(&self, at: usize, words: &[Word], front: &Front) -> Option<Arming> {
        if self.leading && at > front.end {
            return None;
        }
        let Some(text) = words[at].text() else {
            // In front of all else it may be any option.
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
        // An option that is written out is no abbreviation of another.
        let written_out =
            lists.into_iter().find(|(list, _)| one_of(list).any(|own| means(own) && !abbreviates(text, own)));
        let found = written_out.or_else(|| lists.into_iter().find(|(list, _)| one_of(list).any(means)));
        found.map(|(_, arming)| arming)
    }

    /// The file that the word at this position names to be written.
    pub(super) fn written(&self, at: usize, words: &[Word]) -> Option<Word> {
        one_of(self.writes).find_map(|pattern| named(pattern, at, words))
    }

    /// Whether a word keeps the program from doing what it does by nature.
    pub(super) fn is_excused(&self, words: &[Word]) -> bool {
        words[1..].iter().filter_map(Word::text).any(|text| one_of(self.excuses).any(|pattern| means(pattern, text)))
    }
}

pub(super) fn one_of(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(' ').filter(|word| !word.is_empty())
}
