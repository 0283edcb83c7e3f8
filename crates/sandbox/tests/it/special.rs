//! Special files: refused at once, untouched.

use std::fs;
use std::os::unix::net::UnixListener;
use std::time::{Duration, Instant};

use sortie_sandbox::{AccessError, FileKind, Workspace};

use crate::fixture::{Fixture, INSIDE, while_repeating};

const AT_ONCE: Duration = Duration::from_secs(2);

#[test]
fn s13_pipes_sockets_and_devices_are_refused_at_once() {
    let fixture = Fixture::new();
    fixture.fifo("pipe");
    fixture.link("pipe", "pipe_link");
    let _socket = UnixListener::bind(fixture.base.join("proj/socket")).unwrap();
    let devices = Workspace::open("/dev".as_ref()).unwrap();
    for (workspace, path, expected) in [
        (&fixture.workspace, "pipe", FileKind::Fifo),
        (&fixture.workspace, "pipe_link", FileKind::Fifo),
        (&fixture.workspace, "socket", FileKind::Socket),
        (&devices, "zero", FileKind::CharacterDevice),
        (&devices, "tty", FileKind::CharacterDevice),
    ] {
        let start = Instant::now();
        match workspace.open_file(path) {
            Err(AccessError::NotRegular { kind, .. }) => assert_eq!(kind, expected, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
        assert!(start.elapsed() < AT_ONCE, "{path}: {:?}", start.elapsed());
    }
}

#[test]
fn s13_a_file_replaced_by_a_pipe_or_device_after_listing_is_refused_at_once() {
    let fixture = Fixture::new();
    fixture.fifo("pipe");
    let devices = Workspace::open("/dev".as_ref()).unwrap();
    for (workspace, path, expected) in
        [(&fixture.workspace, "pipe", FileKind::Fifo), (&devices, "zero", FileKind::CharacterDevice)]
    {
        let start = Instant::now();
        match workspace.open_listed(path.as_ref()) {
            Err(AccessError::NotRegular { kind, .. }) => assert_eq!(kind, expected, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
        assert!(start.elapsed() < AT_ONCE, "{path}: {:?}", start.elapsed());
    }
    assert!(matches!(fixture.workspace.open_listed("sub".as_ref()), Err(AccessError::IsDirectory { .. })));
    assert!(matches!(fixture.workspace.open_listed("gone".as_ref()), Err(AccessError::Vanished { .. })));
}

#[test]
fn s13_a_file_that_turns_into_a_pipe_never_blocks_an_open() {
    let fixture = Fixture::new();
    let proj = fixture.base.join("proj");
    let (file, pipe, aside) = (proj.join("file"), proj.join("pipe"), proj.join("aside"));
    fs::write(&file, INSIDE).unwrap();
    fixture.fifo("pipe");
    let swap = || {
        fs::rename(&file, &aside).unwrap();
        fs::rename(&pipe, &file).unwrap();
        fs::rename(&file, &pipe).unwrap();
        fs::rename(&aside, &file).unwrap();
    };
    let slowest = while_repeating(swap, || {
        let mut slowest = Duration::ZERO;
        for _ in 0..5_000 {
            let start = Instant::now();
            if let Ok(text) = fixture.text_of("file") {
                assert_eq!(text, INSIDE);
            }
            slowest = slowest.max(start.elapsed());
        }
        slowest
    });
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
}

#[test]
fn a_file_that_vanishes_is_a_typed_error() {
    let fixture = Fixture::new();
    let path = fixture.base.join("proj/comes-and-goes");
    let come_and_go = || {
        fs::write(&path, INSIDE).unwrap();
        fs::remove_file(&path).unwrap();
    };
    while_repeating(come_and_go, || {
        for _ in 0..5_000 {
            match fixture.text_of("comes-and-goes") {
                Ok(text) => assert!(text == INSIDE || text.is_empty()),
                Err(AccessError::NotFound { .. } | AccessError::Vanished { .. }) => {}
                Err(other) => panic!("{other:?}"),
            }
        }
    });
    let gone = fixture.workspace.open_relative("never-there".as_ref());
    assert!(matches!(gone, Err(AccessError::Vanished { .. })), "{gone:?}");
}
