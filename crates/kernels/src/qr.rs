//! QR factorisation of complex single-precision matrices by Householder reflections, as the HPEC Challenge requires it:
//! with the whole unitary factor.
//!
//! A matrix is stored by columns, real and imaginary parts separately, so that a reflection is two passes over vectors.
//! Reflections are applied to four columns at once: each vector of the reflection is then read once for four
//! multiplications.

use num_complex::Complex32;

use crate::dispatch::dispatched;
use crate::error::{Error, Result, check_instructions, check_length};
use crate::instructions::Instructions;
use crate::lanes::{Lanes, Vector};

/// Returns the nominal operations of factoring m x n, with Q of m x m: 16 m (m n - n^2 / 2) for Q and 16 (m n^2 / 2 -
/// n^3 / 6) for R, which are those of n reflections with 8 operations for each complex multiply-add.
pub fn operations(rows: usize, columns: usize) -> f64 {
    let (m, n) = (rows as f64, columns as f64);
    16.0 * m * (m * n - n * n / 2.0) + triangle_operations(rows, columns)
}

/// Returns the nominal operations of R alone.
pub fn triangle_operations(rows: usize, columns: usize) -> f64 {
    let (m, n) = (rows as f64, columns as f64);
    16.0 * (m * n * n / 2.0 - n * n * n / 6.0)
}

/// Maximum number of lanes of a vector: columns begin, and end, at multiples of it.
const LANES_MAX: usize = 16;
/// Number of columns to which a reflection is applied together.
const TOGETHER: usize = 4;

/// A factorisation of matrices of one shape, with its memory.
pub struct Qr {
    rows: usize,
    columns: usize,
    /// Number of elements from column to column.
    pitch: usize,
    /// The matrix, which becomes R.
    matrix: Parts,
    /// The vector of each reflection: zero above its own row.
    vectors: Parts,
    scales: Vec<f32>,
    room: Parts,
    instructions: Instructions,
}

/// Real and imaginary parts of numbers.
#[derive(Default)]
struct Parts {
    re: Vec<f32>,
    im: Vec<f32>,
}

impl Parts {
    fn zeros(count: usize) -> Self {
        Parts { re: vec![0.0; count], im: vec![0.0; count] }
    }

    fn at(&self, index: usize) -> Complex32 {
        Complex32::new(self.re[index], self.im[index])
    }

    fn set(&mut self, index: usize, value: Complex32) {
        (self.re[index], self.im[index]) = (value.re, value.im);
    }
}

impl Qr {
    /// Creates a factorisation of matrices of `rows` rows and no more columns.
    ///
    /// # Errors
    /// [`Error::WideMatrix`].
    pub fn new(rows: usize, columns: usize) -> Result<Self> {
        Self::with_instructions(rows, columns, Instructions::best())
    }

    /// As [`new`](Self::new), with vector instructions of the caller's choice.
    ///
    /// # Errors
    /// Also [`Error::NoInstructions`].
    pub fn with_instructions(
        rows: usize,
        columns: usize,
        instructions: Instructions,
    ) -> Result<Self> {
        if columns == 0 || rows < columns {
            return Err(Error::WideMatrix { rows, columns });
        }
        let instructions = check_instructions(instructions)?;
        let pitch = rows.next_multiple_of(LANES_MAX);
        let [matrix, vectors] = [0, 1].map(|_| Parts::zeros(columns * pitch));
        let room = Parts::zeros(TOGETHER * pitch);
        let scales = vec![0.0; columns];
        Ok(Qr { rows, columns, pitch, matrix, vectors, scales, room, instructions })
    }

    /// Factors `matrix`, given row by row.
    ///
    /// # Errors
    /// [`Error::WrongLength`].
    pub fn factor(&mut self, matrix: &[Complex32]) -> Result<()> {
        check_length("the matrix", self.rows * self.columns, matrix.len())?;
        for (row, points) in matrix.chunks_exact(self.columns).enumerate() {
            for (column, point) in points.iter().enumerate() {
                self.matrix.set(column * self.pitch + row, *point);
            }
        }
        for column in 0..self.columns {
            self.make_reflection(column);
            let (from, to) = ((column + 1) * self.pitch, self.columns * self.pitch);
            let rest = (&mut self.matrix.re[from..to], &mut self.matrix.im[from..to]);
            reflect_all(
                self.instructions,
                &self.vectors,
                self.scales[column],
                column,
                self.pitch,
                rest,
            );
        }
        Ok(())
    }

    /// Computes the reflection that maps column `k`, from row `k` on, to its first axis, and applies it to that column.
    fn make_reflection(&mut self, k: usize) {
        let column = k * self.pitch;
        let own = column + k..column + self.rows;
        let norm_sqr: f32 = own.clone().map(|at| self.matrix.at(at).norm_sqr()).sum();
        let (norm, first) = (norm_sqr.sqrt(), self.matrix.at(column + k));
        let size = first.norm();
        let phase = if size > 0.0 { first / size } else { Complex32::new(1.0, 0.0) };
        self.vectors.re[column..column + k].fill(0.0);
        self.vectors.im[column..column + k].fill(0.0);
        for at in own.clone() {
            let value = self.matrix.at(at);
            self.vectors.set(at, value);
            self.matrix.set(at, Complex32::default());
        }
        self.vectors.set(column + k, first + phase * norm);
        self.matrix.set(column + k, -phase * norm);
        // 2 / |v|^2, with |v|^2 = 2 (norm^2 + norm |first|).
        let half = norm_sqr + norm * size;
        self.scales[k] = if half > 0.0 { 1.0 / half } else { 0.0 };
    }

    /// Returns an element of the triangular factor, which has as many rows as columns; zero below the diagonal.
    pub fn triangle(&self, row: usize, column: usize) -> Complex32 {
        if row > column { Complex32::default() } else { self.matrix.at(column * self.pitch + row) }
    }

    /// Computes the unitary factor, `rows` x `rows`, by columns.
    ///
    /// # Errors
    /// [`Error::WrongLength`].
    pub fn unitary(&mut self, unitary: &mut [Complex32]) -> Result<()> {
        check_length("the unitary factor", self.rows * self.rows, unitary.len())?;
        for first in (0..self.rows).step_by(TOGETHER) {
            let count = TOGETHER.min(self.rows - first);
            let room = count * self.pitch;
            self.room.re[..room].fill(0.0);
            self.room.im[..room].fill(0.0);
            for column in 0..count {
                self.room.re[column * self.pitch + first + column] = 1.0;
            }
            // A reflection that begins below the ones of these columns does not change them.
            for k in (0..self.columns.min(first + count)).rev() {
                let columns = (&mut self.room.re[..room], &mut self.room.im[..room]);
                reflect_all(
                    self.instructions,
                    &self.vectors,
                    self.scales[k],
                    k,
                    self.pitch,
                    columns,
                );
            }
            for column in 0..count {
                let to = &mut unitary[(first + column) * self.rows..][..self.rows];
                let from = column * self.pitch;
                to.iter_mut().enumerate().for_each(|(row, x)| *x = self.room.at(from + row));
            }
        }
        Ok(())
    }

    /// Solves R^H R x = `right` in place: the normal equations of the factored matrix. If a diagonal element is zero,
    /// because columns depend on each other, its unknown becomes zero.
    ///
    /// # Errors
    /// [`Error::WrongLength`].
    pub fn solve_normal(&self, right: &mut [Complex32]) -> Result<()> {
        check_length("the right side", self.columns, right.len())?;
        let over = |value: Complex32, pivot: Complex32| match pivot.norm_sqr() > 0.0 {
            true => value / pivot,
            false => Complex32::default(),
        };
        for row in 0..self.columns {
            let solved: Complex32 =
                (0..row).map(|at| self.triangle(at, row).conj() * right[at]).sum();
            right[row] = over(right[row] - solved, self.triangle(row, row).conj());
        }
        for row in (0..self.columns).rev() {
            let solved: Complex32 =
                (row + 1..self.columns).map(|at| self.triangle(row, at) * right[at]).sum();
            right[row] = over(right[row] - solved, self.triangle(row, row));
        }
        Ok(())
    }
}

/// Applies reflection `k` to columns of `pitch` numbers.
fn reflect_all(
    instructions: Instructions,
    vectors: &Parts,
    scale: f32,
    k: usize,
    pitch: usize,
    columns: (&mut [f32], &mut [f32]),
) {
    let own = k * pitch..(k + 1) * pitch;
    let from = k - k % LANES_MAX;
    let vector = (&vectors.re[own.clone()][from..], &vectors.im[own][from..]);
    let (re, im) = columns;
    let many = TOGETHER * pitch;
    for (re, im) in re.chunks_mut(many).zip(im.chunks_mut(many)) {
        let reflection = Reflection { vector, scale, from, pitch };
        // SAFETY: the instructions were checked when the factorisation was created. The vector has a whole number of
        // vectors of lanes, and so has each column from `from` on.
        unsafe {
            match re.len() == many {
                true => four(instructions, &reflection, re, im),
                false => {
                    let each = re.chunks_exact_mut(pitch).zip(im.chunks_exact_mut(pitch));
                    each.for_each(|(re, im)| one(instructions, &reflection, re, im));
                }
            }
        }
    }
}

/// A reflection: x becomes x - scale v (v^H x).
struct Reflection<'a> {
    /// Real and imaginary parts of v, from row `from` on, above which it is zero.
    vector: (&'a [f32], &'a [f32]),
    scale: f32,
    from: usize,
    pitch: usize,
}

dispatched! {
    /// Applies the reflection to four columns.
    unsafe fn four(reflection: &Reflection<'_>, re: &mut [f32], im: &mut [f32]) = reflect_four
}

dispatched! {
    /// Applies the reflection to one column.
    unsafe fn one(reflection: &Reflection<'_>, re: &mut [f32], im: &mut [f32]) = reflect_one
}

/// Applies the reflection to four columns.
///
/// # Safety
/// As for [`reflect`], with four columns.
#[inline(always)]
unsafe fn reflect_four<V: Lanes + Vector<Element = f32>>(
    reflection: &Reflection<'_>,
    re: &mut [f32],
    im: &mut [f32],
) {
    // SAFETY: the caller's guarantee.
    unsafe { reflect::<V, TOGETHER>(reflection, re, im) }
}

/// Applies the reflection to one column.
///
/// # Safety
/// As for [`reflect`], with one column.
#[inline(always)]
unsafe fn reflect_one<V: Lanes + Vector<Element = f32>>(
    reflection: &Reflection<'_>,
    re: &mut [f32],
    im: &mut [f32],
) {
    // SAFETY: the caller's guarantee.
    unsafe { reflect::<V, 1>(reflection, re, im) }
}

/// Applies the reflection to `COUNT` columns.
///
/// # Safety
/// The processor has the instructions; `re` and `im` are COUNT columns of `pitch` numbers; the vector extends from
/// `from` to `pitch`, both multiples of the lanes.
#[inline(always)]
unsafe fn reflect<V: Lanes + Vector<Element = f32>, const COUNT: usize>(
    reflection: &Reflection<'_>,
    re: &mut [f32],
    im: &mut [f32],
) {
    let Reflection { vector: (v_re, v_im), scale, from, pitch } = *reflection;
    debug_assert!(re.len() >= COUNT * pitch && im.len() >= COUNT * pitch);
    debug_assert!(v_re.len() == pitch - from && v_im.len() == pitch - from);
    // SAFETY: all places are within the vector and the columns, as the caller guarantees.
    unsafe {
        let zero = V::splat(0.0);
        let (mut dots_re, mut dots_im) = ([zero; COUNT], [zero; COUNT]);
        let place = |column: usize, at: usize| column * pitch + from + at;
        for at in (0..v_re.len()).step_by(V::COUNT) {
            let (a, b) = (V::load(v_re.as_ptr().add(at)), V::load(v_im.as_ptr().add(at)));
            for column in 0..COUNT {
                let x = V::load(re.as_ptr().add(place(column, at)));
                let y = V::load(im.as_ptr().add(place(column, at)));
                // The conjugate of a + bi times x + yi.
                dots_re[column] = b.mul_add(y, a.mul_add(x, dots_re[column]));
                dots_im[column] = b.neg_mul_add(x, a.mul_add(y, dots_im[column]));
            }
        }
        let scaled = |dot: V| V::splat(scale * sum(dot));
        let (factors_re, factors_im) = (dots_re.map(scaled), dots_im.map(scaled));
        for at in (0..v_re.len()).step_by(V::COUNT) {
            let (a, b) = (V::load(v_re.as_ptr().add(at)), V::load(v_im.as_ptr().add(at)));
            for column in 0..COUNT {
                let (s, t) = (factors_re[column], factors_im[column]);
                let x = re.as_mut_ptr().add(place(column, at));
                let y = im.as_mut_ptr().add(place(column, at));
                b.mul_add(t, a.neg_mul_add(s, V::load(x))).store(x);
                b.neg_mul_add(s, a.neg_mul_add(t, V::load(y))).store(y);
            }
        }
    }
}

/// Returns the sum of the lanes.
#[inline(always)]
fn sum<V: Lanes + Vector<Element = f32>>(lanes: V) -> f32 {
    let mut room = [0.0; LANES_MAX];
    // SAFETY: a vector has at most as many lanes as there is room for; `lanes` proves the instructions.
    unsafe { lanes.store(room.as_mut_ptr()) };
    room.iter().sum()
}
