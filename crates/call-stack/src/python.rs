//! The line of Python that a thread executes, in a process with an interpreter.

use std::ffi::{CStr, c_char, c_int, c_long, c_void};
use std::mem::transmute;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

type Object = *mut c_void;

/// Time after which a line counts as unknown: another thread keeps the interpreter's lock.
const LIMIT: Duration = Duration::from_millis(300);

/// Returns the function and the line of Python that has called into the calling thread's native code, as `function,
/// file.py:3`. `None` without an interpreter, or if another thread keeps its lock.
///
/// A thread of its own takes the interpreter's lock: who keeps that may wait for a lock that the caller has.
pub fn python_line() -> Option<String> {
    let interpreter = Interpreter::find()?;
    // SAFETY: no arguments. The interpreter numbers its threads by the same function.
    let caller = unsafe { libc::pthread_self() } as c_long;
    let (sender, line) = channel();
    let read = move || {
        // SAFETY: this thread has just begun, and has no lock.
        let _ = sender.send(unsafe { interpreter.line_of(caller) });
    };
    thread::Builder::new().spawn(read).ok()?;
    line.recv_timeout(LIMIT).ok().flatten()
}

/// Functions of the interpreter's stable interface.
#[derive(Clone, Copy)]
struct Interpreter {
    ensure: unsafe extern "C" fn() -> c_int,
    release: unsafe extern "C" fn(c_int),
    /// An object of the module `sys`, borrowed.
    of_sys: unsafe extern "C" fn(*const c_char) -> Object,
    call: unsafe extern "C" fn(Object, Object) -> Object,
    number: unsafe extern "C" fn(c_long) -> Object,
    item: unsafe extern "C" fn(Object, Object) -> Object,
    attribute: unsafe extern "C" fn(Object, *const c_char) -> Object,
    as_number: unsafe extern "C" fn(Object) -> c_long,
    as_text: unsafe extern "C" fn(Object) -> *const c_char,
    decrease: unsafe extern "C" fn(Object),
    clear_error: unsafe extern "C" fn(),
}

impl Interpreter {
    /// Finds the interpreter of this process, if there is one and it runs.
    #[allow(clippy::missing_transmute_annotations, reason = "the fields say the types")]
    fn find() -> Option<Self> {
        // SAFETY: each name is of a function of the interpreter's stable interface, which has the type of the field.
        unsafe {
            let is_initialized: unsafe extern "C" fn() -> c_int =
                transmute::<*mut c_void, _>(symbol(c"Py_IsInitialized")?);
            if is_initialized() == 0 {
                return None;
            }
            Some(Interpreter {
                ensure: transmute::<*mut c_void, _>(symbol(c"PyGILState_Ensure")?),
                release: transmute::<*mut c_void, _>(symbol(c"PyGILState_Release")?),
                of_sys: transmute::<*mut c_void, _>(symbol(c"PySys_GetObject")?),
                call: transmute::<*mut c_void, _>(symbol(c"PyObject_CallObject")?),
                number: transmute::<*mut c_void, _>(symbol(c"PyLong_FromLong")?),
                item: transmute::<*mut c_void, _>(symbol(c"PyObject_GetItem")?),
                attribute: transmute::<*mut c_void, _>(symbol(c"PyObject_GetAttrString")?),
                as_number: transmute::<*mut c_void, _>(symbol(c"PyLong_AsLong")?),
                as_text: transmute::<*mut c_void, _>(symbol(c"PyUnicode_AsUTF8")?),
                decrease: transmute::<*mut c_void, _>(symbol(c"Py_DecRef")?),
                clear_error: transmute::<*mut c_void, _>(symbol(c"PyErr_Clear")?),
            })
        }
    }

    /// Returns the line that a thread executes.
    ///
    /// # Safety
    /// The calling thread has not got the interpreter's lock.
    unsafe fn line_of(&self, thread: c_long) -> Option<String> {
        // SAFETY: the interpreter's lock is held while its objects are used; each object that is not borrowed is released.
        unsafe {
            let lock = (self.ensure)();
            let frame = self.frame_of(thread);
            let line = (!frame.is_null()).then(|| self.line_of_frame(frame));
            (self.clear_error)();
            (self.release)(lock);
            line
        }
    }

    /// Returns the frame of a thread, or a null pointer.
    unsafe fn frame_of(&self, thread: c_long) -> Object {
        // SAFETY: as of `line_of`.
        unsafe {
            let frames = (self.of_sys)(c"_current_frames".as_ptr());
            if frames.is_null() {
                return frames;
            }
            let (frames, number) =
                ((self.call)(frames, std::ptr::null_mut()), (self.number)(thread));
            let is_there = !frames.is_null() && !number.is_null();
            let frame = if is_there { (self.item)(frames, number) } else { std::ptr::null_mut() };
            for object in [frames, number] {
                self.release_object(object);
            }
            frame
        }
    }

    /// Returns the words for a frame, and releases it.
    unsafe fn line_of_frame(&self, frame: Object) -> String {
        // SAFETY: as of `line_of`.
        unsafe {
            let code = (self.attribute)(frame, c"f_code".as_ptr());
            let (function, file) = match code.is_null() {
                true => ("?".into(), "?".into()),
                false => (self.word(code, c"co_name"), self.word(code, c"co_filename")),
            };
            let number = (self.attribute)(frame, c"f_lineno".as_ptr());
            let line = if number.is_null() { 0 } else { (self.as_number)(number) };
            for object in [code, number, frame] {
                self.release_object(object);
            }
            let file = file.rsplit('/').next().unwrap_or(&file).to_owned();
            format!("{function}, {file}:{line}")
        }
    }

    unsafe fn word(&self, of: Object, name: &CStr) -> String {
        // SAFETY: as of `line_of`; the text lives as long as its object.
        unsafe {
            let object = (self.attribute)(of, name.as_ptr());
            let text = if object.is_null() { std::ptr::null() } else { (self.as_text)(object) };
            let word = match text.is_null() {
                true => String::from("?"),
                false => CStr::from_ptr(text).to_string_lossy().into_owned(),
            };
            self.release_object(object);
            word
        }
    }

    unsafe fn release_object(&self, object: Object) {
        if !object.is_null() {
            // SAFETY: as of `line_of`.
            unsafe { (self.decrease)(object) };
        }
    }
}

fn symbol(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name is valid.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_an_interpreter_has_no_line() {
        assert_eq!(python_line(), None);
    }
}
