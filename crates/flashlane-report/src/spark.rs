//! Small lines in the cards of tenants.

use crate::data::SeriesData;

/// Width and height of a line.
const WIDTH: f64 = 100.0;
const HEIGHT: f64 = 24.0;
/// Most points of a line.
const POINTS: usize = 60;

/// The mean response time of a flow over the run, as points of an SVG line. `None` without a
/// series, or with fewer than three points.
pub(crate) fn line(series: Option<&SeriesData>, flow: usize) -> Option<String> {
    let series = series?;
    let column = series.columns.iter().find(|c| c.name == "mean_us" && c.flow == Some(flow))?;
    let stride = column.values.len().div_ceil(POINTS).max(1);
    let groups = column.values.chunks(stride).map(|group| {
        let known: Vec<f64> = group.iter().copied().flatten().collect();
        (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
    });
    let values: Vec<Option<f64>> = groups.collect();
    if values.iter().flatten().count() < 3 {
        return None;
    }
    let most = values.iter().flatten().copied().fold(f64::MIN_POSITIVE, f64::max);
    let last = (values.len() - 1).max(1) as f64;
    let point = |(index, value): (usize, &Option<f64>)| {
        let x = index as f64 / last * WIDTH;
        value.map(|value| format!("{x:.1},{:.1}", HEIGHT - value / most * (HEIGHT - 2.0)))
    };
    Some(values.iter().enumerate().filter_map(point).collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::SeriesColumn;

    #[test]
    fn the_largest_value_is_at_the_top() {
        let values = vec![Some(1.0), None, Some(4.0), Some(2.0)];
        let column = SeriesColumn { name: "mean_us".to_owned(), flow: Some(0), values };
        let series =
            SeriesData { end_s: vec![1.0, 2.0, 3.0, 4.0], columns: vec![column], chips: None };
        assert_eq!(line(Some(&series), 0).as_deref(), Some("0.0,18.5 66.7,2.0 100.0,13.0"));
        assert_eq!(line(Some(&series), 1), None);
        assert_eq!(line(None, 0), None);
    }
}
