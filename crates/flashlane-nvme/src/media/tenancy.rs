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
    /// A tenant is a host. The first host that connects gets the first tenant, and so on; if there
    /// are more hosts than tenants, hosts share tenants in turn. All share one namespace.
    Host,
    /// A tenant is a priority class of queues. All share one namespace.
    Class,
}

impl Tenancy {
    /// The lengths of the namespaces, from those of the spaces of the tenants. Unit: sectors.
    pub(crate) fn namespaces(self, spaces: &[u64]) -> Vec<u64> {
        match self {
            Self::Queue | Self::Host | Self::Class => {
                spaces.iter().min().copied().into_iter().collect()
            }
            Self::Namespace => spaces.to_vec(),
        }
    }
}
