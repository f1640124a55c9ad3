//! What the operators of this dialect have in common on the outside: a typed and an erased function,
//! each into a new tensor and in place, and an entry in the table of operators for both.

use crate::dialect::framework::operator::{Argument, Kind};

/// The type of an argument of a typed function.
macro_rules! typed {
    (tensor $of:ident) => { impl Into<strew_kernel::tensor::TensorView<'a, $of>> };
    (word $of:ident) => { $of };
    (joins $of:ident) => { Option<$of> };
    (scalar $of:ident) => { impl Into<$of> };
    (plain $of:ident) => { $of };
    (tensors $of:ident) => { &[Option<strew_kernel::tensor::DynView<'a>>] };
    (option $of:ident) => { Option<$of> };
}

/// The type of an argument of an erased function.
macro_rules! erased {
    (tensor $of:ident) => { strew_kernel::tensor::DynView<'a> };
    (word $of:ident) => { &str };
    (joins $of:ident) => { Option<&str> };
    (scalar $of:ident) => { $of };
    (plain $of:ident) => { $of };
    (tensors $of:ident) => { &[Option<strew_kernel::tensor::DynView<'a>>] };
    (option $of:ident) => { Option<$of> };
}

/// An argument of a typed function as one of the erased function.
macro_rules! erase {
    (tensor $value:expr) => {
        $value.into().into_dyn()
    };
    (word $value:expr) => {
        $value.name()
    };
    (joins $value:expr) => {
        $value.map(|value| value.name())
    };
    (scalar $value:expr) => {
        $value.into()
    };
    ($kind:ident $value:expr) => {
        $value
    };
}

/// The functions that make a new tensor of `T` from `input`: `name` and `erased_name`.
macro_rules! new_faces {
    (
        $(#[$doc:meta])*
        $operator:literal $name:ident, $erased:ident <$($element:ident),*>
        ($($arg:ident: $kind:ident $of:ident),* $(,)?) = $lower:path
    ) => {
        $(#[$doc])*
        pub fn $name<'a, $($element: strew_kernel::tensor::Element),*>(
            input: impl Into<strew_kernel::tensor::TensorView<'a, T>>,
            $($arg: typed!($kind $of)),*
        ) -> strew_kernel::error::Result<strew_kernel::tensor::Tensor<T>> {
            let input = input.into().into_dyn();
            let call = $lower($operator, input.into(), $(erase!($kind $arg)),*)?;
            Ok($crate::dialect::typed(call.run()?.tensor))
        }

        #[doc = concat!("[`", stringify!($name), "`] with element types known at run time, and words as PyTorch's.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`].")]
        pub fn $erased<'a>(
            input: strew_kernel::tensor::DynView<'a>,
            $($arg: erased!($kind $of)),*
        ) -> strew_kernel::error::Result<strew_kernel::tensor::DynTensor> {
            let call = $lower($operator, input.into(), $($arg),*)?;
            Ok($crate::dialect::tensor(call.run()?.tensor))
        }
    };
}

/// Likewise, and those that work in place: `in_place` and `erased_in_place`.
macro_rules! faces {
    (
        $(#[$doc:meta])*
        $operator:literal $name:ident, $erased:ident, $in_place:ident, $erased_in_place:ident
        <$($element:ident),*> ($($arg:ident: $kind:ident $of:ident),* $(,)?) = $lower:path
    ) => {
        new_faces! {
            $(#[$doc])*
            $operator $name, $erased <$($element),*> ($($arg: $kind $of),*) = $lower
        }

        #[doc = concat!("[`", stringify!($name), "`] in place.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`]; `input` is then unchanged.")]
        pub fn $in_place<'a, $($element: strew_kernel::tensor::Element),*>(
            input: impl Into<strew_kernel::tensor::TensorViewMut<'a, T>>,
            $($arg: typed!($kind $of)),*
        ) -> strew_kernel::error::Result<()> {
            let input = input.into().into_dyn();
            $lower(concat!($operator, "_"), input.into(), $(erase!($kind $arg)),*)?.run()?;
            Ok(())
        }

        #[doc = concat!("[`", stringify!($in_place), "`] with element types known at run time, and words as PyTorch's.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`]; `input` is then unchanged.")]
        pub fn $erased_in_place<'a>(
            input: strew_kernel::tensor::DynViewMut<'a>,
            $($arg: erased!($kind $of)),*
        ) -> strew_kernel::error::Result<()> {
            $lower(concat!($operator, "_"), input.into(), $($arg),*)?.run()?;
            Ok(())
        }
    };
}

/// An operator and its form in place, as entries of the table. `$lower` takes the values, the operator's
/// name and its input.
macro_rules! entries {
    ($new:ident, $in_place:ident: $name:literal, $arguments:ident, $lower:path,
     $summary:literal, $summary_in_place:literal $(,)?) => {
        pub(super) const $new: $crate::dialect::framework::operator::Operator =
            $crate::dialect::framework::operator::Operator {
                name: $name,
                summary: $summary,
                arguments: &$arguments,
                returns: &["out"],
                lower: |args| {
                    let input = args.tensor("input")?;
                    $lower(args, $name, input.into())
                },
            };
        pub(super) const $in_place: $crate::dialect::framework::operator::Operator =
            $crate::dialect::framework::operator::Operator {
                name: concat!($name, "_"),
                summary: $summary_in_place,
                arguments: &$crate::dialect::torch::faces::in_place($arguments),
                returns: &["input"],
                lower: |args| {
                    let input = args.target("input")?;
                    $lower(args, concat!($name, "_"), input.into())
                },
            };
    };
}

/// The arguments of the form in place: the first one is written to.
pub(super) const fn in_place<const N: usize>(mut arguments: [Argument; N]) -> [Argument; N] {
    arguments[0].kind = Kind::Target;
    arguments
}

pub(super) const INPUT: Argument = Argument::needed(
    "input",
    Kind::Tensor,
    "the tensor to write into: any shape and dtype",
);

pub(super) const DIM: Argument = Argument::needed(
    "dim",
    Kind::Int,
    "the axis that index points along; negative counts from the end",
);
