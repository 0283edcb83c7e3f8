//! Armed words: options and operands that make a harmless program run other programs or write files.
//!
//! A rule that allows a program allows these only if it names them. For a deny rule, a program that is made to run
//! something unknown counts as any command. Long options match in every abbreviation, short ones in every bundle. In
//! doubt a word counts as armed.

mod pattern;
mod profile;
mod sed_awk;
mod subcommand;
mod table;

use sortie_mutant::is_out;

use self::profile::{Nature, Profile};
use self::subcommand::Front;
use crate::findings::{Armed, Arming, Word};

/// Programs that download other programs and run them.
const FETCHING: [&str; 5] = ["bunx", "npx", "pipx", "pnpx", "uvx"];

/// The armed words of a command.
#[derive(Debug, Default)]
pub(crate) struct Arms {
    /// Sorted by position.
    pub(crate) armed: Vec<Armed>,
    /// Files to write, as named by its armed words.
    pub(crate) written: Vec<Word>,
}

impl Arms {
    fn add(&mut self, at: usize, arming: Arming) {
        self.armed.push(Armed { at, arming });
    }

    /// Adds the armed words of a command inside this one.
    fn add_inner(&mut self, start: usize, inner: Arms) {
        self.armed.extend(inner.armed.into_iter().map(|armed| Armed { at: armed.at + start, ..armed }));
        self.armed.sort_unstable_by_key(|armed| armed.at);
        self.written.extend(inner.written);
    }

    fn has(&self, arming: Arming) -> bool {
        self.armed.iter().any(|armed| armed.arming == arming)
    }
}

/// The armed words of a command with this program.
pub(crate) fn arms(name: &str, words: &[Word]) -> Arms {
    match name {
        _ if is_out("armed-words") => Arms::default(),
        "sed" | "gsed" => sed_awk::sed(words),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" => sed_awk::awk(words),
        _ => {
            let mut arms = by_table(name, words);
            if let Some(start) = module(name, words) {
                arms.add_inner(start, by_table(words[start].text().unwrap_or_default(), &words[start..]));
            }
            arms
        }
    }
}

/// Returns the position of the module that `python -m` runs as a program.
fn module(name: &str, words: &[Word]) -> Option<usize> {
    let flag = words.iter().position(|word| word.text() == Some("-m"))?;
    (name.starts_with("python") && flag + 1 < words.len()).then_some(flag + 1)
}

fn by_table(name: &str, words: &[Word]) -> Arms {
    let (mut arms, front) = (Arms::default(), Front::of(name, words));
    let profiles: Vec<&Profile> =
        table::profiles(name).filter(|profile| front.is_about(profile.subcommands, words)).collect();
    for at in 1..words.len() {
        let own = profiles.iter().filter_map(|profile| profile.arming(at, words, &front)).min();
        let subcommand = front.subcommands.contains(&at).then(|| table::subcommand(name, &words[at])).flatten();
        let fetched = FETCHING.contains(&name).then_some(Arming::Turns);
        let Some(arming) = [own, subcommand, fetched].into_iter().flatten().min() else { continue };
        match profiles.iter().find_map(|profile| profile.written(at, words)).filter(|_| arming == Arming::Writes) {
            Some(Word::Unknown) => arms.add(at, Arming::Spills),
            Some(written) => {
                arms.add(at, arming);
                arms.written.extend(Some(written).filter(names_a_file));
            }
            None => arms.add(at, arming),
        }
    }
    for profile in &profiles {
        if let Some(arming) = by_nature(profile, words, &front, &arms) {
            arms.add(words.len(), arming);
        }
    }
    arms
}

/// Returns what the program does by nature, without any word that asks for it.
fn by_nature(profile: &Profile, words: &[Word], front: &Front, arms: &Arms) -> Option<Arming> {
    if profile.is_excused(words) {
        return None;
    }
    match profile.nature {
        Nature::Plain => None,
        Nature::RunsInput => Some(Arming::Runs),
        Nature::RunsInputAlone => (front.subcommands.is_empty() && arms.armed.is_empty()).then_some(Arming::Runs),
        Nature::Spills => (!arms.has(Arming::Writes)).then_some(Arming::Spills),
    }
}

/// True unless the word, where a file is expected, means a standard stream or `/dev/null`.
fn names_a_file(word: &Word) -> bool {
    !matches!(word.text(), Some("-" | "/dev/null" | "/dev/stdout" | "/dev/stderr"))
}
