//! The common parts of the rules for links and durations: their list as a model, and setters.

/// The methods of `$list`, a list of rules of which the last one that matches wins, and the model
/// of a simulation that it is.
macro_rules! rule_list {
    (
        $list:ident of $rule:ident in $table:literal,
        $model:literal with $keys:literal,
        dyn $resolved:ident
    ) => {
        impl $list {
            /// Creates a list without rules.
            pub fn new() -> Self {
                Self::default()
            }

            /// Adds a rule, which wins over those before it.
            #[must_use]
            pub fn rule(mut self, rule: $rule) -> Self {
                self.rules.push(rule);
                self
            }

            /// Adds the rules of `later`, which win over those before them: for example scales for
            /// a recorded profile.
            #[must_use]
            pub fn and(mut self, later: Self) -> Self {
                self.rules.extend(later.rules);
                self
            }

            #[doc = concat!("Reads the rules from a TOML document with a `", $table, "` table for")]
            /// each.
            ///
            /// # Errors
            /// An error with the line and the nearest key.
            pub fn from_toml(text: &str) -> ringspin_executor::Result<Self> {
                let way_out = concat!("correct that line; the keys of `", $table, "` are ", $keys);
                let problem = concat!("failed to read the ", $model);
                ringspin_modes::toml_text::parse(text, problem, way_out)
            }
        }

        impl ringspin_modes::deterministic::Model<dyn $resolved> for $list {
            fn resolve(
                &self,
                info: &ringspin_executor::GraphInfo,
                seed: u64,
            ) -> Result<Box<dyn $resolved>, ringspin_executor::BoxError> {
                Ok(Box::new(Self::resolve(self, info, seed)?))
            }

            fn equals(&self, other: &dyn std::any::Any) -> bool {
                other.downcast_ref() == Some(self)
            }
        }

        impl From<$list> for ringspin_modes::deterministic::AnyModel<dyn $resolved> {
            /// A list without rules is no model.
            fn from(list: $list) -> Self {
                (!list.rules.is_empty()).then(|| std::sync::Arc::new(list) as _)
            }
        }
    };
}

/// A setter by value for each of these fields of `$rule`.
macro_rules! setters {
    ($rule:ident:
        $($(#[$doc:meta])* $field:ident($value:ident: $type:ty) = $stored:expr;)*
    ) => {
        impl $rule {$(
            $(#[$doc])*
            #[must_use]
            pub fn $field(mut self, $value: $type) -> Self {
                self.$field = $stored;
                self
            }
        )*}
    };
}
