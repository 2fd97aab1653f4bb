//! Constrained generation for a language model: only tokens that continue what you allow come out.
//!
//! A [`Vocabulary`] has the bytes of a model's tokens, a [`Constraint`] says which texts are allowed, and a [`Matcher`] is the
//! state of one text: it masks the logits of any engine, or chooses from them, and takes the chosen token.
//!
//! ```
//! use eliza_inference::{Budget, Constraint, Matcher, Sampling, Vocabulary};
//!
//! let vocabulary = Vocabulary::new(&["yes", "no", "maybe", "</s>"], &[3])?;
//! let constraint = Constraint::choices(&vocabulary, &["yes", "no"], &Budget::default())?;
//! let mut matcher = Matcher::new(&constraint)?;
//! let logits = [0.5, 1.0, 9.0, 0.0]; // of your model: it would say "maybe"
//! let token = matcher.sample(&logits, &Sampling::GREEDY)?;
//! assert!(matcher.accept(token)?);
//! assert_eq!(token, 1);
//! assert!(matcher.can_stop()?);
//! # Ok::<(), eliza_inference::Error>(())
//! ```
//!
//! [`sys`] has all functions of the C header, streams over llama.cpp too.

mod constraint;
mod error;
mod matcher;
#[allow(non_camel_case_types)]
#[rustfmt::skip]
pub mod sys;
mod vocabulary;

pub use constraint::{Budget, Constraint, JsonAdditional, JsonNumbers, JsonOptions, JsonOrder, JsonSpace};
pub use error::Error;
pub use matcher::{fill_bitmaps, mask_rows, Allowed, Matcher, Sampling};
pub use vocabulary::Vocabulary;

/// The version of the native library.
pub fn version() -> &'static str {
    // A static string of ASCII.
    unsafe { error::text(sys::eliza_inference_version()) }
}
