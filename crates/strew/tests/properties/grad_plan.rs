//! Derivatives of what a plan does: by every way that it may go, on any number of threads.

use crate::cases;
use crate::grad::{Case, THREADS, assert_same, case, defined, placed, rule, values};
use crate::naive::Array;
use crate::naive::grad::{Forward, Own, plan_road};
use crate::support::Strided;
use crate::support::memory::array_of;
use proptest::prelude::*;
use strew::{Bounds, DType, Negative, OutOfRange, Plan, PlanIntoOptions, Reduce, Way, grad};

fn check_plan(case: &Case) {
    let Case {
        basis,
        dim,
        reduce,
        include_self,
        ..
    } = case.clone();
    let (dtype, style) = (basis.dtype, basis.style);
    let mut random = basis.random();
    let size = 1 + random.below(9);
    let mut numbers = random.indices(case.shape[dim], size, basis.spread);
    let drops = random.chance(2);
    if drops {
        for number in &mut numbers {
            if random.chance(4) {
                *number = random.pick(&[-1, size as i64, i64::MAX]);
            }
        }
    }
    let index = Array::of_ints(DType::I64, &[numbers.len()], &numbers);
    let index = Strided::plain(&index);
    let bounds = Bounds {
        negative: Negative::Drop,
        out_of_range: OutOfRange::Drop,
        ignored: None,
    };
    let plan = Plan::new_dyn(&index.view(), Some(size), bounds, None).unwrap();
    let reduced: Reduce = reduce.parse().unwrap();
    let mut cells_shape = case.shape.clone();
    cells_shape[dim] = size;
    let mut src = values(&mut random, dtype, &case.shape, style);
    let mut to_src = values(&mut random, dtype, &case.shape, style);
    let mut input = values(&mut random, dtype, &cells_shape, style);
    let mut grad = values(&mut random, dtype, &cells_shape, style);
    let mut to_input = values(&mut random, dtype, &cells_shape, style);
    let at_src = placed(&mut random, &mut src);
    let at_to_src = placed(&mut random, &mut to_src);
    let at_input = placed(&mut random, &mut input);
    let at_grad = placed(&mut random, &mut grad);
    let at_to_input = placed(&mut random, &mut to_input);
    let axis = dim as i64;

    let anew = plan.scatter_dyn(&at_src.view(), axis, reduced).unwrap();
    let mut into = Strided::plain(&input);
    plan.scatter_into_dyn(
        &at_src.view(),
        axis,
        reduced,
        into.view_mut(),
        PlanIntoOptions { include_self },
    )
    .unwrap();
    let (anew_array, into_array) = (array_of(&anew), into.read());
    let road = plan_road(&input, dim, &numbers, &src);
    let forward = |own| Forward {
        road: road.clone(),
        rule: rule(reduce),
        own,
        src: &src,
        result: match own {
            Own::Nothing => &anew_array,
            _ => &into_array,
        },
    };
    let own = match include_self {
        true => Own::Counted(&input),
        false => Own::Replaced(&input),
    };
    let (fresh, placed_into) = (forward(Own::Nothing), forward(own));
    let wanted_fresh = fresh.vjp(&grad).1;
    let wanted_into = placed_into.vjp(&grad);
    let tangent_fresh = fresh.jvp(None, &to_src);
    let tangent_into = placed_into.jvp(Some(&to_input), &to_src);
    let double = (reduce == "prod").then(|| fresh.double_vjp(&grad, None, &to_src));
    for way in Way::ALL {
        for threads in THREADS {
            let what = || format!("{way:?}, {threads} threads, {numbers:?} of {size}, {case:?}");
            let plan = plan.clone().with_way(Some(way)).with_threads(Some(threads));
            let (g, s, ts) = (at_grad.view(), at_src.view(), at_to_src.view());
            let (x, tx) = (at_input.view(), at_to_input.view());
            let r = anew.view();
            let found = grad::plan::scatter_vjp_dyn(&plan, &g, &s, &r, axis, reduced);
            assert_same(&found.unwrap(), &wanted_fresh, &what);
            let found = grad::plan::scatter_jvp_dyn(&plan, &ts, &s, &r, axis, reduced);
            assert_same(&found.unwrap(), &tangent_fresh, &what);
            let r = into.view();
            let found = grad::plan::scatter_into_vjp_dyn(
                &plan,
                &g,
                &x,
                &s,
                &r,
                axis,
                reduced,
                include_self,
            );
            let found = found.unwrap();
            assert_same(&found.0, &wanted_into.0, &what);
            assert_same(&found.1, &wanted_into.1, &what);
            let found = grad::plan::scatter_into_jvp_dyn(
                &plan,
                &tx,
                &ts,
                &x,
                &s,
                &r,
                axis,
                reduced,
                include_self,
            );
            assert_same(&found.unwrap(), &tangent_into, &what);
            if let Some((to_grad, _, to_src)) = &double {
                let found = grad::plan::scatter_prod_double_vjp_dyn(&plan, &g, &s, axis, &ts);
                let found = found.unwrap();
                assert_same(&found.0, to_grad, &what);
                assert_same(&found.1, to_src, &what);
            }
        }
    }
}

proptest! {
    #![proptest_config(cases(1200))]

    #[test]
    fn plan(case in case(&["sum", "mean", "prod", "min", "max", "amin", "amax", "assign"], 1..5)) {
        if defined(&case) {
            check_plan(&case);
        }
    }
}
