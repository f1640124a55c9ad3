//! A dialect written outside of strew: `Tensor::index_add` of candle.
//!
//! A dialect checks the arguments by its framework's rules and describes the work as one `Scatter`.
//! strew chooses how to run it. So this operator has no loop, and all promises of strew hold.
//!
//! `cargo run --release -p strew --example dialect`

use ndarray::array;

mod candle {
    use strew::scatter::{Destinations, Place, Reduction, Scatter, Start, Target};
    use strew::{
        AsTensor, Bounds, Class, Combine, DType, DynView, Element, Error, Index, Problem, Result,
        Tensor,
    };

    /// Adds the slices of `source` along `dim` to the slices of `input` that `indexes` name.
    ///
    /// * `indexes`: 1-d, of `u8`, `u32` or `i64`, as many as `source` has slices.
    /// * `source`: of `input`'s type, and of its shape but for `dim`.
    pub(crate) fn index_add<T: Element, I: Index>(
        input: impl AsTensor<T>,
        indexes: impl AsTensor<I>,
        source: impl AsTensor<T>,
        dim: usize,
    ) -> Result<Tensor<T>> {
        let (input, indexes) = (input.as_tensor().of_rust(), indexes.as_tensor().of_rust());
        let source = source.as_tensor().of_rust();
        let made = describe(&input, &indexes, &source, dim).and_then(Scatter::run);
        // A problem becomes an error by the operator's name and the framework's kind of error.
        let refuse = |problem| Error::new("candle.index_add", Class::Runtime, problem);
        let tensor = made.map_err(refuse)?.tensor.expect("a new tensor is made");
        Ok(tensor.typed().expect("it has the type of its input"))
    }

    /// The framework's checks, and the description of the work.
    fn describe<'a>(
        input: &DynView<'a>,
        indexes: &DynView<'a>,
        source: &DynView<'a>,
        dim: usize,
    ) -> Result<Scatter<'a>, Problem> {
        if !matches!(indexes.dtype(), DType::U8 | DType::U32 | DType::I64) {
            return Err(Problem::DType {
                argument: "indexes",
                found: indexes.dtype(),
                expected: "it must be u8, u32 or i64".into(),
            });
        }
        let mut wanted = input.shape().to_vec();
        let Some(slices) = wanted.get_mut(dim) else {
            return Err(Problem::Axis {
                argument: "dim".into(),
                value: dim as i128,
                rank: input.rank(),
            });
        };
        *slices = indexes.len();
        if indexes.rank() != 1 || source.shape() != wanted {
            return Err(Problem::Shape {
                argument: "source",
                found: source.shape().to_vec(),
                expected: format!("with these indexes it must be {wanted:?}"),
            });
        }

        // An index for each element: repeated (without a copy) along all axes but `dim`.
        let mut aligned = indexes.clone();
        for _ in dim + 1..source.rank() {
            aligned = aligned.insert_axis(aligned.rank());
        }
        let each = aligned.broadcast_to(source.shape());
        let each = each.expect("there are as many indexes as slices");
        let place = Place {
            axes: dim..dim + 1,
            tuple: None,
        };
        let shape = input.shape();
        let bounds = Bounds::STRICT;
        let destinations = Destinations::elements(shape, "indexes", &each, dim, place, bounds)?;
        let target = Target::New {
            dtype: input.dtype(),
            start: Start::CopyOf(input.clone()),
        };
        let reduction = Reduction::into_self(Combine::Sum);
        Scatter::new(destinations, reduction, "source", source.clone(), target)
    }
}

fn main() -> Result<(), strew::Error> {
    let input = array![[1.0f32, 2.0, 3.0], [4.0, 5.0, 6.0]];
    let source = array![[10.0f32, 20.0], [30.0, 40.0]];
    let sums = candle::index_add(&input, [2u32, 2], &source, 1)?;
    println!("{sums}");
    assert_eq!(sums.as_slice(), [1.0, 2.0, 33.0, 4.0, 5.0, 76.0]);

    let error = candle::index_add(&input, [2u32, 3], &source, 1).unwrap_err();
    println!("{error}");
    assert_eq!(
        error.to_string(),
        "candle.index_add: indexes[1] = 3: index 3 is out of bounds for dimension 1 with size 3"
    );
    let error = candle::index_add(&input, [2i16, 1], &source, 1).unwrap_err();
    println!("{error}");
    Ok(())
}
