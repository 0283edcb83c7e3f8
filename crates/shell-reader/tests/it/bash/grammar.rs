//! Lines as people, models and attackers write them.

use super::super::draw::Draw;

/// Marks inserted into a line to spoil it.
const MARKS: [&str; 25] = [
    ";", "&", "|", "<", ">", "(", ")", "{", "}", "$", "`", "'", "\"", "\\", " ", "\n", "\t", "#", "!", "*", "?", "[",
    "]", "~", "=",
];

/// Words that are mostly what they seem.
const WORDS: [&str; 29] = [
    "a",
    "b-c",
    "--flag",
    "-o",
    "k=v",
    "'one word'",
    "\"two words\"",
    "--m='x y'",
    "a#b",
    "#c",
    "{}",
    "{",
    "}",
    "[",
    "]",
    "!",
    "if",
    "then",
    "done",
    "in",
    "2",
    "-",
    "--",
    "\\;",
    "\"\\$x\"",
    "\"a\\\\b\"",
    "a:b",
    "@{u}",
    "HEAD~1",
];

/// Words that the shell expands or rewrites.
const EXPANDED: [&str; 33] = [
    "$x",
    "${x}",
    "\"$x\"",
    "${x:-d}",
    "${z:-d e}",
    "\"${x%w}\"",
    "*",
    "s*b",
    "{a,b}",
    "{1..3}",
    "~",
    "k=~",
    "$'\\x61b'",
    "$'a\\'b'",
    "a\\ b",
    "\\a",
    "b''c",
    "\"\"a",
    "$((1+2))",
    "${#x}",
    "$?",
    "$IFS",
    "\"$@\"",
    "${x@P}",
    "${!x}",
    "$[1]",
    "${x:=d}",
    "$'\\n'",
    "\"a\nb\"",
    "é",
    "$\"x\"",
    "{a,'b}'",
    "it's'",
];

/// Draws one line. The number makes its file names unique.
pub(super) fn line(draw: &mut Draw, number: usize) -> String {
    let plain = draw.once_in(2);
    let mut writer = Writer { draw, number, plain, files: 0, text: String::new() };
    writer.list(3);
    let mut text = writer.text;
    if draw.once_in(4) {
        for _ in 0..=draw.below(2) {
            let places: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = places.get(draw.below(places.len().max(1) as u64) as usize).copied().unwrap_or(0);
            if draw.once_in(3) && !text.is_empty() {
                text.remove(at);
            } else {
                text.insert_str(at, draw.one_of(&MARKS));
            }
        }
    }
    text
}

struct Writer<'a> {
    draw: &'a mut Draw,
    number: usize,
    /// True if every word is what it seems.
    plain: bool,
    files: usize,
    text: String,
}

impl Writer<'_> {
    fn add(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn one_of(&mut self, choices: &[&str]) {
        let choice = self.draw.one_of(choices);
        self.add(choice);
    }

    fn list(&mut self, depth: u64) {
        for index in 0..=self.draw.below(3) {
            if index > 0 {
                self.one_of(&[
                    "; ", ";", " && ", "&&", " || ", " | ", "|", " & ", "\n", "\n\n", " |& ", " &&\n", " #c\n",
                ]);
            }
            self.command(depth);
        }
    }

    fn command(&mut self, depth: u64) {
        if depth == 0 || self.draw.below(10) < 6 {
            return self.simple(depth);
        }
        let depth = depth - 1;
        match self.draw.below(9) {
            0 => self.between("(", ")", depth),
            1 => self.between("{ ", "; }", depth),
            2 => {
                self.between("if ", "; ", depth);
                self.between("then ", "; ", depth);
                if self.draw.once_in(2) {
                    self.between("else ", "; ", depth);
                }
                self.add("fi");
            }
            3 => {
                self.one_of(&["while w; do ", "until u; do ", "while a\nw\ndo "]);
                self.between("", "; done", depth);
            }
            4 => {
                self.add("for i in ");
                self.word(depth);
                self.add(" b; do ");
                self.between("", "; done", depth);
            }
            5 => {
                self.add("case ");
                self.word(depth);
                self.one_of(&[" in a) ", " in (a|b) ", " in\n*) "]);
                self.between("", ";; ", depth);
                self.one_of(&["*) ", "x|y) "]);
                self.between("", " ;; esac", depth);
            }
            6 => {
                self.one_of(&["[[ -n ", "[[ -f a && ", "[[ ! -d "]);
                self.word(depth);
                self.add(" ]]");
            }
            7 => {
                self.add("f() { ");
                self.between("", "; }; f", depth);
            }
            _ => {
                self.one_of(&["! ", "time "]);
                self.simple(depth);
            }
        }
        if self.draw.once_in(6) {
            self.redirect(depth);
        }
    }

    fn between(&mut self, before: &str, behind: &str, depth: u64) {
        self.add(before);
        self.list(depth);
        self.add(behind);
    }

    fn simple(&mut self, depth: u64) {
        if self.draw.once_in(20) {
            self.one_of(&["k=v ", "LANG=C ", "x=$y ", "> q ", "k+=v "]);
        }
        if self.draw.once_in(12) {
            self.one_of(&["command ", "exec ", "builtin ", "nice "]);
        }
        let kind = self.draw.below(24);
        match if self.plain && kind == 2 { 3 } else { kind } {
            0 => return self.one_of(&["cd sub", "cd sub/deep", "cd ./sub", "cd nowhere", "cd", "cd -", "cd sub/.."]),
            1 => {
                return self.one_of(&[
                    "true",
                    "false",
                    ":",
                    "[ -f a ]",
                    "echo b",
                    "printf %s b",
                    "x=1",
                    "exit",
                    "wait",
                ]);
            }
            2 => self.one_of(&["$x", "a>(b)", "{a,b}", "\\a", "a''", "$'\\x61'", "\"b\"", "'c'", "zz", "sub/a"]),
            _ => self.one_of(&["a", "b", "c"]),
        }
        for _ in 0..self.draw.below(4) {
            self.one_of(&[" ", " ", " ", "  ", "\t", " \\\n"]);
            self.word(depth);
        }
        if self.draw.once_in(6) {
            self.redirect(depth);
        }
    }

    fn word(&mut self, depth: u64) {
        let kind = if self.plain { 9 } else { self.draw.below(16) };
        match kind {
            0 if depth > 0 => self.between("$(", ")", depth - 1),
            1 if depth > 0 => self.between("\"$(", ")\"", depth - 1),
            2 if depth > 0 => self.between("`", "`", depth.min(1) - 1),
            3 if depth > 0 => self.between("<(", ")", depth - 1),
            4 | 5 => self.one_of(&EXPANDED),
            6 => {
                self.one_of(&WORDS);
                self.one_of(&WORDS);
            }
            _ => self.one_of(&WORDS),
        }
    }

    fn redirect(&mut self, depth: u64) {
        self.files += 1;
        let file = format!("o{}_{}", self.number, self.files);
        match self.draw.below(12) {
            0..=3 => {
                self.one_of(&[" >", " > ", ">", " >>", " >|", " 2>", " 1> ", " &>", " &>> ", " <>"]);
                self.one_of(&["", "sub/", "./", "'", "home//"]);
                let quoted = self.text.ends_with('\'');
                self.add(&file);
                self.add(if quoted { "'" } else { "" });
            }
            4 => {
                self.one_of(&[
                    " 2>&1",
                    " 99999999999>&2",
                    " >&2",
                    " >/dev/null",
                    " 2>/dev/null",
                    " <&-",
                    " </dev/null",
                ]);
            }
            5 => {
                self.one_of(&[
                    " <<E\ntext\nE\n",
                    " <<'E'\n$(a q)\nE\n",
                    " <<E\n$(a r) `b s`\nE\n",
                    " <<-E\n\tt\n\tE\n",
                ]);
            }
            6 => {
                self.add(" <<< ");
                self.word(depth);
            }
            7 => {
                self.add(" > ");
                self.word(depth);
            }
            8 => self.one_of(&[" <a", " < sub/a"]),
            _ => self.one_of(&[" 2>&1", " >/dev/null"]),
        }
    }
}
