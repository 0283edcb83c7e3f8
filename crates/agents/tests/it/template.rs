//! Templates: reading their files, looking them up by name, and expanding prompts that call them.

use expect_test::expect;
use proptest::prelude::*;
use sortie_agents::{Given, Registry, Scope, Template, TemplateFile, Templates, template_lines};
use sortie_protocol::{FailureCode, TaskRequest};

const MOST: usize = 1 << 20;
const PLACE: &str = ".sortie/templates/try-file.md";

fn file(path: &str, scope: Scope, text: &str) -> TemplateFile {
    TemplateFile { path: path.to_owned(), scope, trusted: false, bytes: text.as_bytes().to_vec() }
}

/// A valid template at the given path and scope.
fn plain(path: &str, scope: Scope) -> TemplateFile {
    file(path, scope, &format!("---\ndescription: from {path}\n---\nDo it.\n"))
}

/// A template with this front matter below its description, and this text.
fn template(keys: &str, text: &str) -> Template {
    let file = file(PLACE, Scope::Project, &format!("---\ndescription: Write tests\n{keys}---\n{text}\n"));
    let (templates, findings) = Templates::assemble(vec![file]);
    assert_eq!(findings, []);
    templates.get("try-file").expect("it is sound").clone()
}

/// The findings about a file.
fn said_of(path: &str, text: &str) -> String {
    let (_, findings) = Templates::assemble(vec![file(path, Scope::Project, text)]);
    findings.iter().map(|finding| format!("{finding}\n")).collect::<Vec<_>>().concat()
}

/// Numbered names with this text before and after the number.
fn names(count: usize, before: &str, behind: &str) -> String {
    (0..count).fold(String::new(), |text, number| text + before + &number.to_string() + behind)
}

fn expanded(template: &Template, words: &[&str]) -> String {
    match Given::from_words(words).and_then(|given| template.expand(&given, MOST)) {
        Ok(text) => text,
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn a_template_is_named_after_its_file() {
    let template = template(
        "agent: explore\nmodel: light\narguments:\n  - path\n  - name: style\n    default: plain\n",
        "\nTest {{path}} in a {{style}} style.\n\n{{input}}\n",
    );
    assert_eq!((&*template.name, &*template.description), ("try-file", "Write tests"));
    assert_eq!((template.agent.as_deref(), template.model.as_deref()), (Some("explore"), Some("light")));
    assert_eq!(template.usage(), "path=… [style=…] [words]");
    assert_eq!(template.origin.to_string(), "project: .sortie/templates/try-file.md");
}

#[test]
fn values_defaults_and_words_fill_their_placeholders() {
    let template = template(
        "arguments: [path, {name: style, default: plain}]\n",
        "Test {{path}} ({{ path }}) in a {{style}} style.\n{{input}}",
    );
    for (words, expected) in [
        (&["path=a.rs"][..], "Test a.rs (a.rs) in a plain style.\n"),
        (&["style=terse", "path=a.rs"], "Test a.rs (a.rs) in a terse style.\n"),
        (&["path=a.rs", "style="], "Test a.rs (a.rs) in a  style.\n"),
        (&["path=a.rs", "and", "be quick"], "Test a.rs (a.rs) in a plain style.\nand be quick"),
        (
            &["path={{style}} {{input}}", "{{path}}"],
            "Test {{style}} {{input}} ({{style}} {{input}}) in a plain style.\n{{path}}",
        ),
    ] {
        assert_eq!(expanded(&template, words), expected, "{words:?}");
    }
}

#[test]
fn words_without_a_placeholder_go_to_the_end() {
    let template = template("", "Do it.");
    assert_eq!(expanded(&template, &["and", "more"]), "Do it.\n\nand more");
    assert_eq!(expanded(&template, &[]), "Do it.");
}

#[test]
fn a_call_that_does_not_fit_is_answered_with_the_usage() {
    let template = template("arguments: [path, style, {name: depth, default: '1'}]\n", "{{path}} {{style}} {{depth}}");
    let tries: [&[&str]; 6] =
        [&["pth=a"], &["path=a", "style=b", "colour=red"], &[], &["path=a"], &["path=a", "path=b"], &["PATH=a"]];
    let said: String = tries.iter().map(|words| expanded(&template, words) + "\n").collect();
    expect![[r#"
        error: the template `try-file` has no argument `pth`; did you mean `path`?
        error: the template `try-file` has no argument `colour`; it takes path=… style=… [depth=…] [words]
        error: the template `try-file` needs `path=…` and `style=…`; it takes path=… style=… [depth=…] [words]
        error: the template `try-file` needs `style=…`; it takes path=… style=… [depth=…] [words]
        error: `path` is given twice; give it once
        error: the template `try-file` has no argument `PATH`; did you mean `path`?
    "#]]
    .assert_eq(&said);
}

#[test]
fn an_expansion_that_would_be_too_long_is_refused() {
    let template = template("arguments: [x]\n", &"{{x}}".repeat(10_000));
    let given = Given::from_words(&[format!("x={}", "y".repeat(1 << 20))]).expect("it fits");
    let error = template.expand(&given, MOST).expect_err("ten gigabytes");
    assert!(error.to_string().contains("becomes a prompt of 10485760000 bytes"), "{error}");
    assert_eq!(
        template.expand(&Given::from_words(&["x=y"]).expect("it fits"), 10_000).map(|text| text.len()),
        Ok(10_000)
    );
    assert!(template.expand(&Given::from_words(&["x=y"]).expect("it fits"), 9_999).is_err());
}

#[test]
fn faults_of_a_file_are_reported_with_their_line() {
    let front = |keys: &str, text: &str| format!("---\ndescription: d\n{keys}---\n{text}\n");
    let said: String = [
        ("task-status.md", front("", "Do.")),
        ("Test-File.md", front("", "Do.")),
        ("a.md", "Do it.\n".to_owned()),
        ("a.md", "---\ndescription: d\n".to_owned()),
        ("a.md", "---\nagent: explore\n---\nDo.\n".to_owned()),
        ("a.md", "---\ndescription: use when: asked\n---\nDo.\n".to_owned()),
        ("a.md", front("", "")),
        ("a.md", front("name: a\nargument: [x]\ntools: Bash\n", "Do.")),
        ("a.md", front("arguments: path\n", "Do.")),
        ("a.md", front("arguments: [Path, input, a, a, 'b c']\n", "{{a}}")),
        (
            "a.md",
            front("arguments:\n  - name: a\n    type: path\n  - default: x\n  - name: b\n    default: [c]\n", "Do."),
        ),
        ("a.md", front("arguments: [path]\n", "Test\n{{pth}}")),
        ("a.md", front("", "one\n\n${{ x.y }} {{wholly}} {{other}}")),
        ("a.md", front("arguments: [path]\n", "Test")),
        ("a.md", front("model: 'two words'\n", "a\u{202e}b")),
        ("a.md", front(&format!("arguments: [{}]\n", names(33, "a", ", ")), &names(32, "{{a", "}}"))),
    ]
    .iter()
    .map(|(path, text)| said_of(path, text))
    .collect();
    expect![[r#"
        task-status.md:1: error: `/task-status` is built in, and no template can take its place; rename the file
        Test-File.md:1: error: `Test-File` cannot be a template's name; rename the file: lower-case letters, digits and hyphens, a letter first, at most 64 of them
        a.md:1: error: the file does not begin with front matter; begin it with a line `---`, a line `description: …`, and another `---`
        a.md:1: error: the front matter has no end; put a line `---` between the keys and the prompt
        a.md: error: `description` is missing; add a line `description: …` to the front matter
        a.md:2: error: not YAML: mapping values are not allowed in this context; put the value in quotes, or write it as YAML
        a.md:4: error: no text below the front matter; write the prompt there
        a.md:3: error: unknown key `name`; delete the line: a template is named after its file
        a.md:4: error: unknown key `argument`; did you mean `arguments`?
        a.md:5: error: unknown key `tools`; the keys are description, agent, model, arguments
        a.md:3: error: `arguments` must be a list; write a list of names, `[path, style]`, or of items with `name` and `default`
        a.md:3: error: `Path` cannot be an argument's name; use lower-case letters, digits, `-` and `_`, a letter first
        a.md:3: error: `input` is the placeholder for free text; every template has it; delete this one
        a.md:3: error: the argument `a` again; keep one of the two
        a.md:3: error: `b c` cannot be an argument's name; use lower-case letters, digits, `-` and `_`, a letter first
        a.md:5: error: an argument has no `type`; it has a `name` and perhaps a `default`
        a.md:6: error: an argument without a name; write a list of names, `[path, style]`, or of items with `name` and `default`
        a.md:7: error: `default` must be a text; write it in quotes; "" is an empty one
        a.md:5: warning: the text has no placeholder for `{{path}}`; write it where the value belongs, or drop the argument
        a.md:6: error: `{{pth}}` is not an argument; did you mean `{{path}}`?
        a.md:6: error: `{{wholly}}` is not an argument; name it in `arguments`, or write `\{{wholly}}` where braces are meant
        a.md:5: warning: the text has no placeholder for `{{path}}`; write it where the value belongs, or drop the argument
        a.md:3: error: `two words` cannot be a model; name a route, an alias or a model id
        a.md:5: warning: the text has invisible characters, here U+202E; delete them, unless you know why they are there
        a.md:3: error: more than 32 arguments; fewer will do
    "#]].assert_eq(&said);
    let long = format!("---\ndescription: d\n---\n{}", "x".repeat(70_000));
    assert!(said_of("a.md", &long).starts_with("a.md: error: more than 65,536 bytes"), "{}", said_of("a.md", &long));
}

#[test]
fn a_projects_template_replaces_a_users_only_if_it_is_trusted() {
    let (users, projects) =
        (plain("/own/t/review.md", Scope::User), plain(".sortie/templates/review.md", Scope::Project));
    let of = |files: [&TemplateFile; 2]| {
        let (templates, findings) = Templates::assemble(files.map(Clone::clone).to_vec());
        let said: Vec<String> = findings.iter().map(ToString::to_string).collect();
        (templates.get("review").expect("one of the two").description.clone(), said.join("\n"))
    };
    for files in [[&users, &projects], [&projects, &users]] {
        let (description, said) = of(files);
        assert_eq!(description, "from /own/t/review.md");
        assert_eq!(
            said,
            ".sortie/templates/review.md: warning: `review` is a template of yours, so this project's file is set aside; \
             review the file, then run `sortie trust`; or give it a name of its own"
        );
    }
    let trusted = TemplateFile { trusted: true, ..projects };
    assert_eq!(of([&users, &trusted]), ("from .sortie/templates/review.md".to_owned(), String::new()));
}

#[test]
fn a_name_belongs_to_one_file_and_a_broken_file_keeps_it() {
    let (templates, findings) =
        Templates::assemble(vec![plain("t/b/review.md", Scope::Project), plain("t/a/review.md", Scope::Project)]);
    assert_eq!(templates.get("review").expect("the first").description, "from t/a/review.md");
    assert_eq!(
        findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["t/b/review.md: error: `review` is already defined in t/a/review.md; rename one of the two, or delete it"]
    );
    let broken = file("/own/t/review.md", Scope::User, "no front matter");
    let (templates, _) = Templates::assemble(vec![plain("t/review.md", Scope::Project), broken]);
    let error = templates.get("review").expect_err("nobody stands in").to_string();
    assert!(error.contains("its file does not count: /own/t/review.md:1: error:"), "{error}");
}

#[test]
fn the_error_for_an_unknown_template_lists_likely_ones() {
    let (templates, _) = Templates::assemble(
        ["add-docs", "review", "try-file"].map(|name| plain(&format!("t/{name}.md"), Scope::Project)).to_vec(),
    );
    let said = |name: &str| templates.get(name).expect_err("unknown").to_string();
    assert_eq!(said("tryfile"), "unknown template `tryfile`; there are try-file, add-docs, review");
    assert_eq!(
        Templates::default().get("x").expect_err("unknown").to_string(),
        "unknown template `x`; there are none: a template is a file in .sortie/templates"
    );
}

/// A request that names no agent.
fn request(prompt: &str) -> TaskRequest {
    let agent = "general-purpose".to_owned();
    TaskRequest { prompt: prompt.to_owned(), agent, agent_is_usual: true, ..TaskRequest::default() }
}

fn shelf() -> Templates {
    let text = "---\ndescription: Write tests\nagent: explore\nmodel: light\narguments: [path]\n---\nTest {{path}}.\n";
    let registry = Registry::builtin()
        .with_templates(vec![file(PLACE, Scope::Project, text), file("t/broken.md", Scope::Project, "no")]);
    assert_eq!(registry.findings().len(), 1, "what is wrong with templates is said where all else is");
    registry.templates().clone()
}

#[test]
fn a_prompt_that_calls_a_template_becomes_its_text() {
    let applied = shelf().applied(request("/try-file path='my file.rs' be quick"), MOST);
    let applied = applied.expect("it fits");
    assert_eq!(applied.prompt, "Test my file.rs.\n\nbe quick");
    assert_eq!((&*applied.agent, applied.model.as_deref()), ("explore", Some("light")));
    assert_eq!(applied.notices, ["the prompt is the template `try-file` (project: .sortie/templates/try-file.md)"]);
}

#[test]
fn a_request_overrides_its_template() {
    // The default agent can be named like any other.
    for agent in ["plan", "general-purpose"] {
        let (agent_is_usual, model) = (false, Some("main".to_owned()));
        let own = TaskRequest { agent: agent.to_owned(), agent_is_usual, model, ..request("/try-file path=a") };
        let applied = shelf().applied(own, MOST).expect("it fits");
        assert_eq!((&*applied.agent, applied.model.as_deref()), (agent, Some("main")));
    }
}

#[test]
fn a_name_close_to_a_templates_gets_a_notice() {
    let mistaken = request("/tr-file path=a");
    let applied = shelf().applied(mistaken.clone(), MOST).expect("it is a prompt like any other");
    assert_eq!((applied.prompt, applied.agent), (mistaken.prompt, mistaken.agent));
    expect!["there is no template `tr-file`, so the prompt stays as it is; did you mean `/try-file`?"]
        .assert_eq(&applied.notices.join("\n"));
}

#[test]
fn a_template_with_an_unknown_agent_is_reported() {
    let of = |agent: &str| {
        let text = format!("---\ndescription: d\nagent: {agent}\n---\nDo it.\n");
        let registry = Registry::builtin().with_templates(vec![file(PLACE, Scope::Project, &text)]);
        assert!(registry.templates().get("try-file").is_ok());
        registry.findings().iter().map(|finding| format!("{finding}\n")).collect::<Vec<_>>().concat()
    };
    expect![[r#"
        .sortie/templates/try-file.md: warning: `agent`: there is no agent `nobody`, so the template works only for callers that name another one; `sortie agents list` shows the existing ones
        .sortie/templates/try-file.md: warning: `agent`: there is no agent `explor`, so the template works only for callers that name another one; did you mean `explore`?
    "#]].assert_eq(&["nobody", "explor", "Explore", "main", "general"].map(of).concat());
}

#[test]
fn a_prompt_that_calls_no_template_stays_as_it_is() {
    for prompt in ["/usr/bin is full", "/tmp is full", "say /try-file path=a", " try-file", "/", ""] {
        assert_eq!(shelf().applied(request(prompt), MOST), Ok(request(prompt)), "{prompt}");
    }
}

#[test]
fn a_call_that_does_not_fit_is_refused_with_a_code() {
    let said: String = ["/try-file", "/try-file path='a", "/try-file pth=a", "/broken", "/try-file path=a path=b"]
        .map(|prompt| shelf().applied(request(prompt), MOST).expect_err(prompt))
        .map(|failure| format!("{}: {}\n", failure.code, failure.message))
        .concat();
    expect![[r#"
        template_arguments: the template `try-file` needs `path=…`; it takes path=… [words]
        template_arguments: the quote in the value of `path` is not closed; end it with the same quote
        template_arguments: the template `try-file` has no argument `pth`; did you mean `path`?
        unknown_template: unknown template `broken` (its file does not count: t/broken.md:1: error: the file does not begin with front matter; begin it with a line `---`, a line `description: …`, and another `---`); there are explain, fix-failing-test, review, summarise-changes, test-file, try-file, write-docs
        template_arguments: `path` is given twice; give it once
    "#]].assert_eq(&said);
    let long = shelf().applied(request("/try-file path=aaaaaaaaaa"), 5).expect_err("too long");
    assert_eq!(long.code, FailureCode::PromptTooLong);
}

#[test]
fn agents_get_templates_in_bounded_lines() {
    assert!(template_lines(&Templates::default()).is_empty());
    let text =
        "---\ndescription: |\n  Write\n  tests\narguments: [path, {name: style, default: x}]\n---\n{{path}}{{style}}\n";
    let (templates, _) = Templates::assemble(vec![file(PLACE, Scope::Project, text)]);
    expect![[r#"
        Templates: a prompt `/NAME key=value … words` (quote values with spaces) becomes their text.
        - /try-file path= [style=]: Write tests"#]]
    .assert_eq(&template_lines(&templates).join("\n"));
    let many = (0..200).map(|n| {
        let text = format!("---\ndescription: {}\n---\nDo.\n", "long ".repeat(100));
        file(&format!("t/t{n:03}.md"), Scope::Project, &text)
    });
    let (templates, _) = Templates::assemble(many.collect());
    let lines = template_lines(&templates);
    assert!(lines.iter().all(|line| line.chars().count() <= 201), "{lines:#?}");
    assert!(lines.concat().len() < 3_500, "{}", lines.concat().len());
    assert_eq!(lines.last().map(String::as_str), Some(&*format!("- and {} more", 200 - (lines.len() - 2))));
}

/// Quotes a value for a call: single quotes around it, and double ones around each single quote in it.
fn quoted(value: &str) -> String {
    format!("'{}'", value.replace('\'', "'\"'\"'"))
}

/// Similar text and values.
fn word() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z {}=/'\"\\\\]{0,12}", Just("{{path}}".to_owned()), Just("{{style}}".to_owned()), any::<String>()]
}

proptest! {
    #[test]
    fn expanding_never_changes_a_value(
        text in proptest::collection::vec("[a-z .]{0,8}", 1..6), path in word(), style in word(), input in word()
    ) {
        let shape = template("arguments: [path, style]\n", &format!("A{}{{{{path}}}}|{{{{style}}}}|{{{{path}}}}|{{{{input}}}}|", text.join(" ")));
        let given = Given::from_words(&[format!("path={path}"), format!("style={style}"), format!("input={input}")]);
        let expanded = given.and_then(|given| shape.expand(&given, MOST));
        prop_assert_eq!(expanded, Ok(format!("A{}{path}|{style}|{path}|{input}|", text.join(" "))));
    }

    #[test]
    fn a_quoted_value_reaches_the_text_as_it_was(path in word(), input in "[a-z][a-z '\"]{0,10}[a-z]") {
        let call = format!("/try-file path={} {input}", quoted(&path));
        let applied = shelf().applied(request(&call), MOST);
        prop_assert_eq!(applied.map(|request| request.prompt), Ok(format!("Test {path}.\n\n{input}")));
    }

    #[test]
    fn any_bytes_can_be_read_as_a_template(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let file = TemplateFile { path: "any.md".to_owned(), scope: Scope::Project, trusted: false, bytes };
        let (templates, findings) = Templates::assemble(vec![file]);
        prop_assert_eq!(templates.get("any").is_err(), findings.iter().any(sortie_agents::Finding::is_error));
    }
}
