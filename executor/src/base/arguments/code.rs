//! Arguments that a program sets in code, for example from a job file.

use super::{Arguments, NodePattern, Override, RemapRule, texts};
use crate::base::error::Result;
use crate::base::parameter_value::{ParameterValue, text};
use std::fmt;
use std::sync::Arc;

impl Arguments {
    /// Overrides parameter `parameter` of `node`, stronger than the overrides so far. `node` is as
    /// before a `-p`; `origin` says in error messages where the value was given.
    ///
    /// ```
    /// use ringspin_executor::{Arguments, Graph};
    /// let graph = Graph::new();
    /// let arguments = Arguments::default();
    /// graph.set_arguments(arguments.with_parameter("/pilot", "gain", 2.5, "race.toml:3")?);
    /// assert_eq!(graph.create_node("pilot", ())?.declare_parameter("gain", 1.0)?.get(), 2.5);
    /// # Ok::<(), ringspin_executor::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fails for a name that no node or parameter can have.
    pub fn with_parameter(
        mut self,
        node: &str,
        parameter: &str,
        value: impl Into<ParameterValue>,
        origin: &str,
    ) -> Result<Self> {
        let value = value.into();
        let refused = |reason: String| {
            let argument = format!("{node}:{parameter}:={value}");
            texts::parameter(&argument, &reason)
        };
        let nodes = Arc::new(NodePattern::prefix(node).map_err(refused)?);
        text::check_name(parameter).map_err(refused)?;
        let (parameter, origin) = (parameter.into(), origin.into());
        self.overrides.push(Override { nodes, parameter, value, origin });
        Ok(self)
    }

    /// Gives `from`, a topic or service, another name in `node`; the rules so far are stronger.
    ///
    /// # Errors
    /// Fails for invalid names.
    pub fn with_remap(mut self, node: &str, from: &str, to: &str) -> Result<Self> {
        self.rules.push(RemapRule::parse(format!("{node}:{from}:={to}"))?);
        Ok(self)
    }

    /// All rules and overrides of these arguments, in the form of `-r` and `-p`: rules from strong
    /// to weak, then parameters from weak to strong. Equal arguments have equal listings.
    pub fn listing(&self) -> Vec<String> {
        let rules = self.rules.iter().map(|rule| format!("-r {}", rule.text));
        let parameters = self.overrides.iter().map(|given| {
            let Override { nodes, parameter, value, .. } = given;
            format!("-p {nodes}:{parameter}:={value}")
        });
        rules.chain(parameters).collect()
    }
}

impl fmt::Display for NodePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BaseName(name) => f.write_str(name),
            Self::Path(tokens) => tokens.iter().try_for_each(|token| write!(f, "/{token}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::qos::QoS;
    use crate::running::graph::Graph;

    #[test]
    fn arguments_set_in_code_are_listed_and_applied() {
        let line = ["--ros-args", "-p", "gain:=1.5", "-r", "/a/pilot:cmd:=/drive"];
        let (arguments, _) = Arguments::parse(line).unwrap();
        let arguments = arguments.with_parameter("/a/pilot", "gain", 2.5, "race.toml:3").unwrap();
        let arguments = arguments.with_remap("/a/pilot", "cmd", "/other").unwrap();
        let listing = arguments.listing();
        assert_eq!(
            listing,
            [
                "-r /a/pilot:cmd:=/drive",
                "-r /a/pilot:cmd:=/other",
                "-p /**:gain:=1.5",
                "-p /a/pilot:gain:=2.5"
            ]
        );
        let graph = Graph::new();
        graph.set_arguments(arguments);
        let pilot = graph.create_node_in("/a", "pilot", ()).unwrap();
        let topic = pilot.create_publisher::<f64>("cmd", QoS::default()).unwrap();
        assert_eq!(topic.topic(), "/drive", "the earlier rule is stronger");
        assert_eq!(pilot.declare_parameter("gain", 1.0).unwrap().get(), 2.5);
    }

    #[test]
    fn invalid_names_are_refused() {
        let refused = Arguments::default().with_parameter("/a//b", "gain", 1.0, "f:1");
        assert_eq!(
            refused.unwrap_err().to_string(),
            "parameter override `/a//b:gain:=1.0`: `/a//b` is not a valid fully qualified node name"
        );
        let refused = Arguments::default().with_parameter("/a", "a b", 1.0, "f:1").unwrap_err();
        assert!(refused.to_string().contains("has a colon, a space"), "{refused}");
        let refused = Arguments::default().with_remap("/a", "cmd", "no name").unwrap_err();
        assert!(refused.to_string().starts_with("remapping rule `/a:cmd:=no name`"), "{refused}");
    }

    #[test]
    fn an_override_of_another_type_names_its_origin() {
        let graph = Graph::new();
        let arguments = Arguments::default().with_parameter("pilot", "gain", "much", "race.toml:3");
        graph.set_arguments(arguments.unwrap());
        let pilot = graph.create_node("pilot", ()).unwrap();
        let refused = pilot.declare_parameter("gain", 1.0).unwrap_err().to_string();
        assert!(refused.contains("race.toml:3"), "{refused}");
    }
}
