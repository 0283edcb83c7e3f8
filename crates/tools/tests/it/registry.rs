use std::sync::Arc;

use serde_json::Value;
use sortie_tools::{Commands, Registry, Tool, TypedTool};

/// The tools that manage other tasks.
const COMPANIONS: [&str; 6] = ["TaskOutput", "TaskStop", "SendMessage", "TaskList", "Ask", "Note"];

fn tokens(names: &[&str]) -> usize {
    let registry = Registry::standard(None, Commands::Offered).with_companions();
    let specs: Vec<_> = names.iter().map(|name| registry.spec(name).unwrap()).collect();
    bpe_openai::o200k_base().count(&serde_json::to_string(&specs).unwrap())
}

#[test]
fn the_tool_specs_that_models_read_are_short() {
    let search = tokens(&["Read", "LS", "Glob", "Grep"]);
    assert!(search <= 500, "{search} tokens");
    let todo = tokens(&["TodoWrite"]);
    assert!(todo <= 90, "{todo} tokens");
    let web = tokens(&["WebFetch"]);
    assert!(web < 130, "{web} tokens");
    let edits = tokens(&["Write", "Edit", "MultiEdit"]);
    assert!(edits < 350, "{edits} tokens");
    let shell = tokens(&["Bash", "BashOutput", "KillShell"]);
    assert!(shell < 400, "{shell} tokens");
    let companions = tokens(&COMPANIONS);
    assert!(companions < 450, "{companions} tokens");
}

#[test]
fn schemas_are_plain_object_schemas() {
    for spec in Registry::standard(None, Commands::Offered).with_companions().specs() {
        assert_eq!(spec.schema["type"], "object", "{}", spec.name);
        let text = spec.schema.to_string();
        assert!(!text.contains("$schema") && !text.contains("\"title\""), "{text}");
    }
}

#[test]
fn tools_are_offered_in_a_fixed_order_and_found_by_exact_name() {
    let registry = Registry::standard(Some(Arc::new(Other("Task"))), Commands::Offered);
    assert_eq!(
        registry.names().collect::<Vec<_>>(),
        [
            "Read",
            "LS",
            "Glob",
            "Grep",
            "TodoWrite",
            "WebFetch",
            "Write",
            "Edit",
            "MultiEdit",
            "Bash",
            "BashOutput",
            "KillShell",
            "Task"
        ]
    );
    assert!(registry.get("Read").is_some() && registry.get("read").is_none());
    assert!(registry.specs().iter().all(|spec| registry.get(&spec.name).unwrap().spec() == *spec));
    let idempotent = registry.names().filter(|name| registry.get(name).unwrap().idempotent());
    assert_eq!(idempotent.collect::<Vec<_>>(), ["Read", "LS", "Glob", "Grep", "TodoWrite", "WebFetch"]);
}

#[test]
fn tools_that_manage_tasks_follow_the_one_that_starts_them() {
    let registry = Registry::standard(Some(Arc::new(Other("Task"))), Commands::Absent);
    assert!(registry.names().all(|name| !COMPANIONS.contains(&name)), "no contract without them has them");
    let registry = registry.with_companions();
    let names: Vec<&str> = registry.names().skip_while(|name| *name != "Task").skip(1).collect();
    assert_eq!(names, COMPANIONS);
    let having = |is_so: fn(&dyn Tool) -> bool| -> Vec<&str> {
        COMPANIONS.into_iter().filter(|name| is_so(registry.get(name).unwrap().as_ref())).collect()
    };
    assert_eq!(having(|tool| tool.idempotent()), ["TaskOutput", "TaskStop", "TaskList", "Ask"]);
    assert_eq!(having(|tool| tool.delegates()), ["TaskOutput", "TaskStop", "Ask"], "they wait, and lend their slot");
    assert_eq!(having(|tool| tool.needs_children()), ["TaskOutput", "TaskStop"], "the others serve any task");
}

#[test]
fn a_later_tool_replaces_an_earlier_one_of_the_same_name() {
    let registry = Registry::new(vec![Arc::new(Other("A")), Arc::new(Other("B")), Arc::new(Loud)]);
    assert_eq!(registry.names().collect::<Vec<_>>(), ["A", "B"]);
    assert_eq!(registry.spec("A").unwrap().description, "loud");
}

#[test]
fn an_unknown_name_gets_the_nearest_one() {
    let registry = Registry::standard(None, Commands::Offered);
    assert_eq!(registry.suggest("read_file"), Some("Read"));
    assert_eq!(registry.suggest("grep"), Some("Grep"));
    assert_eq!(registry.suggest("Teleport"), None);
}

struct Other(&'static str);

impl Tool for Other {
    fn spec(&self) -> sortie_protocol::ToolSpec {
        sortie_protocol::ToolSpec { name: self.0.to_owned(), description: String::new(), schema: Value::Null }
    }

    fn idempotent(&self) -> bool {
        false
    }

    fn delegates(&self) -> bool {
        true
    }

    fn resource(&self, _: &str, _: sortie_tools::CallContext<'_>) -> sortie_protocol::Resource {
        sortie_protocol::Resource::Nothing
    }

    fn preview<'a>(
        &'a self,
        _: &'a str,
        _: sortie_tools::CallContext<'a>,
    ) -> sortie_tools::BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    fn run<'a>(
        &'a self,
        _: &'a str,
        _: sortie_tools::CallContext<'a>,
    ) -> sortie_tools::BoxFuture<'a, sortie_protocol::ToolOutput> {
        Box::pin(async { sortie_protocol::ToolOutput::failure("not to be run") })
    }
}

struct Loud;

impl TypedTool for Loud {
    type Input = Value;

    const NAME: &'static str = "A";
    const IDEMPOTENT: bool = true;

    fn description(&self) -> String {
        "loud".to_owned()
    }

    fn schema(&self) -> Value {
        Value::Null
    }

    async fn run(&self, _: Value, _: sortie_tools::CallContext<'_>) -> sortie_protocol::ToolOutput {
        sortie_protocol::ToolOutput::done("loud", "loud")
    }
}
