//! Submits a recording to a drive.

use super::{Completion, Drive, Report};
use flashlane_measure::recording::Submitted;
use flashlane_reading::Error;

impl Drive {
    /// Submits a recording to an unused drive, and runs the drive to the end. The cookie of a
    /// command is its place in the recording.
    ///
    /// # Errors
    ///
    /// Those of [`Drive::step`]; [`Error::Stuck`] where the drive refuses a command or has fewer
    /// reports than the recording says.
    pub fn replay(
        &mut self,
        recording: &[Submitted],
        completions: &mut Vec<Completion>,
    ) -> Result<(), Error> {
        let mut reports = 0;
        for (cookie, submitted) in (0..).zip(recording) {
            while reports < submitted.after {
                let Some(report) = self.step(completions)? else {
                    let (found, after) = (reports, submitted.after);
                    return Err(Error::Stuck(format!(
                        "submission {cookie} of the recording comes after report {after}, and the drive has \
                         {found}: it is not the drive of the recording"
                    )));
                };
                reports += u64::from(report != Report::Nothing);
            }
            let Submitted { at, tenant, command, at_once, .. } = *submitted;
            let taken = match at_once {
                true => self.submit(at, tenant.into(), command, cookie),
                false => self.schedule(at, tenant.into(), command, cookie),
            };
            taken.map_err(|refused| {
                Error::Stuck(format!("submission {cookie} of the recording: {refused}"))
            })?;
        }
        while self.step(completions)?.is_some() {}
        Ok(())
    }
}
