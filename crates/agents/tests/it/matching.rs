//! The choice of an agent for a text, and its explanation.

use std::time::{Duration, Instant};

use expect_test::expect;
use sortie_agents::{AgentFile, Dialect, Place, Ranking, Registry, Scope, rank};

use crate::tools;

fn registry(agents: &[(&str, &str)]) -> Registry {
    assemble(agents.iter().map(|(name, description)| described(name, description, Scope::Project)).collect())
}

fn described(name: &str, description: &str, scope: Scope) -> AgentFile {
    let text = format!("---\nname: {name}\ndescription: \"{description}\"\n---\nYou are {name}.\n");
    let path = format!("{scope}/{name}.md");
    AgentFile { path, scope, dialect: Dialect::Ours, trusted: false, bytes: text.into_bytes() }
}

fn assemble(files: Vec<AgentFile>) -> Registry {
    let registry = Registry::assemble(files, Vec::new(), &tools());
    assert_eq!(registry.findings(), []);
    registry
}

fn team() -> Registry {
    registry(&[
        ("code-reviewer", "Reviews changes to TypeScript and Rust code for mistakes"),
        ("test-writer", "Writes missing unit tests"),
        ("db-migrator", "Plans database migrations and checks that they can be undone"),
        ("ui-designer", "Designs web pages and their styles"),
        ("log-analyst", "Analyses logs of failed deployments"),
    ])
}

fn best<'a>(ranking: &'a Ranking<'_>) -> &'a str {
    ranking.best().map_or("none", |found| found.agent.name.as_str())
}

#[test]
fn the_agent_that_a_text_is_about_is_chosen() {
    let team = team();
    for (text, chosen) in [
        ("review typescript code", "code-reviewer"),
        ("reviewer-thing: review typescript code", "code-reviewer"),
        ("please CODE-REVIEW the changes", "code-reviewer"),
        ("codeReviewer", "code-reviewer"),
        ("Are there unit tests missing?", "test-writer"),
        ("write a test", "test-writer"),
        ("migrating the databases", "db-migrator"),
        ("Which deployment failed? Look into the logs", "log-analyst"),
        ("find where things are used", "explore"),
    ] {
        assert_eq!(best(&rank(&team, text)), chosen, "{text}");
    }
}

#[test]
fn too_few_shared_words_choose_no_agent_and_give_the_reason() {
    let team = team();
    let why = |text| rank(&team, text).why_none.expect("nobody");
    expect!["no agent shares a word with the text"].assert_eq(&why("bake a chocolate cake"));
    expect!["no agent shares 2 words with the text; the nearest, `code-reviewer`, shares 1"]
        .assert_eq(&why("bake a cake and review it"));
    expect!["the text has no words to match"].assert_eq(&why("could you please use an agent for this"));
    expect!["the text has no words to match"].assert_eq(&why(""));
}

#[test]
fn a_text_of_one_word_needs_only_that_one() {
    let team = team();
    let ranking = rank(&team, "the migration");
    assert_eq!((ranking.needed, best(&ranking)), (1, "db-migrator"));
    assert_eq!(rank(&team, "database migration code").needed, 2);
}

#[test]
fn one_word_is_not_enough_however_rare() {
    let registry = registry(&[("cell-expert", "Zygotes"), ("helper", "Sorts a pile of papers by date")]);
    let ranking = rank(&registry, "sort the zygote papers");
    assert_eq!(best(&ranking), "helper");
    assert_eq!(ranking.matches.len(), 2, "the other is still shown");
}

#[test]
fn a_whole_name_is_enough_and_a_part_of_it_is_not() {
    let team = registry(&[("archivist", "Keeps papers"), ("map-maker", "Draws the world")]);
    for (text, chosen) in [
        ("ask the archivist about yesterday", "archivist"),
        ("a map of all yesterday's voyages", "none"),
        ("let the map maker look at voyages", "map-maker"),
    ] {
        assert_eq!(best(&rank(&team, text)), chosen, "{text}");
    }
}

#[test]
fn ordinary_sentences_match_the_built_in_agents() {
    let registry = Registry::builtin();
    for (text, chosen) in [
        ("where are errors handled", "explore"),
        ("find where errors are logged", "explore"),
        ("find the tests", "explore"),
        ("review this change for security", "general-purpose"),
        ("plan how to split this module", "plan"),
        ("run the tests and report failures", "bash"),
        ("summarise this file", "summary"),
        ("summarize these texts", "summary"),
    ] {
        assert_eq!(best(&rank(&registry, text)), chosen, "{text}");
    }
    assert_eq!(best(&rank(&registry, "bake a chocolate cake")), "none");
}

#[test]
fn the_choice_explains_itself() {
    let team = team();
    let ranking = rank(&team, "Review the Rust code of the database layer");
    let mut text = format!("{:?}, {} needed\n", ranking.words, ranking.needed);
    for found in &ranking.matches {
        text += &format!("{} {:.3}", found.agent.name, found.score);
        for word in &found.words {
            text += &format!(" {} {:.3} {:?}", word.word, word.score, word.place);
        }
        text.push('\n');
    }
    expect![[r#"
        ["review", "rust", "code", "database", "layer"], 2 needed
        code-reviewer 6.614 review 2.403 Both rust 1.808 Description code 2.403 Both
        db-migrator 1.753 database 1.753 Description
        plan 1.534 code 1.534 Description
        general-purpose 1.387 review 1.387 Description
    "#]]
    .assert_eq(&text);
    assert!(ranking.matches.iter().all(|found| {
        let sum: f64 = found.words.iter().map(|word| word.score).sum();
        (sum - found.score).abs() < 1e-9
    }));
}

#[test]
fn a_camel_case_word_counts_once_if_it_is_known_as_a_whole() {
    let team = team();
    assert_eq!(rank(&team, "TypeScript").words, ["typescript"]);
    assert_eq!(rank(&team, "codeReviewer").words, ["code", "reviewer"]);
    let found = rank(&team, "codeReviewer");
    assert_eq!(found.matches[0].words.len(), 2);
    assert_eq!(found.matches[0].words[0].place, Place::Both);
}

#[test]
fn ties_go_to_the_nearer_agent_and_then_to_the_first_by_name() {
    let same = "Sorts stamps";
    let registry = assemble(vec![
        described("sorter-b", same, Scope::User),
        described("sorter-d", same, Scope::Project),
        described("sorter-c", same, Scope::Project),
    ]);
    let ranking = rank(&registry, "sort my stamps");
    let names: Vec<&str> = ranking.matches.iter().map(|found| found.agent.name.as_str()).collect();
    assert_eq!(names, ["sorter-c", "sorter-d", "sorter-b"]);
}

#[test]
fn contractions_have_no_content_and_do_not_split_words() {
    let team = team();
    for text in ["I don't have what's there", "it’s what we’d like", "you're there, they'll be", "CAN'T"] {
        assert_eq!(rank(&team, text).words, [""; 0], "{text}");
    }
    assert_eq!(rank(&team, "the user's 'quoted' o’clock").words, ["user's", "quoted", "o’clock"]);
    assert_eq!(best(&rank(&team, "l'analyse des logs")), "log-analyst");
}

#[test]
fn short_plurals_match_their_singular() {
    let registry = registry(&[
        ("api-keeper", "Designs the CLI and its URI for each PR"),
        ("system-architect", "Decides how parts fit"),
    ]);
    for (text, word) in [
        ("APIs", Some("api-keeper")),
        ("apis", Some("api-keeper")),
        ("PRs", Some("api-keeper")),
        ("CLIs", Some("api-keeper")),
        ("parseURIs", Some("api-keeper")),
        ("architecture", Some("system-architect")),
        ("iOS", None),
    ] {
        let ranking = rank(&registry, text);
        assert_eq!(ranking.matches.first().map(|found| found.agent.name.as_str()), word, "{text}");
    }
}

#[test]
fn scripts_without_spaces_are_matched_in_pairs() {
    let registry = registry(&[
        ("reviewer", "代码审查专家"),
        ("translator", "翻訳とコードレビュー"),
        ("thai", "ตรวจสอบโค้ด"),
        ("writer", "文"),
    ]);
    for (text, chosen) in [
        ("请帮我做代码审查", "reviewer"),
        ("コードを翻訳して", "translator"),
        ("ช่วยตรวจโค้ด", "thai"),
        ("review代码审查please", "reviewer"),
        ("文", "writer"),
    ] {
        assert_eq!(best(&rank(&registry, text)), chosen, "{text}");
    }
    assert_eq!(rank(&registry, "代码审查").words, ["代码", "码审", "审查"]);
}

#[test]
fn a_letter_with_a_mark_matches_the_plain_one_in_any_encoding() {
    let registry = registry(&[("relecteur", "Vérifie les détails du résumé"), ("viet", "Kiểm tra tiếng Việt")]);
    for (text, chosen) in [
        ("verifie details", "relecteur"),
        ("VÉRIFIE DÉTAILS", "relecteur"),
        ("ve\u{301}rifie de\u{301}tails", "relecteur"),
        ("kiem tra", "viet"),
        ("kie\u{302}\u{309}m tra", "viet"),
    ] {
        assert_eq!(best(&rank(&registry, text)), chosen, "{text}");
    }
}

#[test]
fn matching_time_depends_on_the_shared_words() {
    let registry = assemble((0..1_000).map(|n| described(&format!("agent-{n}"), &long(40, n), Scope::User)).collect());
    // The longer one shares no more words: reading it may take longer, but not once for each agent.
    let (short, longer) = (long(1_100, 0), long(22_000, 0));
    assert_eq!((rank(&registry, &longer).words.len(), rank(&registry, &longer).matches.len()), (22_000, 1_000));
    let (short, longer) = (fastest(|| drop(rank(&registry, &short))), fastest(|| drop(rank(&registry, &longer))));
    assert!(longer < short * 6, "{short:?} and {longer:?}");
}

/// The best of three, since the machine may be busy.
fn fastest(mut work: impl FnMut()) -> Duration {
    let mut time = || {
        let began = Instant::now();
        work();
        began.elapsed()
    };
    time().min(time()).min(time())
}

/// A text of `words` different words, numbered from `from`.
fn long(words: usize, from: usize) -> String {
    let words: Vec<String> = (from..from + words).map(|number| format!("w{number}x")).collect();
    words.join(" ")
}

#[test]
fn the_main_agent_is_never_chosen() {
    let registry = Registry::builtin();
    let ranking = rank(&registry, "answers a person's request; delegates what takes many calls");
    assert!(ranking.matches.iter().all(|found| found.agent.name != "main"));
}

#[test]
fn the_order_of_the_files_does_not_matter() {
    let files = || (0..50).map(|n| described(&format!("agent-{n}"), "Reviews code and tests", Scope::User));
    let (forward, backward) = (assemble(files().collect()), assemble(files().rev().collect()));
    let names = |registry: &Registry| -> Vec<String> {
        rank(registry, "review code").matches.iter().map(|found| found.agent.name.clone()).collect()
    };
    assert_eq!(names(&forward), names(&backward));
}
