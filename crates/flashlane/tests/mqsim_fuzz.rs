//! Whatever becomes of MQSim's XML, reading it never panics.

use std::path::Path;

use flashlane::config::mqsim_xml::{parse_device, parse_scenarios};
use proptest::prelude::*;

const DEVICE: &str = "<?xml version=\"1.0\" encoding=\"us-ascii\"?>
<Execution_Parameter_Set>
<Host_Parameter_Set><PCIe_Lane_Count>4</PCIe_Lane_Count></Host_Parameter_Set>
<Device_Parameter_Set>
<IO_Queue_Depth>8</IO_Queue_Depth>
<GC_Exec_Threshold>0.05</GC_Exec_Threshold>
<Plane_Allocation_Scheme>CWDP</Plane_Allocation_Scheme>
<Flash_Parameter_Set><Block_No_Per_Plane>64</Block_No_Per_Plane></Flash_Parameter_Set>
</Device_Parameter_Set>
</Execution_Parameter_Set>
";

const WORKLOAD: &str = "<MQSim_IO_Scenarios>
<IO_Scenario>
<IO_Flow_Parameter_Set_Synthetic>
<Channel_IDs>0,1</Channel_IDs><Chip_IDs>0</Chip_IDs>
<Die_IDs>0</Die_IDs><Plane_IDs>0</Plane_IDs>
<Synthetic_Generator_Type>BANDWIDTH</Synthetic_Generator_Type><Bandwidth>8192</Bandwidth>
<Read_Percentage>70</Read_Percentage><Address_Distribution>STREAMING</Address_Distribution>
<Request_Size_Distribution>FIXED</Request_Size_Distribution>
<Average_Request_Size>8</Average_Request_Size><Seed>798</Seed><Stop_Time>5</Stop_Time>
</IO_Flow_Parameter_Set_Synthetic>
<IO_Flow_Parameter_Set_Trace_Based>
<Channel_IDs>0,1</Channel_IDs><Chip_IDs>0</Chip_IDs>
<Die_IDs>0</Die_IDs><Plane_IDs>0</Plane_IDs>
<File_Path>a.trace</File_Path><Relay_Count>1</Relay_Count>
<Percentage_To_Be_Executed>100</Percentage_To_Be_Executed>
</IO_Flow_Parameter_Set_Trace_Based>
</IO_Scenario>
</MQSim_IO_Scenarios>
";

/// Replaces, inserts, removes or repeats a stretch of a valid text.
fn mutate(mut text: Vec<u8>, edits: &[(usize, usize, Vec<u8>)]) -> Vec<u8> {
    for (at, length, new) in edits {
        let at = at % (text.len() + 1);
        let end = (at + length).min(text.len());
        text.splice(at..end, new.iter().copied());
    }
    text
}

fn edits() -> impl Strategy<Value = Vec<(usize, usize, Vec<u8>)>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..6),
        prop::sample::select(vec![
            "<",
            ">",
            "</",
            "/>",
            "&",
            ";",
            "]]>",
            "<![CDATA[",
            "<!--",
            "-->",
            "<?",
            "0",
            "-1",
            "99999999999999999999",
            "1e400",
            "nan",
            "<IO_Scenario>",
            "\u{fffd}",
            "<a b=\"",
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec((any::<usize>(), 0_usize..40, piece), 1..5)
}

#[test]
fn the_texts_are_valid_before_they_are_mutated() {
    assert!(parse_device(Path::new("m.xml"), DEVICE.as_bytes()).is_ok());
    assert!(parse_scenarios(Path::new("m.xml"), WORKLOAD.as_bytes()).is_ok());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// The answer is a configuration or a refusal that names the file.
    #[test]
    fn mutated_files_never_panic(edits in edits()) {
        let text = mutate(DEVICE.as_bytes().to_vec(), &edits);
        if let Err(error) = parse_device(Path::new("m.xml"), &text) {
            prop_assert!(error.to_string().contains("m.xml"));
        }
        let text = mutate(WORKLOAD.as_bytes().to_vec(), &edits);
        if let Err(error) = parse_scenarios(Path::new("m.xml"), &text) {
            prop_assert!(error.to_string().contains("m.xml"));
        }
    }
}
