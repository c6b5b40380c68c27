//! What tenants have to keep, whatever else becomes better.

use flashlane::Error;
use flashlane::config::units::{Bandwidth, Span};

use super::figures::Tenant;
use super::goal::{TIMES, time};
use super::middle;

/// The part of its rate that a tenant keeps where nothing else is said.
pub const RATE_KEPT: f64 = 0.5;
/// A figure may miss its bound by this part, since no limit of a rate is met to the last digit.
const SLACK: f64 = 0.01;

/// A bound on a figure of a tenant.
#[derive(Clone, Debug, PartialEq)]
pub struct Keep {
    /// The name of the tenant, or that of a flow with a `count` for all its copies.
    pub tenant: String,
    figure: Figure,
    bound: Bound,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Figure {
    Iops,
    Bandwidth,
    Time(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bound {
    /// In the unit of the figure.
    Value(f64),
    /// A part of what the tenant has on the unchanged drive.
    Part(f64),
}

impl Keep {
    /// Reads `NAME:FIGURE=BOUND,FIGURE=BOUND`, for example `backup:iops=20000,p99=150%`.
    ///
    /// # Errors
    /// [`Error::Config`] with what was found and what is allowed.
    pub fn parse(text: &str, names: &[String]) -> Result<Vec<Self>, Error> {
        let refuse = |message: String| Error::config(format!("--keep {text}"), message);
        let form = "write NAME:FIGURE=BOUND, for example backup:iops=20000 or backup:p99=150%";
        let Some((tenant, bounds)) = text.split_once(':') else {
            return Err(refuse(form.to_owned()));
        };
        if !names.iter().any(|name| name == tenant) {
            return Err(refuse(format!("no tenant `{tenant}`; allowed: {}", names.join(", "))));
        }
        let each = |part: &str| {
            let (key, bound) = part.split_once('=').ok_or_else(|| refuse(form.to_owned()))?;
            let figure = match key.trim() {
                "iops" => Figure::Iops,
                "bandwidth" => Figure::Bandwidth,
                key => {
                    let known = TIMES.iter().find(|&&one| one == key);
                    let allowed = || {
                        let times = TIMES.join(", ");
                        refuse(format!("found `{key}`; allowed: iops, bandwidth, {times}"))
                    };
                    Figure::Time(known.ok_or_else(allowed)?)
                }
            };
            let bound = figure.bound(bound.trim()).map_err(&refuse)?;
            Ok(Self { tenant: tenant.to_owned(), figure, bound })
        };
        bounds.split(',').map(each).collect()
    }

    /// The least part of its present rate that the tenant may have by this bound.
    fn least_part(&self, before: &Tenant) -> f64 {
        match (self.figure, self.bound) {
            (Figure::Time(_), _) => 0.0,
            (_, Bound::Part(part)) => part,
            (Figure::Iops, Bound::Value(iops)) => iops / before.iops.max(1e-9),
            (Figure::Bandwidth, Bound::Value(rate)) => rate / before.bandwidth.max(1e-9),
        }
    }

    /// Why a tenant's figures break this bound. `now` and `before` have the tenant in the runs of
    /// the same seeds.
    fn broken(&self, now: &[&Tenant], before: &[&Tenant]) -> Option<String> {
        let middle = |runs: &[&Tenant]| {
            middle::median(runs.iter().map(|one| self.figure.of(one))).unwrap_or(0.0)
        };
        let (found, had) = (middle(now), middle(before));
        let bound = match self.bound {
            Bound::Value(bound) => bound,
            Bound::Part(part) => part * had,
        };
        let name = &now.first()?.name;
        let broken = match self.figure {
            Figure::Time(_) => found > bound * (1.0 + SLACK),
            _ => found < bound * (1.0 - SLACK),
        };
        broken.then(|| match self.figure {
            Figure::Time(key) => {
                let key = key.replace("p99_9", "p99.9");
                format!("the {key} of {name} would be {found:.0} us, at most {bound:.0} us allowed")
            }
            _ if had > 0.0 => format!(
                "{name} would have {:.0} % of its rate, at least {:.0} % to keep",
                100.0 * found / had,
                100.0 * bound / had
            ),
            _ => format!("{name} would have less than the rate to keep"),
        })
    }
}

impl Figure {
    fn of(self, tenant: &Tenant) -> f64 {
        match self {
            Self::Iops => tenant.iops,
            Self::Bandwidth => tenant.bandwidth,
            Self::Time(key) => time(&tenant.latency, key),
        }
    }

    fn bound(self, text: &str) -> Result<Bound, String> {
        if let Some(percent) = text.strip_suffix('%') {
            let part = percent.trim().parse::<f64>().ok().filter(|part| (0.0..=1e6).contains(part));
            let part = part.ok_or_else(|| format!("found `{text}`, allowed: 0% to 1000000%"))?;
            return Ok(Bound::Part(part / 100.0));
        }
        let value = match self {
            Self::Iops => {
                let number = text.parse::<f64>().ok().filter(|one| (0.0..=1e9).contains(one));
                number.ok_or_else(|| format!("found `{text}`, allowed: 0 to 1000000000, or 90%"))?
            }
            Self::Bandwidth => {
                let rate = text.parse::<Bandwidth>();
                rate.map_err(|why| format!("{why}; or a part such as 90%"))?.0 as f64
            }
            Self::Time(_) => {
                let span = text.parse::<Span>();
                span.map_err(|why| format!("{why}; or a part such as 150%"))?.0 as f64 / 1e6
            }
        };
        Ok(Bound::Value(value))
    }
}

/// All bounds. A tenant without one keeps [`RATE_KEPT`] of its rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Keeps(pub(super) Vec<Keep>);

impl Keeps {
    /// The bounds of a tenant. `kind`: the flow of which it is a copy.
    fn of<'a>(&'a self, name: &'a str, kind: &'a str) -> impl Iterator<Item = &'a Keep> {
        self.0.iter().filter(move |keep| keep.tenant == name || keep.tenant == kind)
    }

    /// The least part of its present rate that a tenant may have.
    pub(super) fn least_part(&self, before: &Tenant, kind: &str) -> f64 {
        let own = self.of(&before.name, kind).map(|keep| keep.least_part(before));
        own.reduce(f64::max).unwrap_or(RATE_KEPT)
    }

    /// Why the figures of a tenant may not be.
    pub(super) fn broken(&self, kind: &str, now: &[&Tenant], before: &[&Tenant]) -> Option<String> {
        let name = &now.first()?.name;
        if self.of(name, kind).next().is_none() {
            let tenant = name.clone();
            let usual = Keep { tenant, figure: Figure::Iops, bound: Bound::Part(RATE_KEPT) };
            return usual.broken(now, before);
        }
        self.of(name, kind).find_map(|keep| keep.broken(now, before))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::metrics::Latency;

    fn tenant(iops: f64, p99: f64) -> Tenant {
        let latency = Latency { count: 1, p99, ..Latency::default() };
        let bandwidth = 4096.0 * iops;
        Tenant { name: "b-1".into(), iops, bandwidth, latency, ..Tenant::default() }
    }

    fn keeps(texts: &[&str]) -> Keeps {
        let names = ["b".to_owned(), "b-1".to_owned()];
        let each = texts.iter().map(|text| Keep::parse(text, &names).expect("bounds"));
        Keeps(each.flatten().collect())
    }

    #[test]
    fn a_tenant_keeps_half_unless_something_else_is_said() {
        let before = tenant(1000.0, 100.0);
        let broken = |keeps: &Keeps, iops: f64, p99: f64| {
            keeps.broken("b", &[&tenant(iops, p99)], &[&before])
        };
        let usual = Keeps::default();
        assert_eq!(broken(&usual, 500.0, 1e6), None);
        let why = "b-1 would have 40 % of its rate, at least 50 % to keep";
        assert_eq!(broken(&usual, 400.0, 1.0).as_deref(), Some(why));
        let more = keeps(&["b:iops=90%,p99=150%"]);
        assert_eq!(broken(&more, 900.0, 150.0), None);
        assert!(broken(&more, 800.0, 100.0).is_some() && broken(&more, 950.0, 160.0).is_some());
        let nothing = keeps(&["b-1:iops=0"]);
        assert_eq!(broken(&nothing, 1.0, 1e9), None);
        let rate = keeps(&["b:bandwidth=2MB/s"]);
        assert!(broken(&rate, 400.0, 1.0).is_some());
        assert_eq!(broken(&rate, 500.0, 1.0), None);
        let parts = [usual, more, nothing, rate].map(|one| one.least_part(&before, "b"));
        assert_eq!(parts, [0.5, 0.9, 0.0, 2e6 / 4.096e6]);
    }

    #[test]
    fn bounds_are_refused_with_what_is_allowed() {
        for (text, part) in [
            ("b", "--keep b: write NAME:FIGURE=BOUND"),
            ("c:iops=1", "no tenant `c`; allowed: b"),
            ("b:speed=1", "found `speed`; allowed: iops, bandwidth, mean, p50"),
            ("b:iops", "write NAME:FIGURE=BOUND"),
            ("b:iops=many", "found `many`, allowed: 0 to 1000000000, or 90%"),
            ("b:iops=-1%", "found `-1%`, allowed: 0% to"),
            ("b:p99=12", "or a part such as 150%"),
        ] {
            let error = Keep::parse(text, &["b".to_owned()]).expect_err("refused").to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
