//! Products: how each factor moves its cell's product, and how that changes with the other factors.
//!
//! A cell has the factors f_1, ..., f_n: its updates and, where it counts, what it held before. With P the product of
//! those that are not zero and z the number of those that are, the weight of a factor is the product of
//! the others,
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

use super::field::Field;
use super::route::Route;
use crate::dialect::Reduce;
use crate::error::Problem;
use crate::tensor::Tensor;

/// The factors of all cells.
pub(super) struct Factors<'r, A> {
    route: &'r Route,
    src: Tensor<A>,
    /// What the cells held before, where that is a factor.
    own: Option<Tensor<A>>,
    /// P of each cell.
    product: Tensor<A>,
    /// z of each cell. Only 0, 1, 2 and more are told apart, so that it does not matter where a sum of ones
    /// stops growing.
    zeros: Tensor<A>,
}

impl<'r, A: Field> Factors<'r, A> {
    pub(super) fn new(
        route: &'r Route,
        src: Tensor<A>,
        own: Option<Tensor<A>>,
    ) -> Result<Self, Problem> {
        let filled = |factor: A| if factor.is_zero() { A::ONE } else { factor };
        let counted = |factor: A| if factor.is_zero() { A::ONE } else { A::ZERO };
        let (mut product, mut zeros) = match &own {
            Some(own) => (map(own, filled)?, map(own, counted)?),
            None => {
                let zeros = Tensor::<A>::zeros(route.cells())?;
                (map(&zeros, |_| A::ONE)?, zeros)
            }
        };
        route.join(&map(&src, filled)?, Reduce::Prod, &mut product)?;
        route.join(&map(&src, counted)?, Reduce::Sum, &mut zeros)?;
        Ok(Self {
            route,
            src,
            own,
            product,
            zeros,
        })
    }

    /// The weight of each update; zero for those that go nowhere.
    pub(super) fn weights(&self) -> Result<Tensor<A>, Problem> {
        let mut weights = self.route.gather(&self.product)?;
        let zeros = self.route.gather(&self.zeros)?;
        let factors = self.src.as_slice().iter().zip(zeros.as_slice());
        for (weight, (&factor, &zeros)) in weights.as_mut_slice().iter_mut().zip(factors) {
            *weight = self::weight(*weight, zeros, factor);
        }
        Ok(weights)
    }

    /// The weight of what each cell held before: 1 where no update goes, and nothing where it is no factor.
    pub(super) fn own_weights(&self) -> Result<Option<Tensor<A>>, Problem> {
        let Some(own) = &self.own else {
            return Ok(None);
        };
        let mut weights = map(own, |factor| factor)?;
        let cells = self.product.as_slice().iter().zip(self.zeros.as_slice());
        for (weight, (&product, &zeros)) in weights.as_mut_slice().iter_mut().zip(cells) {
            *weight = self::weight(product, zeros, *weight);
        }
        // A NaN by itself is no 1 when it is divided by itself.
        self.route.keep_untouched(&mut weights, |_| A::ONE)?;
        Ok(Some(weights))
    }

    /// How the weights change in a direction: those of the updates, and those of what the cells held before.
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

        let turned_own = match own {
            Some((factors, t)) => {
                let mut turned = zip(t, factors, |t, _| t)?;
                for (at, turned) in turned.as_mut_slice().iter_mut().enumerate() {
                    let cell = Cell {
                        product: self.product.as_slice()[at],
                        zeros: self.zeros.as_slice()[at],
                        quotients: quotients.as_slice()[at],
                        tangents: tangents.as_slice()[at],
                    };
                    *turned = cell.turn(factors.as_slice()[at], *turned);
                }
                self.route.keep_untouched(&mut turned, |_| A::ZERO)?;
                Some(turned)
            }
            None => None,
        };
        let product = self.route.gather(&self.product)?;
        let zeros = self.route.gather(&self.zeros)?;
        let quotients = self.route.gather(&quotients)?;
        let tangents = self.route.gather(&tangents)?;
        let mut turned = zip(src, &self.src, |t, _| t)?;
        for (at, turned) in turned.as_mut_slice().iter_mut().enumerate() {
            let cell = Cell {
                product: product.as_slice()[at],
                zeros: zeros.as_slice()[at],
                quotients: quotients.as_slice()[at],
                tangents: tangents.as_slice()[at],
            };
            *turned = cell.turn(self.src.as_slice()[at], *turned);
        }
        Ok((turned, turned_own))
    }
}

/// The weight of a factor, given P and z of its cell.
fn weight<A: Field>(product: A, zeros: A, factor: A) -> A {
    if zeros.is_zero() {
        product / factor
    } else if zeros == A::ONE && factor.is_zero() {
        product
    } else {
        A::ZERO
    }
}

/// P, z, S and T of a cell.
struct Cell<A> {
    product: A,
    zeros: A,
    quotients: A,
    tangents: A,
}

impl<A: Field> Cell<A> {
    /// How the weight of a factor changes in a direction, in which the factor itself goes by `t`.
    fn turn(&self, factor: A, t: A) -> A {
        let zeros = self.zeros;
        if factor.is_zero() {
            if zeros == A::ONE {
                self.product * self.quotients
            } else if zeros == A::TWO {
                self.product * (self.tangents - t)
            } else {
                A::ZERO
            }
        } else if zeros.is_zero() {
            (self.product / factor) * (self.quotients - t / factor)
        } else if zeros == A::ONE {
            (self.product / factor) * self.tangents
        } else {
            A::ZERO
        }
    }
}

/// A tensor made element by element of another.
pub(super) fn map<A: Field>(of: &Tensor<A>, each: impl Fn(A) -> A) -> Result<Tensor<A>, Problem> {
    let mut made = Tensor::zeros(of.shape())?;
    for (made, &of) in made.as_mut_slice().iter_mut().zip(of.as_slice()) {
        *made = each(of);
    }
    Ok(made)
}

/// A tensor made element by element of two.
pub(super) fn zip<A: Field>(
    left: &Tensor<A>,
    right: &Tensor<A>,
    each: impl Fn(A, A) -> A,
) -> Result<Tensor<A>, Problem> {
    let mut made = Tensor::zeros(left.shape())?;
    let pairs = left.as_slice().iter().zip(right.as_slice());
    for (made, (&left, &right)) in made.as_mut_slice().iter_mut().zip(pairs) {
        *made = each(left, right);
    }
    Ok(made)
}
