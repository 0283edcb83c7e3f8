//! A directory that turns into a link, and back, while it is being used.

use std::fs;
use std::io::Read;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::fs::{CWD, RenameFlags, renameat_with};

use sortie_sandbox::Expected;

use crate::fixture::{Fixture, INSIDE, assert_nothing_left_behind, tree, while_repeating};

const OPENS: usize = 10_000;

#[test]
fn s05_outside_bytes_are_never_read_while_a_directory_and_a_link_are_swapped() {
    let fixture = Fixture::new();
    while_swapping(&fixture, || {
        let by_path = fixture.text_of("sub/deep/file.txt").ok();
        let whole = fixture.workspace.read_whole("sub/deep/file.txt", 100).ok();
        let path = Path::new("sub/deep/file.txt");
        let by_walk = fixture.workspace.open_relative(path).ok().map(text_of);
        let by_listing = fixture.workspace.open_listed(path).ok().map(text_of);
        assert!(by_path.iter().chain(&by_walk).chain(&by_listing).all(|text| text == INSIDE));
        assert!(whole.is_none_or(|(bytes, _)| bytes == INSIDE.as_bytes()));
        by_path.is_some() && by_walk.is_some() && by_listing.is_some()
    });
}

fn text_of(mut file: fs::File) -> String {
    let mut text = String::new();
    file.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn s05_outside_names_are_never_listed_while_a_directory_and_a_link_are_swapped() {
    let fixture = Fixture::new();
    fs::write(fixture.base.join("proj-secret/deep/only-outside"), "").unwrap();
    while_swapping(&fixture, || match fixture.workspace.read_dir(Path::new("sub/deep")) {
        Ok(entries) => {
            assert!(entries.flatten().all(|entry| entry.name == "file.txt"));
            true
        }
        Err(_) => false,
    });
}

#[test]
fn s05_nothing_outside_is_replaced_while_a_directory_and_a_link_are_swapped() {
    let fixture = Fixture::in_memory();
    let outside = tree(&fixture.base.join("proj-secret"));
    let mut last_seen = fixture.workspace.stamp("sub/deep/file.txt").unwrap();
    while_swapping(&fixture, || {
        if let Ok((bytes, stamp)) = fixture.workspace.read_whole("sub/deep/file.txt", 100) {
            assert!(bytes.starts_with(INSIDE.as_bytes()));
            last_seen = stamp;
        }
        let expected = Expected::Content { stamp: last_seen };
        fixture.workspace.write("sub/deep/file.txt", b"inside, again", expected).is_ok()
    });
    assert_eq!(tree(&fixture.base.join("proj-secret")), outside);
    assert_nothing_left_behind(&fixture.base);
}

#[test]
fn s06_nothing_is_created_outside_while_a_directory_and_a_link_are_swapped() {
    let fixture = Fixture::in_memory();
    let outside = tree(&fixture.base.join("proj-secret"));
    let mut n_written = 0;
    while_swapping(&fixture, || {
        n_written += 1;
        let path = format!("sub/new-{n_written}/a/file.txt");
        fixture.workspace.write(&path, b"new", Expected::Absent).is_ok()
    });
    assert_eq!(tree(&fixture.base.join("proj-secret")), outside);
    assert_nothing_left_behind(&fixture.base);
}

/// Repeats `open` while `sub` alternates between a directory inside and a link to one outside. `open` returns whether
/// it got in; both answers must occur, or there was no race.
fn while_swapping(fixture: &Fixture, mut open: impl FnMut() -> bool) {
    let (sub, link) = (fixture.base.join("proj/sub"), fixture.base.join("link"));
    symlink(fixture.base.join("proj-secret"), &link).unwrap();
    while_repeating(
        || renameat_with(CWD, &sub, CWD, &link, RenameFlags::EXCHANGE).unwrap(),
        || {
            let (start, mut n_in, mut n_out) = (Instant::now(), 0, 0);
            while n_in + n_out < OPENS || n_in == 0 || n_out == 0 {
                if open() {
                    n_in += 1;
                } else {
                    n_out += 1;
                }
                assert!(start.elapsed() < Duration::from_mins(1), "{n_in} in, {n_out} out");
            }
        },
    );
}
