//! Queues open and close, and each belongs to tenants.

use std::collections::VecDeque;

use super::{Media, Tenancy};

/// Hosts whose tenants are remembered. Beyond that, the host that came first is forgotten.
const HOSTS_MAX: usize = 1024;

/// The class of queues without one: low.
const CLASS_DEFAULT: u8 = 3;

/// A client that opens a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Client<'a> {
    /// Name of the host; `None` for a client that is a host of its own.
    pub host: Option<&'a str>,
    /// Priority class of the queue, from 0 for urgent to 3 for low; `None` if it has none.
    pub class: Option<u8>,
}

/// The hosts that were seen, with their tenants.
#[derive(Clone, Debug, Default)]
pub(super) struct Hosts {
    known: VecDeque<(String, usize)>,
    /// Hosts there ever were.
    count: usize,
}

impl Hosts {
    /// The tenant of a host: hosts get the tenants in turn, in the order in which they come.
    fn tenant(&mut self, host: Option<&str>, tenants: usize) -> usize {
        let known = host.and_then(|name| self.known.iter().find(|known| known.0 == name));
        if let Some(&(_, tenant)) = known {
            return tenant;
        }
        let tenant = self.count % tenants.max(1);
        self.count += 1;
        if let Some(name) = host {
            if self.known.len() == HOSTS_MAX {
                self.known.pop_front();
            }
            self.known.push_back((name.to_owned(), tenant));
        }
        tenant
    }
}

impl Media {
    /// Opens a queue of a client of which nothing is known; see [`Media::open_queue_of`].
    pub fn open_queue(&mut self) -> Vec<usize> {
        self.open_queue_of(Client::default())
    }

    /// Opens a queue, and returns its tenant for each namespace: the tenant of the namespace, or
    /// the only tenant of the queue. Where a tenant is a queue, this is the tenant with the fewest
    /// queues, the first of them if there are several. If tenants have the priority of the class,
    /// only they are considered.
    pub fn open_queue_of(&mut self, client: Client<'_>) -> Vec<usize> {
        let all = 0..self.queues.len();
        let tenants = match self.config.tenancy {
            Tenancy::Namespace => all.collect(),
            Tenancy::Queue => vec![self.tenant_of_queue(client.class)],
            Tenancy::Host => vec![self.hosts.tenant(client.host, all.len())],
            Tenancy::Class => vec![self.tenant_of_class(client.class.unwrap_or(CLASS_DEFAULT))],
        };
        for &tenant in &tenants {
            self.queues[tenant] += 1;
        }
        tenants
    }

    /// A host comes, which may open queues later.
    pub(crate) fn meet(&mut self, host: &str) {
        self.hosts.tenant(Some(host), self.queues.len());
    }

    fn tenant_of_queue(&self, class: Option<u8>) -> usize {
        let has_class = |tenant: &usize| class.is_some_and(|class| self.class(*tenant) == class);
        let all = 0..self.queues.len();
        let of_class: Vec<usize> = all.clone().filter(has_class).collect();
        let among = if of_class.is_empty() { all.collect() } else { of_class };
        let fewest = among.into_iter().min_by_key(|&tenant| self.queues[tenant]);
        fewest.unwrap_or_default()
    }

    /// The tenant of a class: the one with the nearest priority, if priorities differ. Otherwise
    /// the tenants are the classes in order, the last tenant with all classes that are left.
    fn tenant_of_class(&self, class: u8) -> usize {
        let all = 0..self.queues.len();
        let differ = all.clone().any(|tenant| self.class(tenant) != self.class(0));
        let nearest = |tenant: &usize| (self.class(*tenant).abs_diff(class), self.queues[*tenant]);
        match differ {
            true => all.min_by_key(nearest).unwrap_or_default(),
            false => usize::from(class).min(all.len().saturating_sub(1)),
        }
    }

    /// The class of a tenant by its priority.
    fn class(&self, tenant: usize) -> u8 {
        self.config.tenants[tenant].priority as u8
    }

    /// Closes a queue, with what [`Media::open_queue`] returned for it. Its work goes on.
    pub fn close_queue(&mut self, tenants: &[usize]) {
        for &tenant in tenants {
            debug_assert!(self.queues[tenant] > 0, "a queue is closed once");
            self.queues[tenant] = self.queues[tenant].saturating_sub(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_get_tenants_in_turn_and_keep_them() {
        let mut hosts = Hosts::default();
        let mut tenant = |name| hosts.tenant(name, 2);
        assert_eq!([tenant(Some("a")), tenant(Some("b")), tenant(Some("a"))], [0, 1, 0]);
        assert_eq!([tenant(None), tenant(None), tenant(Some("c"))], [0, 1, 0]);
        for number in 0..HOSTS_MAX {
            hosts.tenant(Some(&format!("host {number}")), 2);
        }
        assert_eq!(hosts.known.len(), HOSTS_MAX);
    }
}
