//! The cost of the first build: crates, time, bytes.

use std::collections::HashSet;
use std::time::Instant;

use anyhow::{Result, bail};
use sortie_workshop::{cargo, process};

use super::Bench;
use super::figure::{Figure, Unit};

pub(super) fn measure(bench: &Bench) -> Result<Vec<Figure>> {
    let tree = process::stdout_of(cargo().args([
        "tree",
        "--package",
        "sortie",
        "--edges",
        "normal,build",
        "--prefix",
        "none",
    ]))?;
    let mut figures = vec![
        Figure::new("Crates in the tree, ours included", crates(&tree) as f64, Unit::Count),
        Figure::new("Binary, release", std::fs::metadata(&bench.sortie)?.len() as f64 / 1e6, Unit::Megabytes),
    ];
    if bench.cold {
        figures.push(Figure::new("Release build from nothing", build_from_nothing(bench)?, Unit::Seconds));
    }
    Ok(figures)
}

/// Different crates in the output of `cargo tree`.
fn crates(tree: &str) -> usize {
    let package = |line: &str| line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>();
    tree.lines().map(package).filter(|package| !package.is_empty()).collect::<HashSet<_>>().len()
}

/// Seconds for `cargo build --release` into an empty folder, with the sources already downloaded.
fn build_from_nothing(bench: &Bench) -> Result<f64> {
    let began = Instant::now();
    let target = bench.path("cold-target");
    if !process::succeeds(
        cargo().args(["build", "--quiet", "--release", "--package", "sortie", "--target-dir"]).arg(target),
    )? {
        bail!("the cold build failed");
    }
    Ok(began.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_counts_once_and_two_versions_count_twice() {
        assert_eq!(crates("a v1.0.0 (path)\nb v1.0.0\nb v1.0.0 (*)\nb v2.0.0\nc v1.0.0 (proc-macro)\n\n"), 4);
    }
}
