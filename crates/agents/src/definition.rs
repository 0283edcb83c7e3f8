//! What a definition says about an agent.

/// An agent as its author described it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentDefinition {
    pub name: String,
    /// Other names that people use for it.
    pub aliases: Vec<String>,
    /// When to use it, for the one who delegates.
    pub description: String,
    /// The role prompt, complete.
    pub prompt: String,
    /// The tools it may use; `None` is whatever its parent may use.
    pub tools: Option<Vec<String>>,
    /// A model by name, where the agent needs a certain one.
    pub model: Option<String>,
    pub max_turns: u32,
    /// Whether other agents may delegate to it.
    pub delegable: bool,
}
