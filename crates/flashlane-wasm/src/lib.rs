//! The simulator as a WebAssembly module, for pages that run it in the browser.
//!
//! A host writes a question as JSON into memory that it asks for with [`flashlane_input`], calls
//! [`flashlane_run`], and reads the answer, JSON as well, at [`flashlane_output`]. The module
//! imports nothing. See [`Question`] and [`Answer`].

mod answer;
mod question;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use answer::Answer;
pub use question::Question;

/// Question and answer, as bytes.
static BUFFERS: Mutex<(Vec<u8>, Vec<u8>)> = Mutex::new((Vec::new(), Vec::new()));

fn buffers() -> MutexGuard<'static, (Vec<u8>, Vec<u8>)> {
    BUFFERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a question of `bytes` bytes. Returns the address for it.
#[expect(unsafe_code, reason = "a host calls it by this name")]
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_input(bytes: usize) -> *mut u8 {
    let mut buffers = buffers();
    buffers.0.clear();
    buffers.0.resize(bytes, 0);
    buffers.0.as_mut_ptr()
}

/// Answers the question, and returns how many bytes the answer has.
#[expect(unsafe_code, reason = "a host calls it by this name")]
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_run() -> usize {
    // A fault ends the module. The host finds its message where the answer would be.
    std::panic::set_hook(Box::new(|fault| {
        if let Ok(mut buffers) = BUFFERS.try_lock() {
            buffers.1 = Answer::failed(&format!("internal fault: {fault}")).json();
        }
    }));
    let question = std::mem::take(&mut buffers().0);
    let answer = match serde_json::from_slice::<Question>(&question) {
        Ok(question) => question.answer(),
        Err(error) => Answer::failed(&format!("the question: {error}")),
    };
    let mut buffers = buffers();
    buffers.1 = answer.json();
    buffers.1.len()
}

/// Where the answer is.
#[expect(unsafe_code, reason = "a host calls it by this name")]
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_output() -> *const u8 {
    buffers().1.as_ptr()
}

/// How many bytes the answer has.
#[expect(unsafe_code, reason = "a host calls it by this name")]
#[unsafe(no_mangle)]
pub extern "C" fn flashlane_output_bytes() -> usize {
    buffers().1.len()
}
