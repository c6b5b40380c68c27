//! Writes the traces of the tenants.

use std::io::{self, Write};

use super::Split;
use crate::completions::{Completions, Event};
use crate::error::TraceError;
use crate::reader::TraceReader;
use crate::record::{Op, Record};
use crate::source::Codec;
use crate::write::OutputFormat;

/// The reason why a trace could not be split: it cannot be read, or a file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// The trace cannot be read.
    #[error(transparent)]
    Read(#[from] TraceError),
    /// The file of the tenant with this index cannot be written.
    #[error("{source}")]
    Write {
        /// Index of the tenant.
        tenant: usize,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl Split {
    /// Reads the trace again and writes the requests of each tenant, in the format
    /// [`Split::output`]. `outs` holds a file for each tenant, in their order. `progress` is called
    /// with the number of requests that were read.
    ///
    /// # Errors
    /// Any [`TraceError`] of reading, and the errors of the files.
    ///
    /// # Panics
    /// If the number of files differs from the number of tenants.
    pub fn write<W: Write + Send>(
        &self,
        outs: Vec<W>,
        progress: &dyn Fn(u64),
    ) -> Result<(), SplitError> {
        assert_eq!(outs.len(), self.tenants.len(), "a file for each tenant");
        match Completions::open(&self.path, &self.options)? {
            Some(events) => self.write_events(events, outs, progress),
            None => self.write_records(outs, progress),
        }
    }

    fn write_records<W: Write + Send>(
        &self,
        outs: Vec<W>,
        progress: &dyn Fn(u64),
    ) -> Result<(), SplitError> {
        let failed = |tenant| move |source| SplitError::Write { tenant, source };
        let mut reader = TraceReader::open(&self.path, &self.options)?;
        let writers = outs.into_iter().enumerate().map(|(tenant, out)| {
            OutputFormat::Csv.writer(out, Codec::Plain, &[]).map_err(failed(tenant))
        });
        let mut writers = writers.collect::<Result<Vec<_>, _>>()?;
        while let Some(record) = reader.next()? {
            let tenant = self.tenant(&record, reader.tag());
            // Times count from the tenant's first request. The start of its flow adds the rest.
            let first_ps = self.tenants[tenant].tally.first_ps;
            let own = Record { time_ps: record.time_ps.saturating_sub(first_ps), ..record };
            writers[tenant].write(&own).map_err(failed(tenant))?;
            progress(reader.delivered_count());
        }
        for (tenant, writer) in writers.into_iter().enumerate() {
            writer.finish().map_err(failed(tenant))?;
        }
        Ok(())
    }

    /// Writes arrivals and completions as blkparse prints them.
    fn write_events<W: Write + Send>(
        &self,
        mut events: Completions,
        outs: Vec<W>,
        progress: &dyn Fn(u64),
    ) -> Result<(), SplitError> {
        let failed = |tenant| move |source| SplitError::Write { tenant, source };
        let arrival = events.arrivals().action().letter();
        let mut outs: Vec<_> = outs.into_iter().map(io::BufWriter::new).collect();
        let mut lines = vec![0_u64; outs.len()];
        while let Some(event) = events.next()? {
            let (letter, record, tag, at_ps) = match event {
                Event::Arrival { record, tag, at_ps } => (arrival, record, tag, at_ps),
                Event::Completion { record, tag, at_ps, .. } => ('C', record, tag, at_ps),
            };
            let tenant = self.tenant(&record, tag);
            lines[tenant] += 1;
            let name = &self.tenants[tenant].name;
            let text = line(letter, &record, at_ps, lines[tenant], name);
            outs[tenant].write_all(text.as_bytes()).map_err(failed(tenant))?;
            progress(events.arrivals().delivered_count());
        }
        for (tenant, mut out) in outs.into_iter().enumerate() {
            out.flush().map_err(failed(tenant))?;
        }
        Ok(())
    }
}

/// An event as blkparse prints it, on CPU 0 by process 0.
fn line(letter: char, record: &Record, at_ps: u128, sequence: u64, name: &str) -> String {
    let (seconds, ns) = (at_ps / 1_000_000_000_000, at_ps / 1_000 % 1_000_000_000);
    let (major, minor) = (record.device >> 20, record.device & 0xf_ffff);
    let (sector, sectors) = (record.offset_bytes / 512, record.length_bytes.div_ceil(512));
    let rwbs = match record.op {
        Op::Read => "R",
        Op::Write => "W",
        Op::Trim => "D",
        Op::Flush => "F",
    };
    let place = match record.op {
        Op::Flush => String::new(),
        _ => format!(" {sector} + {sectors}"),
    };
    format!("{major},{minor} 0 {sequence} {seconds}.{ns:09} 0 {letter} {rwbs}{place} [{name}]\n")
}
