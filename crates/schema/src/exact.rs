//! Finds whole numbers that parsing would change: serde silently rounds those that fit no machine integer. Fractions
//! are ignored; every parser rounds them.

/// The first whole number of a valid JSON text that parsing would change, as written.
pub(crate) fn first_inexact(json: &str) -> Option<&str> {
    let mut rest = json;
    while let Some(start) = rest.find(|letter: char| letter == '"' || letter == '-' || letter.is_ascii_digit()) {
        rest = &rest[start..];
        let is_number = !rest.starts_with('"');
        let (token, behind) = rest.split_at(if is_number { number_end(rest) } else { string_end(rest) });
        if is_number && is_inexact(token) {
            return Some(token);
        }
        rest = behind;
    }
    None
}

fn number_end(text: &str) -> usize {
    text.find(|letter: char| !matches!(letter, '0'..='9' | '-' | '+' | '.' | 'e' | 'E')).unwrap_or(text.len())
}

/// Offset just after the closing quote of the string at the start of the text.
fn string_end(text: &str) -> usize {
    // The opening quote does not end the string, so it counts as escaped.
    let mut is_escaped = true;
    let is_end = |letter: char| {
        let ends = letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
        ends
    };
    text.find(is_end).map_or(text.len(), |at| at + 1)
}

fn is_inexact(number: &str) -> bool {
    let written = Decimal::read(number);
    let is_machine_number = number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    let kept = || serde_json::from_str::<f64>(number).map(|float| Decimal::read(&format!("{float:e}")));
    written.power >= 0 && !is_machine_number && !kept().is_ok_and(|kept| kept == written)
}

/// A number without its sign, in normal form.
#[derive(PartialEq)]
struct Decimal {
    /// Digits from the first non-zero one to the last.
    digits: String,
    /// Power of ten of the last digit.
    power: i64,
}

impl Decimal {
    fn read(number: &str) -> Self {
        let (number, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let all = format!("{}{fraction}", whole.trim_start_matches('-'));
        let digits = all.trim_end_matches('0');
        let shift = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let power = exponent.parse::<i64>().unwrap_or(i64::MAX);
        let power = power.saturating_sub(shift(fraction.len())).saturating_add(shift(all.len() - digits.len()));
        let digits = digits.trim_start_matches('0').to_owned();
        let power = if digits.is_empty() { 0 } else { power };
        Self { digits, power }
    }
}
