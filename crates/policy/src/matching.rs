//! The comparison of one call with one rule, or with a list of rules.

mod called_tool;
mod matcher;
mod role;
mod rule_list;
mod target;

pub(crate) use self::called_tool::CalledTool;
pub(crate) use self::matcher::Matcher;
pub(crate) use self::role::Role;
pub(crate) use self::rule_list::RuleList;
pub(crate) use self::target::Target;

/// A call as the layers see it.
pub(crate) struct Call<'a> {
    pub(crate) tool: CalledTool<'a>,
    pub(crate) target: Target<'a>,
}
