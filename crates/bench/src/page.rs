//! Putting the table into the documentation, between two marks.

use std::path::Path;

use anyhow::{Context, Result};

const BEGIN: &str = "<!-- figures: written by `cargo xtask bench --write` -->";
const END: &str = "<!-- end of figures -->";

pub(super) fn write(path: &Path, table: &str) -> Result<()> {
    let page = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let page =
        replace(&page, table).with_context(|| format!("{} has no place marked for the figures", path.display()))?;
    std::fs::write(path, page).with_context(|| format!("cannot write {}", path.display()))
}

fn replace(page: &str, table: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{table}\n{END}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let page = format!("# Page\n{BEGIN}\nold\n{END}\nafter\n");
        assert_eq!(replace(&page, "new\n"), Some(format!("# Page\n{BEGIN}\n\nnew\n\n{END}\nafter\n")));
        assert_eq!(replace("# Page\n", "new\n"), None);
    }
}
