//! The placement identifier of each write.

use flashlane_units::Handle;

use super::draw::Draw;
use super::plan::Plan;
use crate::Directive;

/// Chooses among the identifiers of a copy of a job.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    /// By file: the place in the list of the identifier that is next. Empty where writes draw.
    turns: Vec<usize>,
    draw: Draw,
}

impl Choice {
    pub(super) fn new(plan: &Plan) -> Self {
        let in_turn = plan.config.placement.as_ref().is_some_and(|placement| !placement.random);
        let files = if in_turn { plan.config.files.max(1) as usize } else { 0 };
        Self { turns: vec![0; files], draw: Draw::new(0) }
    }

    /// Sets the draws of a pass. Turns go on from pass to pass, as in fio.
    pub(super) fn seed(&mut self, draw: Draw) {
        self.draw = draw;
    }

    /// The directive of the next write to a file.
    pub(super) fn next(&mut self, plan: &Plan, file: u32) -> Directive {
        let Some(placement) = &plan.config.placement else { return Directive::NONE };
        let count = placement.ids.len();
        let at = match self.turns.get_mut(file as usize) {
            Some(turn) => {
                let at = *turn;
                *turn = if at + 1 < count { at + 1 } else { 0 };
                at
            }
            None => self.draw.below(count as u64) as usize,
        };
        let id = placement.ids.get(at).expect("validation refuses an empty list");
        Directive::place(Handle::new(u8::try_from(*id).expect("validation refuses more than 64")))
    }
}
