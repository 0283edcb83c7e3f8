//! As much of a terminal as the displays use: lines, cursor up, carriage return, erase below. Anything else panics.

#[derive(Default)]
pub(super) struct Terminal {
    rows: Vec<String>,
    row: usize,
}

impl Terminal {
    pub(super) fn write(&mut self, text: &str) {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            if let Some(sequence) = rest.strip_prefix("\x1b[") {
                let end = sequence.find(|letter: char| letter.is_ascii_alphabetic()).expect("a whole sequence");
                self.obey(&sequence[..=end]);
                rest = &sequence[end + 1..];
                continue;
            }
            match letter {
                '\n' => self.row += 1,
                '\r' => {}
                printed => {
                    self.rows.resize(self.rows.len().max(self.row + 1), String::new());
                    self.rows[self.row].push(printed);
                }
            }
            rest = &rest[letter.len_utf8()..];
        }
    }

    fn obey(&mut self, sequence: &str) {
        match sequence.split_at(sequence.len() - 1) {
            (count, "A") => self.row -= count.parse::<usize>().expect("a number of rows"),
            ("", "J") => self.rows.truncate(self.row),
            other => panic!("the displays do not use {other:?}"),
        }
    }

    pub(super) fn text(&self) -> String {
        self.rows.iter().map(|row| row.clone() + "\n").collect()
    }
}
