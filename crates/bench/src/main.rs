//! `cargo xtask bench`: the release build measured from outside, against its targets.
//!
//! The program is run as a user runs it, against `scripted-server`; the kernel reports its time, processor time and
//! memory. Some parts are run through examples. Figures that compare two ways of working come from interleaved runs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "its output is for the person who runs it")]

mod delegation;
mod figure;
mod grants;
mod journal;
mod live;
mod matching;
mod mcp;
mod options;
mod parallel;
mod program;
mod resume;
mod sample;
mod script;
mod search;
mod server;
mod shell;
mod size;
mod start;
mod tokens;
mod wake;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use sortie_workshop::{Verdict, Workspace, cargo, page, process};
use tempfile::TempDir;

use self::figure::{Figure, table};
use self::options::{Options, Part};

/// Marks of the table of figures in the documentation.
const FIGURES: page::Marks =
    page::Marks { begin: "<!-- figures: written by `cargo xtask bench --write` -->", end: "<!-- end of figures -->" };

/// Shared by all measurements: the binaries, and a folder of their own.
struct Bench {
    workspace: Workspace,
    sortie: PathBuf,
    scripted_server: PathBuf,
    /// Folder for journals, scripts and logs; gone at the end.
    folder: TempDir,
    runs: usize,
    cold: bool,
}

fn main() -> ExitCode {
    let flags: Vec<String> = std::env::args().skip(1).collect();
    Verdict::exit_code(run(&flags), "`cargo xtask help` lists the options of `bench`\n")
}

fn run(flags: &[String]) -> Result<Verdict> {
    let Some(options) = Options::parse(flags) else { return Ok(Verdict::WrongUsage) };
    let bench = Bench::prepare(&options)?;
    let mut figures: Vec<Figure> = Vec::new();
    for part in &options.parts {
        eprintln!("==> {part}");
        figures.extend(match part {
            Part::Start => start::measure(&bench)?,
            Part::Delegation => delegation::measure(&bench)?,
            Part::Parallel => parallel::measure(&bench)?,
            Part::Wake => wake::measure(&bench)?,
            Part::Mcp => mcp::measure(&bench)?,
            Part::Live => live::measure(&bench)?,
            Part::Journal => journal::measure(&bench)?,
            Part::Resume => resume::measure(&bench)?,
            Part::Search => search::measure(&bench)?,
            Part::Match => matching::measure(&bench)?,
            Part::Grants => grants::measure(&bench)?,
            Part::Shell => shell::measure(&bench)?,
            Part::Tokens => tokens::measure(&bench)?,
            Part::Size => size::measure(&bench)?,
        });
    }
    let table = table(&figures);
    println!("{table}");
    if options.write {
        page::write(&bench.workspace.root.join("docs/benchmarks.md"), FIGURES, &table)?;
    }
    let missed: Vec<&Figure> = figures.iter().filter(|figure| figure.is_missed()).collect();
    for figure in &missed {
        println!("missed: {figure}");
    }
    Ok(Verdict::good_if(!options.check || missed.is_empty()))
}

impl Bench {
    /// Builds the program and its server, if anything that was asked for needs them.
    fn prepare(options: &Options) -> Result<Self> {
        let workspace = Workspace::load()?;
        if options.parts.iter().any(|part| part.needs_program()) {
            eprintln!("==> release build");
            build(&["--package", "sortie"])?;
            build(&["--package", "sortie-testkit", "--bin", "scripted-server"])?;
        }
        let release = workspace.target.join("release");
        Ok(Self {
            sortie: release.join("sortie"),
            scripted_server: release.join("scripted-server"),
            folder: tempfile::tempdir()?,
            workspace,
            runs: options.runs,
            cold: options.cold,
        })
    }

    /// Builds an example and returns its path.
    fn example(&self, package: &str, name: &str) -> Result<PathBuf> {
        build(&["--package", package, "--example", name])?;
        Ok(self.workspace.target.join("release/examples").join(name))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A folder with the three files that the scripts read.
    fn sources(&self) -> Result<PathBuf> {
        let folder = self.path("workspace");
        std::fs::create_dir_all(&folder)?;
        for name in script::FILES {
            let lines: String = (1..=40).map(|line| script::line_of(name, line)).collect();
            std::fs::write(folder.join(name), lines)?;
        }
        Ok(folder)
    }
}

fn build(selection: &[&str]) -> Result<()> {
    if !process::succeeds(cargo().args(["build", "--quiet", "--release"]).args(selection))? {
        bail!("the release build failed");
    }
    Ok(())
}

/// Removes a folder if it is there.
fn remove(folder: &Path) -> Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}
