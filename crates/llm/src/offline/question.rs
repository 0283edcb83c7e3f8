//! What a prompt asks for: its terms, what kind of answer it wants, and where it wants one to look.
//!
//! Works on any prose, written by a person, by another model or by `plan`; there is no side channel.

use super::synonyms::IDIOMS;
use super::terms::{Term, WEAK};
use super::words::{is_action, is_identifier, is_stop_word, is_weak_stem, pieces, words};

const MAX_TERMS: usize = 8;
const ACTION: f64 = 0.6;
const ASIDE: f64 = 0.35;
const VERBATIM: f64 = 1.6;

/// Openings of sentences that say how to answer, not what to look for.
const INSTRUCTIONS: &[&str] = &[
    "report",
    "return",
    "respond",
    "reply",
    "answer",
    "include",
    "keep",
    "do not",
    "don't",
    "be ",
    "note",
    "limit",
    "you ",
    "your",
    "use ",
    "output",
    "format",
    "cite",
    "then ",
    "finally",
    "thanks",
    "thank",
    "provide",
    "summarize",
    "summarise",
    "quote",
    "no ",
    "only ",
    "stop",
    "start with",
    "work ",
    "every ",
    "each ",
    "i need",
];

/// Openings of requests for work that a search cannot do.
const WORK: &[&str] = &[
    "write",
    "fix",
    "implement",
    "create",
    "add",
    "refactor",
    "change",
    "rename",
    "delete",
    "remove",
    "generate",
    "translate",
    "update",
    "make",
    "build",
    "run",
    "install",
    "deploy",
    "compile",
    "improve",
    "optimize",
    "optimise",
    "rewrite",
    "migrate",
    "convert",
    "edit",
    "commit",
    "push",
    "upgrade",
    "bump",
    "replace",
    "port",
    "design",
    "draft",
    "compose",
    "format",
    "test",
    "debug",
    "solve",
    "calculate",
    "compute",
];

/// What kind of answer is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Intent {
    /// Where something is, or which code does it.
    Locate,
    /// Where something is defined.
    Define,
    /// What calls or uses something.
    Uses,
    /// Which files, or all of something.
    List,
    /// How something works.
    Explain,
    /// Work other than finding: writing, changing, running.
    Work,
}

/// What a search should bring to the front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Focus {
    Implementation,
    Uses,
    /// Tests, examples and documents.
    Supporting,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    /// The part of the prompt that asks.
    pub(super) text: String,
    pub(super) terms: Vec<Term>,
    /// Terms that stand beside each other in the text.
    pub(super) neighbours: Vec<(usize, usize)>,
    /// Paths that the prompt names.
    pub(super) paths: Vec<String>,
    pub(super) intent: Intent,
    pub(super) focus: Focus,
}

impl Question {
    pub(super) fn parse(prompt: &str) -> Self {
        let sentences = sentences(prompt);
        let asks = sentences.iter().any(|sentence| sentence.ends_with('?'));
        let mut gathered = Gathered::default();
        let mut text = Vec::new();
        for (at, sentence) in sentences.iter().enumerate() {
            let main = if asks { sentence.ends_with('?') } else { at == 0 };
            if main {
                text.push(*sentence);
            } else if is_instruction(sentence) {
                continue;
            }
            gathered.sentence(sentence, if main { 1.0 } else { ASIDE });
        }
        let text = text.join(" ");
        let intent = intent(&text);
        let focus = focus(&sentences, intent);
        let paths = std::mem::take(&mut gathered.paths);
        let (terms, neighbours) = gathered.finish();
        Self { text, terms, neighbours, paths, intent, focus }
    }

    /// Whether the prompt names tests, examples or documents, so that they count as much as code.
    pub(super) fn mentions(&self, any_of: &[&str]) -> bool {
        words(&self.text).any(|word| any_of.contains(&word.to_lowercase().as_str()))
    }

    /// The terms that are worth a search of their own: all but the weak ones, unless there are no others.
    pub(super) fn strong_terms(&self) -> impl Iterator<Item = (usize, &Term)> {
        self.terms.iter().enumerate().filter(|(_, term)| !term.is_weak())
    }
}

#[derive(Default)]
struct Gathered {
    terms: Vec<Term>,
    paths: Vec<String>,
    neighbours: Vec<(usize, usize)>,
}

impl Gathered {
    fn sentence(&mut self, sentence: &str, weight: f64) {
        let (quoted, mut rest) = split_quoted(sentence);
        for (idiom, word) in IDIOMS {
            rest = replace_ignoring_case(&rest, idiom, word);
        }
        for quote in quoted {
            self.token(&quote, weight, true);
        }
        let mut previous: Option<(usize, String)> = None;
        for token in rest.split_whitespace() {
            let ends_clause = token.ends_with([',', ';', ':', ')']);
            let before = previous.take();
            if let Some((at, word)) = self.token(token, weight, false) {
                if let Some((before, before_word)) = before
                    && before != at
                {
                    self.join(before, &before_word, at, &word);
                }
                if !ends_clause {
                    previous = Some((at, word));
                }
            }
        }
    }

    /// Takes one token; returns its term and word where it is an ordinary word.
    fn token(&mut self, token: &str, weight: f64, quoted: bool) -> Option<(usize, String)> {
        let bare = token.trim_matches(|c: char| !c.is_alphanumeric() && c != '_' && c != '/' && c != '.' && c != '*');
        let bare = bare.trim_end_matches(['.', '?', '!']);
        if is_path(bare) {
            self.paths.push(bare.trim_start_matches("./").to_owned());
            return None;
        }
        if quoted && bare.split_whitespace().count() > 1 {
            self.add(Term::phrase(bare, weight * VERBATIM));
            return None;
        }
        if is_identifier(bare) || (quoted && !bare.is_empty()) || token.contains("()") {
            self.add(Term::identifier(bare, weight * VERBATIM));
            return None;
        }
        let mut last = None;
        for part in words(bare) {
            let before = last.take();
            last = self.word(&part.to_lowercase(), weight);
            if let (Some((before, before_word)), Some((at, word))) = (&before, &last) {
                self.join(*before, before_word, *at, word);
            }
        }
        last
    }

    fn word(&mut self, word: &str, weight: f64) -> Option<(usize, String)> {
        if is_stop_word(word) || word.len() < 2 || word.chars().all(|c| c.is_ascii_digit() && word.len() < 3) {
            return None;
        }
        // A possessive's letter, not a word: `parser's`.
        let mut term = Term::word(word, weight);
        if term.stem().is_some_and(is_weak_stem) {
            if weight < 1.0 {
                return None;
            }
            term.weight *= WEAK;
        } else if is_action(word) {
            term.weight *= ACTION;
        }
        Some((self.add(term), word.to_owned()))
    }

    fn add(&mut self, term: Term) -> usize {
        if let Some(at) = self.terms.iter_mut().position(|known| known.absorb(&term)) {
            return at;
        }
        self.terms.push(term);
        self.terms.len() - 1
    }

    fn join(&mut self, left: usize, left_word: &str, right: usize, right_word: &str) {
        let compound = format!("{left_word}{right_word}");
        self.terms[left].add_compound(compound.clone());
        self.terms[right].add_compound(compound);
        self.neighbours.push((left, right));
    }

    /// Keeps the strongest terms, in the order of the text.
    fn finish(mut self) -> (Vec<Term>, Vec<(usize, usize)>) {
        if self.terms.iter().all(Term::is_weak) {
            for term in &mut self.terms {
                term.weight /= WEAK;
            }
        }
        let mut order: Vec<usize> = (0..self.terms.len()).collect();
        order.sort_by(|&a, &b| self.terms[b].weight.total_cmp(&self.terms[a].weight));
        order.truncate(MAX_TERMS);
        order.sort_unstable();
        let place = |index: usize| order.iter().position(|&kept| kept == index);
        let neighbours =
            self.neighbours.iter().filter_map(|&(left, right)| Some((place(left)?, place(right)?))).collect();
        (order.iter().map(|&index| self.terms[index].clone()).collect(), neighbours)
    }
}

/// Splits at line ends and at stops that end a sentence, not at those inside `a.rs` or `e.g.`.
fn sentences(prompt: &str) -> Vec<&str> {
    let mut sentences = Vec::new();
    for line in prompt.lines() {
        let mut rest = line;
        while let Some(end) = sentence_end(rest) {
            sentences.push(rest[..end].trim());
            rest = &rest[end..];
        }
        sentences.push(rest.trim());
    }
    sentences.retain(|sentence| !sentence.is_empty());
    sentences
}

fn sentence_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    (0..bytes.len())
        .find(|&at| matches!(bytes[at], b'.' | b'?' | b'!') && bytes.get(at + 1).is_some_and(|&next| next == b' '))
        .map(|at| at + 1)
}

fn is_instruction(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    INSTRUCTIONS.iter().any(|opening| lower.starts_with(opening))
}

/// Pulls out what stands in quotes or backticks.
fn split_quoted(sentence: &str) -> (Vec<String>, String) {
    let mut quoted = Vec::new();
    let mut rest = String::new();
    let mut remaining = sentence;
    while let Some(open) = remaining.find(['`', '"', '“']) {
        let quote = remaining[open..].chars().next().unwrap_or('"');
        let close = if quote == '“' { '”' } else { quote };
        let after = &remaining[open + quote.len_utf8()..];
        let Some(length) = after.find(close) else { break };
        rest.push_str(&remaining[..open]);
        rest.push(' ');
        quoted.push(after[..length].to_owned());
        remaining = &after[length + close.len_utf8()..];
    }
    rest.push_str(remaining);
    (quoted, rest)
}

fn replace_ignoring_case(text: &str, from: &str, to: &str) -> String {
    match text.to_lowercase().find(from) {
        // Lower-casing may move what is not ASCII; then the text stays as it is.
        Some(at) if text.is_ascii() => format!("{}{to}{}", &text[..at], &text[at + from.len()..]),
        _ => text.to_owned(),
    }
}

fn is_path(token: &str) -> bool {
    let inner_slash = token.trim_start_matches("./").contains('/') && !token.contains("//");
    let extension = token.rsplit_once('.').is_some_and(|(name, extension)| {
        !name.is_empty() && (1..=4).contains(&extension.len()) && extension.chars().all(char::is_alphanumeric)
    });
    // `and/or`, `read/write` are prose; a path has an extension, a root or several steps.
    extension || (inner_slash && (token.ends_with('/') || token.matches('/').count() > 1))
}

fn intent(text: &str) -> Intent {
    let lower = text.to_lowercase();
    let lower = lower.strip_prefix("question:").unwrap_or(&lower).trim();
    let has = |needles: &[&str]| needles.iter().any(|needle| lower.contains(needle));
    if is_work(lower) {
        Intent::Work
    } else if has(&[
        "what calls",
        "who calls",
        "callers of",
        "what uses",
        "who uses",
        "used by",
        "usages of",
        "uses of",
    ]) || has(&["is called", "are called", "is used", "are used", "call sites", "called from"])
    {
        Intent::Uses
    } else if has(&["which files", "what files", "list all", "list the", "list every", "all the places", "enumerate"]) {
        Intent::List
    } else if has(&["defined", "declared", "definition of", "declaration of"]) {
        Intent::Define
    } else if lower.starts_with("how ")
        || lower.starts_with("why ")
        || has(&["explain", "how does", "how is", "how are"])
    {
        Intent::Explain
    } else {
        Intent::Locate
    }
}

fn is_work(lower: &str) -> bool {
    let polite = ["please ", "can you ", "could you ", "i want you to ", "i need you to ", "would you "];
    let mut request = lower;
    for opening in polite {
        request = request.strip_prefix(opening).unwrap_or(request);
    }
    let first = words(request).next().unwrap_or_default();
    WORK.contains(&first) && !lower.ends_with('?') || (request.len() < lower.len() && WORK.contains(&first))
}

fn focus(sentences: &[&str], intent: Intent) -> Focus {
    let said = sentences.iter().find(|sentence| sentence.to_lowercase().starts_with("focus on"));
    if let Some(said) = said {
        let said = said.to_lowercase();
        if said.contains("tests") {
            return Focus::Supporting;
        }
        if said.contains("called") || said.contains("used") {
            return Focus::Uses;
        }
    }
    if intent == Intent::Uses { Focus::Uses } else { Focus::Implementation }
}

/// The words that a name is made of, for a second, looser search.
pub(super) fn loosened(question: &Question) -> Question {
    let mut terms: Vec<Term> = Vec::new();
    for term in &question.terms {
        let parts = if term.is_verbatim() { term.parts() } else { pieces(&term.label) };
        for part in parts {
            let shorter = part.get(..4).filter(|_| part.len() > 5).unwrap_or(&part);
            let loose = Term::word(if term.is_verbatim() { &part } else { shorter }, term.weight);
            if !is_stop_word(&part) && !terms.iter_mut().any(|known| known.absorb(&loose)) {
                terms.push(loose);
            }
        }
    }
    terms.truncate(MAX_TERMS);
    Question { terms, neighbours: Vec::new(), ..question.clone() }
}
