//! Decisions before a task starts: agent, model, tools, permissions and instructions.

pub(crate) mod agent_folders;
pub(crate) mod choose_agent;
pub(crate) mod choose_model;
pub(crate) mod configuration;
pub(crate) mod contract_agents;
pub(crate) mod instructions;
pub(crate) mod permissions;
pub(crate) mod remote_tools;
pub(crate) mod roster;
pub(crate) mod server_tools;
pub(crate) mod settings;
