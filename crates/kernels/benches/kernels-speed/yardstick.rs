//! The libraries that the kernels are compared with: FFTW and MKL, loaded at run time if they are present.
//!
//! Neither is a dependency of the build. FFTW is loaded by its usual name (Debian's `libfftw3-single3`); MKL by the
//! name in `CORNERSTONE_MKL`, then from the folder of a Python virtual environment (`pip install mkl`), then by its
//! usual name.

use std::ffi::{c_int, c_long, c_uint, c_void};
use std::path::PathBuf;

use libloading::{Library, Symbol};
use num_complex::Complex32;

/// A planned batch of in-place transforms of one length by another library.
pub(crate) trait Transform {
    /// Transforms the batch that it was planned for.
    fn run(&self, data: &mut [Complex32]);
}

/// A library that can plan such batches.
pub(crate) trait Yardstick {
    /// Returns its name.
    fn name(&self) -> &str;
    /// Plans `batch` contiguous in-place transforms of `length` points, over `data`, which it may overwrite.
    fn plan(&self, length: usize, batch: usize, data: &mut [Complex32]) -> Box<dyn Transform + '_>;
}

/// Loads every library that is present. Returns the others with the reason.
pub(crate) fn load_all() -> (Vec<Box<dyn Yardstick>>, Vec<String>) {
    let mut present: Vec<Box<dyn Yardstick>> = Vec::new();
    let mut absent = Vec::new();
    match Fftw::load() {
        Ok(fftw) => present.push(Box::new(fftw)),
        Err(why) => absent.push(format!("FFTW ({why}); install Debian's libfftw3-single3")),
    }
    match Mkl::load() {
        Ok(mkl) => present.push(Box::new(mkl)),
        Err(why) => {
            absent.push(format!("MKL ({why}); pip install mkl into .venv, or set CORNERSTONE_MKL"))
        }
    }
    (present, absent)
}

type FftwPlanMany = unsafe extern "C" fn(
    c_int,
    *const c_int,
    c_int,
    *mut Complex32,
    *const c_int,
    c_int,
    c_int,
    *mut Complex32,
    *const c_int,
    c_int,
    c_int,
    c_int,
    c_uint,
) -> *mut c_void;

struct Fftw {
    library: Library,
}

struct FftwPlan<'a> {
    plan: *mut c_void,
    execute: Symbol<'a, unsafe extern "C" fn(*mut c_void, *mut Complex32, *mut Complex32)>,
    destroy: Symbol<'a, unsafe extern "C" fn(*mut c_void)>,
}

const FFTW_FORWARD: c_int = -1;
const FFTW_MEASURE: c_uint = 0;

impl Fftw {
    fn load() -> Result<Self, libloading::Error> {
        // SAFETY: FFTW's initialisers only set its own tables.
        let library = unsafe { Library::new("libfftw3f.so.3") }?;
        Ok(Fftw { library })
    }
}

impl Yardstick for Fftw {
    fn name(&self) -> &str {
        "FFTW"
    }

    fn plan(&self, length: usize, batch: usize, data: &mut [Complex32]) -> Box<dyn Transform + '_> {
        assert_eq!(data.len(), length * batch);
        let n = length as c_int;
        // SAFETY: the types are those of fftw3.h, and the plan covers exactly `data`, whose length was checked.
        let (plan, execute, destroy) = unsafe {
            let plan_many: Symbol<FftwPlanMany> =
                self.library.get("fftwf_plan_many_dft").expect("a symbol of FFTW");
            let at = data.as_mut_ptr();
            let null = std::ptr::null();
            let plan = plan_many(
                1,
                &n,
                batch as c_int,
                at,
                null,
                1,
                n,
                at,
                null,
                1,
                n,
                FFTW_FORWARD,
                FFTW_MEASURE,
            );
            let execute = self.library.get("fftwf_execute_dft").expect("a symbol of FFTW");
            let destroy = self.library.get("fftwf_destroy_plan").expect("a symbol of FFTW");
            (plan, execute, destroy)
        };
        assert!(!plan.is_null(), "FFTW has no plan for {batch} transforms of {length} points");
        Box::new(FftwPlan { plan, execute, destroy })
    }
}

impl Transform for FftwPlan<'_> {
    fn run(&self, data: &mut [Complex32]) {
        // SAFETY: the caller passes data with the length and alignment that it was planned for.
        unsafe { (self.execute)(self.plan, data.as_mut_ptr(), data.as_mut_ptr()) }
    }
}

impl Drop for FftwPlan<'_> {
    fn drop(&mut self) {
        // SAFETY: the plan belongs to this object and is not used again.
        unsafe { (self.destroy)(self.plan) }
    }
}

type MklCreate = unsafe extern "C" fn(*mut *mut c_void, c_int, c_long) -> c_long;
type MklSet = unsafe extern "C" fn(*mut c_void, c_int, ...) -> c_long;
type MklOne = unsafe extern "C" fn(*mut c_void) -> c_long;
type MklFree = unsafe extern "C" fn(*mut *mut c_void) -> c_long;
type MklCompute = unsafe extern "C" fn(*mut c_void, *mut Complex32, ...) -> c_long;

// Values of mkl_dfti.h.
const DFTI_NUMBER_OF_TRANSFORMS: c_int = 7;
const DFTI_INPUT_DISTANCE: c_int = 14;
const DFTI_OUTPUT_DISTANCE: c_int = 15;
const DFTI_THREAD_LIMIT: c_int = 27;
const DFTI_COMPLEX: c_int = 32;

struct Mkl {
    library: Library,
}

struct MklPlan<'a> {
    descriptor: *mut c_void,
    compute: Symbol<'a, MklCompute>,
    free: Symbol<'a, MklFree>,
}

impl Mkl {
    fn load() -> Result<Self, libloading::Error> {
        // SAFETY: set before any thread is started; MKL reads it when it first computes.
        unsafe { std::env::set_var("MKL_THREADING_LAYER", "SEQUENTIAL") };
        let mut last = None;
        for path in mkl_paths() {
            // SAFETY: MKL's initialisers only set its own tables.
            match unsafe { Library::new(&path) } {
                Ok(library) => return Ok(Mkl { library }),
                Err(why) => last = Some(why),
            }
        }
        Err(last.expect("at least the usual name was tried"))
    }
}

fn mkl_paths() -> Vec<PathBuf> {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut paths: Vec<PathBuf> =
        std::env::var_os("CORNERSTONE_MKL").map(PathBuf::from).into_iter().collect();
    for name in ["libmkl_rt.so.3", "libmkl_rt.so.2"] {
        paths.push(root.join(".venv/lib").join(name));
        paths.push(name.into());
    }
    paths
}

impl Yardstick for Mkl {
    fn name(&self) -> &str {
        "MKL"
    }

    fn plan(&self, length: usize, batch: usize, data: &mut [Complex32]) -> Box<dyn Transform + '_> {
        assert_eq!(data.len(), length * batch);
        let mut descriptor = std::ptr::null_mut();
        // SAFETY: the types are those of mkl_dfti.h; each status is checked.
        unsafe {
            let create: Symbol<MklCreate> =
                self.library.get("DftiCreateDescriptor_s_1d").expect("a symbol of MKL");
            let set: Symbol<MklSet> = self.library.get("DftiSetValue").expect("a symbol of MKL");
            let commit: Symbol<MklOne> =
                self.library.get("DftiCommitDescriptor").expect("a symbol of MKL");
            assert_eq!(create(&mut descriptor, DFTI_COMPLEX, length as c_long), 0);
            assert_eq!(set(descriptor, DFTI_NUMBER_OF_TRANSFORMS, batch as c_long), 0);
            assert_eq!(set(descriptor, DFTI_INPUT_DISTANCE, length as c_long), 0);
            assert_eq!(set(descriptor, DFTI_OUTPUT_DISTANCE, length as c_long), 0);
            assert_eq!(set(descriptor, DFTI_THREAD_LIMIT, 1 as c_long), 0);
            assert_eq!(commit(descriptor), 0);
            Box::new(MklPlan {
                descriptor,
                compute: self.library.get("DftiComputeForward").expect("a symbol of MKL"),
                free: self.library.get("DftiFreeDescriptor").expect("a symbol of MKL"),
            })
        }
    }
}

impl Transform for MklPlan<'_> {
    fn run(&self, data: &mut [Complex32]) {
        // SAFETY: the caller passes data with the planned length.
        unsafe { (self.compute)(self.descriptor, data.as_mut_ptr()) };
    }
}

impl Drop for MklPlan<'_> {
    fn drop(&mut self) {
        // SAFETY: the descriptor belongs to this object and is not used again.
        unsafe { (self.free)(&mut self.descriptor) };
    }
}
