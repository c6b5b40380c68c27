//! Victim policies that are written in Python.

use std::sync::{Mutex, PoisonError};

use flashlane::policy::{PlaneView, Rng, VictimConfig, VictimPolicy};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

use super::{Made, copied, or_unwind};

/// The blocks of a plane at the time when a victim is chosen.
#[pyclass(frozen, module = "flashlane", name = "Plane")]
#[derive(Debug)]
pub(crate) struct Plane {
    #[pyo3(get)]
    pages_per_block: u32,
    emptiest: Option<u32>,
    /// Valid pages; `None` for blocks that may not be collected.
    valid: Vec<Option<u32>>,
    age: Vec<u32>,
    read: Vec<bool>,
}

impl Plane {
    fn new(plane: &PlaneView<'_>) -> Self {
        Self {
            pages_per_block: plane.pages_per_block(),
            emptiest: plane.emptiest(),
            valid: (0..plane.len()).map(|block| plane.valid(block)).collect(),
            age: (0..plane.len()).map(|block| plane.age(block)).collect(),
            read: (0..plane.len()).map(|block| plane.is_read(block)).collect(),
        }
    }

    fn of<T: Copy>(list: &[T], block: usize) -> PyResult<T> {
        let beyond = || format!("block: found {block}, allowed: 0 to {}", list.len() - 1);
        list.get(block).copied().ok_or_else(|| PyIndexError::new_err(beyond()))
    }
}

#[pymethods]
impl Plane {
    fn __len__(&self) -> usize {
        self.valid.len()
    }

    /// Valid pages of a block; `None` if it may not be collected.
    fn valid(&self, block: usize) -> PyResult<Option<u32>> {
        Self::of(&self.valid, block)
    }

    /// Number of blocks of the plane that were filled after this block. It is larger the longer ago
    /// the block was filled.
    fn age(&self, block: usize) -> PyResult<u32> {
        Self::of(&self.age, block)
    }

    /// True if reads of the block are under way or queued.
    fn is_read(&self, block: usize) -> PyResult<bool> {
        Self::of(&self.read, block)
    }

    /// Blocks whose collection gains space: those that may be collected and have an invalid page.
    fn candidates(&self) -> Vec<usize> {
        let gains = |valid: &Option<u32>| valid.is_some_and(|valid| valid < self.pages_per_block);
        (0..self.valid.len()).filter(|&block| gains(&self.valid[block])).collect()
    }

    /// The candidate with the fewest valid pages; the first one if there are several.
    fn emptiest(&self) -> Option<u32> {
        self.emptiest
    }
}

/// A random stream of the run's seed.
#[pyclass(frozen, module = "flashlane", name = "Random")]
#[derive(Debug)]
pub(crate) struct Random(Mutex<Rng>);

#[pymethods]
impl Random {
    /// A uniform random number below `bound`.
    fn below(&self, bound: u64) -> PyResult<u64> {
        if bound == 0 {
            return Err(PyValueError::new_err("below: found 0, allowed: above 0"));
        }
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).below(bound))
    }

    /// A uniform random number from 0 up to, and without, 1.
    fn unit(&self) -> f64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).unit()
    }
}

impl VictimConfig for Made {
    fn build(&self) -> Box<dyn VictimPolicy> {
        Python::attach(|py| Box::new(Victims { object: self.object_alone(py) }))
    }
}

/// A victim policy whose choices a Python object makes.
struct Victims {
    object: Py<PyAny>,
}

impl Clone for Victims {
    fn clone(&self) -> Self {
        Python::attach(|py| Self { object: copied(py, &self.object) })
    }
}

impl VictimPolicy for Victims {
    fn select(&mut self, plane: &PlaneView<'_>, rng: &mut Rng) -> Option<u32> {
        let allowed: Vec<u32> =
            (0..plane.len()).filter(|&block| plane.valid(block).is_some()).collect();
        let plane = Plane::new(plane);
        let gains = plane.emptiest.is_some();
        Python::attach(|py| {
            let random = or_unwind(Py::new(py, Random(Mutex::new(rng.clone()))));
            let chosen = self.object.call_method1(py, "select", (plane, random.clone_ref(py)));
            *rng = random.get().0.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let chosen: Option<u32> = or_unwind(or_unwind(chosen).extract(py));
            let why = match chosen {
                Some(block) if !allowed.contains(&block) => format!(
                    "select: found block {block}, which may not be collected; allowed: blocks for \
                     which plane.valid is not None"
                ),
                None if gains => {
                    "select: found None; allowed: a block, since plane.candidates() has one".into()
                }
                _ => return chosen,
            };
            let class = or_unwind(self.object.bind(py).get_type().name());
            or_unwind(Err(PyValueError::new_err(format!("{class}.{why}"))))
        })
    }
}
