//! The built-in templates. Their texts are files, so that they are read and reviewed as prose.

use crate::definition::{Scope, TemplateFile};

const FILES: [(&str, &str); 6] = [
    ("explain.md", include_str!("../../../../prompts/templates/explain.md")),
    ("fix-failing-test.md", include_str!("../../../../prompts/templates/fix-failing-test.md")),
    ("review.md", include_str!("../../../../prompts/templates/review.md")),
    ("summarise-changes.md", include_str!("../../../../prompts/templates/summarise-changes.md")),
    ("test-file.md", include_str!("../../../../prompts/templates/test-file.md")),
    ("write-docs.md", include_str!("../../../../prompts/templates/write-docs.md")),
];

/// Returns the files of the built-in templates.
pub(crate) fn files() -> Vec<TemplateFile> {
    let file = |(path, text): (&str, &str)| TemplateFile {
        path: path.to_owned(),
        scope: Scope::Builtin,
        trusted: true,
        bytes: text.as_bytes().to_vec(),
    };
    FILES.map(file).into()
}
