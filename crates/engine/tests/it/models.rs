//! The model that serves a task: call, then agent file, then the type's default, then the parent.

use std::sync::Arc;

use serde_json::json;
use sortie_engine::EngineSettings;
use sortie_llm::{Chosen, Model, ModelError, Models, UnknownModel};
use sortie_protocol::ModelChoice;
use sortie_testkit::{Script, ScriptedModel, reply, when};

use crate::support::{Plan, ask};

/// Any name is a model; `stand-in` says that it serves for another.
struct Anything(Arc<ScriptedModel>);

impl Models for Anything {
    fn choose(&self, asked: Option<&str>, inherited: Option<&ModelChoice>) -> Result<Chosen, UnknownModel> {
        let named = asked.map(|id| ModelChoice { route: "main".to_owned(), id: id.to_owned() });
        let default = || ModelChoice { route: "main".to_owned(), id: "default".to_owned() };
        let choice = named.or_else(|| inherited.cloned()).unwrap_or_else(default);
        let notice = (choice.id == "stand-in").then(|| "`stand-in` serves".to_owned());
        Ok(Chosen { choice, notice })
    }

    fn open(&self, _choice: &ModelChoice) -> Result<Arc<dyn Model>, ModelError> {
        Ok(Arc::clone(&self.0) as Arc<dyn Model>)
    }
}

/// A main agent on `parents` that delegates one piece to `agent`, with this model in the call.
async fn served(agent: &str, asked: Option<&str>, rules: EngineSettings) -> (String, String) {
    let mut call = json!({"description": "a piece", "prompt": "The piece", "subagent_type": agent});
    if let Some(model) = asked {
        call["model"] = json!(model);
    }
    let script = Script::new()
        .on(when::prompt_contains("The question").turn(0), reply::calls([reply::call("Task", call)]))
        .otherwise(reply::text("Done."));
    let model = Arc::new(ScriptedModel::new(script));
    let pinned = "---\nname: pinned\ndescription: has a model\nmodel: files\n---\nWork.\n";
    let heir = "---\nname: heir\ndescription: has none\nmodel: inherit\n---\nWork.\n";
    let world = Plan::script(Script::new())
        .files(&[(".sortie/agents/pinned.md", pinned), (".sortie/agents/heir.md", heir)])
        .rules(rules)
        .agent_files()
        .build_with(Arc::new(Anything(Arc::clone(&model))));
    let mut request = ask("The question");
    request.model = Some("parents".to_owned());
    world.run(request).await;
    let requests = model.seen();
    let child = requests.iter().find(|seen| format!("{:?}", seen.messages[0]).contains("The piece"));
    let answer = requests.last().map(|seen| format!("{:?}", seen.messages.last())).unwrap_or_default();
    (child.map_or_else(|| "nobody".to_owned(), |seen| seen.model.clone()), answer)
}

#[tokio::test]
async fn the_call_comes_before_the_file_and_the_file_before_the_parent() {
    for (agent, asked, model) in [
        ("pinned", Some("calls"), "calls"),
        ("pinned", None, "files"),
        ("pinned", Some("inherit"), "parents"),
        ("heir", None, "parents"),
        ("explore", None, "parents"),
        ("explore", Some("calls"), "calls"),
    ] {
        assert_eq!(served(agent, asked, EngineSettings::default()).await.0, model, "{agent} {asked:?}");
    }
}

#[tokio::test]
async fn the_caller_learns_of_a_substituted_model() {
    let (model, answer) = served("explore", Some("stand-in"), EngineSettings::default()).await;
    assert_eq!(model, "stand-in");
    assert!(answer.contains("notice: `stand-in` serves"), "{answer}");
}

#[tokio::test]
async fn calls_cannot_choose_a_model_if_that_is_switched_off() {
    let strict = || EngineSettings { allow_model_override: false, ..EngineSettings::default() };
    let (model, answer) = served("explore", Some("calls"), strict()).await;
    assert_eq!(model, "nobody");
    assert!(answer.contains("task_tool.allow_model_override"), "{answer}");
    assert_eq!(served("pinned", None, strict()).await.0, "files", "a definition still can");
}
