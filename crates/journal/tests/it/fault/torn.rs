//! A write-ahead log that ends too early or too late, or has a hole.
//!
//! Data that SQLite synced and a disk then lost looks like data that was never written. A cut log is a log as it once
//! was. Reading it gives a complete, older state.

use std::fs;
use std::os::unix::fs::FileExt;

use sortie_journal::{Journal, SqliteJournal};
use sortie_protocol::Fact;

use super::{Answers, Files, Scene, THREADS, Truth, in_shares, is_exhaustive, small_journal};
use crate::support::{Place, append, noticed, render, started, task};

/// Length of the part that is cut away byte by byte.
const REACH: usize = 64 * 1024;

/// SQLite's unit of writing: a page and its header with a checksum.
const FRAME: usize = 4096 + 24;
const LOG_HEADER: usize = 32;

/// A task acknowledged event by event, and the length of the log after each.
async fn acknowledged_events() -> (Files, Vec<usize>) {
    let place = Place::new();
    let journal = place.open();
    let log = super::log_of(&place.path());
    let mut lengths = Vec::new();
    append(&journal, [started(task('a'))]).await.unwrap();
    for number in 2.. {
        let length = fs::metadata(&log).unwrap().len() as usize;
        lengths.push(length);
        if length > REACH + 16 * FRAME {
            break;
        }
        append(&journal, [noticed(task('a'), &number.to_string())]).await.unwrap();
    }
    let files = Files::of(&place);
    drop(journal);
    (files, lengths)
}

/// Exact number of events in a log cut to this length.
fn committed(lengths: &[usize], cut: usize) -> usize {
    lengths.iter().filter(|length| **length <= cut).count()
}

#[tokio::test]
async fn a_log_cut_at_any_byte_is_read_up_to_the_last_commit_before_it() {
    let (files, lengths) = acknowledged_events().await;
    let end = files.log.len();
    in_shares(|share| {
        let scene = files.lay_out();
        let log = Scene::writable(&scene.log);
        // From long to short, so that nothing has to be written again.
        for cut in (end - REACH..=end)
            .rev()
            .filter(|cut| is_exhaustive() || is_near_a_frame(*cut))
            .skip(share)
            .step_by(THREADS)
        {
            log.set_len(cut as u64).unwrap();
            let journal = SqliteJournal::open_read_only(&scene.path).unwrap();
            let events = journal.read(task('a')).unwrap();
            assert_eq!(events.len(), committed(&lengths, cut), "cut at byte {cut} of {end}");
            for event in &events[1..] {
                assert_eq!(event.fact, Fact::Noticed { text: event.seq.to_string() }, "cut at byte {cut}");
            }
        }
        0
    });
}

/// Within two bytes of the start of a frame, or at one of some bytes in between.
fn is_near_a_frame(cut: usize) -> bool {
    let within = (cut - LOG_HEADER) % FRAME;
    within <= 2 || within >= FRAME - 2 || within.is_multiple_of(97)
}

#[tokio::test]
async fn the_next_append_after_a_cut_starts_clean() {
    let (files, lengths) = acknowledged_events().await;
    let end = files.log.len();
    let boundaries = (0..).map(|frames| end - frames * FRAME).take_while(|cut| *cut >= end - REACH);
    for cut in boundaries.flat_map(|cut| [cut, cut - 1, cut - FRAME / 2]) {
        let scene = Files { log: files.log[..cut].to_vec(), ..files.clone() }.lay_out();
        let expected = committed(&lengths, cut) as u64;
        let journal = SqliteJournal::open(&scene.path).unwrap();
        let standing = journal.standing(task('a')).unwrap();
        assert_eq!(standing.last_seq, expected, "cut at byte {cut}");
        append(&journal, [noticed(task('a'), &(expected + 1).to_string())]).await.unwrap();
        drop(journal);
        let events = SqliteJournal::open_read_only(&scene.path).unwrap().read(task('a')).unwrap();
        assert_eq!(events.len() as u64, expected + 1, "cut at byte {cut}");
    }
}

#[tokio::test]
async fn garbage_after_the_log_is_neither_read_nor_mixed_with_later_events() {
    let (files, lengths) = acknowledged_events().await;
    for garbage in [vec![0; 10_000], b"Dear diary, ".repeat(1000), files.log[files.log.len() - 2 * FRAME..].to_vec()] {
        let mut damaged = files.clone();
        damaged.log.extend(&garbage);
        let scene = damaged.lay_out();
        let journal = SqliteJournal::open(&scene.path).unwrap();
        assert_eq!(journal.read(task('a')).unwrap().len(), lengths.len());
        append(&journal, [noticed(task('a'), "clean")]).await.unwrap();
        let events = journal.read(task('a')).unwrap();
        assert_eq!(events.len(), lengths.len() + 1);
        assert!(render(&events[lengths.len()..]).ends_with("noticed clean\n"));
    }
}

/// Fills each block of the file in turn with zeroes, as a file system does that lost it, and checks what is read.
fn blank_each_block(scene: &Scene, path: &std::path::Path, truth: &Truth) {
    const BLOCK: usize = 512;
    let file = Scene::writable(path);
    let bytes = fs::read(path).unwrap();
    for at in (0..bytes.len()).step_by(BLOCK / 2) {
        let end = bytes.len().min(at + BLOCK);
        file.write_all_at(&vec![0; end - at], at as u64).unwrap();
        if let Some(answers) = scene.answers() {
            truth.check(&answers, &format!("zeroes from byte {at} of {}", path.display()));
        }
        file.write_all_at(&bytes[at..end], at as u64).unwrap();
    }
    truth.check_newest(&scene.answers().unwrap());
}

#[tokio::test]
async fn a_block_of_zeroes_anywhere_is_found_or_leaves_what_was_committed_before() {
    let (place, journal, truth) = small_journal().await;
    let files = Files::of(&place);
    drop(journal);
    let scene = files.lay_out();
    blank_each_block(&scene, &scene.path, &truth);
    blank_each_block(&scene, &scene.log, &truth);
    let whole = Files::of(&place).lay_out();
    blank_each_block(&whole, &whole.path, &truth);
    let newest = Answers::of(&place.open());
    truth.check_newest(&newest);
}
