//! Task templates as a host's user sees them.

use expect_test::expect;
use rmcp::model::{ContentBlock, GetPromptRequestParams};
use serde_json::{Value, json};
use sortie_testkit::Script;

use crate::site::Site;

const TEMPLATE: &str = "---\ndescription: Write tests for one file\nagent: explore\nmodel: haiku\n\
                        arguments: [path, {name: style, default: plain}]\n---\nWrite {{style}} tests for {{path}}.\n";

fn asked(arguments: &Value) -> GetPromptRequestParams {
    let arguments = arguments.as_object().cloned().expect("an object");
    GetPromptRequestParams::new("try-file").with_arguments(arguments)
}

#[tokio::test]
async fn a_template_is_a_prompt_with_its_arguments() {
    let site = Site::new(Script::new(), &[(".sortie/templates/try-file.md", TEMPLATE)]);
    let client = site.connect(()).await;
    let prompts = client.list_all_prompts().await.expect("prompts");
    let names: Vec<&str> = prompts.iter().map(|prompt| prompt.name.as_str()).collect();
    let builtin = ["explain", "fix-failing-test", "review", "summarise-changes", "test-file"];
    assert_eq!(names, [&builtin[..], &["try-file", "write-docs"]].concat());
    let prompts: Vec<_> = prompts.iter().filter(|prompt| prompt.name == "try-file").collect();
    expect![[r#"[{"name":"try-file","description":"Write tests for one file","arguments":[{"name":"path","required":true},{"name":"style","description":"\"plain\" if not given","required":false},{"name":"input","description":"anything else to say","required":false},{"name":"agent","description":"explore if not given","required":false}]}]"#]].assert_eq(&serde_json::to_string(&prompts).unwrap());
    let given = json!({"path": "src/a.rs", "input": "x=5 stays"});
    let prompt = client.get_prompt(asked(&given)).await.expect("a prompt");
    let ContentBlock::Text(text) = &prompt.messages[0].content else { panic!("no text: {prompt:?}") };
    expect![[r#"
        Have a sub-agent `explore` do this on the model `haiku`: call the tool `Task` of the MCP server Sortie with the text below as it is, and tell me what it reports.

        Write plain tests for src/a.rs.

        x=5 stays"#]].assert_eq(&text.text);
    let given = json!({"path": "src/a.rs", "agent": "plan"});
    let prompt = client.get_prompt(asked(&given)).await.expect("a prompt");
    let ContentBlock::Text(text) = &prompt.messages[0].content else { panic!("no text: {prompt:?}") };
    assert!(text.text.starts_with("Have a sub-agent `plan` do this"), "{text:?}");
}

#[tokio::test]
async fn wrong_arguments_of_a_template_are_refused_with_its_usage() {
    let site = Site::new(Script::new(), &[(".sortie/templates/try-file.md", TEMPLATE)]);
    let client = site.connect(()).await;
    for (arguments, said) in [
        (json!({}), "the template `try-file` needs `path=…`"),
        (json!({"path": "a", "colour": "red"}), "the template `try-file` has no argument `colour`"),
        (json!({"path": "a", "not a name": "red"}), "the template `try-file` has no argument `not a name`"),
        (json!({"path": 5}), "the argument `path` must be a string"),
    ] {
        let error = client.get_prompt(asked(&arguments)).await.expect_err("it does not fit").to_string();
        assert!(error.contains(said), "{error}");
    }
    let unknown = client.get_prompt(GetPromptRequestParams::new("try-fil")).await.expect_err("there is none");
    assert!(unknown.to_string().contains("unknown template `try-fil`; there are try-file, "), "{unknown}");
}
