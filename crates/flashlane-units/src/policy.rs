//! Registration of policies: one macro line each.
//!
//! [`policies!`](crate::policies) turns a table of names and configuration types into a closed enum
//! that reads from TOML as `"greedy"` (defaults) or `{ rga = { choices = 8 } }`, and that lists
//! itself for `flashlane policies`.

/// What a policy says of itself.
pub trait PolicyDoc {
    /// One sentence: what it does.
    const SUMMARY: &'static str;
    /// Where it comes from: paper and section, or "Flashlane".
    const SOURCE: &'static str;
    /// True where the source does not publish the mechanism in full and we had to fill gaps.
    const RECONSTRUCTED: bool = false;
}

/// One row of `flashlane policies`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PolicyInfo {
    /// The configuration key that takes it, for example `ftl.gc.victim`.
    pub family: &'static str,
    /// Its name in configuration files.
    pub name: &'static str,
    /// One sentence: what it does.
    pub summary: &'static str,
    /// Paper and section.
    pub source: &'static str,
    /// True where parts had to be reconstructed.
    pub reconstructed: bool,
}

/// Declares a family of policies: an enum of their configurations, its names, and its text form.
#[macro_export]
macro_rules! policies {
    ($(#[$doc:meta])* $vis:vis enum $family:ident at $key:literal {
        $($(#[$vdoc:meta])* $name:literal => $variant:ident($config:ty)),+ $(,)?
    }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $family { $($(#[$vdoc])* #[doc = concat!("`", $name, "`")] $variant($config)),+ }

        impl $family {
            /// Every name of the family, in registration order.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The policy of that name with its default parameters.
            #[must_use]
            pub fn by_name(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant(<$config>::default())),)+ _ => None }
            }

            /// The name that selects this policy.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$variant(_) => $name),+ }
            }

            /// One row per policy, in registration order.
            #[must_use]
            pub fn list() -> Vec<$crate::policy::PolicyInfo> {
                use $crate::policy::PolicyDoc;
                vec![$($crate::policy::PolicyInfo {
                    family: $key,
                    name: $name,
                    summary: <$config>::SUMMARY,
                    source: <$config>::SOURCE,
                    reconstructed: <$config>::RECONSTRUCTED,
                }),+]
            }
        }

        impl serde::Serialize for $family {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                match self { $(Self::$variant(config) => {
                    if *config == <$config>::default() { return s.serialize_str($name); }
                    let mut map = s.serialize_map(Some(1))?;
                    map.serialize_entry($name, config)?;
                    map.end()
                }),+ }
            }
        }

        impl<'de> serde::Deserialize<'de> for $family {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
                struct V;
                impl<'de> serde::de::Visitor<'de> for V {
                    type Value = $family;
                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        write!(f, "one of {}", $family::NAMES.join(", "))
                    }
                    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<$family, E> {
                        $family::by_name(name)
                            .ok_or_else(|| E::unknown_variant(name, $family::NAMES))
                    }
                    fn visit_map<A: serde::de::MapAccess<'de>>(
                        self, mut map: A,
                    ) -> Result<$family, A::Error> {
                        use serde::de::Error;
                        let name: String = map.next_key()?.ok_or_else(|| {
                            A::Error::custom(format!("expected one of {}", $family::NAMES.join(", ")))
                        })?;
                        let value = match name.as_str() {
                            $($name => $family::$variant(map.next_value::<$config>()?),)+
                            other => return Err(A::Error::unknown_variant(other, $family::NAMES)),
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
                let names: &[&str] = Self::NAMES;
                let tables: Vec<serde_json::Value> = vec![$({
                    let inner = generator.subschema_for::<$config>();
                    serde_json::json!({
                        "type": "object", "properties": { $name: inner },
                        "required": [$name], "additionalProperties": false,
                    })
                }),+];
                let mut any = vec![serde_json::json!({ "enum": names })];
                any.extend(tables);
                schemars::json_schema!({ "anyOf": any })
            }
        }
    };
}
