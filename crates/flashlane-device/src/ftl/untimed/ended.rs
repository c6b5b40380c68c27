//! The end of a run without time whose state another run begins with.

use flashlane_units::FlowId;

use super::Untimed;
use crate::ftl::FtlState;
use flashlane_reading::Error;

impl Untimed {
    /// Ends all collection that has begun, completes the rows that are being filled, and gives the
    /// state of the drive. The cache must have written all pages back.
    ///
    /// # Errors
    ///
    /// [`Error::Stuck`] if a translation page finds no room.
    pub fn into_state(mut self) -> Result<FtlState, Error> {
        for plane in self.ftl.blocks.planes.numbers() {
            let die = self.dies.of(plane);
            while self.ftl.blocks.planes[plane].jobs > 0 {
                self.release_all(plane);
                let goes_on = match self.dies.arrival {
                    Some(_) => {
                        let at = self.dies.free_at[die];
                        self.take_next_turn(die, at)
                    }
                    None => self.advance(die, u64::MAX),
                };
                assert!(goes_on, "a job of plane {plane} goes on until it is over");
            }
        }
        self.settle(0)?;
        for plane in self.ftl.blocks.planes.numbers() {
            for stream in self.ftl.streams_of_rows() {
                self.ftl.complete_row(plane, FlowId::new(0), stream);
            }
        }
        assert!(self.ftl.blocks.shares_frontiers(), "frontiers are those of the first flow");
        Ok(self.ftl.into_state())
    }
}
