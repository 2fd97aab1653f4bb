use std::os::raw::c_int;
use std::{ptr, slice};

use crate::error::{checked, Error};
use crate::sys;

/// The tokens of a model. Immutable, and shared by any number of threads; what was made from it stays when it is dropped.
#[derive(Debug)]
pub struct Vocabulary {
    pub(crate) handle: *mut sys::eliza_vocab,
}

// The library's own promise: see "Conventions" in the header.
unsafe impl Send for Vocabulary {}
unsafe impl Sync for Vocabulary {}

impl Vocabulary {
    /// `tokens[id]` is the bytes of a token; `end_tokens` are those that end a generation.
    pub fn new(tokens: &[impl AsRef<[u8]>], end_tokens: &[i32]) -> Result<Vocabulary, Error> {
        let mut flags = vec![0u8; tokens.len()];
        for &end in end_tokens {
            let flag = usize::try_from(end).ok().and_then(|end| flags.get_mut(end)).ok_or_else(|| {
                Error::new(sys::ELIZA_ERR_INVALID_ARG, &format!("the end token {end} is not in the vocabulary"))
            })?;
            *flag = (sys::ELIZA_TOKEN_SPECIAL | sys::ELIZA_TOKEN_END_OF_GENERATION) as u8;
        }
        Vocabulary::with_flags(tokens, &flags)
    }

    /// `flags[id]` is a set of `sys::ELIZA_TOKEN_...`: special, ends the generation, unused.
    pub fn with_flags(tokens: &[impl AsRef<[u8]>], flags: &[u8]) -> Result<Vocabulary, Error> {
        if flags.len() != tokens.len() {
            let message = format!("{} tokens have {} flags", tokens.len(), flags.len());
            return Err(Error::new(sys::ELIZA_ERR_INVALID_ARG, &message));
        }
        let (bytes, offsets) = joined(tokens);
        create(tokens.len(), bytes.as_ptr(), offsets.as_ptr(), flags.as_ptr())
    }

    /// Of ids alone: enough for token tries.
    pub fn without_bytes(n_tokens: usize) -> Result<Vocabulary, Error> {
        create(n_tokens, ptr::null(), ptr::null(), ptr::null())
    }

    /// Opens a file that `save` wrote.
    pub fn open(path: &str) -> Result<Vocabulary, Error> {
        let mut handle = ptr::null_mut();
        checked(|error| unsafe {
            sys::eliza_inference_vocab_open(path.as_ptr().cast(), path.len(), &mut handle, error)
        })?;
        Ok(Vocabulary { handle })
    }

    /// Writes a file that is opened faster than a vocabulary is made.
    pub fn save(&self, path: &str) -> Result<(), Error> {
        checked(|error| unsafe {
            sys::eliza_inference_vocab_save(self.handle, path.as_ptr().cast(), path.len(), error)
        })?;
        Ok(())
    }

    /// Number of tokens: ids are below it.
    pub fn n_tokens(&self) -> usize {
        unsafe { sys::eliza_inference_vocab_size(self.handle) as usize }
    }

    /// The bytes of a token; empty if they are not known, or for an id beyond the vocabulary.
    pub fn bytes(&self, token: i32) -> &[u8] {
        let (mut bytes, mut len) = (ptr::null(), 0);
        let none = ptr::null_mut();
        let status = unsafe { sys::eliza_inference_vocab_token(self.handle, token, &mut bytes, &mut len, none) };
        if status < 0 || len == 0 {
            return &[];
        }
        unsafe { slice::from_raw_parts(bytes, len) }
    }
}

impl Drop for Vocabulary {
    fn drop(&mut self) {
        unsafe { sys::eliza_inference_vocab_free(self.handle) }
    }
}

fn create(n: usize, bytes: *const u8, offsets: *const u64, flags: *const u8) -> Result<Vocabulary, Error> {
    let config = sys::eliza_vocab_config_t {
        struct_size: std::mem::size_of::<sys::eliza_vocab_config_t>() as u32,
        n_tokens: c_int::try_from(n)
            .map_err(|_| Error::new(sys::ELIZA_ERR_LIMIT, &format!("a vocabulary has no {n} tokens")))?,
        model_id: ptr::null(),
        model_id_len: 0,
        bytes,
        offsets,
        flags,
    };
    let mut handle = ptr::null_mut();
    checked(|error| unsafe { sys::eliza_inference_vocab_create(&config, &mut handle, error) })?;
    Ok(Vocabulary { handle })
}

/// All strings one after another, and where each begins and the last ends. The bytes are not at NULL.
pub(crate) fn joined(strings: &[impl AsRef<[u8]>]) -> (Vec<u8>, Vec<u64>) {
    let mut bytes = Vec::with_capacity(1);
    let mut offsets = vec![0];
    for string in strings {
        bytes.extend_from_slice(string.as_ref());
        offsets.push(bytes.len() as u64);
    }
    (bytes, offsets)
}
