//! A run, event by event.

use sortie_protocol::{
    AgentConfig, CallOutput, Event, Fact, Grant, Job, Limits, ModelChoice, Part, Reach, Reply, ServerTools, Status,
    StopReason, TaskId, TaskOutcome, Timestamp, ToolCall, ToolOutput, Usage, VERSION,
};

/// Events so far, and the time in milliseconds.
pub(super) struct Tale {
    pub(super) events: Vec<Event>,
    pub(super) now: u64,
    contract: &'static str,
}

impl Default for Tale {
    fn default() -> Self {
        Self::of("sortie")
    }
}

pub(super) fn id(letter: char) -> TaskId {
    letter.to_string().repeat(12).parse().unwrap()
}

fn config(agent: &str, depth: u32) -> AgentConfig {
    AgentConfig {
        agent: agent.to_owned(),
        model: ModelChoice { route: "main".to_owned(), id: "test-model".to_owned() },
        system: String::new(),
        tools: vec!["Bash".to_owned()],
        grant: Grant::default(),
        limits: Limits::default(),
        depth,
        chain: Vec::new(),
        output_schema: None,
        model_asked: None,
        server_tools: ServerTools::default(),
    }
}

pub(super) fn outcome(task: char, agent: &str, status: Status, text: &str) -> TaskOutcome {
    TaskOutcome {
        task_id: id(task),
        agent: agent.to_owned(),
        status,
        reason: None,
        text: text.to_owned(),
        structured: None,
        files_changed: Vec::new(),
        tool_summary: Vec::new(),
        model: config(agent, 0).model,
        usage: Usage {
            input_tokens: 12_000,
            output_tokens: 400,
            tool_calls: 7,
            duration_ms: 3_200,
            ..Usage::default()
        },
        truncated: false,
        full_text_path: None,
        truncation: None,
        deadline_ms: None,
        notices: Vec::new(),
        error: None,
        failed: Vec::new(),
        refused: Vec::new(),
        given_again: None,
    }
}

impl Tale {
    /// A run in this contract.
    pub(super) fn of(contract: &'static str) -> Self {
        Self { events: Vec::new(), now: 0, contract }
    }

    pub(super) fn fact(mut self, task: char, fact: Fact) -> Self {
        let parent_id = (task != 'm').then(|| id('m'));
        let depth = u32::from(task != 'm');
        let seq = self.events.iter().filter(|event| event.task_id == id(task)).count() as u64 + 1;
        let (task_id, time) = (id(task), Timestamp(self.now));
        self.events.push(Event { v: VERSION, seq, task_id, parent_id, depth, leg: 1, time, fact });
        self
    }

    pub(super) fn wait(mut self, ms: u64) -> Self {
        self.now += ms;
        self
    }

    pub(super) fn started(self, task: char, agent: &str, title: &str) -> Self {
        let depth = u32::from(task != 'm');
        let job = Box::new(Job {
            task: id(task),
            parent: (task != 'm').then(|| id('m')),
            root: id('m'),
            title: title.to_owned(),
            prompt: format!("Please: {title}"),
            workspace: "/w".to_owned(),
            contract: self.contract.to_owned(),
            report_cap_bytes: None,
            report_cap_characters: None,
            report_cap_lines: None,
            report_cap_json_bytes: None,
            counted_percent: None,
            fork: None,
            context_files: Vec::new(),
            reach: Reach::default(),
            notices: Vec::new(),
            config: config(agent, depth),
        });
        self.fact(task, Fact::TaskStarted { job })
    }

    pub(super) fn admitted(self, task: char) -> Self {
        self.fact(task, Fact::TaskAdmitted)
    }

    pub(super) fn asked(self, task: char, tool: &str, arguments: &str) -> Self {
        self.replied(task, std::iter::once(call(tool, arguments)))
    }

    /// Adds one reply with these calls, by id and arguments, of the contract's own tool.
    pub(super) fn delegated(self, task: char, calls: &[(&str, String)]) -> Self {
        let tool = sortie_contract::contract(self.contract).unwrap().tool_name();
        let call = |(id, arguments): &(&str, String)| ToolCall { id: (*id).into(), ..call(tool, arguments) };
        self.replied(task, calls.iter().map(call))
    }

    fn replied(self, task: char, calls: impl Iterator<Item = ToolCall>) -> Self {
        let parts = calls.map(Part::Call).collect();
        let reply = Reply {
            parts,
            stop: StopReason::Calls,
            usage: Usage::default(),
            usage_doubted: false,
            usage_high: false,
            model: "test-model".to_owned(),
        };
        self.fact(task, Fact::ModelReplied { turn: 1, reply })
    }

    /// Adds a sub-agent that this call of the main agent started.
    pub(super) fn started_by(self, call: &str, task: char, agent: &str, title: &str) -> Self {
        self.started(task, agent, title)
            .fact('m', Fact::ChildStarted { call: call.into(), child: id(task), background: false })
    }

    pub(super) fn called(self, task: char, tool: &str, arguments: &str) -> Self {
        let fact = Fact::CallStarted { call: call(tool, arguments), idempotent: true };
        self.asked(task, tool, arguments).fact(task, fact)
    }

    pub(super) fn answered(self, task: char, tool: &str, output: ToolOutput) -> Self {
        self.fact(task, Fact::CallFinished { output: CallOutput { call: tool.into(), output }, refused: false })
    }

    pub(super) fn refused(self, task: char, tool: &str, output: ToolOutput) -> Self {
        self.fact(task, Fact::CallFinished { output: CallOutput { call: tool.into(), output }, refused: true })
    }

    pub(super) fn ended(self, task: char, outcome: TaskOutcome) -> Self {
        self.fact(task, Fact::TaskEnded { outcome: Box::new(outcome) })
    }
}

fn call(tool: &str, arguments: &str) -> ToolCall {
    ToolCall { id: tool.into(), tool: tool.to_owned(), arguments: arguments.to_owned() }
}

/// Two explorers below a main agent, one of them done.
pub(super) fn two_explorers() -> Tale {
    Tale::default()
        .started('m', "main", "Where are auth errors handled?")
        .admitted('m')
        .started('a', "explore", "Find auth error handling")
        .started('b', "explore", "Find its tests")
        .admitted('a')
        .admitted('b')
        .called('a', "Grep", r#"{"pattern":"auth"}"#)
        .wait(2_100)
        .answered('a', "Grep", ToolOutput::done("…", "12 matches in 3 files"))
        .ended(
            'a',
            outcome('a', "explore", Status::Completed, "# Found\n\nsrc/auth.rs:12\nsrc/b.rs\nsrc/c.rs\nsrc/d.rs"),
        )
}
