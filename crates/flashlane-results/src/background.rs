//! Files that a thread of their own writes while a run goes on.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use flashlane::Error;
use parquet::errors::ParquetError;

/// A thread that writes vectors of rows to a file.
#[derive(Debug)]
pub(crate) struct Background<T> {
    /// Name of the file, for messages.
    file: &'static str,
    rows: Option<SyncSender<Vec<T>>>,
    writer: Option<JoinHandle<Result<(), ParquetError>>>,
}

impl<T: Send + 'static> Background<T> {
    /// Starts the thread, which runs `write` until no more rows come. `waiting_max`: most vectors
    /// that wait for it; beyond that, the sender waits.
    pub(crate) fn start(
        file: &'static str,
        waiting_max: usize,
        write: impl FnOnce(&Receiver<Vec<T>>) -> Result<(), ParquetError> + Send + 'static,
    ) -> Result<Self, Error> {
        let (rows, received) = sync_channel(waiting_max);
        let name = file.trim_end_matches(".parquet").to_owned();
        let writer = std::thread::Builder::new().name(name).spawn(move || write(&received));
        let writer = writer.map_err(|error| failed(file, &error))?;
        Ok(Self { file, rows: Some(rows), writer: Some(writer) })
    }

    /// Hands the next rows of the file over.
    pub(crate) fn send(&mut self, rows: Vec<T>) -> Result<(), Error> {
        let sent = self.rows.as_ref().is_some_and(|sender| sender.send(rows).is_ok());
        // A writer that takes no more has given up, and `finish` says why.
        if sent { Ok(()) } else { self.finish() }
    }

    /// Waits until all rows are written.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        self.rows = None;
        match self.writer.take().map(JoinHandle::join) {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(failed(self.file, &error)),
            Some(Err(fault)) => std::panic::resume_unwind(fault),
        }
    }
}

fn failed(file: &str, error: &dyn std::error::Error) -> Error {
    Error::Output(format!("{file}: cannot be written: {error}"))
}
