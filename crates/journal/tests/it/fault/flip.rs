//! Single flipped bits of a journal: in the file, and in its write-ahead log.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use super::{Files, Scene, THREADS, Truth, in_shares, is_exhaustive, small_journal};

/// By default, bits skipped after each flipped one. A prime, so that every position in a page and every bit of a byte
/// gets its turn.
const STRIDE: usize = 61;

/// Flips bits of `bytes`, the content of `path`, and checks what is read. Returns how often the file could not be
/// opened.
fn flip_each(scene: &Scene, path: &Path, bytes: &[u8], share: usize, truth: &Truth) -> usize {
    let file = Scene::writable(path);
    let stride = if is_exhaustive() { 1 } else { STRIDE };
    let mut refused = 0;
    for at in (0..bytes.len() * 8).step_by(stride).skip(share).step_by(THREADS) {
        let (byte, bit) = (at / 8, at % 8);
        file.write_all_at(&[bytes[byte] ^ (1 << bit)], byte as u64).unwrap();
        match scene.answers() {
            Some(answers) => truth.check(&answers, &format!("bit {bit} of byte {byte} of {}", path.display())),
            None => refused += 1,
        }
        file.write_all_at(&bytes[byte..=byte], byte as u64).unwrap();
    }
    truth.check_newest(&scene.answers().unwrap());
    refused
}

fn flip(files: &Files, truth: &Truth, target: impl Fn(&Scene) -> PathBuf + Sync) -> usize {
    in_shares(|share| {
        let scene = files.lay_out();
        let path = target(&scene);
        let bytes = std::fs::read(&path).unwrap();
        flip_each(&scene, &path, &bytes, share, truth)
    })
}

#[tokio::test]
async fn a_flipped_bit_of_the_file_is_found_or_changes_nothing() {
    let (place, journal, truth) = small_journal().await;
    drop(journal);
    let files = Files::of(&place);
    assert!(files.log.is_empty(), "all of it is in the file");
    let refused = flip(&files, &truth, |scene| scene.path.clone());
    assert!(refused > 0, "some bits say what kind of file it is");
}

#[tokio::test]
async fn a_flipped_bit_of_the_log_is_found_or_leaves_what_was_committed_before() {
    let (place, journal, truth) = small_journal().await;
    let files = Files::of(&place);
    drop(journal);
    flip(&files, &truth, |scene| scene.log.clone());
}
