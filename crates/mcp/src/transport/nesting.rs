//! Bounded nesting of a server's messages. JSON parsers give up on a message that is nested too deeply, and the call
//! that waits for it would wait in vain. So the deepest parts are left out, visibly, and everything else arrives.

/// Levels that a message may have. Parsers allow 127, and a message is kept inside others.
const MAX_LEVELS: usize = 100;
/// Stands in the place of an object or a list that is left out.
const LEFT_OUT: &[u8] = b"\"(left out: nested too deeply)\"";

/// Reads messages byte by byte. Each line is a message of its own, or noise.
#[derive(Debug, Default)]
pub(crate) struct Nesting {
    levels: usize,
    is_in_text: bool,
    is_after_backslash: bool,
}

impl Nesting {
    /// Appends the next part of the input to `kept`, without what is nested too deeply.
    pub(crate) fn keep(&mut self, input: &[u8], kept: &mut Vec<u8>) {
        for &byte in input {
            let was_deep = self.levels > MAX_LEVELS;
            match byte {
                // No text of JSON goes on behind the end of a line.
                b'\n' => *self = Self::default(),
                _ if self.is_after_backslash => self.is_after_backslash = false,
                b'\\' if self.is_in_text => self.is_after_backslash = true,
                b'"' => self.is_in_text = !self.is_in_text,
                _ if self.is_in_text => {}
                b'{' | b'[' => self.levels += 1,
                b'}' | b']' => self.levels = self.levels.saturating_sub(1),
                _ => {}
            }
            let is_deep = self.levels > MAX_LEVELS;
            match (was_deep, is_deep) {
                (false, true) => kept.extend(LEFT_OUT),
                (false, false) => kept.push(byte),
                (true, _) if byte == b'\n' => kept.push(byte),
                (true, _) => {}
            }
        }
    }
}

/// One whole message, without what is nested too deeply.
pub(crate) fn shallow(message: &[u8]) -> Vec<u8> {
    let mut kept = Vec::with_capacity(message.len());
    Nesting::default().keep(message, &mut kept);
    kept
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn nested(levels: usize, open: &str, close: &str) -> String {
        format!("{}1{}", open.repeat(levels), close.repeat(levels))
    }

    /// The part of a text that arrives, whatever the size of the parts in which it is read.
    fn kept(text: &str) -> String {
        let kept = shallow(text.as_bytes());
        for size in 1..text.len().min(9) {
            let (mut nesting, mut again) = (Nesting::default(), Vec::new());
            text.as_bytes().chunks(size).for_each(|part| nesting.keep(part, &mut again));
            assert_eq!(again, kept, "in parts of {size} bytes");
        }
        String::from_utf8(kept).unwrap()
    }

    #[test]
    fn what_is_nested_too_deeply_is_left_out_visibly() {
        for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"]\":[", "]}]")] {
            let shallow = nested(30, open, close);
            assert_eq!(kept(&shallow), shallow);
            for levels in [101, 127, 128, 5_000] {
                let message = format!("{{\"id\":1,\"deep\":{},\"then\":\"kept\"}}", nested(levels, open, close));
                let parsed: Value = serde_json::from_str(&kept(&message)).unwrap();
                assert_eq!((&parsed["id"], &parsed["then"]), (&json!(1), &json!("kept")));
                assert!(parsed["deep"].to_string().contains("(left out: nested too deeply)"));
            }
        }
    }

    #[test]
    fn brackets_in_a_text_and_noise_do_not_count() {
        let text = json!({ "text": "[".repeat(500), "quoted": "\"[{\\", "[[": [] }).to_string();
        assert_eq!(kept(&text), text);
        let noise = format!("{}\n\"half a text\n{text}\n", "[".repeat(300));
        assert!(kept(&noise).ends_with(&format!("\n\"half a text\n{text}\n")), "{}", kept(&noise));
    }
}
