//! Results under the tags of the released MQSim, for scripts that read its files.
//!
//! Values are those of the summary. With `compat.reporting` they are written as MQSim writes them:
//! rates over whole seconds (`inf` below one), times cut to whole microseconds, `-nan` where there
//! is nothing to average. Source: the released MQSim's output.

use std::fmt::Write as _;

use flashlane_device::scheduler::Scheduling;

use super::queues::QueueStatistics;
use super::summary::{FlowSummary, RequestCounts, Summary, TransactionSummary};
use flashlane_config::{DeviceConfig, InterfaceKind, MqsimFlowConfig, WorkloadConfig};

/// Writes elements and attributes.
struct Writer {
    text: String,
    depth: usize,
    /// True if numbers are truncated as in MQSim.
    cut: bool,
}

impl Writer {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{}{line}", "\t".repeat(self.depth)).expect("text takes all");
    }

    fn inside(&mut self, tag: &str, body: impl FnOnce(&mut Self)) {
        self.line(&format!("<{tag}>"));
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.line(&format!("</{tag}>"));
    }

    fn element(&mut self, tag: &str, value: &str) {
        self.line(&format!("<{tag}>{}</{tag}>", escaped(value)));
    }

    fn count(&mut self, tag: &str, value: u64) {
        self.element(tag, &value.to_string());
    }

    /// An amount per second of the run.
    fn rate(&mut self, tag: &str, amount: f64, seconds: f64) {
        let seconds = if self.cut { seconds.floor() } else { seconds };
        let rate = if amount == 0.0 && !self.cut { 0.0 } else { amount / seconds };
        self.element(tag, &number(rate));
    }

    /// Writes a time. Unit: microseconds.
    fn time(&mut self, tag: &str, us: f64) {
        let text = self.time_text(us);
        self.element(tag, &text);
    }

    fn time_text(&self, us: f64) -> String {
        if self.cut { format!("{}", us.floor()) } else { number(us) }
    }

    fn attributes(&mut self, tag: &str, attributes: &[(&str, String)]) {
        let mut line = format!("<{tag}");
        for (name, value) in attributes {
            write!(line, " {name}=\"{}\"", escaped(value)).expect("text takes all");
        }
        self.line(&(line + "/>"));
    }
}

/// A number as C++ prints it.
fn number(value: f64) -> String {
    if value.is_nan() {
        "-nan".to_owned()
    } else if value.is_infinite() {
        "inf".to_owned()
    } else {
        format!("{value:.6}")
    }
}

/// A text as ASCII, as the document declares; other characters become their numbers.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ if character.is_ascii() => escaped.push(character),
            _ => write!(escaped, "&#{};", u32::from(character)).expect("text takes all"),
        }
    }
    escaped
}

/// The results of one scenario as a document.
#[must_use]
pub fn mqsim_results(
    summary: &Summary,
    queues: &[QueueStatistics],
    device: &DeviceConfig,
    workload: &WorkloadConfig,
) -> String {
    let cut = device.compat.reporting;
    let mut w = Writer { text: String::new(), depth: 0, cut };
    w.line("<?xml version=\"1.0\" encoding=\"us-ascii\"?>");
    w.inside("MQSim_Results", |w| {
        w.inside("Host", |w| {
            for (flow, config) in summary.flows.iter().zip(&workload.flows) {
                let name = match &config.mqsim {
                    Some(MqsimFlowConfig::Trace(trace)) => {
                        format!("Trace.{}", trace.path.display())
                    }
                    _ => flow.name.clone(),
                };
                w.inside("Host.IO_Flow", |w| host_flow(w, flow, &name, summary));
            }
        });
        w.inside("SSDDevice", |w| {
            w.inside("SSDDevice.HostInterface", |w| {
                w.element("Name", "SSDDevice.HostInterface");
                if device.interface.kind == InterfaceKind::Sata {
                    stream_times(w, &all_flows(summary));
                } else {
                    for (index, flow) in (0..).zip(&summary.flows) {
                        w.inside("SSDDevice.IO_Stream", |w| {
                            w.count("Stream_ID", index);
                            stream_times(w, &[flow.read_transactions, flow.write_transactions]);
                        });
                    }
                }
            });
            let attributes = translation(summary, cut);
            w.attributes("SSDDevice.FTL", &attributes);
            if !queues.is_empty() {
                let by_class = matches!(device.scheduler, Scheduling::PriorityOutOfOrder(_));
                w.inside("SSDDevice.TSU", |w| waiting(w, queues, by_class));
            }
            for chip in &summary.chips {
                let id = format!("@{}@{}", chip.channel, chip.chip);
                w.attributes(
                    "SSDDevice.FlashChips",
                    &[
                        ("ID", id),
                        ("Fraction_of_Time_in_Execution", number(chip.busy_fraction)),
                        ("Fraction_of_Time_Idle", number(1.0 - chip.busy_fraction)),
                    ],
                );
            }
        });
    });
    w.text
}

/// Writes the queues of the scheduler. Without classes, the queues of all flows are counted as one.
fn waiting(w: &mut Writer, queues: &[QueueStatistics], by_class: bool) {
    for queue in queues {
        let (channel, chip) = queue.chip;
        let name = format!("{}_TR_Queue@{channel}@{chip}", queue.kind);
        let (tag, name) = match queue.class {
            Some(class) if by_class => {
                let class = ["URGENT", "HIGH", "MEDIUM", "LOW"][usize::from(class)];
                (format!(".Priority.{class}"), format!("{name}@{class}"))
            }
            // A single class stands for all.
            Some(class) if class > 0 => continue,
            _ => (String::new(), name),
        };
        let of = |same: &&QueueStatistics| {
            let whole = queue.class.is_some() && !by_class;
            same.chip == queue.chip
                && same.kind == queue.kind
                && (whole || same.class == queue.class)
        };
        let all: Vec<&QueueStatistics> = queues.iter().filter(of).collect();
        let count = |of: fn(&QueueStatistics) -> u64| all.iter().map(|q| of(q)).sum::<u64>();
        let dequeued = count(|q| q.dequeued);
        let waits = all.iter().map(|q| q.mean_wait_us * q.dequeued as f64).sum::<f64>();
        let longest = all.iter().map(|q| q.max_wait_us).fold(0.0, f64::max);
        let length = all.iter().map(|q| q.mean_length).sum::<f64>();
        let wait = |us: f64| match dequeued {
            // MQSim writes this number where nothing waited.
            0 if w.cut => "9223372036854775808".to_owned(),
            _ => w.time_text(us),
        };
        let waits = [wait(waits / dequeued.max(1) as f64), wait(longest)];
        let [mean, longest] = waits;
        let attributes = [
            ("Name", name),
            ("No_Of_Transactions_Enqueued", count(|q| q.enqueued).to_string()),
            ("No_Of_Transactions_Dequeued", dequeued.to_string()),
            ("Avg_Queue_Length", number(length)),
            ("Max_Queue_Length", count(|q| q.max_length.into()).to_string()),
            ("Avg_Transaction_Waiting_Time", mean),
            ("Max_Transaction_Waiting_Time", longest),
        ];
        w.attributes(&format!("SSDDevice.TSU.{}_TR_Queue{tag}", queue.kind), &attributes);
    }
}

fn host_flow(w: &mut Writer, flow: &FlowSummary, name: &str, summary: &Summary) {
    // MQSim's rates are over the time to the last event.
    let seconds =
        if w.cut { summary.simulated_s } else { summary.window_end_s - summary.window_start_s };
    let by_kind = |counts: &RequestCounts| (counts.read, counts.write);
    let all = |(read, write): (u64, u64)| [("", read + write), ("Read", read), ("Write", write)];
    let tag = |kind: &str| if kind.is_empty() { String::new() } else { format!("_{kind}") };
    let done = &flow.completed_in_window;
    w.element("Name", &format!("Host.IO_Flow.{name}"));
    for (kind, count) in all(by_kind(&flow.requests)) {
        let kind = if kind.is_empty() { String::new() } else { format!("{kind}_") };
        w.count(&format!("{kind}Request_Count"), count);
    }
    for (kind, count) in all(by_kind(&done.requests)) {
        w.rate(&format!("IOPS{}", tag(kind)), count as f64, seconds);
    }
    for (kind, bytes) in all((flow.bytes.read, flow.bytes.write)) {
        w.element(&format!("Bytes_Transferred{}", tag(kind)), &number(bytes as f64));
    }
    for (kind, bytes) in all((done.bytes.read, done.bytes.write)) {
        w.rate(&format!("Bandwidth{}", tag(kind)), bytes as f64, seconds);
    }
    let latencies = [
        ("Device_Response_Time", &flow.response_time_us),
        ("End_to_End_Request_Delay", &flow.end_to_end_us),
    ];
    for (tag, latency) in latencies {
        w.time(tag, latency.mean);
        w.time(&format!("Min_{tag}"), latency.min);
        w.time(&format!("Max_{tag}"), latency.max);
    }
}

/// Mean times of all flows' read and write transactions.
fn all_flows(summary: &Summary) -> [TransactionSummary; 2] {
    let sum = |of: fn(&FlowSummary) -> &TransactionSummary| {
        let count = summary.flows.iter().map(|flow| of(flow).count).sum::<u64>();
        let mean = |time: fn(&TransactionSummary) -> f64| {
            let total: f64 =
                summary.flows.iter().map(|flow| time(of(flow)) * of(flow).count as f64).sum();
            if count == 0 { 0.0 } else { total / count as f64 }
        };
        TransactionSummary {
            count,
            wait_us: mean(|t| t.wait_us),
            transfer_us: mean(|t| t.transfer_us),
            execution_us: mean(|t| t.execution_us),
        }
    };
    [sum(|flow| &flow.read_transactions), sum(|flow| &flow.write_transactions)]
}

fn stream_times(w: &mut Writer, transactions: &[TransactionSummary; 2]) {
    for (kind, t) in ["Read", "Write"].iter().zip(transactions) {
        let turnaround = t.wait_us + t.transfer_us + t.execution_us;
        for (what, us) in [
            ("Turnaround", turnaround),
            ("Execution", t.execution_us),
            ("Transfer", t.transfer_us),
            ("Waiting", t.wait_us),
        ] {
            w.time(&format!("Average_{kind}_Transaction_{what}_Time"), us);
        }
    }
}

fn translation(summary: &Summary, cut: bool) -> Vec<(&'static str, String)> {
    let flash = &summary.flash;
    let (read, program, erase) =
        (&summary.commands.read, &summary.commands.program, &summary.commands.erase);
    let moves = match (flash.gc_invocations, cut) {
        (0, true) => "-nan".to_owned(),
        (0, false) => number(0.0),
        (jobs, _) => number(flash.gc_programs as f64 / jobs as f64),
    };
    let count = |value: u64| value.to_string();
    vec![
        ("Issued_Flash_Read_CMD", count(read.single)),
        ("Issued_Flash_Interleaved_Read_CMD", count(read.interleaved)),
        // MQSim has no tag for reads that are both multi-plane and interleaved.
        ("Issued_Flash_Multiplane_Read_CMD", count(read.multiplane + read.interleaved_multiplane)),
        ("Issued_Flash_Program_CMD", count(program.single)),
        ("Issued_Flash_Interleaved_Program_CMD", count(program.interleaved)),
        ("Issued_Flash_Multiplane_Program_CMD", count(program.multiplane)),
        ("Issued_Flash_Interleaved_Multiplane_Program_CMD", count(program.interleaved_multiplane)),
        ("Issued_Flash_Erase_CMD", count(erase.single)),
        ("Issued_Flash_Interleaved_Erase_CMD", count(erase.interleaved)),
        ("Issued_Flash_Multiplane_Erase_CMD", count(erase.multiplane)),
        ("Issued_Flash_Interleaved_Multiplane_Erase_CMD", count(erase.interleaved_multiplane)),
        ("Issued_Flash_Suspend_Program_CMD", count(flash.program_suspends)),
        ("Issued_Flash_Suspend_Erase_CMD", count(flash.erase_suspends)),
        ("Issued_Flash_Read_CMD_For_Mapping", count(flash.mapping_reads)),
        ("Issued_Flash_Program_CMD_For_Mapping", count(flash.mapping_programs)),
        ("CMT_Hits", count(summary.cmt.hits)),
        ("CMT_Misses", count(summary.cmt.misses)),
        ("Total_CMT_Queries", count(summary.cmt.hits + summary.cmt.misses)),
        ("Total_GC_Executions", count(flash.gc_invocations)),
        ("Average_Page_Movement_For_GC", moves),
        ("Total_WL_Executions", count(flash.wear_leveling_moves)),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_the_ascii_that_the_document_declares() {
        assert_eq!(escaped("a<b> \"&\""), "a&lt;b&gt; &quot;&amp;&quot;");
        assert_eq!(escaped("ä😀"), "&#228;&#128512;");
    }
}
