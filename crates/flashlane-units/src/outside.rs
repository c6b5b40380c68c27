//! Policies from outside, which a program registers: a table of them beside the closed list of each
//! family.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::policy::{PolicyDoc, PolicyInfo};

/// A policy from outside with its parameters. `C`: the configuration trait of its family.
pub struct Outside<C: ?Sized> {
    info: PolicyInfo,
    fingerprint: Arc<str>,
    /// Parameters as in a file. Equal parameters make equal policies.
    parameters: Value,
    is_default: bool,
    config: Arc<C>,
}

impl<C: ?Sized> Outside<C> {
    /// The name that selects it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.info.name
    }

    /// Description of the policy.
    #[must_use]
    pub fn info(&self) -> &PolicyInfo {
        &self.info
    }

    /// Identifies the policy's code, if it is no part of the program; otherwise empty.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Parameters as in a file.
    #[must_use]
    pub fn parameters(&self) -> &Value {
        &self.parameters
    }

    /// True if all of its parameters have their default values.
    #[must_use]
    pub fn is_default(&self) -> bool {
        self.is_default
    }

    /// The configuration that makes the policy.
    #[must_use]
    pub fn config(&self) -> &C {
        &self.config
    }
}

impl<C: ?Sized> Clone for Outside<C> {
    fn clone(&self) -> Self {
        Self {
            info: self.info.clone(),
            fingerprint: Arc::clone(&self.fingerprint),
            parameters: self.parameters.clone(),
            is_default: self.is_default,
            config: Arc::clone(&self.config),
        }
    }
}

impl<C: ?Sized> fmt::Debug for Outside<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple(self.name()).field(&self.parameters).finish()
    }
}

impl<C: ?Sized> PartialEq for Outside<C> {
    fn eq(&self, other: &Self) -> bool {
        self.info == other.info
            && self.fingerprint == other.fingerprint
            && self.parameters == other.parameters
    }
}

/// Parameters that are read from files and written to them.
pub trait Parameters: Serialize + DeserializeOwned {}

impl<T: Serialize + DeserializeOwned> Parameters for T {}

/// Reads the parameters of a policy, or takes the default ones. Returns the parameters as in a
/// file, and the configuration. The error is a sentence without a place.
type Read<C> = dyn Fn(Option<Value>) -> Result<(Value, Arc<C>), String> + Send + Sync;

/// The way to make policies of one name.
pub struct Kind<C: ?Sized> {
    info: PolicyInfo,
    fingerprint: Arc<str>,
    read: Arc<Read<C>>,
}

impl<C: ?Sized> Clone for Kind<C> {
    fn clone(&self) -> Self {
        let fingerprint = Arc::clone(&self.fingerprint);
        Self { info: self.info.clone(), fingerprint, read: Arc::clone(&self.read) }
    }
}

impl<C: ?Sized + 'static> Kind<C> {
    /// A kind that reads parameters by its own function.
    pub fn new(
        info: PolicyInfo,
        read: impl Fn(Option<Value>) -> Result<(Value, Arc<C>), String> + Send + Sync + 'static,
    ) -> Self {
        Self { info, fingerprint: "".into(), read: Arc::new(read) }
    }

    /// Identifies the code, if it is no part of the program: results are kept under it.
    #[must_use]
    pub fn with_fingerprint(self, fingerprint: String) -> Self {
        Self { fingerprint: fingerprint.into(), ..self }
    }

    /// The kind of a configuration that is read like those of built-in policies. `share` makes the
    /// trait object: `|config| Arc::new(config)`.
    pub fn of<T>(family: &'static str, name: &str, share: fn(T) -> Arc<C>) -> Self
    where
        T: PolicyDoc + Default + Parameters + 'static,
    {
        let info = PolicyInfo::of::<T>(family, name.to_owned());
        Self::new(info, move |parameters| {
            let config: T = match parameters {
                None => T::default(),
                Some(value) => serde_json::from_value(value).map_err(|error| error.to_string())?,
            };
            config.check()?;
            let written = serde_json::to_value(&config).map_err(|error| error.to_string())?;
            Ok((written, share(config)))
        })
    }

    /// The policy with these parameters.
    ///
    /// # Errors
    /// A sentence that says what is wrong with the parameters.
    pub fn make(&self, parameters: Option<Value>) -> Result<Outside<C>, String> {
        let (default, made) = match (self.read)(None) {
            Ok((default, made)) => (Some(default), Ok(made)),
            // A parameter without a default must be given.
            Err(error) => (None, Err(error)),
        };
        let (parameters, config) = match parameters {
            None => (default.clone().unwrap_or_default(), made?),
            given => (self.read)(given)?,
        };
        let is_default = default.as_ref() == Some(&parameters);
        let fingerprint = Arc::clone(&self.fingerprint);
        Ok(Outside { info: self.info.clone(), fingerprint, parameters, is_default, config })
    }
}

/// The policies of a family that a program registered, in the order of their registration.
pub struct Registry<C: ?Sized> {
    kinds: RwLock<Vec<Kind<C>>>,
}

impl<C: ?Sized> Default for Registry<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: ?Sized> Registry<C> {
    /// An empty registry.
    #[must_use]
    pub const fn new() -> Self {
        Self { kinds: RwLock::new(Vec::new()) }
    }

    /// Registers a kind. `built_in`: names that cannot be used. `replace`: a registered kind of
    /// that name is replaced.
    ///
    /// # Errors
    /// A sentence, where the name is taken or is no name.
    pub fn add(&self, kind: Kind<C>, built_in: &[&str], replace: bool) -> Result<(), String> {
        let PolicyInfo { name, family, .. } = &kind.info;
        let letters = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if name.is_empty() || !name.chars().all(letters) {
            return Err(format!(
                "{family}: found the name {name:?}, allowed: small letters, digits and hyphens"
            ));
        }
        let mut kinds = self.kinds.write().unwrap_or_else(PoisonError::into_inner);
        let known = kinds.iter().position(|other| other.info.name == *name);
        if built_in.contains(&name.as_ref()) || known.is_some() && !replace {
            return Err(format!("{family}: the name {name:?} is taken; allowed: another one"));
        }
        match known {
            Some(at) => kinds[at] = kind,
            None => kinds.push(kind),
        }
        Ok(())
    }

    /// The kind with that name.
    #[must_use]
    pub fn kind(&self, name: &str) -> Option<Kind<C>> {
        let kinds = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        kinds.iter().find(|kind| kind.info.name == name).cloned()
    }

    /// Descriptions of the registered policies, in the order of their registration.
    #[must_use]
    pub fn list(&self) -> Vec<PolicyInfo> {
        let kinds = self.kinds.read().unwrap_or_else(PoisonError::into_inner);
        kinds.iter().map(|kind| kind.info.clone()).collect()
    }
}
