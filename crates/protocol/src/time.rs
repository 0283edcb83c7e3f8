//! Wall-clock time for people to read. Durations and deadlines never use it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z; serialised as RFC 3339 in UTC.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(pub u64);

const DAY_MS: u64 = 86_400_000;

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days((self.0 / DAY_MS).cast_signed());
        let ms = self.0 % DAY_MS;
        let (hour, minute, second) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1000 % 60);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", ms % 1000)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Timestamp> for String {
    fn from(time: Timestamp) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for Timestamp {
    type Error = String;

    /// Reads exactly what [`Timestamp`] writes.
    fn try_from(text: String) -> Result<Self, Self::Error> {
        parse(&text).ok_or_else(|| format!("`{text}` is not a time like 2026-01-31T12:00:00.000Z"))
    }
}

fn parse(text: &str) -> Option<Timestamp> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u32>().ok().map(u64::from);
    let separators = [(4, "-"), (7, "-"), (10, "T"), (13, ":"), (16, ":"), (19, "."), (23, "Z")];
    let well_formed = text.len() == 24 && separators.iter().all(|&(at, mark)| text.get(at..=at) == Some(mark));
    if !well_formed {
        return None;
    }
    let days = days_from_civil(number(0..4)?.cast_signed(), number(5..7)?.cast_signed(), number(8..10)?.cast_signed());
    let seconds = (number(11..13)? * 60 + number(14..16)?) * 60 + number(17..19)?;
    Some(Timestamp(u64::try_from(days).ok()? * DAY_MS + seconds * 1000 + number(20..23)?))
}

/// Days since 1970-01-01 to a Gregorian date, counting years from March so that leap days come last.
fn civil_from_days(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = year - i64::from(month <= 2);
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_back_as_written() {
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_791_979_199_999, "2026-10-14T11:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Timestamp(ms).to_string(), text);
            assert_eq!(Timestamp::try_from(text.to_owned()), Ok(Timestamp(ms)));
        }
        assert!(Timestamp::try_from("yesterday".to_owned()).is_err());
    }
}
