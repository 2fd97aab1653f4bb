use std::mem::{size_of, zeroed};
use std::os::raw::{c_char, c_int, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{checked, text, Error};
use crate::sys;
use crate::vocabulary::{joined, Vocabulary};

/// Which texts are allowed. Immutable, and shared by any number of threads; matchers stay when it is dropped.
#[derive(Debug)]
pub struct Constraint {
    pub(crate) handle: *mut sys::eliza_constraint,
}

// The library's own promise: see "Conventions" in the header.
unsafe impl Send for Constraint {}
unsafe impl Sync for Constraint {}

/// What compiling may use. 0 is the library's default; beyond a bound the error is `sys::ELIZA_ERR_LIMIT`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Budget<'a> {
    /// Of each automaton.
    pub states_max: u32,
    /// Memory for compiling.
    pub bytes_max: u64,
    /// Of wall clock; by default there is no limit. Set it for patterns, grammars and schemas from outside.
    pub ms_max: u64,
    /// Masks and tables that the constraint keeps.
    pub mask_bytes_max: u64,
    /// Of each later call on a matcher; by default there is no limit. Beyond it the matcher is as it was.
    pub mask_ms_max: u64,
    /// Set it from another thread to end the work: the error is `sys::ELIZA_ERR_CANCELLED`.
    pub cancel: Option<&'a AtomicBool>,
}

/// White space between the tokens of a JSON text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonSpace {
    /// At each place none, one space, or one newline and up to 32 spaces or tabs.
    #[default]
    Loose = sys::ELIZA_JSON_SPACE_LOOSE as isize,
    Compact = sys::ELIZA_JSON_SPACE_COMPACT as isize,
    /// One space after each comma and colon.
    Spaced = sys::ELIZA_JSON_SPACE_SPACED as isize,
    Any = sys::ELIZA_JSON_SPACE_ANY as isize,
}

/// In which order the members of an object come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonOrder {
    /// The keys of `properties` in order, then other required ones, then the rest.
    #[default]
    Declared = sys::ELIZA_JSON_ORDER_DECLARED as isize,
    Any = sys::ELIZA_JSON_ORDER_ANY as isize,
}

/// How long numbers may be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonNumbers {
    #[default]
    Any = 0,
    /// At most 17 significant digits, 24 bytes, and finite; integers have 64 bits.
    Double = sys::ELIZA_JSON_NUMBERS_DOUBLE as isize,
}

/// Members that a schema does not name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JsonAdditional {
    #[default]
    Allow = 0,
    /// None, where a schema names members and says nothing of others.
    Forbid = sys::ELIZA_JSON_ADDITIONAL_FORBID as isize,
}

/// How documents are written that obey a JSON Schema.
#[derive(Clone, Copy, Debug, Default)]
pub struct JsonOptions {
    pub space: JsonSpace,
    pub order: JsonOrder,
    pub numbers: JsonNumbers,
    pub additional: JsonAdditional,
    /// What cannot be enforced exactly is a warning, in place of an error.
    pub lenient: bool,
}

impl Constraint {
    /// One of the texts, in any tokenization.
    pub fn choices(vocabulary: &Vocabulary, texts: &[impl AsRef<[u8]>], budget: &Budget) -> Result<Constraint, Error> {
        let (bytes, offsets) = joined(texts);
        let (bytes, offsets) = (bytes.as_ptr(), offsets.as_ptr());
        compile(budget, |config, out, error| unsafe {
            sys::eliza_inference_constraint_create_choices(
                vocabulary.handle,
                bytes,
                offsets,
                texts.len(),
                0,
                config,
                out,
                error,
            )
        })
    }

    /// Texts that the whole pattern matches. The header describes the dialect.
    pub fn regex(vocabulary: &Vocabulary, pattern: &str, budget: &Budget) -> Result<Constraint, Error> {
        let (source, len) = parts(pattern);
        compile(budget, |config, out, error| unsafe {
            sys::eliza_inference_constraint_create_regex(vocabulary.handle, source, len, 0, config, out, error)
        })
    }

    /// Texts of a grammar in Lark's notation, from its rule `start`: see docs/reference/grammars.md.
    pub fn lark(vocabulary: &Vocabulary, grammar: &str, budget: &Budget) -> Result<Constraint, Error> {
        let (source, len) = parts(grammar);
        compile(budget, |config, out, error| unsafe {
            sys::eliza_inference_constraint_create_lark(vocabulary.handle, source, len, config, out, error)
        })
    }

    /// Texts of a grammar in GBNF, llama.cpp's notation, from its rule `root`: see docs/reference/gbnf.md.
    pub fn gbnf(vocabulary: &Vocabulary, grammar: &str, budget: &Budget) -> Result<Constraint, Error> {
        let (source, len) = parts(grammar);
        let root = ptr::null();
        compile(budget, |config, out, error| unsafe {
            sys::eliza_inference_constraint_create_gbnf(vocabulary.handle, source, len, root, 0, 0, config, out, error)
        })
    }

    /// Documents that are valid against a JSON Schema: see docs/reference/json-schema.md.
    pub fn json_schema(
        vocabulary: &Vocabulary,
        schema: &str,
        options: &JsonOptions,
        budget: &Budget,
    ) -> Result<Constraint, Error> {
        let (source, len) = parts(schema);
        let options = sys::eliza_json_schema_options_t {
            struct_size: size_of::<sys::eliza_json_schema_options_t>() as u32,
            flags: if options.lenient { sys::ELIZA_JSON_LENIENT as u32 } else { 0 }
                | options.numbers as u32
                | options.additional as u32,
            space: options.space as i32,
            order: options.order as i32,
            ..unsafe { zeroed() }
        };
        compile(budget, |config, out, error| unsafe {
            sys::eliza_inference_constraint_create_json_schema(
                vocabulary.handle,
                source,
                len,
                &options,
                config,
                out,
                error,
            )
        })
    }

    /// Free text with parts in it, such as tool calls: see docs/reference/tags.md. `descriptor` is JSON or MessagePack.
    pub fn tags(vocabulary: &Vocabulary, descriptor: &[u8], budget: &Budget) -> Result<Constraint, Error> {
        let (source, len) = (descriptor.as_ptr(), descriptor.len());
        compile(budget, |config, out, error| unsafe {
            sys::eliza_inference_constraint_create_tags(vocabulary.handle, source, len, config, out, error)
        })
    }

    /// Names as their tokens: a TokenTreePayload as JSON or MessagePack, which the header describes.
    pub fn token_trie(vocabulary: &Vocabulary, payload: &[u8]) -> Result<Constraint, Error> {
        let (source, len) = (payload.as_ptr().cast(), payload.len());
        compile(&Budget::default(), |_, out, error| unsafe {
            sys::eliza_inference_constraint_create_token_trie(vocabulary.handle, source, len, out, error)
        })
    }

    /// Opens a file that `save` wrote, for the same vocabulary.
    pub fn open(vocabulary: &Vocabulary, path: &str, budget: &Budget) -> Result<Constraint, Error> {
        let (path, len) = parts(path);
        compile(budget, |config, out, error| unsafe {
            sys::eliza_inference_constraint_open(vocabulary.handle, path, len, config, out, error)
        })
    }

    /// Writes the constraint with the tables that it has so far; not for token tries.
    pub fn save(&self, path: &str) -> Result<(), Error> {
        let (path, len) = parts(path);
        checked(|error| unsafe { sys::eliza_inference_constraint_save(self.handle, path, len, error) })?;
        Ok(())
    }

    /// Builds all tables now that would be built at first use.
    pub fn prepare(&self, budget: &Budget) -> Result<(), Error> {
        let config = config(budget);
        checked(|error| unsafe { sys::eliza_inference_constraint_prepare(self.handle, &config, error) })?;
        Ok(())
    }

    /// What is legal but seldom meant, a line each.
    pub fn warnings(&self) -> &str {
        unsafe { text(sys::eliza_inference_constraint_warnings(self.handle)) }
    }
}

impl Drop for Constraint {
    fn drop(&mut self) {
        unsafe { sys::eliza_inference_constraint_free(self.handle) }
    }
}

fn parts(text: &str) -> (*const c_char, usize) {
    (text.as_ptr().cast(), text.len())
}

fn compile(
    budget: &Budget,
    create: impl FnOnce(*const sys::eliza_compile_config_t, *mut *mut sys::eliza_constraint, *mut *mut c_char) -> c_int,
) -> Result<Constraint, Error> {
    let config = config(budget);
    let mut handle = ptr::null_mut();
    checked(|error| create(&config, &mut handle, error))?;
    Ok(Constraint { handle })
}

/// Good for as long as the flag of the budget.
fn config(budget: &Budget) -> sys::eliza_compile_config_t {
    sys::eliza_compile_config_t {
        struct_size: size_of::<sys::eliza_compile_config_t>() as u32,
        states_max: budget.states_max,
        bytes_max: budget.bytes_max,
        ms_max: budget.ms_max,
        mask_bytes_max: budget.mask_bytes_max,
        cancel: budget.cancel.map(|_| is_cancelled as unsafe extern "C" fn(*mut c_void) -> c_int),
        user_data: budget.cancel.map_or(ptr::null_mut(), |flag| flag as *const AtomicBool as *mut c_void),
        mask_ms_max: budget.mask_ms_max,
    }
}

unsafe extern "C" fn is_cancelled(flag: *mut c_void) -> c_int {
    let flag = &*(flag as *const AtomicBool);
    c_int::from(flag.load(Ordering::Relaxed))
}
