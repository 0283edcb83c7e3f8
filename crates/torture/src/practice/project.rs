//! The small project that the scenarios work on.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Result;

/// The port stands nowhere else, so that an answer with it comes from reading this file.
pub(super) const PORT: &str = "8471";

const FILES: [(&str, &str); 4] = [
    (
        "config.go",
        "package main\n\n// Config holds the settings of the server.\ntype Config struct {\n\tPort    int\n\tTimeout int // \
         seconds\n\tLogFile string\n}\n\n// DefaultConfig is used when there is no file.\nfunc DefaultConfig() Config \
         {\n\treturn Config{Port: 8471, Timeout: 30, LogFile: \"server.log\"}\n}\n",
    ),
    (
        "server.go",
        "package main\n\nimport (\n\t\"fmt\"\n\t\"net/http\"\n\t\"time\"\n)\n\n// Serve answers requests until it \
         fails.\nfunc Serve(config Config) error {\n\tserver := http.Server{\n\t\tAddr:        fmt.Sprintf(\":%d\", \
         config.Port),\n\t\tReadTimeout: time.Duration(config.Timeout) * time.Second,\n\t}\n\treturn \
         server.ListenAndServe()\n}\n",
    ),
    (
        "main.go",
        "package main\n\nfunc main() {\n\tif err := Serve(DefaultConfig()); err != nil {\n\t\tpanic(err)\n\t}\n}\n",
    ),
    ("README.md", "# Echo server\n\nThe setting `Timeout` is in seconds.\n"),
];

/// Writes the project into an empty folder.
pub(super) fn write(folder: &Path) -> Result<()> {
    std::fs::create_dir(folder.join(".git"))?;
    for (name, text) in FILES {
        std::fs::write(folder.join(name), text)?;
    }
    Ok(())
}

/// The files of a folder as they are now, without those of git.
pub(super) fn read(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            let text = String::from_utf8_lossy(&std::fs::read(entry.path())?).into_owned();
            files.insert(entry.file_name().to_string_lossy().into_owned(), text);
        }
    }
    Ok(files)
}

/// Names of the files that differ from those of the new project, and of those that are missing.
pub(super) fn changed(files: &BTreeMap<String, String>) -> Vec<String> {
    let original: BTreeMap<String, String> =
        FILES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let mut names: Vec<String> = original.keys().chain(files.keys()).cloned().collect();
    names.sort();
    names.dedup();
    names.retain(|name| original.get(name) != files.get(name));
    names
}
