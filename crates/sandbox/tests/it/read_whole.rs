//! Files read whole: bytes and stamp belong together, and the size is limited.

use std::fs::{self, File};
use std::time::{Duration, Instant};

use sortie_sandbox::{AccessError, Expected, Workspace};

use crate::fixture::{Fixture, INSIDE, while_repeating};

#[test]
fn a_file_is_read_with_its_current_stamp() {
    let fixture = Fixture::new();
    let (bytes, stamp) = fixture.workspace.read_whole("in_file", 6).unwrap();
    assert_eq!(bytes, INSIDE.as_bytes());
    assert_eq!(stamp, fixture.workspace.stamp("sub/deep/file.txt").unwrap());
    fixture.put("empty", "");
    assert_eq!(fixture.workspace.read_whole("empty", 0).unwrap().0, b"");
}

#[test]
fn s14_a_file_over_the_limit_is_refused_before_it_is_read() {
    let fixture = Fixture::new();
    File::create(fixture.path("huge")).unwrap().set_len(1 << 40).unwrap();
    let start = Instant::now();
    for (path, bound, expected) in [("huge", 1 << 30, 1 << 40), ("sub/deep/file.txt", 5, 6)] {
        match fixture.workspace.read_whole(path, bound) {
            Err(AccessError::TooLarge { size, max, .. }) => assert_eq!((size, max), (expected, bound)),
            other => panic!("{path}: {other:?}"),
        }
    }
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_file_with_more_bytes_than_it_reports_is_not_read_as_empty() {
    let made_up = Workspace::open("/proc/self".as_ref()).unwrap();
    assert!(matches!(made_up.read_whole("status", 1 << 20), Err(AccessError::Unstable { .. })));
}

/// A reader of a file that shrinks and grows gets one of its states, or an error. Nothing is mapped into memory.
#[test]
fn s15_a_file_truncated_during_a_read_gives_one_of_its_states() {
    let fixture = Fixture::in_memory();
    let path = fixture.path("file");
    let change = || {
        for (letter, n_bytes) in [("a", 2_000_001), ("b", 3_000_001), ("c", 1_000_001)] {
            fs::write(&path, letter.repeat(n_bytes)).unwrap();
        }
    };
    change();
    let mut n_read = 0;
    while_repeating(change, || {
        let start = Instant::now();
        while n_read < 30 {
            match fixture.workspace.read_whole("file", 1 << 30) {
                Ok((bytes, stamp)) => {
                    assert_eq!(bytes.len() as u64, stamp.size);
                    assert!(
                        bytes.first() == bytes.last() && bytes.iter().all(|byte| *byte == bytes[0]),
                        "of two states"
                    );
                    n_read += usize::from(!bytes.is_empty());
                }
                Err(AccessError::Unstable { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
            assert!(start.elapsed() < Duration::from_mins(1));
        }
    });
}

#[test]
fn a_stamp_no_longer_matches_once_the_file_was_touched() {
    let fixture = Fixture::new();
    let (_, stamp) = fixture.workspace.read_whole("sub/deep/file.txt", 100).unwrap();
    fixture.put("sub/deep/file.txt", INSIDE);
    assert!(fixture.workspace.write("sub/deep/file.txt", b"new", Expected::Content { stamp }).is_err());
    assert_eq!(fixture.text_of("sub/deep/file.txt").unwrap(), INSIDE);
}
