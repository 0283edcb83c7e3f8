//! What a command was not let through to, for whoever reads what it said.

use std::sync::{Mutex, PoisonError};

/// More of them say nothing new, and each is read by a model.
const MAX: usize = 16;

/// Each refusal once, in order.
#[derive(Default)]
pub(super) struct Refusals(Mutex<Refused>);

#[derive(Default)]
struct Refused {
    first: Vec<String>,
    has_more: bool,
}

impl Refusals {
    pub(super) fn add(&self, words: &str) {
        let mut refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if refused.first.iter().any(|known| known == words) {
            return;
        }
        if refused.first.len() < MAX {
            refused.first.push(words.to_owned());
        } else {
            refused.has_more = true;
        }
    }

    pub(super) fn list(&self) -> Vec<String> {
        let refused = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let more = refused.has_more.then(|| format!("more was not reached; these are the first {MAX}"));
        refused.first.iter().cloned().chain(more).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_named_once_and_too_many_are_not_but_it_is_said() {
        let refusals = Refusals::default();
        for number in (0..MAX).chain(0..MAX) {
            refusals.add(&number.to_string());
        }
        assert_eq!(refusals.list(), (0..MAX).map(|number| number.to_string()).collect::<Vec<_>>());
        refusals.add("another");
        assert_eq!(refusals.list().len(), MAX + 1);
        assert_eq!(refusals.list()[MAX], "more was not reached; these are the first 16");
    }
}
