//! World of one attack: a workspace, a home, an outside, canaries, and the program among them.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use sortie_testkit::{Script, ScriptedServer};
use tempfile::TempDir;

use crate::aftermath::{Aftermath, holds};
use crate::user::{Program, User};

/// Request to the main agent. An agent with any other request is a sub-agent.
pub(crate) const PROMPT: &str = "ATTACK the place";
/// Text that must never be seen. No hostile call contains it, so wherever it appears, it has leaked.
pub(crate) const CANARY: &str = "CANARY-OF-THE-SUITE";
/// First line of every canary, which calls may name.
pub(crate) const FIRST_LINE: &str = "first line";

/// Variable with the disabled guard, in a build that can disable one.
const MUTANT: &str = "MUTANT_OF_SORTIE";

/// Most files searched for leaks.
const MAX_FILES: usize = 50_000;

pub(crate) struct World {
    dir: TempDir,
    user: User,
    program: Arc<Program>,
    canaries: RefCell<Vec<PathBuf>>,
    /// Directories of a group that the user is not in, as far as this process can make them so.
    foreign: RefCell<Vec<PathBuf>>,
}

/// Makes the attack in a new world for each user that this process can become.
pub(crate) fn as_each_user(attack: impl Fn(&World)) {
    for user in User::all() {
        let _said = SaidOnPanic(user);
        attack(&World::new(user));
    }
}

/// Prints the user of a failed test.
struct SaidOnPanic(User);

impl Drop for SaidOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // A panic is under way, and must not become another.
            writeln!(io::stderr(), "the program ran as uid {}", self.0.uid()).ok();
        }
    }
}

impl World {
    fn new(user: User) -> Self {
        // Commands have their own `/tmp`, and would not see files in the machine's.
        let dir = tempfile::tempdir_in("/var/tmp").unwrap();
        let world =
            Self { dir, user, program: Program::shared(), canaries: RefCell::default(), foreign: RefCell::default() };
        for directory in ["home", "workspace/.git", "state", "outside"] {
            fs::create_dir_all(world.path(directory)).unwrap();
        }
        // As the program would create it.
        fs::set_permissions(world.path("state"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        world.write("workspace/src/main.rs", "fn main() {}\n");
        world.canary("outside/canary.txt");
        world
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(relative)
    }

    /// This path as text.
    pub(crate) fn name(&self, relative: &str) -> String {
        self.path(relative).to_str().unwrap().to_owned()
    }

    pub(crate) fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    pub(crate) fn text(&self, relative: &str) -> String {
        fs::read_to_string(self.path(relative)).unwrap()
    }

    /// Creates a file that nobody may read, change or remove.
    pub(crate) fn canary(&self, relative: &str) {
        let path = self.write(relative, canary_text());
        self.canaries.borrow_mut().push(path);
    }

    /// Creates a symbolic link, with the directories that it needs.
    pub(crate) fn link(&self, target: impl AsRef<Path>, name: &str) {
        let name = self.path(name);
        fs::create_dir_all(name.parent().unwrap()).unwrap();
        symlink(target, name).unwrap();
    }

    /// Creates a program from a shell script. A shell writes it: if this process had it open, another thread's child
    /// could keep it from running.
    pub(crate) fn program(&self, name: &str, script: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let writer = r#"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 755 "$2""#;
        let status = Command::new("/bin/sh").args(["-c", writer, "sh", script]).arg(path).status().unwrap();
        assert!(status.success());
    }

    pub(crate) fn fifo(&self, name: &str) {
        assert!(Command::new("mkfifo").arg(self.path(name)).status().unwrap().success());
    }

    /// Creates an agent file in the project.
    pub(crate) fn agent(&self, name: &str, front_matter: &str) {
        let text = format!("---\nname: {name}\ndescription: Does {name}\n{front_matter}\n---\nYou are {name}.\n");
        self.write(&format!("workspace/.sortie/agents/{name}.md"), text);
    }

    /// Asks the main agent, whose model plays the script, and waits for the end.
    pub(crate) fn run(&self, flags: &[&str], script: Script) -> Aftermath {
        self.run_under(&[], flags, script)
    }

    /// Runs the script under another program, which gets these words and then the whole command line.
    pub(crate) fn run_under(&self, outer: &[&str], flags: &[&str], script: Script) -> Aftermath {
        let outside = self.listing("outside");
        let after = self.run_unjudged(outer, flags, script);
        self.assert_safe(&after, &outside);
        after
    }

    /// Runs the script while another thread repeats `change`, and returns the number of repetitions. The result is
    /// examined once the changes are over.
    pub(crate) fn run_while(&self, change: impl Fn() + Sync, flags: &[&str], script: Script) -> (Aftermath, u64) {
        let outside = self.listing("outside");
        let (over, count) = (AtomicBool::new(false), AtomicU64::new(0));
        let after = thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    change();
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
            // Dropped on a panic too: the other thread must end.
            let _ended = Ended(&over);
            self.run_unjudged(&[], flags, script)
        });
        self.assert_safe(&after, &outside);
        (after, count.into_inner())
    }

    fn run_unjudged(&self, outer: &[&str], flags: &[&str], script: Script) -> Aftermath {
        let server = ScriptedServer::start(script).unwrap();
        let args = [&["run", "--output-format", "stream-json"], flags, &[PROMPT]].concat();
        let output = self.command(outer, &args, &server).output().unwrap();
        Aftermath::new(output, &server)
    }

    /// Command line in this world, with the scripted server as the main route.
    pub(crate) fn command(&self, outer: &[&str], args: &[&str], server: &ScriptedServer) -> Command {
        self.hand_over();
        let program = self.program.path();
        let mut words = outer.iter().map(|word| Path::new(word).to_owned()).chain([program]);
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .args(args)
            .env_clear()
            .env("HOME", self.path("home"))
            .env("SORTIE_HOME", self.path("state"))
            // The disabled guard, if there is one.
            .envs(std::env::var_os(MUTANT).map(|guard| (MUTANT, guard)))
            .envs(self.user.profile().map(|file| ("LLVM_PROFILE_FILE", file)))
            .env("LLM_BASE_URL", server.base_url())
            .env("LLM_WIRE", "anthropic")
            .env("LLM_MODEL_ID", "test-model")
            .env("LLM_API_KEY", "key")
            .env("SECRET_OF_THE_ENVIRONMENT", CANARY)
            // No server can be there, whatever runs on this machine.
            .env("OLLAMA_HOST", "127.0.0.1:1")
            .env("LLAMA_ARG_PORT", "1")
            .current_dir(self.path("workspace"))
            .stdin(Stdio::null());
        self.user.become_in(&mut command);
        command
    }

    /// Gives everything to the user that the program runs as.
    pub(crate) fn hand_over(&self) {
        self.user.own(self.dir.path());
        for directory in self.foreign.borrow().iter() {
            self.user.disown_group(directory);
        }
    }

    /// Gives a directory to a group that the user is not in, from the next run on.
    pub(crate) fn in_a_foreign_group(&self, relative: &str) {
        self.foreign.borrow_mut().push(self.path(relative));
    }

    /// Asserts that no canary was read, changed or removed, and that `outside` is unchanged.
    fn assert_safe(&self, after: &Aftermath, outside: &BTreeSet<PathBuf>) {
        assert_eq!(&self.listing("outside"), outside, "nothing is made or removed outside");
        let canaries = self.canaries.borrow();
        for canary in canaries.iter() {
            let now = fs::read(canary).unwrap_or_default();
            assert!(now == canary_text().as_bytes(), "{} is not as it was: {after:#?}", canary.display());
        }
        after.assert_unseen(CANARY);
        for place in ["workspace", "state", "home"] {
            for file in self.files(place).into_iter().filter(|file| !canaries.contains(file)) {
                let leaked = holds(&fs::read(&file).unwrap(), CANARY);
                assert!(!leaked, "{} holds what it must not: {after:#?}", file.display());
            }
        }
    }

    /// Every regular file in a directory, except those too large to hold a canary.
    pub(crate) fn files(&self, directory: &str) -> Vec<PathBuf> {
        const MAX_BYTES: u64 = 64 << 20;
        let mut files = Vec::new();
        let mut ahead = vec![self.path(directory)];
        while let Some(path) = ahead.pop() {
            let metadata = match path.symlink_metadata() {
                // Deeper than any path can name.
                Err(error) if error.kind() == io::ErrorKind::InvalidFilename => continue,
                other => other.unwrap(),
            };
            if metadata.is_dir() {
                ahead.extend(fs::read_dir(&path).into_iter().flatten().map(|entry| entry.unwrap().path()));
            } else if metadata.is_file() && metadata.len() <= MAX_BYTES && files.len() < MAX_FILES && !is_profile(&path)
            {
                files.push(path);
            }
        }
        files
    }

    /// Everything in a directory, by name.
    pub(crate) fn listing(&self, directory: &str) -> BTreeSet<PathBuf> {
        let entries = fs::read_dir(self.path(directory)).into_iter().flatten().map(|entry| entry.unwrap().path());
        entries.filter(|path| !is_profile(path)).collect()
    }

    pub(crate) fn uid(&self) -> u32 {
        self.user.uid()
    }
}

/// True for what an instrumented program writes about its own run where its environment names no place for it.
fn is_profile(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "profraw")
}

/// Signals the end of the changes.
struct Ended<'a>(&'a AtomicBool);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn canary_text() -> String {
    format!("{FIRST_LINE}\n{CANARY}\n")
}
