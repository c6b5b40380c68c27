//! Which tenant of the drive the commands of a queue belong to.

/// What a tenant is to clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Tenancy {
    /// A tenant is a queue. All queues share one namespace. Every tenant has pages of its own in
    /// the model, so a block that several queues use is a page of each of them; its data is one.
    #[default]
    Queue,
    /// A tenant is a namespace, with all queues that use it.
    Namespace,
}

impl Tenancy {
    /// The lengths of the namespaces, from those of the spaces of the tenants. Unit: sectors.
    pub(crate) fn namespaces(self, spaces: &[u64]) -> Vec<u64> {
        match self {
            Self::Queue => spaces.iter().min().copied().into_iter().collect(),
            Self::Namespace => spaces.to_vec(),
        }
    }
}
