//! What the operators of this dialect have in common on the outside: a typed and an erased function, and
//! an entry in the table of operators.

/// Operators that write into `input_x`, by `$describe(combine, input_x, indices, updates, bounds)`.
macro_rules! in_place {
    ($(
        $(#[$doc:meta])*
        $entry:ident $operator:literal $name:ident, $erased:ident = $combine:expr, $summary:literal;
    )*) => {$(
        pub(super) const $entry: $crate::dialect::framework::operator::Operator =
            $crate::dialect::framework::operator::Operator {
                name: $operator,
                summary: $summary,
                arguments: &ARGUMENTS,
                returns: &["input_x"],
                lower: |args| {
                    let input_x = args.target("input_x")?;
                    let indices = args.tensor("indices")?;
                    let updates = args.tensor("updates")?;
                    let device = args.optional_text("device");
                    let device = device.as_deref().map(crate::dialect::mindspore::Device::parse).transpose();
                    crate::dialect::mindspore::call($operator, device.and_then(|device| {
                        let bounds = device.unwrap_or_default().bounds();
                        describe($combine, input_x, indices, updates, bounds)
                    }))
                },
            };

        $(#[$doc])*
        pub fn $name<'a, T: Element, I: Element, U: Element>(
            input_x: impl Into<$crate::TensorViewMut<'a, T>>,
            indices: impl Into<$crate::TensorView<'a, I>>,
            updates: impl Into<$crate::TensorView<'a, U>>,
        ) -> Result<()> {
            $erased(
                input_x.into().into_dyn(),
                indices.into().into_dyn(),
                updates.into().into_dyn(),
                crate::dialect::mindspore::Device::Cpu,
            )
        }

        #[doc = concat!("[`", stringify!($name), "`] with element types known at run time.")]
        ///
        /// # Errors
        #[doc = concat!("As [`", stringify!($name), "`].")]
        pub fn $erased<'a>(
            input_x: DynViewMut<'a>,
            indices: DynView<'a>,
            updates: DynView<'a>,
            device: crate::dialect::mindspore::Device,
        ) -> Result<()> {
            let described = describe($combine, input_x, indices, updates, device.bounds());
            crate::dialect::mindspore::call($operator, described)?.run()?;
            Ok(())
        }
    )*};
}
