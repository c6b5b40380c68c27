//! The input files of a case, written from the settings in which the case differs from a base.
//!
//! Tags and their meaning are MQSim's. The bases are ours: every tag that MQSim reads has a value
//! here, so that the files run in the released MQSim too.

use std::fmt::Write as _;
use std::path::Path;

/// A setting of the base: tag and value.
type Setting = (&'static str, &'static str);

/// The link between host and drive.
const HOST: &[Setting] = &[
    ("PCIe_Lane_Bandwidth", "1.00000"),
    ("PCIe_Lane_Count", "4"),
    ("SATA_Processing_Delay", "400000"),
    ("Enable_ResponseTime_Logging", "false"),
    ("ResponseTime_Logging_Period_Length", "1000000"),
];

/// The drive, without its flash.
const DEVICE: &[Setting] = &[
    ("Seed", "321"),
    ("Enabled_Preconditioning", "false"),
    ("Memory_Type", "FLASH"),
    ("HostInterface_Type", "NVME"),
    ("IO_Queue_Depth", "65535"),
    ("Queue_Fetch_Size", "512"),
    ("Caching_Mechanism", "ADVANCED"),
    ("Data_Cache_Sharing_Mode", "SHARED"),
    ("Data_Cache_Capacity", "268435456"),
    ("Data_Cache_DRAM_Row_Size", "8192"),
    ("Data_Cache_DRAM_Data_Rate", "400"),
    ("Data_Cache_DRAM_Data_Busrt_Size", "2"),
    ("Data_Cache_DRAM_tRCD", "13"),
    ("Data_Cache_DRAM_tCL", "13"),
    ("Data_Cache_DRAM_tRP", "13"),
    ("Address_Mapping", "PAGE_LEVEL"),
    ("Ideal_Mapping_Table", "true"),
    ("CMT_Capacity", "2097152"),
    ("CMT_Sharing_Mode", "SHARED"),
    ("Plane_Allocation_Scheme", "CWDP"),
    ("Transaction_Scheduling_Policy", "OUT_OF_ORDER"),
    ("Overprovisioning_Ratio", "0.07"),
    ("GC_Exec_Threshold", "0.05"),
    ("GC_Block_Selection_Policy", "RGA"),
    ("Use_Copyback_for_GC", "false"),
    ("Preemptible_GC_Enabled", "false"),
    ("GC_Hard_Threshold", "0.005"),
    ("Dynamic_Wearleveling_Enabled", "true"),
    ("Static_Wearleveling_Enabled", "true"),
    ("Static_Wearleveling_Threshold", "100"),
    ("Preferred_suspend_erase_time_for_read", "700000"),
    ("Preferred_suspend_erase_time_for_write", "700000"),
    ("Preferred_suspend_write_time_for_read", "100000"),
    ("Flash_Channel_Count", "8"),
    ("Flash_Channel_Width", "1"),
    ("Channel_Transfer_Rate", "333"),
    ("Chip_No_Per_Channel", "4"),
    ("Flash_Comm_Protocol", "NVDDR2"),
];

/// The flash.
const FLASH: &[Setting] = &[
    ("Flash_Technology", "MLC"),
    ("CMD_Suspension_Support", "ERASE"),
    ("Page_Read_Latency_LSB", "75000"),
    ("Page_Read_Latency_CSB", "75000"),
    ("Page_Read_Latency_MSB", "75000"),
    ("Page_Program_Latency_LSB", "750000"),
    ("Page_Program_Latency_CSB", "750000"),
    ("Page_Program_Latency_MSB", "750000"),
    ("Block_Erase_Latency", "3800000"),
    ("Block_PE_Cycles_Limit", "10000"),
    ("Suspend_Erase_Time", "700000"),
    ("Suspend_Program_Time", "100000"),
    ("Die_No_Per_Chip", "2"),
    ("Plane_No_Per_Die", "2"),
    ("Block_No_Per_Plane", "2048"),
    ("Page_No_Per_Block", "256"),
    ("Page_Capacity", "8192"),
    ("Page_Metadat_Capacity", "448"),
];

/// A tag with this value is left out of the file.
const ABSENT: &str = "absent";

/// A list of resources with this value names all that the device has.
const ALL: &str = "all";

/// A synthetic flow.
const FLOW: &[Setting] = &[
    ("Priority_Class", "HIGH"),
    ("Device_Level_Data_Caching_Mode", "TURNED_OFF"),
    ("Channel_IDs", ALL),
    ("Chip_IDs", ALL),
    ("Die_IDs", ALL),
    ("Plane_IDs", ALL),
    ("Initial_Occupancy_Percentage", "75"),
    ("Working_Set_Percentage", "50"),
    ("Synthetic_Generator_Type", "QUEUE_DEPTH"),
    ("Read_Percentage", "100"),
    ("Address_Distribution", "RANDOM_UNIFORM"),
    ("Percentage_of_Hot_Region", "0"),
    ("Generated_Aligned_Addresses", "true"),
    ("Address_Alignment_Unit", "16"),
    ("Request_Size_Distribution", "FIXED"),
    ("Average_Request_Size", "16"),
    ("Variance_Request_Size", "0"),
    ("Seed", "798"),
    ("Average_No_of_Reqs_in_Queue", "16"),
    ("Bandwidth", "1000000000"),
    ("Stop_Time", "0"),
    ("Total_Requests_To_Generate", "0"),
];

/// What a list of resources counts: the tag of the device that says how many there are.
const COUNTED_BY: &[Setting] = &[
    ("Channel_IDs", "Flash_Channel_Count"),
    ("Chip_IDs", "Chip_No_Per_Channel"),
    ("Die_IDs", "Die_No_Per_Chip"),
    ("Plane_IDs", "Plane_No_Per_Die"),
];

/// Settings in which a device or a flow differs from its base, in the order of the base:
/// `Queue_Fetch_Size=16 CMT_Capacity=65536`. Empty: the base.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Differences(Vec<(String, String)>);

impl Differences {
    /// Reads `TAG=VALUE` with spaces between them.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let pair = |word: &str| match word.split_once('=') {
            Some((tag, value)) => Ok((tag.to_owned(), value.to_owned())),
            None => Err(format!("{word:?} is no TAG=VALUE")),
        };
        Ok(Self(text.split_whitespace().map(pair).collect::<Result<_, _>>()?))
    }

    /// The differences from `base` of tags with values, numbers by value. Tags that the base does
    /// not have are left out: the released MQSim does not read them.
    fn from_base(base: &[&[Setting]], tag: impl Fn(&str) -> Option<String>) -> Self {
        let same = |a: &str, b: &str| match (a.parse::<f64>(), b.parse::<f64>()) {
            (Ok(a), Ok(b)) => a == b,
            _ => a == b,
        };
        let settings = base.iter().copied().flatten().filter_map(|&(name, usual)| {
            let value = tag(name).unwrap_or_else(|| ABSENT.to_owned());
            (!same(&value, usual)).then(|| (name.to_owned(), value))
        });
        Self(settings.collect())
    }

    fn get<'a>(&'a self, tag: &str, usual: &'a str) -> &'a str {
        self.0.iter().find(|(name, _)| name == tag).map_or(usual, |(_, value)| value)
    }

    /// An error names the first tag that no base has.
    fn check(&self, base: &[&[Setting]]) -> Result<(), String> {
        let known = |tag: &str| base.iter().copied().flatten().any(|(name, _)| *name == tag);
        match self.0.iter().find(|(tag, _)| !known(tag)) {
            Some((tag, _)) => Err(format!("{tag} is no tag of the base")),
            None => Ok(()),
        }
    }
}

impl std::fmt::Display for Differences {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let words: Vec<String> =
            self.0.iter().map(|(tag, value)| format!("{tag}={value}")).collect();
        f.write_str(&words.join(" "))
    }
}

/// The inputs of a case: how its device and each of its flows differ from the bases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inputs {
    pub(crate) device: Differences,
    pub(crate) flows: Vec<Differences>,
}

impl Inputs {
    /// Writes `ssdconfig.xml` and `workload.xml` into a folder, one tag a line.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), String> {
        self.device.check(&[HOST, DEVICE, FLASH])?;
        for flow in &self.flows {
            flow.check(&[FLOW])?;
        }
        let write = |name: &str, text: String| {
            std::fs::write(folder.join(name), text).map_err(|error| format!("{name}: {error}"))
        };
        std::fs::create_dir_all(folder)
            .map_err(|error| format!("{}: {error}", folder.display()))?;
        write("ssdconfig.xml", self.device_file())?;
        write("workload.xml", self.workload_file())
    }

    fn device_file(&self) -> String {
        let section =
            |base: &[Setting]| lines(base, |tag, usual| self.device.get(tag, usual).to_owned());
        format!(
            "{DECLARATION}<Execution_Parameter_Set>\n<Host_Parameter_Set>\n{}</Host_Parameter_Set>\n\
             <Device_Parameter_Set>\n{}<Flash_Parameter_Set>\n{}</Flash_Parameter_Set>\n\
             </Device_Parameter_Set>\n</Execution_Parameter_Set>\n",
            section(HOST),
            section(DEVICE),
            section(FLASH),
        )
    }

    fn workload_file(&self) -> String {
        let mut text = format!("{DECLARATION}<MQSim_IO_Scenarios>\n<IO_Scenario>\n");
        for flow in &self.flows {
            let value = |tag: &str, usual: &str| match flow.get(tag, usual) {
                ALL => self.all(tag),
                value => value.to_owned(),
            };
            let tags = lines(FLOW, value);
            let _ = write!(
                text,
                "<IO_Flow_Parameter_Set_Synthetic>\n{tags}</IO_Flow_Parameter_Set_Synthetic>\n"
            );
        }
        text + "</IO_Scenario>\n</MQSim_IO_Scenarios>\n"
    }

    /// All resources that a list may name: `0,1,2,3`.
    fn all(&self, list: &str) -> String {
        let (_, counter) = COUNTED_BY.iter().find(|(name, _)| *name == list).expect("a list");
        let (_, usual) = DEVICE.iter().chain(FLASH).find(|(tag, _)| tag == counter).expect("a tag");
        let count: u32 = self.device.get(counter, usual).parse().expect("a number");
        (0..count).map(|id| id.to_string()).collect::<Vec<String>>().join(",")
    }

    /// The differences of a pair of files of one scenario with one tag a line. `None` where a flow
    /// replays a trace.
    pub(crate) fn read(folder: &Path) -> Option<Self> {
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).expect("readable");
        let (device, workload) = (text("ssdconfig.xml"), text("workload.xml"));
        if workload.contains("<IO_Flow_Parameter_Set_Trace_Based>") {
            return None;
        }
        let device = Differences::from_base(&[HOST, DEVICE, FLASH], |tag| value_of(&device, tag));
        let mut inputs = Self { device, flows: Vec::new() };
        for flow in workload.split("<IO_Flow_Parameter_Set_Synthetic>").skip(1) {
            let value = |tag: &str| {
                let value = value_of(flow, tag)?;
                let is_list = COUNTED_BY.iter().any(|(name, _)| *name == tag);
                Some(if is_list && value == inputs.all(tag) { ALL.to_owned() } else { value })
            };
            let flow = Differences::from_base(&[FLOW], value);
            inputs.flows.push(flow);
        }
        Some(inputs)
    }
}

const DECLARATION: &str = "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n";

fn lines(base: &[Setting], value: impl Fn(&str, &str) -> String) -> String {
    let line = |tag: &str, value: String| match value.as_str() {
        ABSENT => String::new(),
        _ => format!("<{tag}>{value}</{tag}>\n"),
    };
    base.iter().map(|(tag, usual)| line(tag, value(tag, usual))).collect()
}

fn value_of(text: &str, tag: &str) -> Option<String> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    Some(rest.split_once("</")?.0.trim().to_owned())
}
