//! The scheduler alone, over an idle flash.
