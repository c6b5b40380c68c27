//! A turn of the server: reading, time, answers, and the end of connections.

use std::time::{Duration, Instant};

use flashlane::{Error, Time};

use super::{LOOK, Server};

/// Turns of the drive without a completion after which the server looks at the sockets again.
const STEPS_MAX: u32 = 10_000;

impl Server {
    /// Does what there is to do.
    pub(super) fn turn(&mut self) -> Result<(), Error> {
        if let Some(clock) = &self.clock {
            let now = clock.now();
            self.house.advance(now)?;
            self.deliver();
        }
        if let Some(status) = &mut self.house.status {
            status.passes(self.house.now);
        }
        let tokens: Vec<usize> = self.connections.keys().copied().collect();
        for &token in &tokens {
            self.read(token);
            self.deliver();
        }
        if self.clock.is_none() {
            self.step()?;
            self.deliver();
        }
        self.pass();
        for token in tokens {
            self.finish(token);
        }
        if self.silence_seen.elapsed() > LOOK {
            self.silence_seen = Instant::now();
            self.end_silent_controllers();
        }
        Ok(())
    }

    /// With the virtual clock: lets time pass until something is complete, unless a client may
    /// have more to say first.
    fn step(&mut self) -> Result<(), Error> {
        let most = self.house.limits.connection_bytes;
        if self.connections.values().any(|it| it.readable && it.has_room(most)) {
            return Ok(());
        }
        if !self.house.is_busy() || !self.silence().is_zero() {
            return Ok(());
        }
        for _ in 0..STEPS_MAX {
            let Some(at) = self.house.next_event() else { return Ok(()) };
            self.house.advance(at)?;
            let is_due = self.house.due.values().any(|&due| due <= at);
            if is_due || !self.house.done.is_empty() || !self.house.finished.is_empty() {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Reads what a client has sent, and hands it to the conversation.
    fn read(&mut self, token: usize) {
        let most = self.house.limits.connection_bytes;
        let Some(connection) = self.connections.get_mut(&token) else { return };
        self.house.connection = token;
        // Also without news: an answer may have made room for requests that were read before.
        let news = connection.readable && connection.has_room(most) && connection.fill();
        if connection.closing || !news && connection.wire.input.is_empty() {
            return;
        }
        let (session, wire) = (&mut connection.session, &mut connection.wire);
        if session.receive(wire, &mut self.house).is_err() {
            connection.closing = true;
        }
        let now = Instant::now();
        for _ in 0..std::mem::take(&mut self.house.arrivals) {
            connection.quiet.arrived(now);
        }
        if news && connection.session.is_mid_command() {
            connection.quiet.talks(now);
        }
    }

    /// Hands completions to their conversations.
    fn deliver(&mut self) {
        let now = Instant::now();
        for done in std::mem::take(&mut self.house.done) {
            self.note(done.at);
            let token = self.house.owner(done.key);
            let Some(connection) = token.and_then(|it| self.connections.get_mut(&it)) else {
                continue;
            };
            connection.quiet.completed(now);
            connection.session.done(done, &mut connection.wire, &mut self.house);
            connection.flush();
        }
        for finished in std::mem::take(&mut self.house.finished) {
            self.note(finished.at);
            let token = self.house.take_owner(finished.tag);
            let Some(connection) = token.and_then(|it| self.connections.get_mut(&it)) else {
                continue;
            };
            connection.quiet.completed(now);
            connection.session.finished(finished, &mut connection.wire);
            connection.flush();
        }
    }

    /// Lets the controllers that are PCIe functions act on the time that has passed.
    fn pass(&mut self) {
        let tokens: Vec<usize> = self.house.functions.values().copied().collect();
        for token in tokens {
            if let Some(connection) = self.connections.get_mut(&token) {
                let now = self.house.now;
                connection.session.pass(now, &mut self.house);
            }
        }
    }

    fn note(&mut self, at: Time) {
        if let Some(clock) = &self.clock {
            let late = clock.between(at, clock.now());
            self.house.lateness.note(late);
            if let Some(status) = &self.house.status {
                status.late(late);
            }
        }
    }

    /// Sends the rest of the output, and closes the connection if it is over.
    fn finish(&mut self, token: usize) {
        let Some(connection) = self.connections.get_mut(&token) else { return };
        connection.flush();
        let now = Instant::now();
        let waited = now.saturating_duration_since(connection.since);
        let slow = !connection.session.is_established() && waited > self.house.limits.handshake;
        if connection.is_over() || slow {
            self.close(token);
        }
        for orphan in std::mem::take(&mut self.house.orphans) {
            self.close(orphan);
        }
    }

    pub(super) fn close(&mut self, token: usize) {
        let Some(mut connection) = self.connections.remove(&token) else { return };
        self.house.connection = token;
        connection.session.closed(&mut self.house);
        let _ = self.poll.registry().deregister(connection.socket.source());
    }

    /// Closes the connections of controllers whose hosts have been silent for too long.
    fn end_silent_controllers(&mut self) {
        let now = Instant::now();
        let mut heard = std::collections::BTreeMap::new();
        for (key, token) in &self.house.queues {
            if let Some(connection) = self.connections.get(token) {
                let last = heard.entry(key.controller).or_insert((connection.heard, *token));
                last.0 = last.0.max(connection.heard);
            }
        }
        for (controller, (last, admin)) in heard {
            let allowed = self.house.subsystem.keep_alive_ms(controller);
            let silent = now.saturating_duration_since(last);
            // Hosts send at about half of the time; the slack is for slow machines.
            if allowed > 0 && silent > Duration::from_millis(u64::from(allowed) * 2) {
                self.close(admin);
                for orphan in std::mem::take(&mut self.house.orphans) {
                    self.close(orphan);
                }
            }
        }
    }
}
