//! Arguments that several operators of this dialect have, and operators that come in pairs.

pub(super) const INPUT: &str = "the tensor to write into: any shape and dtype";

pub(super) const DIM: &str = "the axis that index points along; negative counts from the end";

/// An operator that makes a new tensor and the one that works in place: a declaration as
/// [`operators`](crate::dialect::framework::declaration::operators) reads it, without the first
/// argument, `input`.
macro_rules! pair {
    (
        <$($type:ident: $bound:ident),*> ($($arguments:tt)*);

        $(#[$doc:meta])*
        pub fn $typed:ident, $(#[$dyn_doc:meta])* pub fn $dynamic:ident = $lower:ident;
        $(const $row:ident =)? $name:literal $(: $summary:literal)?;

        pub fn $typed_:ident, pub fn $dynamic_:ident;
        $(const $row_:ident =)? $name_:literal $(: $summary_:literal)?;
    ) => {
        operators! {
            <$($type: $bound),*> dyn<'a> (
                input: tensor<T> => $crate::dialect::torch::arguments::INPUT;
                $($arguments)*
            ) -> out;

            $(#[$doc])*
            pub fn $typed, $(#[$dyn_doc])* pub fn $dynamic = $lower;
            $(const $row =)? $name $(: $summary)?;
        }
        operators! {
            <'a, $($type: $bound),*> dyn<'a> (
                input: target<T> => $crate::dialect::torch::arguments::INPUT;
                $($arguments)*
            ) -> in place input;

            #[doc = concat!("[`", stringify!($typed), "`] in place.")]
            ///
            /// # Errors
            #[doc = concat!("As [`", stringify!($typed), "`]; `input` is then unchanged.")]
            pub fn $typed_, $(#[$dyn_doc])* pub fn $dynamic_ = $lower;
            $(const $row_ =)? $name_ $(: $summary_)?;
        }
    };
}

pub(super) use pair;
