use std::fs;

use sortie_sandbox::SpillDir;
use sortie_sandbox::process::{Ended, OutputCaps, Shell, Tier};

use super::cell::{Cell, start};

fn run(cell: &Cell, command: &str, caps: OutputCaps<'_>) -> (Ended, Vec<u8>) {
    let shell = Shell { command, directory: &cell.root, environment: &cell.environment, deadline: None };
    let mut shown = Vec::new();
    let running = start(cell.tier, &cell.walls, &shell).unwrap();
    let ended = running.finish(caps, &mut |bytes| shown.extend_from_slice(bytes)).unwrap();
    (ended, shown)
}

#[test]
fn output_and_errors_arrive_in_the_order_written() {
    let cell = Cell::new(Tier::Namespaces);
    let output = cell.run("for i in 1 2 3; do echo out $i; echo err $i >&2; done");
    assert_eq!(output, "out 1\nerr 1\nout 2\nerr 2\nout 3\nerr 3\n");
}

#[test]
fn a_short_output_is_not_spilled() {
    let cell = Cell::new(Tier::Namespaces);
    let directory = tempfile::tempdir().unwrap();
    let spill = SpillDir::open(&directory.path().join("spill")).unwrap();
    let (ended, shown) = run(&cell, "printf 12345", OutputCaps { unspilled: 5, spill: Some(&spill) });
    assert_eq!(shown, b"12345");
    assert_eq!((ended.output.total, ended.output.dropped, ended.output.spilled), (5, 0, None));
}

#[test]
fn a_long_output_is_shown_and_spilled_from_the_start() {
    let cell = Cell::new(Tier::Namespaces);
    let directory = tempfile::tempdir().unwrap();
    let spill = SpillDir::open(&directory.path().join("spill")).unwrap();
    let caps = OutputCaps { unspilled: 5, spill: Some(&spill) };
    let (ended, shown) = run(&cell, "printf 123; printf 456; printf 789", caps);
    assert_eq!(shown, b"123456789");
    assert_eq!((ended.output.total, ended.output.dropped), (9, 0));
    assert_eq!(fs::read(ended.output.spilled.unwrap()).unwrap(), b"123456789");
}

#[test]
fn an_endless_output_is_spilled_up_to_a_cap_and_fully_counted() {
    let cell = Cell::new(Tier::Namespaces);
    let directory = tempfile::tempdir().unwrap();
    let spill = SpillDir::open(&directory.path().join("spill")).unwrap();
    let caps = OutputCaps { unspilled: 1000, spill: Some(&spill) };
    let (ended, shown) = run(&cell, "yes | head -c 30000001", caps);
    assert_eq!(shown.len(), 30_000_001);
    assert_eq!(ended.output.total, 30_000_001);
    assert_eq!(ended.output.dropped, 30_000_001 - OutputCaps::SPILLED);
    assert_eq!(fs::metadata(ended.output.spilled.unwrap()).unwrap().len(), OutputCaps::SPILLED);
}

#[test]
fn without_a_spill_directory_the_dropped_bytes_are_counted() {
    let cell = Cell::new(Tier::Namespaces);
    let (ended, shown) = run(&cell, "printf 123456789", OutputCaps { unspilled: 4, spill: None });
    assert_eq!(shown, b"123456789");
    assert_eq!((ended.output.total, ended.output.dropped, ended.output.spilled), (9, 9, None));
}

#[test]
fn output_that_is_not_text_is_unchanged() {
    let cell = Cell::new(Tier::Namespaces);
    let (_, shown) = run(&cell, r"printf '\377\000\n\033'", OutputCaps { unspilled: 100, spill: None });
    assert_eq!(shown, b"\xff\0\n\x1b");
}
