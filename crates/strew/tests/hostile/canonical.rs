//! The canonical scatter, misused.

use crate::support::Strided;
use crate::{counted, ints};
use strew::scatter::{
    Destinations, Finish, Init, Place, Reduction, Scatter, Start, Target, TupleEntry,
};
use strew::{Bounds, Combine, DType, Nan, Problem};

fn message<T>(result: Result<T, Problem>) -> String {
    match result {
        Ok(_) => panic!("this should be refused"),
        Err(problem) => problem.to_string(),
    }
}

fn new(dtype: DType) -> Target<'static> {
    Target::New {
        dtype,
        start: Start::Zero,
    }
}

#[test]
fn slices_that_leave_their_axis() {
    let most = usize::MAX;
    for (shape, start, step, count, axis) in [
        (&[5][..], &[5][..], &[1][..], &[1][..], 0),
        (&[5], &[0], &[1], &[6], 0),
        (&[5], &[4], &[-1], &[6], 0),
        (&[5, 5], &[0, 3], &[1, 2], &[5, 2], 1),
        (&[5], &[1], &[isize::MAX], &[3], 0),
        (&[5], &[1], &[isize::MIN], &[2], 0),
        (&[5], &[most], &[1], &[1], 0),
        (&[0], &[0], &[1], &[1], 0),
        // Not one for every axis.
        (&[5, 5], &[0], &[1], &[5], 1),
        (&[5], &[0, 0], &[1, 1], &[1, 1], 1),
        (&[5], &[0], &[1], &[1, 1], 1),
    ] {
        let found = message(Destinations::affine(shape, start, step, count));
        assert_eq!(found, format!("slice: it leaves axis {axis}"));
    }
    // Where nothing is selected, where it starts is nothing either.
    let source = counted(DType::F64, &[0, 0]);
    let empty = Destinations::affine(&[5, 5], &[most >> 1; 2], &[isize::MAX; 2], &[0, 0]).unwrap();
    let reduction = Reduction::into_self(Combine::Assign);
    let scatter = Scatter::new(empty, reduction, "updates", source.view(), new(DType::F64));
    let output = scatter.unwrap().run().unwrap();
    assert_eq!(output.tensor.unwrap().shape(), [5, 5]);
}

#[test]
fn components_and_axes() {
    let index = ints(DType::U8, &[2], &[0, 0]);
    let view = || index.view();
    let rows = |views: &[_], axes: &[usize]| {
        Destinations::rows(&[3, 4], "index", views, axes, None, Bounds::STRICT).map(|_| ())
    };
    for (count, axes) in [
        (1, &[2][..]),
        (1, &[]),
        (2, &[0]),
        (0, &[0]),
        (2, &[1, 1]),
        (1, &[usize::MAX]),
    ] {
        let views = vec![view(); count];
        assert_eq!(
            message(rows(&views, axes)),
            format!("index: {count} components cannot point along the axes {axes:?} of [3, 4]")
        );
    }
    let other = ints(DType::U8, &[3], &[0, 0, 0]);
    assert_eq!(
        message(rows(&[view(), other.view()], &[0, 1])),
        "index has shape [3]: it must be [2]"
    );
    let elements = |shape: &[usize], axis| {
        let place = Place::default();
        Destinations::elements(shape, "index", &view(), axis, place, Bounds::STRICT).map(|_| ())
    };
    let wrong = "index has shape [2]: it must fit";
    assert_eq!(
        message(elements(&[3, 4], 0)),
        format!("{wrong} [3, 4] apart from dimension 0")
    );
    assert_eq!(
        message(elements(&[3], 1)),
        format!("{wrong} [3] apart from dimension 1")
    );
}

/// A place that says less, or more, than there is does not matter until an error is told, nor then.
#[test]
fn places_that_are_none() {
    let index = ints(DType::I8, &[2], &[0, 9]);
    let source = counted(DType::I8, &[2]);
    for (axes, tuple, shown) in [
        (0..0, None, "index = 9"),
        (0..usize::MAX, None, "index[1] = 9"),
        (0..1, Some([usize::MAX, 3]), "index[1, 3] = 9"),
    ] {
        let tuple = tuple.map(|[at, entry]| TupleEntry { at, entry });
        let place = Place { axes, tuple };
        let view = index.view();
        let destinations = Destinations::elements(&[3], "index", &view, 0, place, Bounds::STRICT);
        let reduction = Reduction::into_self(Combine::Sum);
        let scatter = Scatter::new(
            destinations.unwrap(),
            reduction,
            "updates",
            source.view(),
            new(DType::I8),
        );
        assert_eq!(
            message(scatter.unwrap().run()),
            format!("{shown}: index 9 is out of bounds for dimension 0 with size 3")
        );
    }
}

fn copy(of: &Strided) -> Target<'_> {
    Target::New {
        dtype: DType::F32,
        start: Start::CopyOf(of.view()),
    }
}

#[test]
fn shapes_and_types_of_source_and_target() {
    let index = ints(DType::I8, &[2], &[0, 1]);
    let view = index.view();
    let on = |dtype: DType, source: &[usize], combine, target: Target<'_>| {
        let place = Place::default();
        let destinations = Destinations::elements(&[3], "index", &view, 0, place, Bounds::STRICT);
        let source = counted(dtype, source);
        Scatter::new(
            destinations.unwrap(),
            Reduction::into_self(combine),
            "updates",
            source.view(),
            target,
        )
        .map(|_| ())
    };
    assert_eq!(
        message(on(DType::F32, &[3], Combine::Sum, new(DType::F32))),
        "updates has shape [3]: it must be [2]"
    );
    assert_eq!(
        message(on(DType::F64, &[2], Combine::Sum, new(DType::F32))),
        "updates has dtype float64: it must be float32 or convert to it without loss"
    );
    assert_eq!(
        message(on(
            DType::C64,
            &[2],
            Combine::Max(Nan::Propagate),
            new(DType::C64)
        )),
        "the maximum is not defined for dtype complex64"
    );
    let (short, wide) = (counted(DType::F32, &[2]), counted(DType::F64, &[3]));
    assert_eq!(
        message(on(DType::F32, &[2], Combine::Sum, copy(&short))),
        "destination has shape [2]: it must be [3]"
    );
    assert_eq!(
        message(on(DType::F32, &[2], Combine::Sum, copy(&wide))),
        "destination has dtype float64: it must be float32"
    );
}

/// A reduction that no kernel has is an error when it runs, not a panic.
#[test]
fn reductions_without_sense() {
    let index = ints(DType::I8, &[2], &[0, 1]);
    for (combine, finish, arg) in [
        (Combine::Assign, Finish::Mean { count_self: true }, false),
        (
            Combine::Max(Nan::Ignore),
            Finish::Mean { count_self: false },
            false,
        ),
        (Combine::Sum, Finish::None, true),
        (Combine::Assign, Finish::None, true),
    ] {
        for init in [Init::Current, Init::Identity] {
            let view = index.view();
            let place = Place::default();
            let destinations =
                Destinations::elements(&[3], "index", &view, 0, place, Bounds::STRICT).unwrap();
            let reduction = Reduction {
                combine,
                init,
                finish,
            };
            let source = counted(DType::F32, &[2]);
            let target = new(DType::F32);
            let scatter =
                Scatter::new(destinations, reduction, "updates", source.view(), target).unwrap();
            let scatter = if arg { scatter.with_arg(-1) } else { scatter };
            let problem = scatter.run().unwrap_err();
            assert!(matches!(problem, Problem::Unsupported { .. }), "{problem}");
        }
    }
}
