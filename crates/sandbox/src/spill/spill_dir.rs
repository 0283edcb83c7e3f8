//! A spill directory: texts too long for a history, kept in full in files that only this user can read.
//!
//! Nobody can prepare a name in advance: names are random, and a file is only ever created, never opened. Names begin
//! with their owner's, so that all files of an owner can be removed. Files with known names are checked before use: see
//! [`private_file`].

use std::ffi::OsStr;
use std::fmt::Display;
use std::fs::{DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, renameat, statat, unlinkat};
use rustix::io::{Errno, retry_on_intr};
use sortie_mutant::is_out;

use crate::spill::error::SpillError;
use crate::spill::growing_file::{self, GrowingFile};
use crate::spill::private_file::{self, PrivateFile, unusable};

const MAX_HINT_CHARS: usize = 40;

/// Follows the random digits of every name.
const ENDING: &str = ".txt";
const RANDOM_DIGITS: usize = 16;

/// A directory of mode 0700 for spilled texts.
#[derive(Debug)]
pub struct SpillDir {
    path: PathBuf,
    directory: Arc<File>,
    /// Prefix of new files' names, unless empty.
    owner: String,
}

impl SpillDir {
    /// Opens `directory`, creating it if missing. If others own it or can enter it, it is refused, not repaired.
    pub fn open(directory: &Path) -> Result<Self, SpillError> {
        let fail = |source: io::Error| SpillError::Open { directory: directory.to_owned(), source };
        DirBuilder::new().recursive(true).mode(0o700).create(directory).map_err(fail)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = File::from(
            retry_on_intr(|| openat(CWD, directory, flags, Mode::empty())).map_err(|errno| fail(errno.into()))?,
        );
        let metadata = opened.metadata().map_err(fail)?;
        if metadata.uid() != rustix::process::geteuid().as_raw() {
            return Err(SpillError::Foreign { directory: directory.to_owned() });
        }
        let mode = metadata.mode() & 0o777;
        if mode & 0o077 != 0 && !is_out("private-directory") {
            return Err(SpillError::Exposed { directory: directory.to_owned(), mode });
        }
        let path = directory.canonicalize().map_err(fail)?;
        Ok(Self { path, directory: Arc::new(opened), owner: String::new() })
    }

    /// This directory for texts of one owner: their names begin with the owner's, reduced to harmless characters.
    #[must_use]
    pub fn of(&self, owner: impl Display) -> Self {
        let owner = harmless(&owner.to_string());
        Self { path: self.path.clone(), directory: Arc::clone(&self.directory), owner }
    }

    /// Names of all files spilled here or [grown](Self::growing) here, whoever owns them. Leaves out other names and
    /// anything that is not a regular file, such as a link.
    pub fn names(&self) -> Result<Vec<String>, SpillError> {
        let fail = |errno: Errno| SpillError::Open { directory: self.path.clone(), source: errno.into() };
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.directory).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let Some(name) = entry.file_name().to_str().ok().filter(|name| is_own(name)) else { continue };
            // Not every file system includes file types in listings.
            let is_file = match statat(&self.directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile,
                Err(Errno::NOENT) => false,
                Err(errno) => return Err(fail(errno)),
            };
            if is_file {
                names.push(name.to_owned());
            }
        }
        Ok(names)
    }

    /// Removes one of these [names](Self::names) for good. A missing file is fine.
    pub fn discard(&self, name: &str) -> Result<(), SpillError> {
        let fail = |errno: Errno| SpillError::Discard { path: self.path.join(name), source: errno.into() };
        if !is_own(name) {
            return Err(fail(Errno::INVAL));
        }
        match unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(fail(errno)),
        }
    }

    /// Writes `text` to a new file of mode 0600, synced to disk, and returns its absolute path. The name starts with
    /// the owner's and the harmless characters of `name_hint`.
    pub fn spill(&self, name_hint: &str, text: &str) -> Result<PathBuf, SpillError> {
        let (name, file) = self.create(name_hint)?;
        let path = self.path.join(&name);
        if let Err(source) = write_synced(file, text).and_then(|()| self.directory.sync_all()) {
            // A half-written spill must not be mistaken for a complete one. If it cannot be removed either, the error
            // below still keeps its path from being returned.
            unlinkat(&self.directory, &name, AtFlags::empty()).ok();
            return Err(SpillError::Write { path, source });
        }
        Ok(path)
    }

    /// A new file of mode 0600 for a text still being written, and its absolute path.
    pub(crate) fn create_file(&self, name_hint: &str) -> Result<(PathBuf, File), SpillError> {
        let (name, file) = self.create(name_hint)?;
        Ok((self.path.join(name), file))
    }

    /// Passes the content of a file created here to `change`, and replaces it with the result; `None` leaves it as it
    /// is. If that fails, the file is removed: its old content must not be seen.
    pub fn rewrite(&self, path: &Path, change: impl FnOnce(&[u8]) -> Option<String>) -> Result<(), SpillError> {
        let name = path.file_name().unwrap_or_default();
        let rewritten = self.read(name).and_then(|bytes| match change(&bytes) {
            Some(text) => self.put_in_place_of(name, &text),
            None => Ok(()),
        });
        rewritten.map_err(|source| match unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => SpillError::Write { path: path.to_owned(), source },
            Err(errno) => SpillError::Left { path: path.to_owned(), source: errno.into() },
        })
    }

    fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let mut bytes = Vec::new();
        File::from(retry_on_intr(|| openat(&self.directory, name, flags, Mode::empty()))?).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    fn put_in_place_of(&self, name: &OsStr, text: &str) -> io::Result<()> {
        let (new, file) = self.create("new").map_err(io::Error::other)?;
        let put = write_synced(file, text).and_then(|()| Ok(renameat(&self.directory, &new, &self.directory, name)?));
        put.inspect_err(|_| {
            unlinkat(&self.directory, &new, AtFlags::empty()).ok();
        })
    }

    /// Opens the file of this name to append to it, or creates it. `name` must consist of ASCII letters, digits, `-`
    /// and `_`. Anything but a regular, private file of this user with a single name is refused; so is a link.
    pub fn growing(&self, name: &str) -> Result<GrowingFile, SpillError> {
        let gone = || unusable(&self.path.join(format!("{name}{}", growing_file::ENDING)), "its directory is gone");
        self.open_growing(name, OFlags::CREATE)?.ok_or_else(gone)
    }

    /// Opens like [`growing`](Self::growing), if the file already exists.
    pub fn grown(&self, name: &str) -> Result<Option<GrowingFile>, SpillError> {
        self.open_growing(name, OFlags::empty())
    }

    fn open_growing(&self, name: &str, how: OFlags) -> Result<Option<GrowingFile>, SpillError> {
        let file_name = format!("{name}{}", growing_file::ENDING);
        let path = self.path.join(&file_name);
        if !private_file::is_harmless(name) {
            return Err(unusable(&path, "its name is not allowed here"));
        }
        let opened = self.open_known(&file_name, OFlags::WRONLY | OFlags::APPEND | how)?;
        Ok(opened.map(|found| GrowingFile::new(path, found)))
    }

    /// The content kept under a name; `None` if there is none. More than `most` bytes are an error, and so is a file
    /// that is not private to this user. `name` must consist of ASCII letters, digits, `-` and `_`, or be that of a
    /// spilled file.
    pub fn recall(&self, name: &str, most: u64) -> Result<Option<Vec<u8>>, SpillError> {
        let path = self.path.join(name);
        if !private_file::is_harmless(name) && !is_spilled(name) {
            return Err(unusable(&path, "its name is not allowed here"));
        }
        let Some(found) = self.open_known(name, OFlags::RDONLY)? else { return Ok(None) };
        let mut bytes = Vec::new();
        let read = found.file.take(most.saturating_add(1)).read_to_end(&mut bytes);
        read.map_err(|source| SpillError::Reach { path: path.clone(), source })?;
        if bytes.len() as u64 > most { Err(unusable(&path, "it is too long")) } else { Ok(Some(bytes)) }
    }

    /// Saves a text under a name, in a file of mode 0600, replacing what was kept: completely, or not at all.
    pub fn keep(&self, name: &str, text: &str) -> Result<(), SpillError> {
        let path = self.path.join(name);
        if !private_file::is_harmless(name) {
            return Err(unusable(&path, "its name is not allowed here"));
        }
        self.put_in_place_of(OsStr::new(name), text).map_err(|source| SpillError::Write { path, source })
    }

    /// Removes what was kept under a name; true if there was anything.
    pub fn drop_kept(&self, name: &str) -> Result<bool, SpillError> {
        let path = self.path.join(name);
        if !private_file::is_harmless(name) {
            return Err(unusable(&path, "its name is not allowed here"));
        }
        match unlinkat(&self.directory, name, AtFlags::empty()) {
            Ok(()) => Ok(true),
            Err(Errno::NOENT) => Ok(false),
            Err(errno) => Err(SpillError::Discard { path, source: errno.into() }),
        }
    }

    /// Waits until nobody else, in this process or another, holds the lock of this name, and takes it until the
    /// returned file is dropped. The lock is a file beside the kept ones. Blocks.
    pub fn lock(&self, name: &str) -> Result<File, SpillError> {
        let path = self.path.join(name);
        if !private_file::is_harmless(name) {
            return Err(unusable(&path, "its name is not allowed here"));
        }
        let found = self.open_known(name, OFlags::RDWR | OFlags::CREATE)?;
        let file = found.ok_or_else(|| unusable(&path, "its directory is gone"))?.file;
        file.lock().map_err(|source| SpillError::Reach { path, source })?;
        Ok(file)
    }

    fn open_known(&self, name: &str, how: OFlags) -> Result<Option<PrivateFile>, SpillError> {
        PrivateFile::open(self.directory(), name, how, self.path.join(name))
    }

    /// The directory itself, to move something there in place of a created file.
    pub(crate) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Removes a created file that came to nothing. If that fails, the file stays, unknown to anyone.
    pub(crate) fn remove(&self, path: &Path) {
        if let Some(name) = path.file_name() {
            unlinkat(&self.directory, name, AtFlags::empty()).ok();
        }
    }

    fn create(&self, name_hint: &str) -> Result<(String, File), SpillError> {
        const MAX_ATTEMPTS: usize = 8;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut attempt = 1;
        loop {
            let name = random_name(&self.owner, name_hint)?;
            match retry_on_intr(|| openat(&self.directory, &name, flags, Mode::RUSR | Mode::WUSR)) {
                Ok(file) => return Ok((name, File::from(file))),
                Err(Errno::EXIST) if attempt < MAX_ATTEMPTS => attempt += 1,
                Err(errno) => return Err(SpillError::Write { path: self.path.join(&name), source: errno.into() }),
            }
        }
    }
}

fn random_name(owner: &str, name_hint: &str) -> Result<String, SpillError> {
    let random = getrandom::u64().map_err(|source| SpillError::Random { source })?;
    let (hint, random) = (harmless(name_hint), format!("{random:0RANDOM_DIGITS$x}"));
    let parts = [owner, &hint, &random].into_iter().filter(|part| !part.is_empty());
    Ok(parts.collect::<Vec<_>>().join("-") + ENDING)
}

/// The characters of a text that are allowed in a name.
fn harmless(text: &str) -> String {
    text.chars().filter(|character| is_harmless(*character)).take(MAX_HINT_CHARS).collect()
}

fn is_harmless(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '_')
}

/// True for the form of all names created here.
fn is_own(name: &str) -> bool {
    is_spilled(name) || name.strip_suffix(growing_file::ENDING).is_some_and(private_file::is_harmless)
}

/// True for the form of names of spilled texts.
fn is_spilled(name: &str) -> bool {
    let Some(stem) = name.strip_suffix(ENDING) else { return false };
    let random = stem.rsplit('-').next().unwrap_or_default();
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    random.len() == RANDOM_DIGITS && random.bytes().all(is_digit) && stem.chars().all(is_harmless)
}

fn write_synced(mut file: File, text: &str) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    file.sync_all()
}
