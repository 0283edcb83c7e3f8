//! File names that are no text, or hold characters that do not show: every tool spells them alike, and takes the
//! spelling.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;

use serde_json::json;
use sortie_protocol::Resource;

use crate::project::Project;

/// Names, each with its spelling.
const NAMES: [(&[u8], &str); 5] = [
    (b"caf\xe9.txt", r"caf\xe9.txt"),
    (b"two\nlines", r"two\x0alines"),
    ("gpj.\u{202e}txt".as_bytes(), r"gpj.\xe2\x80\xaetxt"),
    (b"a\\x0ab", r"a\x5cx0ab"),
    (br"plain\name", r"plain\name"),
];

#[tokio::test]
async fn a_name_is_spelled_alike_by_every_tool_and_its_spelling_opens_the_file() {
    let project = Project::new(&[]);
    for (name, _) in NAMES {
        std::fs::write(project.path("").join(OsStr::from_bytes(name)), "hit\n").unwrap();
    }
    let lists = [
        project.done("LS", json!({"path": "."})).await,
        project.done("Glob", json!({"pattern": "**"})).await,
        project.done("Grep", json!({"pattern": "hit"})).await,
    ];
    for (name, spelling) in NAMES {
        for list in &lists {
            assert!(list.lines().any(|line| line.contains(spelling)), "{spelling} in {list}");
            assert!(!list.contains('\u{fffd}') && !list.contains('\u{202e}'), "{list}");
        }
        assert_eq!(project.done("Read", json!({"file_path": spelling})).await, "1\thit", "{spelling}");
        let resource = project.resource("Read", &json!({"file_path": spelling}));
        assert_eq!(resource, Resource::Path(OsStr::from_bytes(name).into()), "rules judge the file itself");
        let edit = json!({"file_path": spelling, "old_string": "hit", "new_string": "changed"});
        let output = project.run("Edit", edit).await;
        assert_eq!(output.files_changed, [spelling], "{}", output.for_model);
        let diff = output.diff.unwrap();
        assert!(diff.contains(&format!("+++ b/{spelling}\n")), "{diff}");
        let content = std::fs::read(project.path("").join(OsStr::from_bytes(name))).unwrap();
        assert_eq!(content, b"changed\n");
    }
}
