//! [`AsTensor`]: what the typed operators read.

use crate::tensor::dtype::Element;
use crate::tensor::owned::Tensor;
use crate::tensor::typed::TensorView;

/// What an operator reads as a tensor of elements of type `T`.
///
/// Vectors, arrays and slices have one axis; those of arrays, such as `[[f32; 2]; 3]`, have two.
/// [`Tensor`]s, [`TensorView`]s and, with the feature
/// `ndarray`, arrays and views of `ndarray` have their own axes. All of them can be passed by value
/// or by reference:
///
/// ```
/// # mod strew { pub use strew_kernel::tensor::*; }
/// use strew::AsTensor;
///
/// fn elements(src: impl AsTensor<f32>) -> usize {
///     src.as_tensor().len()
/// }
///
/// let values = vec![1.0f32, 2.0];
/// assert_eq!(elements(&values), 2);
/// assert_eq!(elements(&values[1..]), 1);
/// assert_eq!(elements(values), 2);
/// assert_eq!(elements([0.5; 3]), 3);
/// assert_eq!([[1, 2], [3, 4], [5, 6]].as_tensor().shape(), [3, 2]);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no tensor of `{T}`",
    note = "vectors, boxed slices, slices and arrays are, also of arrays, and Tensor, TensorView and arrays of ndarray"
)]
pub trait AsTensor<T: Element> {
    /// A view of the elements. Nothing is copied.
    fn as_tensor(&self) -> TensorView<'_, T>;
}

impl<T: Element, A: AsTensor<T> + ?Sized> AsTensor<T> for &A {
    #[inline(always)] // A view is large: it is made where it stays.
    fn as_tensor(&self) -> TensorView<'_, T> {
        (**self).as_tensor()
    }
}

impl<T: Element, A: AsTensor<T> + ?Sized> AsTensor<T> for Box<A> {
    #[inline(always)] // As above.
    fn as_tensor(&self) -> TensorView<'_, T> {
        (**self).as_tensor()
    }
}

impl<T: Element> AsTensor<T> for [T] {
    #[inline(always)] // As above.
    fn as_tensor(&self) -> TensorView<'_, T> {
        self.into()
    }
}

impl<T: Element, const N: usize> AsTensor<T> for [T; N] {
    #[inline(always)] // As above.
    fn as_tensor(&self) -> TensorView<'_, T> {
        self.into()
    }
}

impl<T: Element> AsTensor<T> for Vec<T> {
    #[inline(always)] // As above.
    fn as_tensor(&self) -> TensorView<'_, T> {
        self.into()
    }
}

impl<T: Element, const M: usize> AsTensor<T> for [[T; M]] {
    fn as_tensor(&self) -> TensorView<'_, T> {
        self.into()
    }
}

impl<T: Element, const M: usize, const N: usize> AsTensor<T> for [[T; M]; N] {
    fn as_tensor(&self) -> TensorView<'_, T> {
        self.into()
    }
}

impl<T: Element, const M: usize> AsTensor<T> for Vec<[T; M]> {
    fn as_tensor(&self) -> TensorView<'_, T> {
        self.into()
    }
}

impl<T: Element> AsTensor<T> for Tensor<T> {
    #[inline(always)] // As above.
    fn as_tensor(&self) -> TensorView<'_, T> {
        self.view()
    }
}

impl<T: Element> AsTensor<T> for TensorView<'_, T> {
    #[inline(always)] // As above.
    fn as_tensor(&self) -> TensorView<'_, T> {
        self.clone()
    }
}
