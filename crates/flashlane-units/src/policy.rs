//! Registration of policies: one macro line each.
//!
//! [`policies!`](crate::policies) turns a table of names and configuration types into a closed enum
//! that reads from TOML as `"greedy"` (defaults) or `{ rga = { choices = 8 } }`, and that lists
//! itself for `flashlane policies`. A program may register more of a family; see
//! [`crate::outside`].

use std::borrow::Cow;

/// Description of a policy.
pub trait PolicyDoc {
    /// Effect of the policy, in a sentence.
    const SUMMARY: &'static str;
    /// Source of the policy: paper and section, or "Flashlane".
    const SOURCE: &'static str;
    /// True if the source does not publish the mechanism in full, so that we had to fill gaps.
    const RECONSTRUCTED: bool = false;

    /// Checks the parameters of a policy from outside, after they were read.
    ///
    /// # Errors
    ///
    /// A sentence that names the parameter, the value that was found and the allowed values.
    fn check(&self) -> Result<(), String> {
        Ok(())
    }
}

/// A row of `flashlane policies`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PolicyInfo {
    /// The configuration key of the family, for example `ftl.gc.victim`.
    pub family: &'static str,
    /// Name of the policy in configuration files.
    pub name: Cow<'static, str>,
    /// Effect of the policy, in a sentence.
    pub summary: Cow<'static, str>,
    /// Paper and section.
    pub source: Cow<'static, str>,
    /// True if parts had to be reconstructed.
    pub reconstructed: bool,
}

impl PolicyInfo {
    /// The row of a policy with the configuration `T`.
    #[must_use]
    pub fn of<T: PolicyDoc>(family: &'static str, name: impl Into<Cow<'static, str>>) -> Self {
        Self {
            family,
            name: name.into(),
            summary: T::SUMMARY.into(),
            source: T::SOURCE.into(),
            reconstructed: T::RECONSTRUCTED,
        }
    }
}

/// Declares a family of policies: an enum of their configurations, its names, and its text form.
///
/// `open to Trait` names what a policy from outside is made from: configurations that implement it
/// can be registered by a program, and are then read by their names like those of the table.
#[macro_export]
macro_rules! policies {
    ($(#[$doc:meta])* $vis:vis enum $family:ident at $key:literal open to $outside:ident {
        $($(#[$vdoc:meta])* $name:literal => $variant:ident($config:ty)),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $family {
            $($(#[$vdoc])* #[doc = concat!("`", $name, "`")] $variant($config),)+
            /// A policy that the program registered.
            Outside($crate::outside::Outside<dyn $outside>),
        }

        impl $family {
            /// The configuration key of the family.
            pub const KEY: &'static str = $key;

            /// Every built-in name of the family, in registration order.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The policies that the program registered.
            pub fn outside() -> &'static $crate::outside::Registry<dyn $outside> {
                static OUTSIDE: $crate::outside::Registry<dyn $outside> =
                    $crate::outside::Registry::new();
                &OUTSIDE
            }

            /// Registers a policy from outside: from now on its name selects it wherever one of the
            /// family is expected, and its parameters are read as those of built-in ones are.
            ///
            /// # Errors
            /// A sentence, where the name is taken or is no name.
            pub fn register<T>(name: &str) -> Result<(), String>
            where
                T: $outside + $crate::PolicyDoc + Default,
                T: $crate::outside::Parameters + 'static,
            {
                let kind = $crate::outside::Kind::of(
                    $key, name,
                    |config: T| -> std::sync::Arc<dyn $outside> { std::sync::Arc::new(config) });
                Self::outside().add(kind, Self::NAMES, false)
            }

            /// The policy with that name and default parameters.
            #[must_use]
            pub fn by_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$variant(<$config>::default())),)+
                    _ => Self::outside().kind(name)?.make(None).ok().map(Self::Outside),
                }
            }

            /// The name that selects this policy.
            #[must_use]
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => $name,)+
                    Self::Outside(policy) => policy.name(),
                }
            }

            /// Identifies the code of a policy from outside, if it is no part of the program.
            #[must_use]
            pub fn fingerprint(&self) -> Option<&str> {
                match self {
                    Self::Outside(policy) => {
                        Some(policy.fingerprint()).filter(|print| !print.is_empty())
                    }
                    _ => None,
                }
            }

            /// Rows of all policies, in registration order.
            #[must_use]
            pub fn list() -> Vec<$crate::PolicyInfo> {
                let mut rows = vec![$($crate::PolicyInfo::of::<$config>($key, $name)),+];
                rows.extend(Self::outside().list());
                rows
            }

            /// Every name, including those from outside, in the form of serde's lists.
            fn allowed() -> String {
                let quoted = |policy: $crate::PolicyInfo| format!("`{}`", policy.name);
                let names: Vec<String> = Self::list().into_iter().map(quoted).collect();
                names.join(", ")
            }
        }

        impl serde::Serialize for $family {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                match self {
                    $(Self::$variant(config) => {
                        if *config == <$config>::default() { return s.serialize_str($name); }
                        let mut map = s.serialize_map(Some(1))?;
                        map.serialize_entry($name, config)?;
                        map.end()
                    }),+
                    Self::Outside(policy) if policy.is_default() => s.serialize_str(policy.name()),
                    Self::Outside(policy) => {
                        let mut map = s.serialize_map(Some(1))?;
                        map.serialize_entry(policy.name(), policy.parameters())?;
                        map.end()
                    }
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $family {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct V;
                /// A policy from outside; the error names the allowed names.
                fn outside<E: serde::de::Error>(
                    name: &str, parameters: Option<serde_json::Value>,
                ) -> Result<$family, E> {
                    let kind = $family::outside().kind(name).ok_or_else(|| {
                        if $family::outside().list().is_empty() {
                            return E::unknown_variant(name, $family::NAMES);
                        }
                        E::custom(format!(
                            "unknown variant `{name}`, expected one of {}", $family::allowed()))
                    })?;
                    kind.make(parameters).map($family::Outside).map_err(E::custom)
                }
                impl<'de> serde::de::Visitor<'de> for V {
                    type Value = $family;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "one of {}", $family::allowed())
                    }
                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$family, E> {
                        match name {
                            $($name => Ok($family::$variant(<$config>::default())),)+
                            other => outside(other, None),
                        }
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self, mut map: A,
                    ) -> Result<$family, A::Error> {
                        use serde::de::Error;
                        let name: String = map.next_key()?.ok_or_else(|| {
                            A::Error::custom(format!("expected one of {}", $family::allowed()))
                        })?;
                        let value = match name.as_str() {
                            $($name => $family::$variant(map.next_value::<$config>()?),)+
                            other if $family::outside().kind(other).is_none() => {
                                outside(other, None)?
                            }
                            other => outside(other, Some(map.next_value()?))?,
                        };
                        if let Some(second) = map.next_key::<String>()? {
                            return Err(A::Error::custom(format!(
                                "two policies named, {name:?} and {second:?}; name one")));
                        }
                        Ok(value)
                    }
                }
                d.deserialize_any(V)
            }
        }

        impl schemars::JsonSchema for $family {
            fn schema_name() -> std::borrow::Cow<'static, str> { stringify!($family).into() }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let rows = Self::list();
                let names: Vec<_> = rows.iter().map(|policy| policy.name.as_ref()).collect();
                let mut tables: Vec<serde_json::Value> = vec![$({
                    let inner = generator.subschema_for::<$config>();
                    serde_json::json!({
                        "type": "object", "properties": { $name: inner },
                        "required": [$name], "additionalProperties": false,
                    })
                }),+];
                tables.extend(names[Self::NAMES.len()..].iter().map(|name| serde_json::json!({
                    "type": "object", "required": [name],
                })));
                let mut any = vec![serde_json::json!({ "enum": names })];
                any.extend(tables);
                schemars::json_schema!({ "anyOf": any })
            }
        }
    };
}
