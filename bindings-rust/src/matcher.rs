use std::mem::{size_of, zeroed};
use std::os::raw::c_int;
use std::{ptr, slice};

use crate::constraint::Constraint;
use crate::error::{text, Error};
use crate::sys;

/// The state of one text. It may go to another thread, but is used by one at a time.
#[derive(Debug)]
pub struct Matcher {
    handle: *mut sys::eliza_matcher,
}

unsafe impl Send for Matcher {}

/// The legal next tokens in their natural form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Allowed<'a> {
    All,
    /// Ascending ids.
    List(&'a [i32]),
    /// Bit `i % 32` of word `i / 32` is token `i`.
    Bitmap(&'a [i32]),
}

/// How a token is chosen among the legal ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// At most 0: the highest logit, of equal ones the smallest id.
    pub temperature: f32,
    /// The most likely tokens whose share reaches it; 1 or more, or at most 0: all.
    pub top_p: f32,
}

impl Sampling {
    pub const GREEDY: Sampling = Sampling { temperature: 0.0, top_p: 1.0 };
}

impl Matcher {
    /// At the beginning of a text.
    pub fn new(constraint: &Constraint) -> Result<Matcher, Error> {
        let mut handle = ptr::null_mut();
        crate::error::checked(|error| unsafe {
            sys::eliza_inference_matcher_create(constraint.handle, 0, &mut handle, error)
        })?;
        Ok(Matcher { handle })
    }

    /// A matcher at the same place, with its history and generator.
    pub fn try_clone(&self) -> Result<Matcher, Error> {
        let mut handle = ptr::null_mut();
        self.checked(unsafe { sys::eliza_inference_matcher_clone(self.handle, &mut handle) })?;
        Ok(Matcher { handle })
    }

    /// Takes a token; false if it is not allowed here: nothing changed then.
    pub fn accept(&mut self, token: i32) -> Result<bool, Error> {
        let step = self.checked(unsafe { sys::eliza_inference_matcher_accept(self.handle, token) })?;
        Ok(step & sys::ELIZA_STEP_REFUSED == 0)
    }

    /// Takes back the last tokens with all that they did.
    pub fn rollback(&mut self, n_tokens: usize) -> Result<(), Error> {
        self.done(unsafe { sys::eliza_inference_matcher_rollback(self.handle, n_tokens) })
    }

    /// Back to the beginning.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.done(unsafe { sys::eliza_inference_matcher_reset(self.handle) })
    }

    /// Opens the span of a descriptor by its path; "" for all but token tries.
    pub fn activate(&mut self, path: &str) -> Result<(), Error> {
        self.done(unsafe { sys::eliza_inference_matcher_activate(self.handle, path.as_ptr().cast(), path.len()) })
    }

    /// Ends an open span: then everything is allowed.
    pub fn deactivate(&mut self) -> Result<(), Error> {
        self.done(unsafe { sys::eliza_inference_matcher_deactivate(self.handle) })
    }

    /// Of the generator that `sample` draws from.
    pub fn set_seed(&mut self, seed: u64) -> Result<(), Error> {
        self.done(unsafe { sys::eliza_inference_matcher_set_seed(self.handle, seed) })
    }

    /// The text may end here.
    pub fn can_stop(&mut self) -> Result<bool, Error> {
        Ok(self.checked(unsafe { sys::eliza_inference_matcher_can_stop(self.handle) })? != 0)
    }

    /// In a span: outside everything is allowed.
    pub fn is_active(&mut self) -> Result<bool, Error> {
        let size = size_of::<sys::eliza_span_state_t>() as u32;
        let mut state = sys::eliza_span_state_t { struct_size: size, ..unsafe { zeroed() } };
        self.done(unsafe { sys::eliza_inference_matcher_state(self.handle, &mut state) })?;
        Ok(state.active != 0)
    }

    /// The name that is complete here, of a token trie; None if there is none.
    pub fn leaf(&self) -> Option<&[u8]> {
        let (mut name, mut len) = (ptr::null(), 0);
        let status = unsafe { sys::eliza_inference_matcher_leaf(self.handle, &mut name, &mut len) };
        if status < 0 || name.is_null() {
            return None;
        }
        Some(unsafe { slice::from_raw_parts(name.cast(), len) })
    }

    /// The legal next tokens, lent until the next call.
    pub fn allowed(&mut self) -> Result<Allowed<'_>, Error> {
        let (mut ids, mut n) = (ptr::null(), 0);
        let form = self.checked(unsafe { sys::eliza_inference_matcher_allowed(self.handle, &mut ids, &mut n) })?;
        match form {
            sys::ELIZA_ALLOWED_ALL => Ok(Allowed::All),
            sys::ELIZA_ALLOWED_LIST => Ok(Allowed::List(unsafe { lent(ids, n) })),
            _ => {
                let status = unsafe { sys::eliza_inference_matcher_bitmap(self.handle, &mut ids, &mut n) };
                self.checked(status)?;
                Ok(Allowed::Bitmap(unsafe { lent(ids, n) }))
            }
        }
    }

    /// Writes the legal next tokens as a bitmap of at least (tokens + 31) / 32 words.
    pub fn fill_bitmap(&mut self, words: &mut [i32]) -> Result<(), Error> {
        let (first, n) = (words.as_mut_ptr(), words.len());
        self.done(unsafe { sys::eliza_inference_matcher_fill_bitmap(self.handle, first, n) })
    }

    /// Sets the logits of illegal tokens to minus infinity. There are at least as many as tokens.
    pub fn mask_logits(&mut self, logits: &mut [f32]) -> Result<(), Error> {
        let (first, n) = (logits.as_mut_ptr(), logits.len());
        self.done(unsafe { sys::eliza_inference_matcher_mask_logits(self.handle, first, n) })
    }

    /// Chooses among the legal tokens; does not accept. There are at least as many logits as tokens.
    pub fn sample(&mut self, logits: &[f32], sampling: &Sampling) -> Result<i32, Error> {
        let sampling = sys::eliza_sampling_t {
            struct_size: size_of::<sys::eliza_sampling_t>() as u32,
            mode: sys::ELIZA_MODE_SAMPLED,
            temperature: sampling.temperature,
            top_p: sampling.top_p,
        };
        let mut token = -1;
        let (first, n) = (logits.as_ptr(), logits.len());
        self.done(unsafe { sys::eliza_inference_matcher_sample(self.handle, first, n, &sampling, &mut token) })?;
        Ok(token)
    }

    /// The tokens without a choice, for which no model is needed.
    pub fn forced(&mut self) -> Result<Vec<i32>, Error> {
        let handle = self.handle;
        self.run(|out, cap, n| unsafe { sys::eliza_inference_matcher_forced(handle, out, cap, n) })
    }

    /// The bytes without a choice; none in a token trie.
    pub fn forced_bytes(&mut self) -> Result<Vec<u8>, Error> {
        let handle = self.handle;
        self.run(|out, cap, n| unsafe { sys::eliza_inference_matcher_forced_bytes(handle, out, cap, n) })
    }

    /// What `write` writes of a run, which gives the whole length even where there is less room.
    fn run<T: Clone + Default>(&self, write: impl Fn(*mut T, usize, *mut usize) -> c_int) -> Result<Vec<T>, Error> {
        let mut found = vec![T::default(); 64];
        loop {
            let mut n = 0;
            self.checked(write(found.as_mut_ptr(), found.len(), &mut n))?;
            let is_whole = n <= found.len();
            found.resize(n, T::default());
            if is_whole {
                return Ok(found);
            }
        }
    }

    fn done(&self, status: c_int) -> Result<(), Error> {
        self.checked(status).map(|_| ())
    }

    fn checked(&self, status: c_int) -> Result<c_int, Error> {
        if status >= 0 {
            return Ok(status);
        }
        Err(Error::new(status, unsafe { text(sys::eliza_inference_matcher_last_error(self.handle)) }))
    }
}

impl Drop for Matcher {
    fn drop(&mut self) {
        unsafe { sys::eliza_inference_matcher_free(self.handle) }
    }
}

/// Fills the bitmaps of a batch on `n_threads` threads (0: one for each processor): row `i`, of `words.len() / matchers.len()`
/// words, is for matcher `i`.
pub fn fill_bitmaps(matchers: &mut [&mut Matcher], words: &mut [i32], n_threads: u32) -> Result<(), Error> {
    if matchers.is_empty() {
        return Ok(());
    }
    let handles: Vec<*mut sys::eliza_matcher> = matchers.iter().map(|matcher| matcher.handle).collect();
    let n_words = words.len() / handles.len();
    let status = unsafe {
        sys::eliza_inference_matcher_fill_bitmaps(
            handles.as_ptr(),
            handles.len(),
            words.as_mut_ptr(),
            n_words,
            n_threads,
        )
    };
    of_batch(matchers, status)
}

fn of_batch(matchers: &[&mut Matcher], status: i32) -> Result<(), Error> {
    if status >= 0 {
        return Ok(());
    }
    let failed =
        matchers.iter().map(|matcher| unsafe { text(sys::eliza_inference_matcher_last_error(matcher.handle)) });
    Err(Error::new(status, failed.into_iter().find(|message| !message.is_empty()).unwrap_or("")))
}

/// Sets the logits of illegal tokens to -inf in rows of a batch, and those beyond the vocabulary: `logits` has rows of
/// `n_logits`, and matcher `i` has the row `rows[i]`. Masks that are not ready are computed first, on `n_threads` threads
/// (0: one for each processor). If one fails, no logit changes.
pub fn mask_rows(
    matchers: &mut [&mut Matcher],
    logits: &mut [f32],
    n_logits: usize,
    rows: &[u32],
    n_threads: u32,
) -> Result<(), Error> {
    let n_rows = if n_logits == 0 { 0 } else { logits.len() / n_logits };
    if rows.len() != matchers.len() || rows.iter().any(|&row| row as usize >= n_rows) {
        return Err(Error::new(sys::ELIZA_ERR_INVALID_ARG, "each matcher needs a row of the logits"));
    }
    let handles: Vec<*mut sys::eliza_matcher> = matchers.iter().map(|matcher| matcher.handle).collect();
    let status = unsafe {
        sys::eliza_inference_matcher_mask_rows(
            handles.as_ptr(),
            handles.len(),
            logits.as_mut_ptr().cast(),
            sys::ELIZA_LOGITS_F32,
            n_logits,
            n_logits,
            rows.as_ptr(),
            n_threads,
        )
    };
    of_batch(matchers, status)
}

/// # Safety
/// `first` is NULL with `n` 0, or has `n` items that stay for the lifetime.
unsafe fn lent<'a>(first: *const i32, n: usize) -> &'a [i32] {
    if n == 0 {
        return &[];
    }
    slice::from_raw_parts(first, n)
}
