//! One declaration for each operator. The macro [`operators`] makes of it the row of the table, the
//! typed function and the `_dyn` function.
//!
//! ```text
//! operators! {
//!     <T: Element, I: Index> dyn<'a> (
//!         input: tensor<T> => "the tensor to read from: any shape and dtype";
//!         dim: int = 0 => "the axis that index points along";
//!         index: tensor<I> => "from where along dim each element comes";
//!     ) -> out;
//!
//!     /// The elements of `input` that `index` names along `dim`.
//!     pub fn gather, pub fn gather_dyn = lower(Bounds::STRICT);
//!     const GATHER = "torch.gather":
//!         "The elements of input that index names along dim";
//! }
//! ```
//!
//! The first part is what a family of operators has in common: the generics of the typed functions,
//! the lifetime of the `_dyn` functions, the arguments, and what is returned. The operators of the
//! family follow, in any number. Each has its documentation, its two functions, its lowering, its
//! row, its name and its summary. Documentation before the second `pub fn` is added to that of the
//! `_dyn` function. Without a second `pub fn` there is no `_dyn` function.
//!
//! The lowering is a function of the operator's name, the values in brackets, and the arguments:
//! here `lower("torch.gather", Bounds::STRICT, input, dim, index)`. It returns a
//! [`Call`](super::call::Call). The macro takes the arguments out of the table in their order.
//!
//! # Arguments
//!
//! An argument is written `name: kind = default => text, words;`. The default and the words may be
//! left out. `name["spelled"]` gives an argument another name in the table.
//!
//! Some arguments are not for all three. One behind a `+` is for the `_dyn` function and the
//! table; the typed function passes its default. One behind a `~` is for the table; both functions
//! pass its default. They stand behind an argument for all, first those with a `+`. One behind a
//! `-` is for the table and has no effect; it is not passed, and stands last.
//!
//! | kind | typed function | `_dyn` function | lowering |
//! |---|---|---|---|
//! | `tensor<T>` | `impl AsTensor<T>` | `DynView` | what `DynView` becomes by `into` |
//! | `target<T>` | `impl Into<TensorViewMut<T>>` | `DynViewMut` | what `DynViewMut` becomes by `into` |
//! | `tensors` | `&[Option<DynView>]` | the same | the same |
//! | `integers` | `&[i64]` | `&[i64]` | `&Integers` |
//! | `int`, `bool`, `scalar` | `i64`, `bool`, `impl Into<Scalar>` | `i64`, `bool`, `Scalar` | the same |
//! | `none_int` | `i64` | `i64` | `i64`; the table has `None` as its default |
//! | `optional_int`, `optional_scalar` | an `Option` | the same | the same |
//! | `optional_size` | `Option<usize>` | `Option<i64>` | `Option<i64>` |
//! | `float` | `f64` | `f64` | `Scalar` |
//! | `text` | `&str` | `&str` | `&str` |
//! | `word<E>` | the enum `E`, which has a `name` | `&str` | `&str` |
//! | `optional_word<E>` | `Option<E>` | `Option<&str>` | `Option<&str>` |
//! | `choice<E>` | the enum `E` | `E` | `Result<E, Problem>`, as `E::from_table` reads it |
//! | `optional_tensor<T>` | `Option<TensorView<T>>` | `Option<DynView>` | `Option<DynView>` |
//! | `optional_target` | only behind `+` or `~` | `Option<DynViewMut>` | `Option<DynViewMut>` |
//! | `optional_integers` | only in rows | | only by `from_table` |
//!
//! # Results
//!
//! | declared | typed function | `_dyn` function |
//! |---|---|---|
//! | `out` | `Tensor<T>` | `DynTensor` |
//! | `new name` | `Tensor<T>`, and the table calls it so | `DynTensor` |
//! | `dyn out` | `DynTensor` | `DynTensor` |
//! | `output out` | `Tensor<T>` | `Output` |
//! | `out arg` | `Tensor<T>` and `Tensor<i64>`: values and positions | `Output` |
//! | `in place input` | nothing: `input` is changed | nothing |
//!
//! # Rows and functions apart
//!
//! Two functions that share the row of another operator have its name alone: `"torch.scatter";`.
//! [`rows`] makes rows alone: for operators without functions of their own, and for those whose
//! functions take other things than the row (a builder, options, lists of sizes):
//!
//! ```text
//! rows! {
//!     (src: tensor => SRC; index: tensor => INDEX; out: optional_target => OUT;) -> out arg;
//!
//!     const SCATTER_MIN = "torch_scatter.scatter_min": "The smallest element of each group"
//!         = lower(Reduce::Min);
//! }
//! ```
//!
//! `from_table(lower)` is a lowering that takes the values out of
//! [`Arguments`](super::operator::Arguments) itself.
//!
//! # Derivatives
//!
//! A tensor of the type `T` or `U` has elements that the result is made of, so it has a derivative:
//! the table says so, and [`grad::vjp`](crate::grad::vjp) computes it from what the operator is
//! lowered to. `I` is the type of indices. Rows alone say `tensor<T>` for such a tensor, too.
//!
//! A file of declarations imports all of this module: the macros, and the types that they name.

pub(crate) use crate::dialect::framework::operator::{Argument, Integers, Kind, Operator, int};
pub(crate) use strew_engine::describe::Output;
pub(crate) use strew_kernel::error::Result;
pub(crate) use strew_kernel::tensor::{
    AsTensor, DynTensor, DynView, DynViewMut, Element, Index, Scalar, Tensor, TensorView,
    TensorViewMut,
};

/// A family of operators. The header of this file says how it is written.
macro_rules! operators {
    (
        <$($life:lifetime,)? $($type:ident: $bound:ident),*> dyn $(<$dyn:lifetime>)?
        ($($arguments:tt)*) -> $($result:ident)+;
        $($members:tt)*
    ) => {
        operators! {
            @ [$($life,)? $($type: $bound),*] [$(<$dyn>)?] [$($dyn)?] ($($arguments)*) ($($result)+)
            $($members)*
        }
    };
    (
        @ $generics:tt $dyn_generics:tt $dyn:tt $arguments:tt $result:tt
        $(
            $(#[$doc:meta])*
            pub fn $typed:ident $(, $(#[$dyn_doc:meta])* pub fn $dynamic:ident)?
                = $lower:ident $(($($what:expr),*))?;
            $(const $row:ident =)? $name:literal $(: $summary:literal)?;
        )*
    ) => {$(
        row! {
            $arguments -> $result = $lower($($($what),*)?);
            $(const $row =)? $name $(: $summary)?;
        }
        functions! {
            $generics $dyn_generics $dyn $arguments $result
            [$(#[$doc])*] $typed [$([$(#[$dyn_doc])*] $dynamic)?]
            $lower $name ($($($what,)*)?)
        }
    )*};
}

/// Rows without functions. The header of this file says how they are
/// written.
macro_rules! rows {
    (($($arguments:tt)*) -> $($result:ident)+; $($members:tt)*) => {
        rows! { @ ($($arguments)*) ($($result)+) $($members)* }
    };
    (
        @ $arguments:tt $result:tt
        $(
            const $row:ident = $name:literal: $summary:literal
                = $lower:ident $(($($what:expr),*))?;
        )*
    ) => {$(
        row! {
            $arguments -> $result = $lower($($($what),*)?);
            const $row = $name: $summary;
        }
    )*};
}

/// The row of an operator in the table of its dialect. Without a summary there is none.
macro_rules! row {
    ($arguments:tt -> $result:tt = $lower:ident $what:tt; $name:literal;) => {};
    (
        $arguments:tt -> ($($result:ident)+) = from_table($lower:expr);
        const $row:ident = $name:literal: $summary:literal;
    ) => {
        pub(in $crate::dialect) const $row: Operator = Operator {
            name: $name,
            summary: $summary,
            arguments: arguments!($arguments),
            returns: returned!($($result)+),
            lower: $lower,
        };
    };
    (
        $arguments:tt -> $result:tt = $lower:ident($($what:expr),*);
        const $row:ident = $name:literal: $summary:literal;
    ) => {
        row! {
            $arguments -> $result
                = from_table(|args| called!($arguments args, $lower($name $(, $what)*)));
            const $row = $name: $summary;
        }
    };
}

/// The arguments of an operator as the table has them.
macro_rules! arguments {
    ((
        $(
            $(+)? $(~)? $argument:ident $([$spelled:literal])?: $kind:ident $(<$type:ty>)?
            $(= $default:expr)? => $doc:expr $(, $words:expr)?;
        )*
        $(- $unused:ident: $unused_kind:ident = $unused_default:expr => $unused_doc:expr;)*
    )) => {
        &[
            $(
                Argument::declared(
                    spelled!($argument $([$spelled])?), kind!($kind $(= $default)?), $doc
                )$(.of($words))? $(.of_type(stringify!($type)))?,
            )*
            $(Argument::declared(
                stringify!($unused), kind!($unused_kind = $unused_default), $unused_doc
            ),)*
        ]
    };
}

/// The lowering of the values of a call from the table.
macro_rules! called {
    (
        (
            $(
                $(+)? $(~)? $argument:ident $([$spelled:literal])?: $kind:ident $(<$type:ty>)?
                $(= $default:expr)? => $doc:expr $(, $words:expr)?;
            )*
            $(- $unused:ident: $unused_kind:ident = $unused_default:expr => $unused_doc:expr;)*
        )
        $args:ident, $lower:ident($($what:expr),*)
    ) => {
        $lower($($what,)* $(taken!(
            $args, spelled!($argument $([$spelled])?), $kind $(<$type>)? $(= $default)?
        )),*)
    };
}

/// The typed function of an operator, and the `_dyn` function if it is named.
macro_rules! functions {
    (
        $generics:tt $dyn_generics:tt $dyn:tt $arguments:tt $result:tt $doc:tt $typed:ident
        [$($dyn_doc:tt $dynamic:ident)?]
        $lower:ident $name:literal $what:tt
    ) => {
        typed_function! { $generics $arguments $result $doc $typed $lower $name $what }
        $(dyn_function! {
            $dyn_generics $dyn $arguments $result $typed $dyn_doc $dynamic $lower $name $what
        })?
    };
}

macro_rules! typed_function {
    (
        [$($generics:tt)*]
        ($(
            $argument:ident $([$spelled:literal])?: $kind:ident $(<$type:ty>)?
            $(= $default:expr)? $(=> $doc_of:expr $(, $words:expr)?)?;
            $(
                + $more:ident $([$more_spelled:literal])?: $more_kind:ident $(<$more_type:ty>)?
                $(= $more_default:expr)? => $more_doc:expr $(, $more_words:expr)?;
            )*
            $(
                ~ $table:ident $([$table_spelled:literal])?: $table_kind:ident $(<$table_type:ty>)?
                $(= $table_default:expr)? => $table_doc:expr $(, $table_words:expr)?;
            )*
        )* $(- $($unused:tt)*)?)
        ($($result:ident)+)
        [$(#[$doc:meta])*] $typed:ident $lower:ident $name:literal ($($what:expr,)*)
    ) => {
        $(#[$doc])*
        pub fn $typed<$($generics)*>(
            $($argument: typed!($kind $(<$type>)?)),*
        ) -> Result<
            typed!($($result)+)
        > {
            run_typed!(
                $lower(
                    $name,
                    $($what,)*
                    $(
                        from_typed!($argument $kind),
                        $(left_out!($more_kind $(<$more_type>)? $(= $more_default)?),)*
                        $(left_out!($table_kind $(<$table_type>)? $(= $table_default)?),)*
                    )*
                ),
                $($result)+
            )
        }
    };
}

macro_rules! dyn_function {
    (
        [$($generics:tt)*] $dyn:tt
        ($(
            $argument:ident $([$spelled:literal])?: $kind:ident $(<$type:ty>)?
            $(= $default:expr)? $(=> $doc_of:expr $(, $words:expr)?)?;
            $(
                + $more:ident $([$more_spelled:literal])?: $more_kind:ident $(<$more_type:ty>)?
                $(= $more_default:expr)? => $more_doc:expr $(, $more_words:expr)?;
            )*
            $(
                ~ $table:ident $([$table_spelled:literal])?: $table_kind:ident $(<$table_type:ty>)?
                $(= $table_default:expr)? => $table_doc:expr $(, $table_words:expr)?;
            )*
        )* $(- $($unused:tt)*)?)
        ($($result:ident)+)
        $typed:ident [$(#[$doc:meta])*] $dynamic:ident $lower:ident $name:literal ($($what:expr,)*)
    ) => {
        #[doc = concat!(
            "[`", stringify!($typed), "`] with element types known at run time, and the same errors."
        )]
        $(#[$doc])*
        pub fn $dynamic $($generics)* (
            $(
                $argument: dynamic!($dyn $kind $(<$type>)?),
                $($more: dynamic!($dyn $more_kind $(<$more_type>)?),)*
            )*
        ) -> Result<
            dynamic!($dyn $($result)+)
        > {
            run_dynamic!(
                $lower(
                    $name,
                    $($what,)*
                    $(
                        from_dynamic!($argument $kind),
                        $(from_dynamic!($more $more_kind),)*
                        $(left_out!($table_kind $(<$table_type>)? $(= $table_default)?),)*
                    )*
                ),
                $($result)+
            )
        }
    };
}

/// The name of an argument in the table.
macro_rules! spelled {
    ($argument:ident) => {
        stringify!($argument)
    };
    ($argument:ident [$spelled:literal]) => {
        $spelled
    };
}

/// The kind of an argument, and its default as the table has it.
macro_rules! kind {
    (tensor) => {
        (Kind::Tensor, None)
    };
    (optional_tensor) => {
        (Kind::Tensor, Some("None"))
    };
    (target) => {
        (Kind::Target, None)
    };
    (optional_target) => {
        (Kind::Target, Some("None"))
    };
    (tensors) => {
        (Kind::Tensors, None)
    };
    (integers) => {
        (Kind::Integers, None)
    };
    (integers = $default:expr) => {
        (Kind::Integers, Some($default))
    };
    (optional_integers) => {
        (Kind::Integers, Some("None"))
    };
    (int) => {
        (Kind::Int, None)
    };
    (int = $default:expr) => {
        (Kind::Int, Some(stringify!($default)))
    };
    (none_int = $default:expr) => {
        (Kind::Int, Some("None"))
    };
    (optional_int) => {
        (Kind::Int, Some("None"))
    };
    (optional_size) => {
        (Kind::Int, Some("None"))
    };
    (float = $default:expr) => {
        (Kind::Scalar, Some(stringify!($default)))
    };
    (bool = $default:expr) => {
        (Kind::Bool, Some(if $default { "True" } else { "False" }))
    };
    (scalar) => {
        (Kind::Scalar, None)
    };
    (scalar = $default:expr) => {
        (Kind::Scalar, Some(stringify!($default)))
    };
    (optional_scalar) => {
        (Kind::Scalar, Some("None"))
    };
    (optional_word) => {
        (Kind::Text, Some("None"))
    };
    ($word:ident) => {
        (Kind::Text, None)
    };
    ($word:ident = $default:expr) => {
        (Kind::Text, Some($default))
    };
}

/// What the table says an operator returns.
macro_rules! returned {
    (in place $target:ident) => {
        &[stringify!($target)]
    };
    (dyn $result:ident) => {
        &[stringify!($result)]
    };
    (output $result:ident) => {
        &[stringify!($result)]
    };
    (new $result:ident) => {
        &[stringify!($result)]
    };
    ($($result:ident)+) => {
        &[$(stringify!($result)),+]
    };
}

/// The type of an argument or of the result in the typed function.
macro_rules! typed {
    (tensor<$type:ty>) => { impl AsTensor<$type> };
    (target<$type:ty>) => {
        impl Into<TensorViewMut<'a, $type>>
    };
    (tensors) => { &[Option<DynView>] };
    (integers) => { &[i64] };
    (int) => { i64 };
    (none_int) => { i64 };
    (optional_int) => { Option<i64> };
    (optional_size) => { Option<usize> };
    (optional_tensor<$type:ty>) => { Option<TensorView<'a, $type>> };
    (float) => { f64 };
    (bool) => { bool };
    (scalar) => { impl Into<Scalar> };
    (optional_scalar) => { Option<Scalar> };
    (text) => { &str };
    (word<$type:ty>) => { $type };
    (optional_word<$type:ty>) => { Option<$type> };
    (choice<$type:ty>) => { $type };
    (out) => { Tensor<T> };
    (dyn out) => { DynTensor };
    (output $result:ident) => { Tensor<T> };
    (new $result:ident) => { Tensor<T> };
    (out arg) => { (Tensor<T>, Tensor<i64>) };
    (in place $target:ident) => { () };
}

/// The type of an argument or of the result in the `_dyn` function.
macro_rules! dynamic {
    ([] tensor<$type:ty>) => { DynView<'_> };
    ([$a:lifetime] tensor<$type:ty>) => { DynView<$a> };
    ([$a:lifetime] target<$type:ty>) => { DynViewMut<$a> };
    ($dyn:tt optional_size) => { Option<i64> };
    ([] optional_tensor<$type:ty>) => { Option<DynView<'_>> };
    ([$a:lifetime] optional_target) => { Option<DynViewMut<$a>> };
    ([$a:lifetime] tensors) => { &[Option<DynView<$a>>] };
    ($dyn:tt scalar) => { Scalar };
    ($dyn:tt word<$type:ty>) => { &str };
    ($dyn:tt optional_word<$type:ty>) => { Option<&str> };
    ($dyn:tt out) => { DynTensor };
    ($dyn:tt output $result:ident) => { Output };
    ($dyn:tt new $result:ident) => { DynTensor };
    ($dyn:tt $($same:tt)+) => { typed!($($same)+) };
}

/// An argument of the typed function, as the lowering gets it.
macro_rules! from_typed {
    ($argument:ident tensor) => { AsTensor::as_tensor(&$argument).of_rust().into() };
    ($argument:ident target) => { $argument.into().into_dyn().into() };
    ($argument:ident optional_tensor) => { $argument.map(TensorView::into_dyn) };
    ($argument:ident optional_size) => { $argument.map(int) };
    ($argument:ident scalar) => { $argument.into() };
    ($argument:ident word) => { $argument.name() };
    ($argument:ident optional_word) => { $argument.map(|word| word.name()) };
    ($argument:ident $same:ident) => {
        from_dynamic!($argument $same)
    };
}

/// An argument of the `_dyn` function, as the lowering gets it.
macro_rules! from_dynamic {
    ($argument:ident tensor) => {
        $argument.into()
    };
    ($argument:ident target) => {
        $argument.into()
    };
    ($argument:ident integers) => {
        &Integers::from($argument)
    };
    ($argument:ident float) => {
        $argument.into()
    };
    ($argument:ident choice) => {
        Ok($argument)
    };
    ($argument:ident $same:ident) => {
        $argument
    };
}

/// What the lowering gets for an argument that the typed function has not.
macro_rules! left_out {
    (choice<$type:ty> $(= $default:expr)?) => {
        Ok(<$type>::default())
    };
    ($kind:ident = $default:expr) => {
        $default
    };
    ($optional:ident) => {
        None
    };
}

/// An argument from the table, as the lowering gets it.
macro_rules! taken {
    ($args:ident, $name:expr, tensor $(<$type:ty>)?) => {
        $args.tensor($name)?.into()
    };
    ($args:ident, $name:expr, target $(<$type:ty>)?) => {
        $args.target($name)?.into()
    };
    ($args:ident, $name:expr, optional_tensor $(<$type:ty>)?) => {
        $args.optional_tensor($name)
    };
    ($args:ident, $name:expr, optional_target) => {
        $args.optional_target($name)
    };
    ($args:ident, $name:expr, tensors) => {
        &$args.tensors($name)?
    };
    ($args:ident, $name:expr, integers) => {
        &$args.integers($name)?
    };
    ($args:ident, $name:expr, int) => {
        $args.int($name)?
    };
    ($args:ident, $name:expr, int = $default:expr) => {
        $args.optional_int($name).unwrap_or($default)
    };
    ($args:ident, $name:expr, none_int = $default:expr) => {
        $args.optional_int($name).unwrap_or($default)
    };
    ($args:ident, $name:expr, optional_int) => {
        $args.optional_int($name)
    };
    ($args:ident, $name:expr, optional_size) => {
        $args.optional_int($name)
    };
    ($args:ident, $name:expr, float = $default:expr) => {
        $args.optional_scalar($name).unwrap_or($default.into())
    };
    ($args:ident, $name:expr, bool = $default:expr) => {
        $args.bool_or($name, $default)
    };
    ($args:ident, $name:expr, scalar) => {
        $args.scalar($name)?
    };
    ($args:ident, $name:expr, scalar = $default:expr) => {
        $args.optional_scalar($name).unwrap_or($default.into())
    };
    ($args:ident, $name:expr, optional_scalar) => {
        $args.optional_scalar($name)
    };
    ($args:ident, $name:expr, choice<$type:ty> $(= $default:expr)?) => {
        <$type>::from_table($args)
    };
    ($args:ident, $name:expr, optional_word $(<$type:ty>)?) => {
        $args.optional_text($name).as_deref()
    };
    ($args:ident, $name:expr, $word:ident $(<$type:ty>)?) => {
        &$args.text($name)?
    };
    ($args:ident, $name:expr, $word:ident $(<$type:ty>)? = $default:expr) => {
        $args.optional_text($name).as_deref().unwrap_or($default)
    };
}

macro_rules! run_typed {
    ($call:expr, out) => { $call?.run_typed() };
    ($call:expr, new $result:ident) => { $call?.run_typed() };
    ($call:expr, output $result:ident) => {
        $call?.run().map(|made| $crate::dialect::typed(made.tensor))
    };
    ($call:expr, out arg) => {
        $call?
            .run()
            .map(|made| ($crate::dialect::typed(made.tensor), $crate::dialect::typed(made.arg)))
    };
    ($call:expr, $($other:ident)+) => {
        run_dynamic!($call, $($other)+)
    };
}

macro_rules! run_dynamic {
    ($call:expr, in place $target:ident) => {
        $call?.run_in_place()
    };
    ($call:expr, output $result:ident) => {
        $call?.run()
    };
    ($call:expr, $($out:ident)+) => {
        $call?.run_dyn()
    };
}

pub(crate) use {
    arguments, called, dyn_function, dynamic, from_dynamic, from_typed, functions, kind, left_out,
    operators, returned, row, rows, run_dynamic, run_typed, spelled, taken, typed, typed_function,
};
