//! Files that a reader can hold in mind: 100 to 300 lines is normal, 500 a question, 800 too many.

use std::path::Path;

use super::file::File;
use super::finding::Finding;

const QUESTION: usize = 500;
const TOO_MANY: usize = 800;

/// Counts lines without inline test modules. A file that is all tests counts as a whole: it is also read as one.
pub(super) fn fits(file: &File) -> Vec<Finding> {
    let lines = if file.is_rust() {
        let all_tests = file.lines().all(|line| line.test);
        file.lines().filter(|line| all_tests || !line.test).count()
    } else if Path::new(file.path()).extension().is_some_and(|extension| extension == "py") {
        file.text().lines().count()
    } else {
        return Vec::new();
    };
    let mend = "find the second responsibility in it and give that a file of its own";
    if lines > TOO_MANY {
        vec![Finding::error(file.path(), format!("{lines} lines, more than {TOO_MANY}"), mend)]
    } else if lines > QUESTION {
        vec![Finding::warning(file.path(), format!("{lines} lines, more than {QUESTION}"), mend)]
    } else {
        Vec::new()
    }
}

/// Lines of Rust that `xtask` may have, with its tests. It is compiled before anything else is checked.
const XTASK: usize = 5000;

/// `xtask` keeps only what checks the repository.
pub(super) fn xtask_stays_small(files: &[File]) -> Vec<Finding> {
    let own = files.iter().filter(|file| file.owner() == Some("xtask") && file.is_rust());
    let lines: usize = own.map(|file| file.text().lines().count()).sum();
    let what = format!("{lines} lines of Rust, more than {XTASK}");
    let mend = "move programs that only start from here to crates/bench or crates/torture, or simplify";
    (lines > XTASK).then(|| Finding::error("xtask", what, mend)).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::finding::{Weight, render};
    use super::*;

    fn check(path: &str, text: &str) -> Vec<Finding> {
        fits(&File::new(path, text))
    }

    #[test]
    fn long_files_are_a_question_and_very_long_ones_an_error() {
        assert_eq!(check("crates/a/src/a.rs", &"fn a() {}\n".repeat(500)), []);
        assert_eq!(check("crates/a/src/a.rs", &"fn a() {}\n".repeat(501))[0].weight, Weight::Warning);
        let found = check("crates/a/src/a.rs", &"fn a() {}\n".repeat(801));
        assert_eq!(found[0].weight, Weight::Error);
        assert_eq!(render(&found), "crates/a/src/a.rs: 801 lines, more than 800\n");
    }

    #[test]
    fn xtask_has_its_own_limit() {
        let files = |lines: usize| {
            let part = |name: &str, lines: usize| File::new(name, "// a\n".repeat(lines));
            [part("xtask/src/a.rs", lines), part("xtask/src/b.rs", 1), part("crates/a/src/a.rs", 9)]
        };
        assert_eq!(xtask_stays_small(&files(4999)), []);
        assert_eq!(render(&xtask_stays_small(&files(5000))), "xtask: 5001 lines of Rust, more than 5000\n");
    }

    #[test]
    fn an_inline_test_module_does_not_count_and_a_test_file_does() {
        let tests = "fn a() {}\n".repeat(900);
        assert_eq!(check("crates/a/src/a.rs", &format!("fn a() {{}}\n#[cfg(test)]\nmod tests {{\n{tests}}}\n")), []);
        assert_eq!(check("crates/a/tests/it/a.rs", &tests).len(), 1);
    }
}
