//! What a command costs, for weighted shares and for limits of rates.

use flashlane_units::RequestOp;

use super::config::CostModel;
use crate::request::Request;

/// The cost of one command, or of one page, or of the time of one read of a page. Costs are whole
/// numbers of this part.
pub const COST_UNIT: u64 = 256;

/// The model of the costs of a drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    model: CostModel,
    sectors_per_page: u32,
    /// Time of a read of a page and of a program by the data sheet. Unit: picoseconds.
    nominal: [u64; 2],
}

impl Costs {
    /// `nominal`: times of a read of a page and of a program. Unit: picoseconds.
    pub(crate) fn new(model: CostModel, sectors_per_page: u32, nominal: [u64; 2]) -> Self {
        Self { model, sectors_per_page, nominal: nominal.map(|time| time.max(1)) }
    }

    /// The cost of a command. `phase`: sectors of the first page that are before the flow.
    /// `measured`: mean time of the flow's reads of pages (0) or programs (1), if there were any;
    /// unit: picoseconds.
    pub(crate) fn of(
        &self,
        request: &Request,
        phase: u32,
        measured: impl Fn(usize) -> Option<u64>,
    ) -> u64 {
        let kind = match request.op {
            RequestOp::Read => 0,
            RequestOp::Write => 1,
            _ => return COST_UNIT,
        };
        let pages = self.pages(request, phase);
        match self.model {
            CostModel::Commands => COST_UNIT,
            CostModel::Pages => COST_UNIT * pages,
            CostModel::DeviceTime => {
                let time = measured(kind).unwrap_or(self.nominal[kind]);
                let cost = u128::from(COST_UNIT * pages) * u128::from(time);
                let cost = cost / u128::from(self.nominal[0]);
                u64::try_from(cost).unwrap_or(u64::MAX).max(1)
            }
        }
    }

    /// Number of pages that a read or write touches.
    fn pages(&self, request: &Request, phase: u32) -> u64 {
        let size = u64::from(self.sectors_per_page);
        let begins = (request.sector + u64::from(phase)) % size;
        (begins + u64::from(request.sectors)).div_ceil(size).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(model: CostModel, op: RequestOp, sector: u64, sectors: u32) -> u64 {
        let request = Request { op, sector, sectors, ..Request::default() };
        let measured = |kind: usize| (kind == 1).then_some(900);
        Costs::new(model, 8, [300, 600]).of(&request, 0, measured)
    }

    #[test]
    fn a_large_write_costs_more_than_a_small_read_by_pages_and_by_time() {
        let (read, write) = (RequestOp::Read, RequestOp::Write);
        assert_eq!(cost(CostModel::Commands, write, 0, 128), COST_UNIT);
        assert_eq!(cost(CostModel::Pages, read, 0, 8), COST_UNIT);
        assert_eq!(cost(CostModel::Pages, write, 0, 128), 16 * COST_UNIT);
        assert_eq!(cost(CostModel::Pages, read, 4, 8), 2 * COST_UNIT, "it touches two pages");
        // The read was not measured yet: its time is that of the data sheet.
        assert_eq!(cost(CostModel::DeviceTime, read, 0, 8), COST_UNIT);
        assert_eq!(cost(CostModel::DeviceTime, write, 0, 128), 16 * 3 * COST_UNIT);
        for op in [RequestOp::Trim, RequestOp::Flush] {
            assert_eq!(cost(CostModel::DeviceTime, op, 0, 128), COST_UNIT);
        }
    }
}
