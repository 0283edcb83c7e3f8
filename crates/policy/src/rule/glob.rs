//! A pattern for one name: `*`, `?`, `[a-z]`, `[!a]`, and `\` before a literal character.

use crate::text::fold;
use crate::text::{Bigrams, EDGE};

/// A pattern for one component of a path, or for an agent's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Glob {
    Literal(String),
    Tokens(Vec<Token>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    Character(char),
    AnyCharacter,
    /// Any number of characters.
    AnyRun,
    Class {
        negated: bool,
        ranges: Vec<(char, char)>,
        folded: bool,
    },
}

impl Glob {
    pub(crate) fn parse(text: &str) -> Result<Self, &'static str> {
        let mut tokens = Vec::new();
        let mut rest = text.chars();
        while let Some(character) = rest.next() {
            tokens.push(match character {
                '*' if tokens.last() == Some(&Token::AnyRun) => continue,
                '*' => Token::AnyRun,
                '?' => Token::AnyCharacter,
                '[' => class(&mut rest)?,
                '{' | '}' => return Err("`{a,b}` is not supported; write one rule for each, or `\\{` for a brace"),
                '\\' => Token::Character(rest.next().ok_or("it ends in a lone `\\`")?),
                other => Token::Character(other),
            });
        }
        Ok(Self::of(tokens))
    }

    pub(crate) fn literal(name: &str) -> Self {
        Self::Literal(name.to_owned())
    }

    fn of(tokens: Vec<Token>) -> Self {
        let literal = |token: &Token| if let Token::Character(character) = token { Some(*character) } else { None };
        match tokens.iter().map(literal).collect() {
            Some(name) => Self::Literal(name),
            None => Self::Tokens(tokens),
        }
    }

    /// The pattern for folded names.
    pub(crate) fn folded(&self) -> Self {
        match self {
            Self::Literal(name) => Self::Literal(fold(name).into_owned()),
            Self::Tokens(tokens) => Self::Tokens(fold_tokens(tokens)),
        }
    }

    pub(crate) fn matches(&self, name: &str) -> bool {
        match self {
            Self::Literal(literal) => literal == name,
            Self::Tokens(tokens) => matches(tokens, name),
        }
    }

    /// The only matching name, if there is just one.
    pub(crate) fn name(&self) -> Option<&str> {
        if let Self::Literal(name) = self { Some(name) } else { None }
    }

    /// True if every name matches.
    pub(crate) fn is_any(&self) -> bool {
        matches!(self, Self::Tokens(tokens) if tokens[..] == [Token::AnyRun])
    }

    /// Adds the bigrams that occur in every matching name.
    pub(crate) fn add_bigrams(&self, bigrams: &mut Bigrams) {
        match self {
            Self::Literal(name) => bigrams.add_name(name),
            Self::Tokens(tokens) => {
                let own = |token: &Token| if let Token::Character(character) = token { Some(*character) } else { None };
                let with_edges: Vec<Option<char>> =
                    [Some(EDGE)].into_iter().chain(tokens.iter().map(own)).chain([Some(EDGE)]).collect();
                for run in with_edges.split(Option::is_none) {
                    bigrams.add(run.iter().copied().flatten());
                }
            }
        }
    }
}

/// Parses the text after a `[`.
fn class(rest: &mut std::str::Chars<'_>) -> Result<Token, &'static str> {
    const OPEN: &str = "a `[` is not closed; write `\\[` for a bracket";
    let mut ranges = Vec::new();
    let negated = rest.as_str().starts_with(['!', '^']);
    if negated {
        rest.next();
    }
    loop {
        let first = match rest.next().ok_or(OPEN)? {
            ']' if !ranges.is_empty() => return Ok(Token::Class { negated, ranges, folded: false }),
            '\\' => rest.next().ok_or(OPEN)?,
            other => other,
        };
        let mut ahead = rest.clone();
        let last = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) if last != ']' => {
                *rest = ahead;
                if last == '\\' { rest.next().ok_or(OPEN)? } else { last }
            }
            _ => first,
        };
        if last < first {
            return Err("a range in `[…]` runs backwards");
        }
        ranges.push((first, last));
    }
}

fn fold_tokens(tokens: &[Token]) -> Vec<Token> {
    let mut folded = Vec::new();
    let mut run = String::new();
    for token in tokens {
        if let Token::Character(character) = token {
            run.push(*character);
            continue;
        }
        folded.extend(fold(&run).chars().map(Token::Character));
        run.clear();
        folded.push(match token {
            Token::Class { negated, ranges, .. } => {
                Token::Class { negated: *negated, ranges: ranges.clone(), folded: true }
            }
            other => other.clone(),
        });
    }
    folded.extend(fold(&run).chars().map(Token::Character));
    folded
}

/// Walks name and tokens in parallel; on a mismatch the last `*` takes one character more. Earlier ones never need to.
fn matches(tokens: &[Token], name: &str) -> bool {
    let mut at = 0;
    let mut rest = name.chars();
    let mut retry: Option<(usize, std::str::Chars<'_>)> = None;
    loop {
        if let Some(Token::AnyRun) = tokens.get(at) {
            at += 1;
            retry = Some((at, rest.clone()));
            continue;
        }
        let before = rest.clone();
        let fits = match (tokens.get(at), rest.next()) {
            (None, None) => return true,
            (Some(token), Some(character)) => token.takes(character),
            _ => false,
        };
        if fits {
            at += 1;
            continue;
        }
        if before.as_str().is_empty() {
            return false;
        }
        let Some((star, from)) = &mut retry else { return false };
        from.next();
        at = *star;
        rest = from.clone();
    }
}

impl Token {
    fn takes(&self, character: char) -> bool {
        match self {
            Self::Character(own) => *own == character,
            Self::AnyCharacter | Self::AnyRun => true,
            Self::Class { negated, ranges, folded } => {
                let within = |character: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&character));
                let one = |character: char| within(character) != *negated;
                one(character) || *folded && character.to_uppercase().any(one)
            }
        }
    }
}
