//! Directories added to the workspace: they work like it, by absolute paths, and nothing next to them does.

use std::fs;
use std::path::{Path, PathBuf};

use sortie_sandbox::{AccessError, Expected, FileKind, Workspace, WorkspaceError};

use crate::fixture::Fixture;

/// `shared/deep/file.txt` next to the workspace, with links both ways.
struct Added {
    fixture: Fixture,
    shared: PathBuf,
    workspace: Workspace,
}

impl Added {
    fn new() -> Self {
        let fixture = Fixture::new();
        let shared = fixture.base.join("shared");
        fs::create_dir_all(shared.join("deep")).unwrap();
        fs::write(shared.join("deep/file.txt"), "shared").unwrap();
        fixture.link("../shared", "to_shared");
        std::os::unix::fs::symlink(fixture.base.join("proj/sub"), shared.join("to_sub")).unwrap();
        std::os::unix::fs::symlink("../proj-secret", shared.join("to_secret")).unwrap();
        let workspace = fixture.open(&["shared"]);
        Self { fixture, shared, workspace }
    }

    fn absolute(&self, path: &str) -> String {
        self.shared.join(path).to_str().unwrap().to_owned()
    }
}

impl Fixture {
    /// The workspace with additional directories.
    fn open(&self, directories: &[&str]) -> Workspace {
        let directories: Vec<PathBuf> = directories.iter().map(|directory| self.base.join(directory)).collect();
        Workspace::open(&self.base.join("proj")).unwrap().with_directories(&directories).unwrap()
    }
}

fn text_of(workspace: &Workspace, path: &str) -> Result<String, AccessError> {
    workspace.read_whole(path, 100).map(|(bytes, _)| String::from_utf8(bytes).unwrap())
}

#[test]
fn an_added_directory_is_reached_in_every_spelling_and_named_absolutely() {
    let added = Added::new();
    let absolute = added.absolute("deep/file.txt");
    for path in [
        absolute.as_str(),
        "../shared/deep/file.txt",
        "to_shared/deep/file.txt",
        "to_shared/../shared/./deep//file.txt",
    ] {
        assert_eq!(text_of(&added.workspace, path).unwrap(), "shared", "{path}");
        assert_eq!(added.workspace.resolve(path).unwrap().relative, Path::new(&absolute));
        assert_eq!(added.workspace.locate(path).unwrap(), Path::new(&absolute));
    }
    assert_eq!(added.workspace.resolve("to_shared").unwrap().relative, added.shared);
    assert!(matches!(
        added.workspace.resolve(&added.absolute("deep/absent")),
        Err(AccessError::NotFound { nearest, .. }) if nearest == added.shared.join("deep")
    ));
}

#[test]
fn a_walk_of_an_added_directory_uses_absolute_paths() {
    let added = Added::new();
    let entries = added.workspace.read_dir(&added.shared).unwrap().map(Result::unwrap);
    let mut entries: Vec<_> = entries.map(|entry| (entry.name.into_string().unwrap(), entry.kind)).collect();
    entries.sort_by(|left, right| left.0.cmp(&right.0));
    let [deep, secret, sub] = ["deep", "to_secret", "to_sub"].map(str::to_owned);
    assert_eq!(entries, [(deep, FileKind::Directory), (secret, FileKind::Symlink), (sub, FileKind::Symlink)]);
    let file = added.shared.join("deep/file.txt");
    assert!(added.workspace.open_relative(&file).is_ok() && added.workspace.open_listed(&file).is_ok());
    for path in ["deep/../deep/file.txt", "to_sub/deep/file.txt", "to_secret/deep/file.txt", "../shared/deep/file.txt"]
    {
        assert!(added.workspace.open_relative(&added.shared.join(path)).is_err(), "{path}");
        assert!(added.workspace.open_listed(&added.shared.join(path)).is_err(), "{path}");
    }
}

#[test]
fn links_lead_from_one_to_the_other_and_nowhere_else() {
    let added = Added::new();
    assert_eq!(text_of(&added.workspace, &added.absolute("to_sub/deep/file.txt")).unwrap(), "inside");
    let inside = added.workspace.resolve(&added.absolute("to_sub/deep/file.txt")).unwrap();
    assert_eq!(inside.relative, Path::new("sub/deep/file.txt"));
    for path in [
        "out_file",
        "../proj-secret/deep/file.txt",
        &added.absolute("to_secret/deep/file.txt"),
        &added.absolute("../proj-secret/deep/file.txt"),
        &format!("{}-2/file.txt", added.shared.display()),
    ] {
        let error = text_of(&added.workspace, path).unwrap_err();
        assert!(matches!(error, AccessError::Outside { .. }), "{path}: {error}");
        assert!(error.to_string().contains(added.shared.to_str().unwrap()), "{error}");
    }
    let before = text_of(&added.fixture.workspace, "to_shared/deep/file.txt");
    assert!(matches!(before, Err(AccessError::Outside { .. })), "only where it was added");
}

#[test]
fn an_added_directory_can_be_written() {
    let added = Added::new();
    let written = added.workspace.write("to_shared/new/file.txt", b"new", Expected::Absent).unwrap();
    assert_eq!(written.path, added.shared.join("new/file.txt"));
    assert_eq!(fs::read(&written.path).unwrap(), b"new");
    let through = added.absolute("to_secret/new/file.txt");
    assert!(added.workspace.write(&through, b"new", Expected::Absent).is_err());
    assert!(!added.fixture.base.join("proj-secret/new").exists());
}

#[test]
fn a_directory_in_the_workspace_adds_nothing_and_has_no_second_name() {
    let fixture = Fixture::new();
    let workspace = fixture.open(&["proj/sub", "proj", "other-name"]);
    let absolute = fixture.path("sub/deep/file.txt");
    assert_eq!(workspace.locate(absolute.to_str().unwrap()).unwrap(), Path::new("sub/deep/file.txt"));
    let error = workspace.locate("..").unwrap_err().to_string();
    assert!(error.ends_with("only paths inside it can be used"), "{error}");
}

#[test]
fn a_directory_around_the_workspace_opens_its_neighbours_and_leaves_its_names_alone() {
    let fixture = Fixture::new();
    let workspace = fixture.open(&["", "proj-secret"]);
    let name = |path: &str| workspace.locate(path).unwrap();
    assert_eq!(name("sub"), Path::new("sub"));
    assert_eq!(name(fixture.path("sub").to_str().unwrap()), Path::new("sub"));
    assert_eq!(name("../proj-secret/deep"), fixture.base.join("proj-secret/deep"));
    assert_eq!(name(".."), fixture.base);
    assert_eq!(text_of(&workspace, "out_file").unwrap(), "secret");
    assert!(matches!(workspace.locate("../.."), Err(AccessError::Outside { .. })));
    // A walk from outside comes into the workspace under absolute names.
    assert!(workspace.open_listed(&fixture.path("sub/deep/file.txt")).is_ok());
}

#[test]
fn an_added_directory_stays_the_one_that_was_added() {
    let added = Added::new();
    fs::rename(&added.shared, added.fixture.base.join("moved")).unwrap();
    std::os::unix::fs::symlink("proj-secret", &added.shared).unwrap();
    assert_eq!(text_of(&added.workspace, &added.absolute("deep/file.txt")).unwrap(), "shared");
}

#[test]
fn only_a_directory_can_be_added() {
    let fixture = Fixture::new();
    let add = |path: &str| {
        let workspace = Workspace::open(&fixture.base.join("proj")).unwrap();
        workspace.with_directories(&[fixture.base.join(path)]).unwrap_err()
    };
    assert!(matches!(add("absent"), WorkspaceError::NotFound { .. }));
    assert!(matches!(add("proj-secret/deep/file.txt"), WorkspaceError::NotADirectory { .. }));
}

#[test]
fn a_directory_is_created_with_its_parents_and_through_no_link() {
    let Added { fixture, shared, workspace } = Added::new();
    for path in [Path::new("new/deep"), Path::new("sub"), &shared.join("new/deep")] {
        workspace.make_directory(path).unwrap();
        assert!(fixture.path("").join(path).is_dir(), "{}", path.display());
    }
    for path in [Path::new("to_shared/made"), Path::new("../made"), &shared.join("to_secret/made"), Path::new("/made")]
    {
        assert!(workspace.make_directory(path).is_err(), "{}", path.display());
    }
    assert!(!shared.join("made").exists() && !fixture.base.join("made").exists());
    fixture.put("file", "");
    assert!(workspace.make_directory(Path::new("file")).is_err());
}
