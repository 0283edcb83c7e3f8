//! Benchmark of confinement: the same files read through the sandbox and with plain `std::fs`.
//!
//! Reads a few thousand files of 4 KiB, many times in turn, in two ways. One reads them whole, by a path relative to
//! the root, as a model asks for them. The other reads into a buffer, as a search reads the files it has just listed.
//! Prints one line of JSON: for each way the nanoseconds per read, and the ratio to the plain read. `cargo xtask bench`
//! reads it. The files are cached after the first round, so the disk is not measured. The fastest round of each
//! directory counts, since other load only adds time.

#![expect(clippy::print_stdout, reason = "its output is what it is for")]

use std::array;
use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::Path;
use std::time::{Duration, Instant};

use sortie_sandbox::Workspace;

const DIRECTORIES: usize = 40;
const FILES_PER_DIRECTORY: usize = 100;
const FILE_BYTES: usize = 4096;
const ROUNDS: usize = 40;

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let directory = tempfile::tempdir()?;
    let root = directory.path().canonicalize()?;
    let paths = project(&root)?;
    let workspace = Workspace::open(&root)?;
    let mut total = [Duration::ZERO; 4];
    for paths in paths.chunks(FILES_PER_DIRECTORY) {
        let mut best = [Duration::MAX; 4];
        for _ in 0..ROUNDS {
            let round = [
                time(paths, |path| Ok(fs::read(root.join(path))?.len()))?,
                time(paths, |path| Ok(workspace.read_whole(path, 1 << 20)?.0.len()))?,
                time(paths, |path| fill(File::open(root.join(path))?))?,
                time(paths, |path| fill(workspace.open_listed(Path::new(path))?))?,
            ];
            best = array::from_fn(|way| best[way].min(round[way]));
        }
        total = array::from_fn(|way| total[way] + best[way]);
    }
    let [plain, confined, plain_listed, confined_listed] =
        total.map(|total| total.as_nanos() as f64 / paths.len() as f64);
    println!(
        "{{\"plain_ns\":{plain:.0},\"confined_ns\":{confined:.0},\"ratio\":{:.3},\
         \"plain_listed_ns\":{plain_listed:.0},\"confined_listed_ns\":{confined_listed:.0},\"listed_ratio\":{:.3}}}",
        confined / plain,
        confined_listed / plain_listed,
    );
    Ok(())
}

/// Creates the files; their paths are relative to the root.
fn project(root: &Path) -> Result<Vec<String>, Failure> {
    let mut paths = Vec::new();
    for number in 0..DIRECTORIES {
        let package = format!("packages/package-{number}/src");
        fs::create_dir_all(root.join(&package))?;
        for file in 0..FILES_PER_DIRECTORY {
            let path = format!("{package}/module_{file}.rs");
            fs::write(root.join(&path), [b'x'; FILE_BYTES])?;
            paths.push(path);
        }
    }
    Ok(paths)
}

/// Time to read all files with `read`, which returns the number of bytes read.
fn time(paths: &[String], read: impl Fn(&str) -> Result<usize, Failure>) -> Result<Duration, Failure> {
    let began = Instant::now();
    for path in paths {
        if read(path)? != FILE_BYTES {
            return Err(format!("{path} was not read whole").into());
        }
    }
    Ok(began.elapsed())
}

/// Reads to the end of the file.
fn fill(mut file: File) -> Result<usize, Failure> {
    let mut buffer = [0; 2 * FILE_BYTES];
    let mut n_bytes = 0;
    loop {
        match file.read(black_box(&mut buffer[n_bytes..]))? {
            0 => return Ok(n_bytes),
            n_more => n_bytes += n_more,
        }
    }
}
