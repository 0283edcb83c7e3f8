//! Every single bit of a journal, flipped.

use std::os::unix::fs::FileExt;
use std::path::Path;

use super::{Files, Scene, Truth, small_journal};

/// Flips each bit of `bytes`, which `path` holds, one after the other, and checks what is read. Every fourth byte, from
/// `first` on: four of these do it all.
fn flip_each(scene: &Scene, path: &Path, bytes: &[u8], first: usize, truth: &Truth) -> u64 {
    let file = Scene::writable(path);
    let mut refused = 0;
    for at in (first..bytes.len()).step_by(THREADS).step_by(40) {
        for bit in 0..8 {
            file.write_all_at(&[bytes[at] ^ (1 << bit)], at as u64).unwrap();
            match scene.answers() {
                Some(answers) => truth.check(&answers, &format!("bit {bit} of byte {at}")),
                None => refused += 1,
            }
        }
        file.write_all_at(&bytes[at..=at], at as u64).unwrap();
    }
    refused
}

const THREADS: usize = 2;

fn flip_all(
    files: &Files,
    truth: &Truth,
    pick: impl Fn(&Scene, &Files) -> (std::path::PathBuf, Vec<u8>) + Sync,
) -> u64 {
    std::thread::scope(|scope| {
        let halves: Vec<_> = (0..THREADS)
            .map(|first| {
                let pick = &pick;
                scope.spawn(move || {
                    let scene = files.lay_out();
                    let (path, bytes) = pick(&scene, files);
                    flip_each(&scene, &path, &bytes, first, truth)
                })
            })
            .collect();
        halves.into_iter().map(|half| half.join().unwrap()).sum()
    })
}

#[tokio::test]
async fn a_flipped_bit_of_the_file_is_found_or_changes_nothing() {
    let (place, journal, truth) = small_journal().await;
    drop(journal);
    let files = Files::of(&place);
    assert!(files.log.is_empty(), "all of it is in the file");
    let begun = std::time::Instant::now();
    let refused = flip_all(&files, &truth, |scene, files| (scene.path.clone(), files.database.clone()));
    println!("{} bytes, {refused} refused, {:?}", files.database.len(), begun.elapsed());
    assert!(refused > 0);
}

#[tokio::test]
async fn a_flipped_bit_of_the_log_beside_it_is_found_or_leaves_what_was_committed_before() {
    let (place, journal, truth) = small_journal().await;
    let files = Files::of(&place);
    drop(journal);
    assert!(!files.log.is_empty());
    let begun = std::time::Instant::now();
    flip_all(&files, &truth, |scene, files| (scene.log.clone(), files.log.clone()));
    println!("{} bytes, {:?}", files.log.len(), begun.elapsed());
}
