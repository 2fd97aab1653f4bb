use std::ffi::CStr;
use std::fmt;
use std::os::raw::{c_char, c_int};
use std::ptr;

use crate::sys;

/// Why a call failed. The object that it was called on is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// One of `sys::ELIZA_ERR_...`.
    pub status: i32,
    /// Names the offending thing: for a grammar or a pattern the place in it.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = unsafe { text(sys::eliza_inference_status_name(self.status)) };
        if self.message.is_empty() {
            f.write_str(name)
        } else {
            write!(f, "{} ({name})", self.message)
        }
    }
}

impl std::error::Error for Error {}

impl Error {
    pub(crate) fn new(status: c_int, message: &str) -> Error {
        Error { status, message: message.to_owned() }
    }
}

/// The result of a function that has a parameter `out_error`.
pub(crate) fn checked(call: impl FnOnce(*mut *mut c_char) -> c_int) -> Result<c_int, Error> {
    let mut message = ptr::null_mut();
    let status = call(&mut message);
    if status >= 0 {
        return Ok(status);
    }
    let error = Error::new(status, unsafe { text(message) });
    unsafe { sys::eliza_inference_free_string(message) };
    Err(error)
}

/// A string of the library, which writes UTF-8; "" for NULL.
///
/// # Safety
/// `string` is NULL or ends with a zero byte, and stays for the lifetime.
pub(crate) unsafe fn text<'a>(string: *const c_char) -> &'a str {
    if string.is_null() {
        return "";
    }
    CStr::from_ptr(string).to_str().unwrap_or("(not UTF-8)")
}
