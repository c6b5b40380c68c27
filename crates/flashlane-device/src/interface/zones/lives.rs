//! Lives of zones, each from when a zone becomes active to its reset, and the writes of each that
//! are on their way to the drive.

#[derive(Clone, Copy, Debug)]
struct Life {
    number: u64,
    /// Writes that were checked, and whose data has not entered the drive.
    entering: u32,
    /// The zone is active, so that more writes may come.
    active: bool,
}

/// The lives that are not over, by number. At most one for each active zone and for each write on
/// its way.
#[derive(Clone, Debug, Default)]
pub(super) struct Lives {
    /// The number of the last life that began. The first one has number 1.
    last: u64,
    lives: Vec<Life>,
}

impl Lives {
    /// A zone becomes active. Returns the number of its life.
    pub(super) fn begin(&mut self) -> u64 {
        self.last += 1;
        self.lives.push(Life { number: self.last, entering: 0, active: true });
        self.last
    }

    /// A zone is no longer active.
    pub(super) fn ended(&mut self, life: u64) {
        let at = self.at(life);
        assert!(self.lives[at].active, "a life ends once");
        self.lives[at].active = false;
        self.forget(at);
    }

    /// A write in a life is on its way.
    pub(super) fn enters(&mut self, life: u64) {
        let at = self.at(life);
        self.lives[at].entering += 1;
    }

    /// The data of a write has entered the drive.
    pub(super) fn entered(&mut self, life: u64) {
        let at = self.at(life);
        assert!(self.lives[at].entering > 0, "a write enters once");
        self.lives[at].entering -= 1;
        self.forget(at);
    }

    /// True if writes of a life are on their way.
    pub(super) fn awaits(&self, life: u64) -> bool {
        self.find(life).is_some_and(|at| self.lives[at].entering > 0)
    }

    fn find(&self, life: u64) -> Option<usize> {
        self.lives.binary_search_by_key(&life, |one| one.number).ok()
    }

    fn at(&self, life: u64) -> usize {
        self.find(life).unwrap_or_else(|| panic!("life {life} is not over"))
    }

    /// Forgets a life if it is over.
    fn forget(&mut self, at: usize) {
        let Life { entering, active, .. } = self.lives[at];
        if !active && entering == 0 {
            self.lives.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A zone that stays active does not keep the lives of others.
    #[test]
    fn only_lives_that_are_not_over_are_kept() {
        let mut lives = Lives::default();
        let first = lives.begin();
        for _ in 0..1000 {
            let life = lives.begin();
            lives.enters(life);
            lives.ended(life);
            assert!(lives.awaits(life), "its write is on its way");
            lives.entered(life);
            assert!(!lives.awaits(life));
            assert_eq!(lives.lives.len(), 1);
        }
        lives.enters(first);
        assert!(lives.awaits(first));
    }
}
