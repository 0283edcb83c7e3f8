use super::*;

const PLAN: &[Plan] = &[Plan { folder: "a", rooms: "low high", front: "door", other_sizes: &[] }];
const STRICT: &[Plan] = &[Plan { folder: "a", rooms: "low", front: "", other_sizes: &[] }];
const EXCUSED: &[Plan] = &[Plan { other_sizes: &[("low", "one file per noun")], ..STRICT[0] }];

const PAGE: &str = "# Map\n\n### Rooms of `a`\n\n| Room | Owns |\n| --- | --- |\n| `low` | Owns nouns |\n| `high` | Owns verbs |\n\nEnd.\n";

/// The crate without a fault.
fn sound() -> Vec<(&'static str, String)> {
    let file = |path, text: &str| (path, text.to_owned());
    vec![
        file("ARCHITECTURE.md", PAGE),
        file(
            "crates/a/src/lib.rs",
            "//! A.\n\nmod door;\nmod high;\nmod low;\n\npub use door::Door;\npub use high::verb::{Verb as Deed};\npub(crate) use low::Noun;\npub use other::Thing;\n",
        ),
        file(
            "crates/a/src/door.rs",
            "//! The front door.\n\nuse crate::{Deed, high::verb, low};\n\npub struct Door;\n",
        ),
        file(
            "crates/a/src/low.rs",
            "//! Owns nouns.\n\nmod tests;\n\nuse crate::Thing;\n\npub struct Noun;\nimpl Noun {}\n",
        ),
        file("crates/a/src/low/a.rs", ""),
        file("crates/a/src/low/b.rs", ""),
        file("crates/a/src/high/a.rs", ""),
        file("crates/a/src/low/tests.rs", "use super::*;\nimpl Noun {}\n"),
        file("crates/a/src/high.rs", "//! Owns verbs. And more.\n\nmod verb;\n\nuse crate::Noun;\n"),
        file(
            "crates/a/src/high/verb.rs",
            "use super::super::low::Noun;\n// crate::door::Door\npub struct Verb;\nimpl<'a> Verb<'a> {}\n",
        ),
        file("crates/a/tests/it/main.rs", "use crate::door;\n"),
    ]
}

fn check(plans: &'static [Plan], files: &[(&str, String)]) -> Vec<String> {
    let files: Vec<File> = files.iter().map(|(path, text)| File::new(path, text.clone())).collect();
    check_plans(plans, &files).iter().map(ToString::to_string).collect()
}

/// Findings when one file has this text, or is added with it.
fn with(path: &'static str, text: &str) -> Vec<String> {
    let mut files = sound();
    files.retain(|(other, _)| *other != path);
    files.push((path, text.to_owned()));
    check(PLAN, &files)
}

#[test]
fn a_sound_crate_passes() {
    assert_eq!(check(PLAN, &sound()), [] as [&str; 0]);
}

#[test]
fn an_upward_import_is_found_by_whatever_path() {
    let imports = [
        ("use crate::high::verb::Verb;", "high", "high::verb::Verb"),
        ("use super::super::{Noun, high};", "high", "high"),
        ("fn f() { crate::high::verb::g() }", "high", "high::verb::g"),
        ("use crate::{Noun, Deed};", "high", "Deed"),
        ("use crate::Door;", "door", "Door"),
        ("use crate::low::{self, super_};\nuse crate::door;", "door", "door"),
        ("#[cfg(test)]\nmod tests { use super::super::super::high; }", "high", "high"),
        ("use crate::Config;", "lib.rs", "Config"),
    ];
    for (import, to, path) in imports {
        let line = import.matches('\n').count() + 1;
        let what = format!("`low` uses `{to}`, which lies above it: `crate::{path}`");
        let found =
            format!("error: crates/a/src/low/b.rs:{line}: {what}\n    mend: move the item down, or pass a port");
        assert_eq!(with("crates/a/src/low/b.rs", import), [found], "{import}");
    }
    for fine in
        ["// use crate::high;", "let a = \"crate::high\";", "pub(in crate::high) struct A;", "use crate::low::Noun;"]
    {
        assert_eq!(with("crates/a/src/low/b.rs", fine), [] as [&str; 0], "{fine}");
    }
}

#[test]
fn a_front_file_may_have_its_place_below_a_room() {
    const LOW_DOOR: &[Plan] = &[Plan { rooms: "low door high", ..PLAN[0] }];
    let found = check(LOW_DOOR, &sound());
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[0].starts_with("error: crates/a/src/door.rs:3: `door` uses `high`"), "{found:?}");
}

#[test]
fn a_file_or_a_folder_outside_the_rooms_is_found() {
    let mend = "    mend: move it into one of low, high, or name it in xtask/src/tidy/rooms.rs";
    assert_eq!(
        with("crates/a/src/stray.rs", "use crate::door;\n"),
        [format!("error: crates/a/src/stray.rs:1: `stray.rs` lies outside the rooms of `a`\n{mend}")]
    );
    assert_eq!(
        with("crates/a/src/more/b.rs", ""),
        [format!("error: crates/a/src/more/b.rs:1: the folder `more` is no room of `a`\n{mend}")]
    );
}

#[test]
fn an_impl_away_from_home_is_found() {
    assert_eq!(
        with("crates/a/src/high/b.rs", "use crate::Noun;\nimpl Display for Noun {}\nimpl Noun { }\n"),
        [
            "error: crates/a/src/high/b.rs:3: an impl of `Noun` outside `low`, which declares it\n    mend: move it into `low`, or make it a function of `high`"
        ]
    );
    assert_eq!(with("crates/a/src/high/b.rs", "struct Noun;\nimpl Noun { }\n"), [] as [&str; 0]);
}

#[test]
fn a_type_with_methods_in_three_files_is_found() {
    let mut files = sound();
    files.push(("crates/a/src/low/c.rs", "impl Noun {}\n".to_owned()));
    assert_eq!(check(PLAN, &files), [] as [&str; 0]);
    files.push(("crates/a/src/low/d.rs", "impl Noun {}\n".to_owned()));
    assert_eq!(
        check(PLAN, &files),
        [
            "error: crates/a/src/low.rs:7: `Noun` has its methods in 3 files: low.rs, low/c.rs, low/d.rs\n    mend: find the second type in it, and give that its own fields and methods"
        ]
    );
}

#[test]
fn missing_stale_superfluous_and_misplaced_rows_are_found() {
    let mend = "    mend: run `cargo xtask tidy --write`, which takes the rows from the `//!` of the rooms";
    let (low, high) = ("| `low` | Owns nouns |\n", "| `high` | Owns verbs |\n");
    for (page, found) in [
        (PAGE.replace(low, ""), "3: no row for the room `low`"),
        (PAGE.replace("nouns", "things"), "7: the room `low` says of itself: | `low` | Owns nouns |"),
        (
            PAGE.replace(low, &format!("{low}| `attic` | Dust |\n")),
            "8: a row that belongs to no room: | `attic` | Dust |",
        ),
        (
            PAGE.replace(low, "").replace(high, &format!("{high}{low}")),
            "3: the rooms are not in their order, lowest first",
        ),
    ] {
        assert_eq!(with("ARCHITECTURE.md", &page), [format!("error: ARCHITECTURE.md:{found}\n{mend}")]);
        assert_eq!(write(&page).as_deref(), Some(PAGE));
    }
    assert_eq!(write(PAGE), None);
    assert_eq!(
        with("ARCHITECTURE.md", "# Map\n"),
        [
            "error: ARCHITECTURE.md: no heading `### Rooms of `a``\n    mend: write it where the table shall stand, and run `cargo xtask tidy --write`"
        ]
    );
    assert_eq!(
        with("ARCHITECTURE.md", &format!("{PAGE}### Rooms of `b`\n")),
        [
            "error: ARCHITECTURE.md:11: `### Rooms of `b`` is of a crate without rooms\n    mend: delete the table, or add the crate to xtask/src/tidy/rooms.rs"
        ]
    );
}

#[test]
fn a_heading_gets_its_table() {
    let bare = "# Map\n\n### Rooms of `a`\n\nEnd.\n";
    assert_eq!(write(bare).as_deref(), Some(PAGE));
}

fn write(page: &str) -> Option<String> {
    let mut files: Vec<File> = sound().into_iter().map(|(path, text)| File::new(path, text)).collect();
    files[0] = File::new("ARCHITECTURE.md", page);
    map::rewritten(&houses(PLAN, &files), map::page(&files)?)
}

#[test]
fn a_room_that_does_not_say_what_it_owns_is_found() {
    let found = with("crates/a/src/low.rs", "pub struct Noun;\n");
    assert_eq!(
        found[0],
        "error: crates/a/src/low.rs:1: the room does not say what it owns\n    mend: begin with `//!` and one plain sentence that says what the room owns"
    );
}

#[test]
fn a_room_of_an_odd_size_is_found_unless_it_has_a_reason() {
    let size = |files: usize, plans| {
        let mut all = vec![("ARCHITECTURE.md", PAGE.replace("| `high` | Owns verbs |\n", ""))];
        all.push(("crates/a/src/low.rs", "//! Owns nouns.\n".to_owned()));
        all.push(("crates/a/src/low/tests.rs", String::new()));
        for index in 1..files {
            let path = format!("crates/a/src/low/f{index}.rs");
            all.push((Box::leak(path.into_boxed_str()), String::new()));
        }
        all.push(("crates/a/src/low/f1/part.rs", String::new()));
        check(plans, &all)
    };
    let mend = "    mend: join it with a neighbour, or split it; or give the reason as one of `other_sizes` in xtask/src/tidy/rooms.rs";
    for files in [2, 13] {
        let what = format!("the room `low` has {files} files, and a room has 3 to 12");
        assert_eq!(size(files, STRICT), [format!("error: crates/a/src/low.rs:1: {what}\n{mend}")]);
    }
    for files in [3, 12] {
        assert_eq!(size(files, STRICT), [] as [&str; 0]);
    }
    assert_eq!(size(13, EXCUSED), [] as [&str; 0]);
    assert_eq!(
        size(3, EXCUSED),
        [
            "error: crates/a/src/low.rs:1: `low` has the size of other rooms by now\n    mend: take it out of `other_sizes` in xtask/src/tidy/rooms.rs"
        ]
    );
}

#[test]
fn superfluous_and_missing_rooms_are_found() {
    const ELEVEN: &[Plan] = &[Plan { rooms: "low high c d e f g h i j k", ..PLAN[0] }];
    let found = check(ELEVEN, &sound());
    assert!(
        found[0].starts_with("error: crates/a/src: `a` has 11 rooms, more than 10\n    mend: join rooms"),
        "{found:?}"
    );
    assert!(
        found[1].starts_with("error: crates/a/src/c.rs: the room `c` has no file\n    mend: write it with"),
        "{found:?}"
    );
}
