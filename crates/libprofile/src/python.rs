//! Lines of Python. In a program that the interpreter runs, all calls come from the same places of the binding, which
//! are of no interest to the user.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};

use profile::layout::{WORD_BYTES, site, start, text};

use crate::data::Call;
use crate::mapped::Mapped;

type Object = *mut c_void;

/// The functions of the interpreter that are needed, and the known places.
pub(crate) struct Lines {
    is_initialized: unsafe extern "C" fn() -> c_int,
    ensure: unsafe extern "C" fn() -> c_int,
    release: unsafe extern "C" fn(c_int),
    frame: unsafe extern "C" fn() -> Object,
    line: unsafe extern "C" fn(Object) -> c_int,
    code: unsafe extern "C" fn(Object) -> Object,
    attribute: unsafe extern "C" fn(Object, *const c_char) -> Object,
    text: unsafe extern "C" fn(Object) -> *const c_char,
    decrease: unsafe extern "C" fn(Object),
    clear_error: unsafe extern "C" fn(),
    /// The place of each line that calls a function: the code object, the line and the function. The code objects are
    /// never released, so that no other gets the address.
    places: HashMap<(usize, c_int, u16), u16>,
}

/// First of the addresses that stand for lines of a script. Addresses of code are lower.
const LINES_FROM: u64 = 1 << 63;

impl Lines {
    /// Finds the interpreter of this process, if there is one.
    #[allow(clippy::missing_transmute_annotations, reason = "the fields say the types")]
    pub(crate) fn find() -> Option<Self> {
        // SAFETY: each name is of a function of the interpreter's stable interface, which has that type.
        unsafe {
            Some(Lines {
                is_initialized: std::mem::transmute::<*mut c_void, _>(symbol(c"Py_IsInitialized")?),
                ensure: std::mem::transmute::<*mut c_void, _>(symbol(c"PyGILState_Ensure")?),
                release: std::mem::transmute::<*mut c_void, _>(symbol(c"PyGILState_Release")?),
                frame: std::mem::transmute::<*mut c_void, _>(symbol(c"PyEval_GetFrame")?),
                line: std::mem::transmute::<*mut c_void, _>(symbol(c"PyFrame_GetLineNumber")?),
                code: std::mem::transmute::<*mut c_void, _>(symbol(c"PyFrame_GetCode")?),
                attribute: std::mem::transmute::<*mut c_void, _>(symbol(
                    c"PyObject_GetAttrString",
                )?),
                text: std::mem::transmute::<*mut c_void, _>(symbol(c"PyUnicode_AsUTF8")?),
                decrease: std::mem::transmute::<*mut c_void, _>(symbol(c"Py_DecRef")?),
                clear_error: std::mem::transmute::<*mut c_void, _>(symbol(c"PyErr_Clear")?),
                places: HashMap::new(),
            })
        }
    }

    /// Returns the place of a call: the current line, or the call's return address if there is no such line.
    pub(crate) fn site(&mut self, mapped: &mut Mapped, call: Call) -> u16 {
        // SAFETY: the interpreter reports whether it is initialized; its lock is held while its objects are used, and a
        // frame and its code live as long as the call that runs them.
        unsafe {
            if (self.is_initialized)() == 0 {
                return mapped.site(call.address, call.function);
            }
            let lock = (self.ensure)();
            let place = self.site_of_line(mapped, call);
            (self.release)(lock);
            place.unwrap_or_else(|| mapped.site(call.address, call.function))
        }
    }

    unsafe fn site_of_line(&mut self, mapped: &mut Mapped, call: Call) -> Option<u16> {
        let frame = (self.frame)();
        if frame.is_null() {
            return None;
        }
        let (line, code) = ((self.line)(frame), (self.code)(frame));
        let key = (code as usize, line, call.function);
        if let Some(&place) = self.places.get(&key) {
            (self.decrease)(code);
            return Some(place);
        }
        let word = |name: &CStr| {
            let object = (self.attribute)(code, name.as_ptr());
            let text = if object.is_null() { std::ptr::null() } else { (self.text)(object) };
            if text.is_null() {
                (self.clear_error)();
                return String::from("?");
            }
            let word = CStr::from_ptr(text).to_string_lossy().into_owned();
            (self.decrease)(object);
            word
        };
        let (function, file) = (word(c"co_name"), word(c"co_filename"));
        // Reports for CI need the path, and people the line: a path that leaves no room for it is cut to its last part.
        let whole = format!("{function}, {file}:{line}");
        let name = file.rsplit('/').next().unwrap_or(&file);
        let text = mapped.add_text(&match whole.len() < text::WORDS * WORD_BYTES {
            true => whole,
            false => format!("{function}, {name}:{line}"),
        });
        let index = mapped.site(LINES_FROM + text as u64, call.function);
        mapped.write(start::SITES + usize::from(index) * site::WORDS + site::TEXT, text as u64);
        self.places.insert(key, index);
        Some(index)
    }
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is valid.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}
