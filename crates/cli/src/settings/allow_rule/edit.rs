//! Adds one item to the list `allow` of `[permissions]`. The remarks, order and layout of everything else stay.
//!
//! The changed text is read back and compared: a change that would mean anything else is not made.

use toml_edit::{Array, DocumentMut, Item, Table, Value};

const SECTION: &str = "permissions";
const LIST: &str = "allow";
const BYTE_ORDER_MARK: char = '\u{feff}';

/// The text with the rule added; `None` where it cannot be added by a small change.
pub(super) fn with_allowed(text: &str, rule: &str) -> Option<String> {
    // Two things that `toml_edit` does not keep.
    if let Some(text) = text.strip_prefix(BYTE_ORDER_MARK) {
        return with_allowed(text, rule).map(|changed| format!("{BYTE_ORDER_MARK}{changed}"));
    }
    if text.contains("\r\n") {
        return with_allowed(&text.replace("\r\n", "\n"), rule).map(|changed| changed.replace('\n', "\r\n"));
    }
    let mut document: DocumentMut = text.parse().ok()?;
    if !document.contains_key(SECTION) {
        let table = table_at_the_end(&mut document, text);
        document.insert(SECTION, Item::Table(table));
    }
    let section = document.get_mut(SECTION)?;
    if section.as_table_like()?.contains_key(LIST) {
        push(section.get_mut(LIST)?.as_array_mut()?, rule);
    } else {
        insert_list(section, rule)?;
    }
    let changed = document.to_string();
    (changed.parse::<toml::Table>().ok()? == meant(text, rule)?).then_some(changed)
}

/// The expected meaning of the text with the rule in it.
fn meant(text: &str, rule: &str) -> Option<toml::Table> {
    let mut table: toml::Table = text.parse().ok()?;
    let section = table.entry(SECTION).or_insert_with(|| toml::Table::new().into()).as_table_mut()?;
    section.entry(LIST).or_insert_with(|| toml::value::Array::new().into()).as_array_mut()?.push(rule.into());
    Some(table)
}

/// A table to be the last one, below whatever remarks end the text.
fn table_at_the_end(document: &mut DocumentMut, text: &str) -> Table {
    let remarks = document.trailing().as_str().unwrap_or_default().to_owned();
    document.set_trailing("");
    let end_of_line = if remarks.is_empty() || remarks.ends_with('\n') { "" } else { "\n" };
    let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
    let mut table = Table::new();
    table.set_position(Some(isize::MAX));
    table.decor_mut().set_prefix(remarks + end_of_line + gap);
    table
}

/// Behind the last item of a list that is there.
fn push(list: &mut Array, rule: &str) {
    let behind_last = if list.trailing_comma() || list.is_empty() {
        list.trailing().as_str()
    } else {
        list.iter().last().and_then(|last| last.decor().suffix()?.as_str())
    };
    let last_remark = behind_last.and_then(|text| text.split_once('\n'));
    let Some((remark, closing)) = last_remark.map(|(remark, rest)| (remark.to_owned(), format!("\n{rest}"))) else {
        return list.push(rule);
    };
    // On a line of its own, so that a remark stays beside the item that it is about.
    let before_last = list.iter().last().and_then(|last| last.decor().prefix()?.as_str());
    let indent = before_last.and_then(|prefix| Some(prefix.rsplit_once('\n')?.1)).unwrap_or("  ");
    let item = Value::from(rule).decorated(format!("{remark}\n{indent}"), "");
    if let Some(last) = list.iter_mut().last() {
        last.decor_mut().set_suffix("");
    }
    list.push_formatted(item);
    list.set_trailing_comma(true);
    list.set_trailing(closing);
}

/// Inserts the list as the first key of the table.
fn insert_list(section: &mut Item, rule: &str) -> Option<()> {
    let list = Value::from(Array::from_iter([rule]));
    match section {
        Item::Table(table) => {
            table.insert(LIST, Item::Value(list));
            table.sort_values_by(|one, _, other, _| (one != LIST).cmp(&(other != LIST)));
        }
        Item::Value(Value::InlineTable(table)) => {
            table.insert(LIST, list);
            table.sort_values_by(|one, _, other, _| (one != LIST).cmp(&(other != LIST)));
        }
        _ => return None,
    }
    Some(())
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
                permissions = { allow = ['Edit("a")'] }
            "#]],
        );
    }

    #[test]
    fn remarks_stay_where_they_are() {
        check(
            "# [permissions]\n# allow = [\"Read\"] # an example",
            &expect![[r##"
                # [permissions]
                # allow = ["Read"] # an example

                [permissions]
                allow = ['Edit("a")']
            "##]],
        );
        check(
            "[permissions] # mine\n# mode = \"plan\"\n\n# the models\n[llm] # all of them\nmax_retries = 1 # few\n# end\n",
            &expect![[r#"
                [permissions] # mine
                allow = ['Edit("a")']
                # mode = "plan"

                # the models
                [llm] # all of them
                max_retries = 1 # few
                # end
            "#]],
        );
        check(
            "[permissions]\nallow = [\n    \"Read\", # all of it\n    # \"LS\",\n]\n",
            &expect![[r#"
                [permissions]
                allow = [
                    "Read", # all of it
                    'Edit("a")',
                    # "LS",
                ]
            "#]],
        );
        check(
            "[permissions]\nallow = [\n  # none yet\n]\n",
            &expect![[r#"
                [permissions]
                allow = [
                  'Edit("a")',
                  # none yet
                ]
            "#]],
        );
        check(
            "[[hooks]]\n[models.fast]\n# keys\n[[hooks]]\nx = 1 # x\n\n# end\n\n",
            &expect![[r#"
                [[hooks]]
                [models.fast]
                # keys
                [[hooks]]
                x = 1 # x

                # end

                [permissions]
                allow = ['Edit("a")']
            "#]],
        );
        check(
            "[permissions.network]\nallow = []\n",
            &expect![[r#"
                [permissions]
                allow = ['Edit("a")']
                [permissions.network]
                allow = []
            "#]],
        );
    }

    #[test]
    fn the_template_takes_a_rule_and_stays_as_it_is() {
        let template = crate::settings::config_template();
        let changed = with_allowed(&template, "Read").unwrap();
        assert_eq!(changed, format!("{template}\n[permissions]\nallow = [\"Read\"]\n"));
        let twice = with_allowed(&changed, "LS").unwrap();
        assert_eq!(twice, changed.replace("[\"Read\"]\n", "[\"Read\", \"LS\"]\n"));
    }

    #[test]
    fn a_table_that_needs_more_than_a_small_change_is_left_alone() {
        for text in ["[permissions\n", "permissions = 1\n", "[permissions]\nallow = \"Read\"\n", "[[permissions]]\n"] {
            assert_eq!(with_allowed(text, "Edit"), None, "{text}");
        }
    }

    #[test]
    fn line_breaks_stay_what_they_are() {
        let changed = with_allowed("[permissions]\r\nmode = \"plan\"\r\n", "Edit");
        assert_eq!(changed.as_deref(), Some("[permissions]\r\nallow = [\"Edit\"]\r\nmode = \"plan\"\r\n"));
        let marked = with_allowed("\u{feff}a = 1\n", "Edit");
        assert_eq!(marked.as_deref(), Some("\u{feff}a = 1\n\n[permissions]\nallow = [\"Edit\"]\n"));
    }

    #[test]
    fn a_header_inside_a_text_is_not_a_header() {
        let text = "note = '''\n[permissions]\n'''\n";
        let changed = with_allowed(text, "Edit");
        assert_eq!(changed.as_deref(), Some("note = '''\n[permissions]\n'''\n\n[permissions]\nallow = [\"Edit\"]\n"));
    }
}
