//! Words that programmers use for one another. A newcomer asks with one, the code is written with the other.
//!
//! Groups are small on purpose: a synonym is worth less than the word itself, and a loose one finds noise.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::stem::stem;

const GROUPS: &[&[&str]] = &[
    &["authentication", "auth", "authenticate", "authorization", "login", "credential", "signin"],
    &["credential", "password", "secret", "sensitive", "token", "auth"],
    &["error", "err", "failure", "fail", "exception", "fault"],
    &["configuration", "config", "setting", "option", "preference", "conf", "cfg"],
    &["parse", "decode", "deserialize", "lex", "tokenize", "parser"],
    &["encode", "serialize", "encoder", "marshal"],
    &["decode", "deserialize", "unmarshal"],
    &["cache", "memoize", "cached"],
    &["retry", "backoff", "attempt", "reattempt"],
    &["timeout", "deadline", "expire", "elapsed", "timed"],
    &["delete", "remove", "unlink", "erase", "purge", "discard", "rm"],
    &["remove", "strip", "drop", "clear"],
    &["create", "build", "construct", "new", "make"],
    &["builder", "build"],
    &["thread", "spawn", "worker", "concurrent", "parallel"],
    &["start", "begin", "launch", "init", "initialize", "boot"],
    &["stop", "shutdown", "terminate", "cancel", "abort", "kill", "quit", "halt"],
    &["interrupt", "cancel", "abort"],
    &["close", "shutdown", "disconnect"],
    &["finish", "complete", "end", "done"],
    &["log", "logging", "trace", "tracing"],
    &["connection", "connect", "socket", "conn", "dial"],
    &["send", "emit", "publish", "dispatch", "transmit"],
    &["receive", "recv", "consume"],
    &["limit", "max", "maximum", "cap", "quota", "bound", "throttle"],
    &["limit", "restrict"],
    &["validate", "verify", "check", "ensure", "assert"],
    &["hidden", "dotfile", "hide"],
    &["directory", "dir", "folder", "subdirectory"],
    &["environment", "env", "variable", "getenv"],
    &["argument", "arg", "param", "parameter"],
    &["flag", "option", "switch", "arg"],
    &["message", "msg"],
    &["request", "req"],
    &["response", "resp", "reply"],
    &["database", "db", "sqlite"],
    &["query", "statement", "sql", "stmt"],
    &["prepared", "prepare", "stmt"],
    &["transaction", "commit", "rollback", "savepoint"],
    &["lock", "mutex", "latch", "busy"],
    &["compress", "gzip", "deflate", "zip", "brotli", "zstd"],
    &["decompress", "gunzip", "inflate", "gzip", "decoder"],
    &["encrypt", "cipher", "tls", "ssl", "crypto"],
    &["certificate", "cert", "x509"],
    &["redirect", "redirection", "follow"],
    &["ignore", "skip", "exclude", "omit"],
    &["pattern", "glob", "regex", "wildcard"],
    &["match", "matcher", "matches"],
    &["walk", "traverse", "visit", "crawl", "descend"],
    &["recursive", "nested", "depth"],
    &["update", "modify", "change", "mutate", "edit"],
    &["find", "search", "lookup", "locate"],
    &["compare", "cmp", "equal", "eq"],
    &["copy", "clone", "duplicate"],
    &["convert", "transform", "cast", "translate", "conversion"],
    &["memory", "alloc", "heap"],
    &["size", "length", "len"],
    &["count", "number", "num"],
    &["sort", "order"],
    &["suggest", "suggestion", "similar", "typo", "misspelled"],
    &["help", "usage"],
    &["default", "fallback"],
    &["permission", "access", "permit", "privilege", "allow"],
    &["url", "uri", "link"],
    &["address", "addr"],
    &["date", "timestamp", "datetime"],
    &["time", "clock", "instant", "duration"],
    &["string", "str", "text"],
    &["character", "char"],
    &["integer", "int", "i64"],
    &["float", "f64", "double"],
    &["boolean", "bool"],
    &["duplicate", "dedup", "unique", "repeated", "twice"],
    &["escape", "unescape", "quote"],
    &["print", "output", "display", "show"],
    &["render", "format", "fmt", "display"],
    &["load", "open", "import"],
    &["save", "store", "persist", "flush"],
    &["callback", "hook", "listener", "closure"],
    &["event", "signal", "notify", "notification"],
    &["queue", "channel", "backlog"],
    &["schedule", "scheduler", "cron"],
    &["upload", "multipart", "form"],
    &["color", "colour", "ansi", "style"],
    &["width", "wrap", "columns"],
    &["wait", "sleep", "delay", "pause", "park"],
    &["invalid", "illegal", "malformed", "wrong", "bad", "unexpected"],
    &["missing", "absent", "required", "notfound"],
    &["unknown", "unrecognized", "invalid", "unexpected"],
    &["enable", "allow"],
    &["disable", "deny", "forbid"],
    &["forbidden", "denied", "refuse", "reject"],
    &["refuse", "reject", "deny"],
    &["merge", "combine", "join", "concat"],
    &["split", "separate", "chunk"],
    &["plugin", "extension", "addon"],
    &["function", "fn", "func"],
    &["automatic", "auto"],
    &["synchronous", "blocking", "sync"],
    &["asynchronous", "async"],
    &["temporary", "temp", "tmp"],
    &["previous", "prev", "last"],
    &["position", "offset", "index", "pos"],
    &["pool", "idle", "reuse", "keepalive"],
    &["alive", "keepalive", "heartbeat", "ping"],
    &["subcommand", "command", "cmd"],
    &["shell", "bash", "exec"],
    &["process", "child", "subprocess"],
    &["iterate", "iterator", "iter", "loop"],
    &["column", "field"],
    &["row", "record"],
    &["key", "identifier", "id"],
    &["symlink", "symbolic", "link"],
    &["case", "insensitive", "lowercase", "uppercase"],
    &["whitespace", "space", "blank", "trim"],
    &["newline", "linebreak", "eol"],
    &["comment", "remark"],
    &["host", "hostname", "domain"],
    &["proxy", "tunnel"],
    &["download", "fetch", "get"],
    &["image", "picture", "img"],
    &["price", "cost", "charge", "billing"],
    &["user", "account", "member"],
    &["email", "mail", "smtp"],
    &["abbreviate", "truncate", "shorten", "ellipsis", "cut"],
    &["grow", "resize", "reserve", "expand", "capacity"],
    &["hash", "digest", "checksum"],
    &["random", "rand", "rng", "jitter"],
    &["exit", "quit"],
    &["background", "daemon", "detached"],
    &["priority", "precedence", "override"],
    &["register", "registration", "add"],
    &["destroy", "drop", "dispose", "finalize", "cleanup"],
    &["backup", "snapshot", "dump"],
    &["stream", "streaming", "chunk"],
    &["leak", "forget"],
    &["poll", "epoll", "select", "kqueue"],
    &["kernel", "syscall", "os"],
    &["header", "headers"],
    &["cookie", "session"],
];

/// Turns of phrase for which code has one word.
pub(super) const IDIOMS: &[(&str, &str)] = &[
    ("out of scope", "drop"),
    ("tried again", "retry"),
    ("try again", "retry"),
    ("tries again", "retry"),
    ("a second time", "retry"),
    ("time out", "timeout"),
    ("times out", "timeout"),
    ("timed out", "timeout"),
    ("log in", "login"),
    ("logs in", "login"),
    ("logged in", "login"),
    ("shut down", "shutdown"),
    ("shuts down", "shutdown"),
    ("set up", "setup"),
    ("look up", "lookup"),
    ("looked up", "lookup"),
    ("clean up", "cleanup"),
    ("cleaned up", "cleanup"),
    ("wake up", "wake"),
    ("wakes up", "wake"),
    ("too many", "limit"),
    ("too long", "limit"),
    ("too large", "limit"),
    ("too big", "limit"),
    ("larger than", "max"),
    ("bigger than", "max"),
    ("at most", "max"),
    ("how many", "count"),
    ("how long", "timeout"),
    ("upper and lower case", "case"),
    ("regular expression", "regex"),
    ("command line", "cli"),
    ("home directory", "home"),
    ("turned into", "convert"),
    ("made into", "convert"),
];

/// Stems of the words that may stand for a word with this stem, the word itself left out.
pub(super) fn synonyms(of: &str) -> Vec<String> {
    static TABLE: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(table);
    TABLE.get(of).cloned().unwrap_or_default()
}

fn table() -> HashMap<String, Vec<String>> {
    let mut table: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS {
        let stems: Vec<String> = group.iter().map(|word| stem(word)).collect();
        for word in &stems {
            let known = table.entry(word.clone()).or_default();
            known.extend(stems.iter().filter(|other| *other != word).cloned());
        }
    }
    for known in table.values_mut() {
        known.sort();
        known.dedup();
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_inflection_of_a_word_finds_its_group() {
        for word in ["retries", "retrying", "retry"] {
            assert!(synonyms(&stem(word)).contains(&stem("backoff")), "{word}");
        }
        assert!(synonyms(&stem("errors")).contains(&"err".to_owned()));
    }

    #[test]
    fn a_word_of_no_group_stands_for_itself_alone() {
        assert_eq!(synonyms("zebra"), Vec::<String>::new());
    }
}
