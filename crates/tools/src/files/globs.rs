//! `Globs`: glob patterns, as people and models write them.
//!
//! A pattern without `/` matches a name at any depth; one with `/` matches a path from the start of the search.

use std::path::Path;

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

const MAX_PATTERNS: usize = 64;
const MAX_PATTERN_BYTES: usize = 1000;
const MAX_BYTES: usize = 4096;
const MAX_BRACE_DEPTH: usize = 8;

/// The wanted paths: all that match some pattern, and none that match a pattern marked with `!`.
pub(crate) struct Globs {
    wanted: GlobSet,
    unwanted: GlobSet,
}

impl Globs {
    /// The error is worded for the model.
    pub(crate) fn new(patterns: &[impl AsRef<str>]) -> Result<Self, String> {
        let n_bytes: usize = patterns.iter().map(|pattern| pattern.as_ref().len()).sum();
        if patterns.len() > MAX_PATTERNS || n_bytes > MAX_BYTES {
            return Err(format!(
                "{} globs of {n_bytes} bytes; at most {MAX_PATTERNS} globs and {MAX_BYTES} bytes are allowed",
                patterns.len()
            ));
        }
        let (mut wanted, mut unwanted) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let (set, pattern) = match pattern.strip_prefix('!') {
                Some(pattern) => (&mut unwanted, pattern),
                None => (&mut wanted, pattern),
            };
            let pattern = from_start(pattern.trim_end_matches('/'));
            set.add(parse(&pattern)?);
            // A pattern for a directory means all of its contents.
            set.add(parse(&format!("{pattern}/**"))?);
        }
        Ok(Self { wanted: build(&wanted)?, unwanted: build(&unwanted)? })
    }

    /// True if the patterns match one of these spellings of a path.
    pub(crate) fn admit(&self, path: &[&Path]) -> bool {
        let is_wanted = self.wanted.is_empty() || path.iter().any(|path| self.wanted.is_match(path));
        is_wanted && !path.iter().any(|path| self.unwanted.is_match(path))
    }
}

/// Compiles one pattern for whole paths.
pub(crate) fn compile(pattern: &str) -> Result<GlobSet, String> {
    compile_anchored(&from_start(pattern))
}

/// Rewrites the pattern so that it starts where the search begins.
fn from_start(pattern: &str) -> String {
    match pattern.strip_prefix("./").or_else(|| pattern.strip_prefix('/')) {
        Some(anchored) => anchored.to_owned(),
        None if pattern.contains('/') => pattern.to_owned(),
        None => format!("**/{pattern}"),
    }
}

/// Compiles a pattern that starts where the search begins, even without a `/`.
pub(crate) fn compile_anchored(pattern: &str) -> Result<GlobSet, String> {
    build(GlobSetBuilder::new().add(parse(pattern)?))
}

fn parse(pattern: &str) -> Result<Glob, String> {
    if pattern.len() > MAX_PATTERN_BYTES {
        return Err(format!("the glob has {} bytes, at most {MAX_PATTERN_BYTES} are allowed", pattern.len()));
    }
    if brace_depth(pattern) > MAX_BRACE_DEPTH {
        return Err(format!("the glob has braces in braces, at most {MAX_BRACE_DEPTH} deep are allowed"));
    }
    GlobBuilder::new(pattern).literal_separator(true).build().map_err(|error| error.to_string())
}

/// Builds a set even for one glob: a single glob panics where a set returns an error.
fn build(globs: &GlobSetBuilder) -> Result<GlobSet, String> {
    globs.build().map_err(|error| error.to_string())
}

fn brace_depth(pattern: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for character in pattern.chars() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Splits patterns in one text at commas or spaces outside braces.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let separates = |character: char| {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && (character == ',' || character.is_whitespace())
    };
    text.split(separates).filter(|pattern| !pattern.is_empty()).collect()
}

/// Splits a pattern into its literal directory and the rest, which has the wildcards.
pub(crate) fn split_directory(pattern: &str) -> (&str, &str) {
    let wildcard = pattern.find(['*', '?', '[', '{', '\\']).unwrap_or(pattern.len());
    match pattern[..wildcard].rfind('/') {
        Some(0) => ("/", &pattern[1..]),
        Some(at) => (&pattern[..at], pattern[at + 1..].trim_start_matches('/')),
        None => ("", pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_without_slash_matches_at_any_depth_and_one_with_slash_from_the_start() {
        let admits = |pattern: &str, path: &str| Globs::new(&[pattern]).unwrap().admit(&[Path::new(path)]);
        assert!(admits("*.rs", "a.rs") && admits("*.rs", "src/deep/a.rs"));
        assert!(admits("src/*.rs", "src/a.rs") && !admits("src/*.rs", "lib/src/a.rs"));
        assert!(!admits("src/*.rs", "src/deep/a.rs") && admits("src/**/*.rs", "src/deep/a.rs"));
        assert!(admits("/a.rs", "a.rs") && !admits("/a.rs", "src/a.rs"));
        assert!(admits("src/**", "src/a.rs") && !admits("src/**", "lib/src/a.rs"));
        assert!(admits("target", "target/x") && admits("target/", "deep/target/x"));
        assert!(!admits("!*.rs", "a.rs") && admits("!*.rs", "a.py"));
        assert!(admits("*.{ts,tsx}", "src/a.tsx"));
    }

    #[test]
    fn lists_of_patterns_are_split_outside_of_braces() {
        assert_eq!(split("*.ts, *.{js,jsx} !x.js"), ["*.ts", "*.{js,jsx}", "!x.js"]);
    }

    #[test]
    fn the_literal_directory_of_a_pattern_is_split_off() {
        assert_eq!(split_directory("*.rs"), ("", "*.rs"));
        assert_eq!(split_directory("src/main.rs"), ("src", "main.rs"));
        assert_eq!(split_directory("src//a/*.rs"), ("src//a", "*.rs"));
        assert_eq!(split_directory("/abs/{a,b}/c"), ("/abs", "{a,b}/c"));
        assert_eq!(split_directory("/*.rs"), ("/", "*.rs"));
        assert_eq!(split_directory("src/"), ("src", ""));
    }
}
