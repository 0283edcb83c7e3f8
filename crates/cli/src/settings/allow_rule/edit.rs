//! Adds one item to the list `allow` of `[permissions]`, and keeps everything else byte for byte.
//!
//! Each way of writing the table has its own place for the new item. Whatever was written is read back and compared: a
//! change that would mean anything else is not made.

use std::ops::Range;

use toml::de::{DeTable, DeValue};
use toml::{Table, Value};

const SECTION: &str = "permissions";
const LIST: &str = "allow";

/// The text with the rule added; `None` where it cannot be added by a small change.
pub(super) fn with_allowed(text: &str, rule: &str) -> Option<String> {
    if text.contains("\r\n") {
        return with_allowed(&text.replace("\r\n", "\n"), rule).map(|changed| changed.replace('\n', "\r\n"));
    }
    let meant = meant(text, rule)?;
    let item = Value::String(rule.to_owned()).to_string();
    let places =
        [into_list(text, &item), below_header(text, &item), beside_keys(text, &item), Some(at_the_end(text, &item))];
    places.into_iter().flatten().find(|changed| changed.parse::<Table>().is_ok_and(|table| table == meant))
}

/// What the text would have to mean with the rule in it.
fn meant(text: &str, rule: &str) -> Option<Table> {
    let mut table: Table = text.parse().ok()?;
    let section = table.entry(SECTION).or_insert_with(|| Value::Table(Table::new())).as_table_mut()?;
    let list = section.entry(LIST).or_insert_with(|| Value::Array(Vec::new())).as_array_mut()?;
    list.push(Value::String(rule.to_owned()));
    Some(table)
}

/// Behind the last item of a list that is there.
fn into_list(text: &str, item: &str) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let section = table.get_ref().get(SECTION)?.get_ref().as_table()?;
    let list = section.get(LIST)?;
    let DeValue::Array(items) = list.get_ref() else { return None };
    let Some(last) = items.iter().last() else {
        return Some(spliced(text, list.span().start + 1, item));
    };
    let (line, end) = (line_of(text, last.span()), list.span().end);
    if end <= line.end {
        return Some(spliced(text, last.span().end, &format!(", {item}")));
    }
    // On a line of its own, so that a remark stays beside the item that it is about.
    let is_closed = text[last.span().end..line.end].trim_start().starts_with(',');
    let indent = &text[line.start..][..text[line.start..].len() - text[line.start..].trim_start().len()];
    let with_line = spliced(text, line.end, &format!("\n{indent}{item},"));
    Some(if is_closed { with_line } else { spliced(&with_line, last.span().end, ",") })
}

/// Below the line `[permissions]`.
fn below_header(text: &str, item: &str) -> Option<String> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split('#').next().unwrap_or_default();
        let name = code.trim().strip_prefix('[').and_then(|code| code.strip_suffix(']'));
        if name.is_some_and(|name| name.trim() == SECTION) {
            let end = start + line.trim_end_matches('\n').len();
            return Some(spliced(text, end, &format!("\n{LIST} = [{item}]")));
        }
        start += line.len();
    }
    None
}

/// Beside other keys of the table: `permissions.mode = …`, or inside of braces.
fn beside_keys(text: &str, item: &str) -> Option<String> {
    let table = DeTable::parse(text).ok()?;
    let (name, section) = table.get_ref().get_key_value(SECTION)?;
    let after = text[name.span().end..].trim_start();
    if after.starts_with('=') {
        let brace = section.span().start + 1;
        let comma = if section.get_ref().as_table().is_some_and(DeTable::is_empty) { "" } else { "," };
        return Some(spliced(text, brace, &format!(" {LIST} = [{item}]{comma}")));
    }
    let line = line_of(text, name.span());
    Some(spliced(text, line.start, &format!("{SECTION}.{LIST} = [{item}]\n")))
}

/// As a table of its own.
fn at_the_end(text: &str, item: &str) -> String {
    let gap = if text.is_empty() || text.ends_with("\n\n") {
        ""
    } else if text.ends_with('\n') {
        "\n"
    } else {
        "\n\n"
    };
    format!("{text}{gap}[{SECTION}]\n{LIST} = [{item}]\n")
}

/// The line in which something ends, without its line break.
fn line_of(text: &str, span: Range<usize>) -> Range<usize> {
    let start = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.end..].find('\n').map_or(text.len(), |at| span.end + at);
    start..end
}

fn spliced(text: &str, at: usize, more: &str) -> String {
    format!("{}{more}{}", &text[..at], &text[at..])
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: &Expect) {
        expected.assert_eq(&with_allowed(text, "Edit(\"a\")").unwrap_or_else(|| "unchanged".to_owned()));
    }

    #[test]
    fn a_rule_is_added_to_whatever_is_there() {
        check(
            "",
            &expect![[r#"
            [permissions]
            allow = ['Edit("a")']
        "#]],
        );
        check(
            "# mine\ncontract = \"typed\"",
            &expect![[r##"
            # mine
            contract = "typed"

            [permissions]
            allow = ['Edit("a")']
        "##]],
        );
        check(
            "[permissions] # what may be done\nmode = \"plan\"\n\n[llm]\nmax_retries = 1\n",
            &expect![[r#"
            [permissions] # what may be done
            allow = ['Edit("a")']
            mode = "plan"

            [llm]
            max_retries = 1
        "#]],
        );
        check(
            "[permissions]\nallow = []\n",
            &expect![[r#"
            [permissions]
            allow = ['Edit("a")']
        "#]],
        );
        check(
            "[permissions]\nallow = [\"Read\"] # few\ndeny = [\"Write\"]\n",
            &expect![[r#"
            [permissions]
            allow = ["Read", 'Edit("a")'] # few
            deny = ["Write"]
        "#]],
        );
        check(
            "[permissions]\nallow = [\n  # reading\n  \"Read\", # all of it\n  \"LS\" # this, too\n]\n",
            &expect![[r#"
            [permissions]
            allow = [
              # reading
              "Read", # all of it
              "LS", # this, too
              'Edit("a")',
            ]
        "#]],
        );
        check(
            "[permissions]\nallow = [\n  \"Read\",\n  \"LS\"]\n",
            &expect![[r#"
            [permissions]
            allow = [
              "Read",
              "LS", 'Edit("a")']
        "#]],
        );
        check(
            "permissions.mode = \"plan\"\n[llm]\n",
            &expect![[r#"
            permissions.allow = ['Edit("a")']
            permissions.mode = "plan"
            [llm]
        "#]],
        );
        check(
            "permissions = { mode = \"plan\" }\n",
            &expect![[r#"
            permissions = { allow = ['Edit("a")'], mode = "plan" }
        "#]],
        );
        check(
            "permissions = {}\n",
            &expect![[r#"
            permissions = { allow = ['Edit("a")']}
        "#]],
        );
    }

    #[test]
    fn what_cannot_be_changed_by_a_small_change_is_left_alone() {
        for text in ["[permissions\n", "permissions = 1\n", "[permissions]\nallow = \"Read\"\n", "[[permissions]]\n"] {
            assert_eq!(with_allowed(text, "Edit"), None, "{text}");
        }
    }

    #[test]
    fn line_breaks_stay_what_they_are() {
        let changed = with_allowed("[permissions]\r\nmode = \"plan\"\r\n", "Edit");
        assert_eq!(changed.as_deref(), Some("[permissions]\r\nallow = [\"Edit\"]\r\nmode = \"plan\"\r\n"));
    }

    #[test]
    fn a_header_inside_of_a_text_is_no_header() {
        let text = "note = '''\n[permissions]\n'''\n";
        let changed = with_allowed(text, "Edit");
        assert_eq!(changed.as_deref(), Some("note = '''\n[permissions]\n'''\n\n[permissions]\nallow = [\"Edit\"]\n"));
    }
}
