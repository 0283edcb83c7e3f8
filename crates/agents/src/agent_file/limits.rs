//! Keys that limit an agent's tasks. An invalid value is an error in every dialect: ignoring it would give the agent
//! more than its author meant.

use std::ops::RangeInclusive;
use std::time::Duration;

use sortie_protocol::{Limits, Money};

use crate::agent_file::values::optional_text;
use crate::front_matter::file_findings::FileFindings;
use crate::front_matter::yaml::Entry;
use crate::text::hidden_characters::shown;

/// Keys read here.
pub(super) const LIMITS: [&str; 6] = ["maxTurns", "maxTokens", "maxCostUsd", "timeout", "idleTimeout", "maxChildren"];

/// Nobody means more turns than this.
const MAX_TURNS: u32 = 10_000;
/// Most turns of the built-in agents: a repository's files cannot make a task longer than that.
const MAX_UNTRUSTED_TURNS: u32 = 50;

/// Ten years: far beyond any task, and safe to add to a clock.
const MAX_SECONDS: f64 = 315_360_000.0;
/// The default idle timeout: a repository's files cannot make a stalled call last longer.
const MAX_UNTRUSTED_IDLE: Duration = Duration::from_mins(1);

/// Reads the value of one of [`LIMITS`].
pub(super) fn read(entry: &Entry, limits: &mut Limits, report: &mut FileFindings<'_>) {
    match entry.key.as_str() {
        "maxTurns" => limits.max_turns = max_turns(entry, report),
        "maxTokens" => limits.max_tokens = whole(entry, 1..=u64::MAX, report),
        "maxCostUsd" => limits.max_cost = max_cost(entry, report),
        "timeout" => limits.timeout = seconds(entry, report),
        "idleTimeout" => limits.idle = idle(entry, report),
        _ => limits.max_children = whole(entry, 0..=u32::MAX, report),
    }
}

fn max_turns(entry: &Entry, report: &mut FileFindings<'_>) -> Option<u32> {
    let turns = whole(entry, 1..=MAX_TURNS, report)?;
    if turns > MAX_UNTRUSTED_TURNS && report.is_untrusted() {
        let message =
            format!("`maxTurns` is {turns}; a project's agent has at most {MAX_UNTRUSTED_TURNS} until trusted");
        report.warning(entry.line, message, "review the file, then run `sortie trust`; or ask for fewer");
        return Some(MAX_UNTRUSTED_TURNS);
    }
    Some(turns)
}

/// Besides turns, the only limit that could allow more than the default.
fn idle(entry: &Entry, report: &mut FileFindings<'_>) -> Option<Duration> {
    let idle = seconds(entry, report)?;
    if idle > MAX_UNTRUSTED_IDLE && report.is_untrusted() {
        let most = MAX_UNTRUSTED_IDLE.as_secs();
        let message =
            format!("`idleTimeout` is more than {most} seconds, the most that a project's agent gets until trusted");
        report.warning(entry.line, message, "review the file, then run `sortie trust`; or ask for less");
        return Some(MAX_UNTRUSTED_IDLE);
    }
    Some(idle)
}

fn max_cost(entry: &Entry, report: &mut FileFindings<'_>) -> Option<Money> {
    let dollars = |text: &str| text.parse().ok().and_then(Money::from_dollars).filter(|cost| *cost > Money::ZERO);
    value(entry, dollars, || "use a number of US dollars above 0, like 0.50".to_owned(), report)
}

fn seconds(entry: &Entry, report: &mut FileFindings<'_>) -> Option<Duration> {
    let is_time = |seconds: &f64| *seconds > 0.0 && *seconds <= MAX_SECONDS;
    let seconds = |text: &str| text.parse().ok().filter(is_time).map(Duration::from_secs_f64);
    value(entry, seconds, || "use a number of seconds above 0".to_owned(), report)
}

fn whole<T>(entry: &Entry, fits: RangeInclusive<T>, report: &mut FileFindings<'_>) -> Option<T>
where
    T: TryFrom<u64> + Into<u64> + Copy + PartialOrd,
{
    let number = |text: &str| T::try_from(text.parse().ok()?).ok().filter(|number| fits.contains(number));
    let (least, most): (u64, u64) = ((*fits.start()).into(), (*fits.end()).into());
    let expected = || match most {
        most if most >= u64::from(u32::MAX) => format!("use a whole number of at least {least}"),
        most => format!("use a whole number from {least} to {most}"),
    };
    value(entry, number, expected, report)
}

fn value<T>(
    entry: &Entry,
    parse: impl FnOnce(&str) -> Option<T>,
    expected: impl FnOnce() -> String,
    report: &mut FileFindings<'_>,
) -> Option<T> {
    let text = optional_text(entry, report)?;
    let value = parse(&text);
    if value.is_none() {
        report.error(entry.line, format!("`{}` is `{}`", entry.key, shown(&text)), expected());
    }
    value
}
