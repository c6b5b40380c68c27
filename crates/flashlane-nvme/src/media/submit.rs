//! Work enters the drive as commands of its tenants.

use flashlane::Time;
use flashlane::drive::{Command, Operation, Refused};

use super::{
    Action, Arrival, Held, Media, Part, Pending, Range, SECTOR_BYTES, TRIM_MAX, Tenancy, WorkError,
};

impl Media {
    /// Submits work of a tenant for a time. The caller has advanced to this time before.
    ///
    /// # Errors
    ///
    /// [`WorkError`], if nothing was submitted.
    pub fn submit(
        &mut self,
        at: Time,
        (tenant, namespace): (usize, u32),
        action: Action,
        tag: u64,
    ) -> Result<(), WorkError> {
        self.check(namespace, &action)?;
        let commands = self.commands(tenant, &action);
        self.counts.arrived(&action);
        let namespace = namespace as usize - 1;
        let (parts, flushing, refused) = (0, false, None);
        let pending = Pending { tag, tenant, namespace, action, parts, flushing, refused };
        let work = self.work.insert(pending);
        match self.gates.pass(at, tenant, Held { work, commands }) {
            Some(held) => self.enter(at, work, &held.commands),
            None => Ok(()),
        }
    }

    fn check(&self, namespace: u32, action: &Action) -> Result<(), WorkError> {
        let unknown = WorkError::Namespace { found: namespace, namespaces: self.namespaces() };
        let sectors = self.sectors(namespace).ok_or(unknown)?;
        if let Action::Write { data, .. } = action
            && !(data.len() as u64).is_multiple_of(SECTOR_BYTES)
        {
            return Err(WorkError::Data { found: data.len() });
        }
        let fits =
            |range: &Range| range.sectors > 0 && range.end().is_some_and(|end| end <= sectors);
        match action.ranges().into_iter().find(|range| !fits(range)) {
            Some(found) => Err(WorkError::Range { found, sectors }),
            None => Ok(()),
        }
    }

    /// The commands of the drive for an action, with their tenants.
    fn commands(&self, tenant: usize, action: &Action) -> Vec<(usize, Command)> {
        let transfer = (self.config.device.interface.max_transfer.0 / SECTOR_BYTES).max(1);
        let (operation, most) = match action {
            Action::Read(_) => (Operation::Read, transfer),
            Action::Write { .. } => (Operation::Write, transfer),
            Action::Zero { .. } | Action::Trim(_) | Action::Format(_) => {
                (Operation::Trim, TRIM_MAX)
            }
            Action::Flush => return self.flushes(tenant),
        };
        let placement = match action {
            Action::Write { placement, .. } => *placement,
            _ => None,
        };
        let mut commands = Vec::new();
        let tenants = match action {
            Action::Format(_) if self.config.tenancy != Tenancy::Namespace => 0..self.queues.len(),
            _ => tenant..tenant + 1,
        };
        let of_tenant = |tenant| action.ranges().into_iter().map(move |range| (tenant, range));
        for (tenant, range) in tenants.flat_map(of_tenant) {
            let (mut sector, end) = (range.sector, range.sector + range.sectors);
            while sector < end {
                let sectors = (end - sector).min(most);
                let command = Command::new(operation, sector, sectors as u32);
                commands.push((tenant, Command { placement, ..command }));
                sector += sectors;
            }
        }
        commands
    }

    /// The flushes of a namespace: of the tenant, and of the other tenants that have written.
    fn flushes(&self, tenant: usize) -> Vec<(usize, Command)> {
        let others = (0..self.dirty.len())
            .filter(|&other| self.config.tenancy != Tenancy::Namespace && self.dirty[other]);
        let mut flushed: Vec<usize> = others.filter(|&other| other != tenant).collect();
        flushed.insert(0, tenant);
        flushed.into_iter().map(|tenant| (tenant, Command::flush())).collect()
    }

    /// Lets commands of a piece of work enter the drive.
    pub(super) fn enter(
        &mut self,
        at: Time,
        work: usize,
        commands: &[(usize, Command)],
    ) -> Result<(), WorkError> {
        let at = at.max(self.drive.now());
        for &(tenant, command) in commands {
            let part = self.parts.insert(Part { work, number: self.entered });
            if let Err(refused) = self.drive.schedule(at, tenant, command, part as u64) {
                self.parts.remove(part);
                return self.refused(work, refused);
            }
            match command.operation {
                Operation::Write | Operation::Trim => self.dirty[tenant] = true,
                Operation::Flush => self.dirty[tenant] = false,
                _ => {}
            }
            let arrival = Arrival { number: self.entered, at, tenant, command };
            self.entered += 1;
            for journal in &mut self.journals {
                journal.arrived(&arrival);
            }
            if let Some(pending) = self.work.get_mut(work) {
                pending.parts += 1;
            }
        }
        Ok(())
    }

    /// A command of a piece of work was refused. Work of which some commands have entered ends
    /// without success when these are complete.
    fn refused(&mut self, work: usize, refused: Refused) -> Result<(), WorkError> {
        match self.work.get_mut(work) {
            Some(pending) if pending.parts > 0 => {
                pending.refused = Some(refused);
                Ok(())
            }
            _ => {
                self.work.remove(work);
                Err(WorkError::Refused(refused))
            }
        }
    }
}
