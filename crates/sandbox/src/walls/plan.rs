//! The plan of a keeper: everything it has to know, decided before it starts.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::walls::SpawnError;
use crate::walls::encoding::{Reader, Writer};
use crate::walls::filter::{self, FilterProgram};
use crate::walls::follow_links::follow_links;
use crate::walls::shell::{Shell, bash};
use crate::walls::{Network, ProcessLimits, Tier, Walls};

/// Instructions to a keeper. Paths of directories are canonical.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) tier: Tier,
    pub(crate) root: PathBuf,
    /// Sorted, and none lies in another.
    pub(crate) writable: Vec<PathBuf>,
    /// Sorted, and none lies in another.
    pub(crate) protected: Vec<PathBuf>,
    /// They existed. Sorted, and none lies in another.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) network: Network,
    pub(crate) limits: ProcessLimits,
    pub(crate) directory: PathBuf,
    pub(crate) bash: PathBuf,
    pub(crate) command: OsString,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// The system-call filter; empty for none.
    pub(crate) filter: FilterProgram,
}

impl Plan {
    pub(crate) fn new(tier: Tier, walls: &Walls, shell: &Shell<'_>) -> Result<Self, SpawnError> {
        if tier == Tier::Landlock && matches!(walls.network, Network::Proxy { .. }) {
            return Err(SpawnError::NoOwnNetwork);
        }
        let root = existing(&walls.root)?;
        let writable = walls.writable.iter().map(|path| in_its_place(path, walls, &root)).collect::<Result<_, _>>()?;
        let writable = outermost(writable);
        let directory = existing(shell.directory)?;
        if tier != Tier::None && !writable.iter().chain([&root]).any(|place| directory.starts_with(place)) {
            return Err(SpawnError::Outside { directory: shell.directory.to_owned(), root });
        }
        if shell.command.contains('\0') {
            return Err(SpawnError::NulByte);
        }
        let protected = walls.protected.iter().flat_map(|path| [path.clone(), follow_links(path)]).collect();
        Ok(Self {
            tier,
            protected: outermost(protected),
            hidden: outermost(walls.hidden.iter().filter_map(|path| path.canonicalize().ok()).collect()),
            network: walls.network,
            limits: walls.limits,
            directory,
            bash: bash().ok_or(SpawnError::NoBash)?,
            command: shell.command.into(),
            environment: shell.environment.variables().map(|(name, value)| (name.into(), value.into())).collect(),
            filter: filter::program(tier, walls.network)?,
            root,
            writable,
        })
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut writer = Writer::default();
        writer.number(match self.tier {
            Tier::Namespaces => 0,
            Tier::Landlock => 1,
            Tier::None => 2,
        });
        writer.string(&self.root);
        for paths in [&self.writable, &self.protected, &self.hidden] {
            writer.list(paths, |writer, path| writer.string(path));
        }
        let (kind, port) = match self.network {
            Network::None => (0, 0),
            Network::Proxy { port } => (1, port),
            Network::All => (2, 0),
        };
        writer.number(kind);
        writer.number(u64::from(port));
        let ProcessLimits { memory, processes, file_size, cpu_seconds, open_files, temporary } = self.limits;
        for limit in [memory, processes, file_size, cpu_seconds, open_files, temporary] {
            writer.number(limit);
        }
        writer.string(&self.directory);
        writer.string(&self.bash);
        writer.string(&self.command);
        writer.list(&self.environment, |writer, (name, value)| {
            writer.string(name);
            writer.string(value);
        });
        writer.list(&self.filter, |writer, instruction| writer.number(*instruction));
        writer.into_bytes()
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let tier = match reader.number()? {
            0 => Tier::Namespaces,
            1 => Tier::Landlock,
            2 => Tier::None,
            _ => return None,
        };
        Some(Self {
            tier,
            root: reader.path()?,
            writable: reader.list(Reader::path)?,
            protected: reader.list(Reader::path)?,
            hidden: reader.list(Reader::path)?,
            network: match (reader.number()?, reader.number()?) {
                (0, _) => Network::None,
                (1, port) => Network::Proxy { port: u16::try_from(port).ok()? },
                (2, _) => Network::All,
                _ => return None,
            },
            limits: ProcessLimits {
                memory: reader.number()?,
                processes: reader.number()?,
                file_size: reader.number()?,
                cpu_seconds: reader.number()?,
                open_files: reader.number()?,
                temporary: reader.number()?,
            },
            directory: reader.path()?,
            bash: reader.path()?,
            command: reader.string()?,
            environment: reader.list(|reader| Some((reader.string()?, reader.string()?)))?,
            filter: reader.list(Reader::number)?,
        })
    }

    /// The writable directory that contains a protected path, and the path beneath it. Other paths are read-only
    /// anyway.
    pub(crate) fn exposed<'a>(&'a self, path: &'a Path) -> Option<(&'a Path, &'a Path)> {
        self.writable.iter().find_map(|place| Some((place.as_path(), path.strip_prefix(place).ok()?)))
    }
}

fn existing(directory: &Path) -> Result<PathBuf, SpawnError> {
    let fail = |source| SpawnError::Directory { directory: directory.to_owned(), source };
    let canonical = directory.canonicalize().map_err(fail)?;
    let kind = fs::metadata(&canonical).map_err(fail)?;
    if kind.is_dir() { Ok(canonical) } else { Err(fail(rustix::io::Errno::NOTDIR.into())) }
}

/// Returns a writable directory if no link on the way leads elsewhere: its name was approved for this place, not for a
/// link's current target. Only the workspace itself may be named through a link.
fn in_its_place(directory: &Path, walls: &Walls, root: &Path) -> Result<PathBuf, SpawnError> {
    let leads = existing(directory)?;
    let named = directory.strip_prefix(&walls.root).map_or_else(|_| directory.to_owned(), |beneath| root.join(beneath));
    if leads == named { Ok(leads) } else { Err(SpawnError::Linked { directory: directory.to_owned(), leads }) }
}

/// Removes paths that lie in others.
fn outermost(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.sort();
    let mut kept: Vec<PathBuf> = Vec::new();
    for path in paths {
        if !kept.iter().any(|other| path.starts_with(other)) {
            kept.push(path);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_reads_back_and_a_cut_one_is_refused() {
        let plan = Plan {
            tier: Tier::Landlock,
            root: "/a".into(),
            writable: vec!["/a/b".into(), "/c".into()],
            protected: vec!["/a/b/.git".into()],
            hidden: vec!["/h".into()],
            network: Network::Proxy { port: 8080 },
            limits: ProcessLimits { processes: 7, ..ProcessLimits::default() },
            directory: "/a/b".into(),
            bash: "/bin/bash".into(),
            command: "echo ü".into(),
            environment: vec![("HOME".into(), "/root".into())],
            filter: vec![1, 2, 3],
        };
        let bytes = plan.encode();
        assert_eq!(Plan::decode(&bytes), Some(plan));
        for length in 0..bytes.len() {
            assert_eq!(Plan::decode(&bytes[..length]), None, "{length}");
        }
    }

    #[test]
    fn paths_inside_others_are_left_out() {
        let paths = ["/a/b", "/a", "/ab", "/a/b/c"].map(PathBuf::from).to_vec();
        assert_eq!(outermost(paths), ["/a", "/ab"].map(PathBuf::from));
    }
}
