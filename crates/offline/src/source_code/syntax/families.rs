//! Notation of programming languages, one row for each family. To teach the model another language, add a row.

/// Notation of one family's files.
#[derive(Debug)]
pub(crate) struct Syntax {
    pub(crate) extensions: &'static [&'static str],
    pub(crate) keywords: &'static [&'static str],
    pub(crate) line_comments: &'static [&'static str],
    pub(crate) docs: &'static [&'static str],
    pub(crate) imports: &'static [&'static str],
    /// Functions may be written without a keyword: `int main(void) {`.
    pub(crate) bare_functions: bool,
}

const SLASHES: &[&str] = &["//", "/*", "*/", "* "];
const HASH: &[&str] = &["#"];

/// One row per family; the first with a matching extension applies.
pub(crate) const FAMILIES: &[Syntax] = &[
    Syntax {
        extensions: &["rs"],
        keywords: &["fn", "struct", "enum", "trait", "impl", "type", "mod", "const", "static", "macro_rules!", "union"],
        line_comments: SLASHES,
        docs: &["///", "/**", "#["],
        imports: &["use ", "pub use ", "extern crate ", "pub(crate) use "],
        bare_functions: false,
    },
    Syntax {
        extensions: &["py", "pyi", "rb"],
        keywords: &["def", "class", "module"],
        line_comments: HASH,
        docs: &["@"],
        imports: &["import ", "from ", "require "],
        bare_functions: false,
    },
    Syntax {
        extensions: &["js", "jsx", "ts", "tsx", "mjs", "cjs", "vue", "svelte"],
        keywords: &["function", "function*", "class", "interface", "type", "enum", "namespace", "const", "let", "var"],
        line_comments: SLASHES,
        docs: &["/**", "@"],
        imports: &["import ", "export * from", "require("],
        bare_functions: true,
    },
    Syntax {
        extensions: &["go"],
        keywords: &["func", "type", "const", "var"],
        line_comments: SLASHES,
        docs: &[],
        imports: &["import "],
        bare_functions: false,
    },
    Syntax {
        extensions: &["java", "c", "h", "cc", "cpp", "cxx", "hpp", "hh", "cs", "m", "mm", "dart", "d"],
        keywords: &["class", "struct", "enum", "interface", "namespace", "union", "record", "#define", "using"],
        line_comments: SLASHES,
        docs: &["/**", "///", "@"],
        imports: &["import ", "#include", "using "],
        bare_functions: true,
    },
    Syntax {
        extensions: &["kt", "kts", "swift", "scala", "php", "groovy", "zig", "ex", "exs", "lua"],
        keywords: &[
            "fun",
            "func",
            "fn",
            "function",
            "def",
            "defp",
            "class",
            "object",
            "interface",
            "struct",
            "enum",
            "trait",
            "protocol",
            "extension",
            "defmodule",
            "val",
            "const",
            "type",
        ],
        line_comments: &["//", "/*", "*/", "* ", "#", "--"],
        docs: &["/**", "///", "@"],
        imports: &["import ", "use ", "require"],
        bare_functions: false,
    },
    Syntax {
        extensions: &["sh", "bash", "zsh", "mk", "cmake", "dockerfile", "pl", "pm", "r", "jl", "nix"],
        keywords: &["function", "sub", "macro"],
        line_comments: HASH,
        docs: &[],
        imports: &["source ", ". "],
        bare_functions: true,
    },
    Syntax {
        extensions: &["sql"],
        keywords: &["create", "CREATE"],
        line_comments: &["--", "/*"],
        docs: &[],
        imports: &[],
        bare_functions: false,
    },
    Syntax {
        extensions: &["md", "rst", "txt", "adoc"],
        keywords: &["#", "##", "###", "####"],
        line_comments: &[],
        docs: &[],
        imports: &[],
        bare_functions: false,
    },
    Syntax {
        extensions: &["toml", "ini", "cfg", "conf", "yaml", "yml", "json", "properties"],
        keywords: &[],
        line_comments: &["#", ";", "//"],
        docs: &[],
        imports: &[],
        bare_functions: false,
    },
];

/// Syntax of unknown files: prose.
pub(crate) const UNKNOWN: Syntax =
    Syntax { extensions: &[], keywords: &[], line_comments: &[], docs: &[], imports: &[], bare_functions: false };
