//! Products: how each factor moves its cell's product, and how that changes with the other factors.
//!
//! A cell has the factors f_1, ..., f_n: its updates and, where it counts, what it held before.
//! With P the product of those that are not zero and z the number of those that are, the weight of
//! a factor is the product of the others,
//!
//! ```text
//! w_i = P / f_i   if z = 0,          P   if z = 1 and f_i is the zero,          0   otherwise
//! ```
//!
//! and its derivative in a direction t, with S the sum of t_j / f_j over the factors that are not
//! zero and T the sum of t_j over those that are,
//!
//! ```text
//! f_i not zero:   (P / f_i) (S - t_i / f_i)   if z = 0,     (P / f_i) T     if z = 1,     0   otherwise
//! f_i zero:        P S                        if z = 1,      P (T - t_i)    if z = 2,     0   otherwise
//! ```

use crate::grad::field::{Elements, Field, Graded, elements};
use crate::grad::passes::{any_element, each_cell, each_element, each_into, each_update};
use crate::grad::route::Route;
use std::sync::atomic::{AtomicBool, Ordering};
use strew_engine::plan::reduce::Reduce;
use strew_kernel::cpu::vectorized::ask_for;
use strew_kernel::error::Problem;
use strew_kernel::tensor::{DynView, Tensor};

/// P and z of all cells.
pub(super) struct Products<'p, A> {
    product: Elements<'p, A>,
    /// No cell has a zero if there are none.
    zeros: Option<Tensor<u8>>,
}

impl<'p, A: Field> Products<'p, A> {
    /// Those that the forward computation has left, if it has: where it ends with a number that is
    /// neither zero nor NaN, no factor is zero, and it is the product of all. `T` is the result's
    /// type.
    pub(super) fn known<T: Graded<Wide = A>>(
        result: Option<&DynView<'p>>,
    ) -> Result<Option<Self>, Problem> {
        let Some(result) = result.filter(|_| T::DTYPE == A::DTYPE) else {
            return Ok(None);
        };
        let product: Elements<'p, A> = elements(result)?;
        let uncertain = any_element(&product, |p| p.is_zero() | p.nan())?;
        let zeros = None;
        Ok((!uncertain).then_some(Self { product, zeros }))
    }

    /// Of these updates, and of what the cells held before, where that is a factor.
    pub(super) fn new<T: Graded<Wide = A>, S: Graded<Wide = A>>(
        route: &Route,
        src: &[S],
        own: Option<&[T]>,
    ) -> Result<Self, Problem> {
        let mut product: Tensor<A> = each_element(
            route.cells(),
            #[inline(always)]
            |first, to: &mut [A]| match own {
                Some(own) => {
                    for (to, own) in to.iter_mut().zip(&own[first..]) {
                        *to = filled(own.widen());
                    }
                }
                None => to.fill(A::ONE),
            },
        )?;
        let any = own.map(|own| any_element(own, |factor| factor.widen().is_zero()));
        let any = AtomicBool::new(any.transpose()?.unwrap_or(false));
        let width = route.width();
        each_into(
            route,
            &mut product,
            #[inline(always)]
            |at| ask_for(&src[at.update..at.update + width]),
            #[inline(always)]
            |product, at| {
                let mut found = false;
                for (product, factor) in product.iter_mut().zip(&src[at.update..]) {
                    let factor = factor.widen();
                    found |= factor.is_zero();
                    *product = *product * filled(factor);
                }
                if found {
                    any.store(true, Ordering::Relaxed);
                }
            },
        )?;
        let zeros = match any.into_inner() {
            true => Some(zeros(route, src, own)?),
            false => None,
        };
        let product = Elements::Copy(product);
        Ok(Self { product, zeros })
    }

    /// What factors weigh by them.
    pub(super) fn weights(&self) -> Weights<'_, A> {
        Weights {
            product: &self.product,
            zeros: self.zeros.as_ref().map(Tensor::as_slice),
        }
    }
}

/// The weights of factors, by the products of their cells.
#[derive(Clone, Copy)]
pub(super) struct Weights<'p, A> {
    product: &'p [A],
    zeros: Option<&'p [u8]>,
}

impl<A: Field> Weights<'_, A> {
    /// Asks for a row of cells.
    #[inline(always)]
    pub(super) fn ask(self, cell: usize, width: usize) {
        ask_for(&self.product[cell..cell + width]);
        if let Some(zeros) = self.zeros {
            ask_for(&zeros[cell..cell + width]);
        }
    }

    /// The gradients of factors: those of their cells, which begin at `cell`, times their weights'
    /// conjugates.
    #[inline(always)]
    pub(super) fn times<T: Graded<Wide = A>, S: Graded<Wide = A>>(
        self,
        to: &mut [S],
        grads: &[T],
        factors: &[S],
        cell: usize,
    ) {
        let product = &self.product[cell..];
        let each = to.iter_mut().zip(grads).zip(factors.iter().zip(product));
        match self.zeros {
            None => {
                for ((to, grad), (factor, &product)) in each {
                    let weight = product / factor.widen();
                    *to = S::narrow(grad.widen() * weight.conj());
                }
            }
            Some(zeros) => {
                for (((to, grad), (factor, &product)), &zeros) in each.zip(&zeros[cell..]) {
                    let weight = weight(product, zeros, factor.widen());
                    *to = S::narrow(grad.widen() * weight.conj());
                }
            }
        }
    }

    /// Those of factors whose cells begin at `cell`.
    #[inline(always)]
    fn of(self, to: &mut [A], factors: &[A], cell: usize) {
        for (k, (to, &factor)) in to.iter_mut().zip(factors).enumerate() {
            *to = weight(self.product[cell + k], self.zeros(cell + k), factor);
        }
    }

    #[inline(always)]
    fn zeros(self, cell: usize) -> u8 {
        self.zeros.map_or(0, |zeros| zeros[cell])
    }
}

/// z of all cells. Only 0, 1, 2 and more are told apart.
fn zeros<T: Graded, S: Graded>(
    route: &Route,
    src: &[S],
    own: Option<&[T]>,
) -> Result<Tensor<u8>, Problem> {
    let mut zeros: Tensor<u8> = match own {
        Some(own) => each_element(
            route.cells(),
            #[inline(always)]
            |first, to: &mut [u8]| {
                to.fill(0);
                count_zeros(to, &own[first..]);
            },
        )?,
        None => Tensor::zeros(route.cells())?,
    };
    each_into(
        route,
        &mut zeros,
        #[inline(always)]
        |at| ask_for(&src[at.update..at.update + route.width()]),
        #[inline(always)]
        |zeros, at| count_zeros(zeros, &src[at.update..]),
    )?;
    Ok(zeros)
}

#[inline(always)]
fn count_zeros<T: Graded>(zeros: &mut [u8], factors: &[T]) {
    for (zeros, factor) in zeros.iter_mut().zip(factors) {
        *zeros = zeros.saturating_add(u8::from(factor.widen().is_zero()));
    }
}

/// The factor, or 1 in place of a zero.
#[inline(always)]
fn filled<A: Field>(factor: A) -> A {
    if factor.is_zero() { A::ONE } else { factor }
}

/// The factors of all cells.
pub(super) struct Factors<'r, A> {
    route: &'r Route,
    src: Tensor<A>,
    /// What the cells held before, where that is a factor.
    own: Option<Tensor<A>>,
    products: Products<'r, A>,
}

impl<'r, A: Field> Factors<'r, A> {
    pub(super) fn new(
        route: &'r Route,
        src: Tensor<A>,
        own: Option<Tensor<A>>,
    ) -> Result<Self, Problem> {
        let before = own.as_ref().map(Tensor::as_slice);
        let products = Products::new::<A, A>(route, src.as_slice(), before)?;
        Ok(Self {
            route,
            src,
            own,
            products,
        })
    }

    /// The weight of each update; zero for those that go nowhere.
    pub(super) fn weights(&self) -> Result<Tensor<A>, Problem> {
        let (factors, width) = (self.src.as_slice(), self.route.width());
        let weights = self.products.weights();
        each_update(
            self.route,
            #[inline(always)]
            |cell| weights.ask(cell, width),
            #[inline(always)]
            |at, to: &mut [A]| weights.of(to, &factors[at.update..], at.cell),
        )
    }

    /// The weight of what each cell held before: 1 where no update goes, and nothing where it is no
    /// factor.
    pub(super) fn own_weights(&self) -> Result<Option<Tensor<A>>, Problem> {
        let Some(own) = &self.own else {
            return Ok(None);
        };
        let touched = self.route.touched()?;
        let (own, weights) = (own.as_slice(), self.products.weights());
        let made = each_cell(
            self.route,
            #[inline(always)]
            |at, to: &mut [A]| {
                // A NaN by itself is no 1 when it is divided by itself.
                match touched[at.row] {
                    true => weights.of(to, &own[at.cell..], at.cell),
                    false => to.fill(A::ONE),
                }
            },
        );
        made.map(Some)
    }

    /// How the weights change in a direction: those of the updates, and those of what the cells
    /// held before.
    pub(super) fn turned(
        &self,
        src: &Tensor<A>,
        own: Option<&Tensor<A>>,
    ) -> Result<(Tensor<A>, Option<Tensor<A>>), Problem> {
        let quotient = |t: A, factor: A| {
            if factor.is_zero() {
                A::ZERO
            } else {
                t / factor
            }
        };
        let at_zero = |t: A, factor: A| if factor.is_zero() { t } else { A::ZERO };
        let own = self.own.as_ref().zip(own);
        let (mut quotients, mut tangents) = match own {
            Some((factors, t)) => (zip(t, factors, quotient)?, zip(t, factors, at_zero)?),
            None => {
                let cells = self.route.cells();
                (Tensor::zeros(cells)?, Tensor::zeros(cells)?)
            }
        };
        let each = zip(src, &self.src, quotient)?;
        self.route.join(&each, Reduce::Sum, &mut quotients)?;
        let each = zip(src, &self.src, at_zero)?;
        self.route.join(&each, Reduce::Sum, &mut tangents)?;
        drop(each);
        let (weights, width) = (self.products.weights(), self.route.width());
        let (quotients, tangents) = (quotients.as_slice(), tangents.as_slice());
        let cell = |at: usize| Cell {
            product: weights.product[at],
            zeros: weights.zeros(at),
            quotients: quotients[at],
            tangents: tangents[at],
        };
        let turned_own = match own {
            Some((factors, t)) => {
                let mut turned = each_element(t.shape(), |first, to: &mut [A]| {
                    let (factors, t) = (&factors.as_slice()[first..], &t.as_slice()[first..]);
                    for (k, to) in to.iter_mut().enumerate() {
                        *to = cell(first + k).turn(factors[k], t[k]);
                    }
                })?;
                self.route.keep_untouched(&mut turned, |_| A::ZERO)?;
                Some(turned)
            }
            None => None,
        };
        let (factors, t) = (self.src.as_slice(), src.as_slice());
        let turned = each_update(
            self.route,
            |cell| weights.ask(cell, width),
            |at, to: &mut [A]| {
                let (factors, t) = (&factors[at.update..], &t[at.update..]);
                for (k, to) in to.iter_mut().enumerate() {
                    *to = cell(at.cell + k).turn(factors[k], t[k]);
                }
            },
        )?;
        Ok((turned, turned_own))
    }
}

/// The weight of a factor, given P and z of its cell.
#[inline(always)]
fn weight<A: Field>(product: A, zeros: u8, factor: A) -> A {
    // Both are computed, and one is chosen: that vectorises.
    let alone = (zeros == 1) & factor.is_zero();
    let with_zeros = if alone { product } else { A::ZERO };
    let without = product / factor;
    if zeros == 0 { without } else { with_zeros }
}

/// P, z, S and T of a cell.
struct Cell<A> {
    product: A,
    zeros: u8,
    quotients: A,
    tangents: A,
}

impl<A: Field> Cell<A> {
    /// How the weight of a factor changes in a direction, in which the factor itself goes by `t`.
    fn turn(&self, factor: A, t: A) -> A {
        match (self.zeros, factor.is_zero()) {
            (1, true) => self.product * self.quotients,
            (2, true) => self.product * (self.tangents - t),
            (0, false) => (self.product / factor) * (self.quotients - t / factor),
            (1, false) => (self.product / factor) * self.tangents,
            _ => A::ZERO,
        }
    }
}

/// A tensor made element by element of another.
pub(super) fn map<A: Field>(
    of: &Tensor<A>,
    each: impl Fn(A) -> A + Sync,
) -> Result<Tensor<A>, Problem> {
    each_element(of.shape(), |first, to: &mut [A]| {
        for (to, &of) in to.iter_mut().zip(&of.as_slice()[first..]) {
            *to = each(of);
        }
    })
}

/// A tensor made element by element of two.
pub(super) fn zip<A: Field>(
    left: &Tensor<A>,
    right: &Tensor<A>,
    each: impl Fn(A, A) -> A + Sync,
) -> Result<Tensor<A>, Problem> {
    each_element(left.shape(), |first, to: &mut [A]| {
        let pairs = left.as_slice()[first..]
            .iter()
            .zip(&right.as_slice()[first..]);
        for (to, (&left, &right)) in to.iter_mut().zip(pairs) {
            *to = each(left, right);
        }
    })
}
