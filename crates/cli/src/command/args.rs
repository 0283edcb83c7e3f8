//! Arguments shared by several commands, and parsers of their values.

mod limits;
pub(super) mod output_schema;
mod sources;

use std::time::Duration;

use clap::ValueEnum;

pub(crate) use limits::LimitArgs;
pub(crate) use sources::SourceArgs;

const EXIT_CODES: &str = "\
Exit codes:
  0    completed
  1    failed, partial, cancelled or rejected; no such task or agent; a task
       that is unavailable (running in another process, awaited by its parent,
       or with a damaged log); a journal that cannot be used, or a full disk
  2    wrong usage or configuration
  129  interrupted by SIGHUP, 130 by SIGINT, 143 by SIGTERM";

/// Last part of the help of a command that runs something.
pub(crate) fn with_exit_codes(examples: &str) -> String {
    format!("{examples}\n\n{EXIT_CODES}")
}

/// Output format of commands that only report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Text,
    Json,
}

/// Reads `90s`, `5m`, `1h`, `1500ms`, or a bare number of seconds.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("it must be more than 0".to_owned()),
        duration => Ok(duration),
    }
}

fn duration(text: &str) -> Result<Duration, String> {
    const MOST: Duration = Duration::from_hours(24 * 3650);
    let digits = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let seconds = match unit.trim() {
        "" | "s" => 1.0,
        "ms" => 0.001,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("write it like 90s, 5m or 1h; a bare number is seconds".to_owned()),
    };
    let number: f64 = number.parse().map_err(|_| "write it like 90s, 5m or 1h; a bare number is seconds".to_owned())?;
    match Duration::try_from_secs_f64(number * seconds) {
        Ok(duration) if duration <= MOST => Ok(duration),
        _ => Err("it is too long".to_owned()),
    }
}

/// Reads an age: `30d`, or any other duration.
pub(crate) fn parse_age(text: &str) -> Result<Duration, String> {
    let days = text.strip_suffix('d').and_then(|days| days.trim().parse::<u32>().ok());
    match days {
        Some(days) => Ok(Duration::from_hours(u64::from(days) * 24)),
        None => duration(text).map_err(|_| "write it like 30d or 12h".to_owned()),
    }
}

/// Reads a count of at least one.
pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("it must be a whole number of at least 1".to_owned()),
        Ok(count) => Ok(count),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_at_least_one() {
        assert_eq!(parse_count("7"), Ok(7));
        assert!(["", "0", "-1", "many"].into_iter().all(|text| parse_count(text).is_err()));
    }

    #[test]
    fn an_age_has_days_too() {
        assert_eq!(parse_age("30d"), Ok(Duration::from_hours(720)));
        assert_eq!(["0d", "0s", "0"].map(parse_age), [Ok(Duration::ZERO), Ok(Duration::ZERO), Ok(Duration::ZERO)]);
        assert_eq!(parse_age("12h"), Ok(Duration::from_hours(12)));
        assert!(["", "d", "-1d", "1.5d", "old"].into_iter().all(|text| parse_age(text).is_err()));
    }

    #[test]
    fn durations_have_units_and_a_bare_number_is_seconds() {
        for (text, ms) in
            [("90s", 90_000), ("5m", 300_000), ("1h", 3_600_000), ("1500ms", 1_500), ("7", 7_000), ("0.5", 500)]
        {
            assert_eq!(parse_duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "0", "0s", "-1", "5 minutes", "1e9", "1.2.3", "99999999999999h"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }
}
