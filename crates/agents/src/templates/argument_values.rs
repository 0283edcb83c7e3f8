//! The values for a template's arguments: `path=src/a.rs`, and words.

use crate::templates::body::{INPUT, is_name_like};
use crate::templates::error::TemplateError;

/// Values by name, and free text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    values: Vec<(String, String)>,
    /// Free text, as given.
    pub input: String,
}

impl Given {
    /// Reads words from a shell: `name=value` first, and free text from the first other word on.
    pub fn from_words(words: &[impl AsRef<str>]) -> Result<Self, TemplateError> {
        let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
        let n_values = words.iter().take_while(|word| assignment(word).is_some()).count();
        let (values, input) = words.split_at(n_values);
        let mut given = Self::default();
        for (name, value) in values.iter().filter_map(|word| assignment(word)) {
            given.put(name, value.to_owned())?;
        }
        given.put_input(&input.join(" "))?;
        Ok(given)
    }

    pub(super) fn put(&mut self, name: &str, value: String) -> Result<(), TemplateError> {
        if self.value(name).is_some() {
            return Err(TemplateError::Twice { name: name.to_owned() });
        }
        self.values.push((name.to_owned(), value));
        Ok(())
    }

    /// Sets the words after the values, as `input=…` would.
    pub(super) fn put_input(&mut self, words: &str) -> Result<(), TemplateError> {
        if !words.is_empty() {
            self.put(INPUT, words.to_owned())?;
        }
        if let Some(at) = self.values.iter().position(|(name, _)| name == INPUT) {
            (_, self.input) = self.values.remove(at);
        }
        Ok(())
    }

    pub(super) fn value(&self, wanted: &str) -> Option<&str> {
        self.values.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str())
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.values.iter().map(|(name, _)| name.as_str())
    }
}

/// The two sides of `name=value`.
pub(super) fn assignment(word: &str) -> Option<(&str, &str)> {
    word.split_once('=').filter(|(name, _)| is_name_like(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_first_and_words_after_them() {
        let given = Given::from_words(&["path=src/a.rs", "style=", "make", "sure", "x=5"]).unwrap();
        assert_eq!((given.value("path"), given.value("style")), (Some("src/a.rs"), Some("")));
        assert_eq!(given.input, "make sure x=5");
        assert_eq!(Given::from_words(&["a b=c"]).unwrap().input, "a b=c");
        assert_eq!(Given::from_words(&["input=x=5 is wrong"]).unwrap().input, "x=5 is wrong");
    }

    #[test]
    fn no_value_is_given_twice() {
        let twice = |name: &str| Err(TemplateError::Twice { name: name.to_owned() });
        assert_eq!(Given::from_words(&["path=a", "path=b"]), twice("path"));
        assert_eq!(Given::from_words(&["input=a", "b"]), twice("input"));
    }
}
