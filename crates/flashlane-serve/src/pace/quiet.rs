//! When the virtual clock may go on: the clients have had the chance to answer.

use std::time::{Duration, Instant};

/// What a client still has the chance to do before time goes on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Quiet {
    /// Completions that the client has got and not answered by a command.
    owed: u32,
    /// Since then the client is silent, and may have more to say.
    silent_since: Option<Instant>,
}

impl Quiet {
    /// The client gets a completion.
    pub(crate) fn completed(&mut self, now: Instant) {
        self.owed += 1;
        self.silent_since = Some(now);
    }

    /// A command of the client has arrived. A client that has answered all completions has its
    /// depth again; a client that sends more than that may send still more.
    pub(crate) fn arrived(&mut self, now: Instant) {
        let answers = self.owed > 0;
        self.owed = self.owed.saturating_sub(1);
        self.silent_since = if answers && self.owed == 0 { None } else { Some(now) };
    }

    /// The client is in the middle of a command.
    pub(crate) fn talks(&mut self, now: Instant) {
        self.silent_since = Some(now);
    }

    /// How long to wait for the client; 0 if time may go on.
    pub(crate) fn wait(&mut self, now: Instant, patience: Duration) -> Duration {
        let Some(since) = self.silent_since else { return Duration::ZERO };
        let rest = patience.saturating_sub(now.saturating_duration_since(since));
        if rest.is_zero() {
            *self = Self::default();
        }
        rest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_waits_until_the_depth_is_back() {
        let (start, patience) = (Instant::now(), Duration::from_millis(10));
        let at = |ms| start + Duration::from_millis(ms);
        let mut quiet = Quiet::default();
        assert_eq!(quiet.wait(start, patience), Duration::ZERO);
        quiet.arrived(at(0));
        quiet.arrived(at(3));
        assert_eq!(quiet.wait(at(5), patience), Duration::from_millis(8), "more may come");
        assert_eq!(quiet.wait(at(13), patience), Duration::ZERO);
        quiet.completed(at(20));
        quiet.completed(at(20));
        quiet.arrived(at(21));
        assert_eq!(quiet.wait(at(22), patience), Duration::from_millis(9));
        quiet.arrived(at(23));
        assert_eq!(quiet.wait(at(23), patience), Duration::ZERO, "both are answered");
        quiet.completed(at(30));
        assert_eq!(quiet.wait(at(40), patience), Duration::ZERO, "the client has nothing to say");
        quiet.arrived(at(50));
        assert_eq!(quiet.wait(at(50), patience), patience, "it begins anew");
    }
}
