//! Lives of zones, each from when a zone becomes active to its reset, and the writes of each that
//! are on their way to the drive.

use std::collections::VecDeque;

#[derive(Clone, Copy, Debug)]
struct Life {
    /// Writes that were checked, and whose data has not entered the drive.
    entering: u32,
    /// The zone is active, so that more writes may come.
    active: bool,
}

/// Lives by number, from 1 on. Those that are over at the front are forgotten.
#[derive(Clone, Debug, Default)]
pub(super) struct Lives {
    /// The number of lives that are forgotten.
    forgotten: u32,
    lives: VecDeque<Life>,
}

impl Lives {
    /// A zone becomes active. Returns the number of its life.
    pub(super) fn begin(&mut self) -> u32 {
        self.lives.push_back(Life { entering: 0, active: true });
        self.forgotten + self.lives.len() as u32
    }

    /// A zone is no longer active.
    pub(super) fn ended(&mut self, life: u32) {
        self.at(life).active = false;
        self.forget();
    }

    /// A write in a life is on its way.
    pub(super) fn enters(&mut self, life: u32) {
        self.at(life).entering += 1;
    }

    /// The data of a write has entered the drive.
    pub(super) fn entered(&mut self, life: u32) {
        let life = self.at(life);
        assert!(life.entering > 0, "a write enters once");
        life.entering -= 1;
        self.forget();
    }

    /// True if writes of a life are on their way.
    pub(super) fn awaits(&self, life: u32) -> bool {
        let at = life.checked_sub(self.forgotten + 1);
        at.and_then(|at| self.lives.get(at as usize)).is_some_and(|life| life.entering > 0)
    }

    fn at(&mut self, life: u32) -> &mut Life {
        assert!(life > self.forgotten, "life {life} is not forgotten");
        &mut self.lives[(life - self.forgotten - 1) as usize]
    }

    fn forget(&mut self) {
        while self.lives.front().is_some_and(|life| !life.active && life.entering == 0) {
            self.lives.pop_front();
            self.forgotten += 1;
        }
    }
}
