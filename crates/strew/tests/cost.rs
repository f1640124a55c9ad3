//! Contract 7: cost follows the updates, whatever the size of destination and source.
//!
//! One test, so that nothing else allocates meanwhile.

use strew::scatter::{Destinations, Reduction, Scatter, Start, Target};
use strew::{Combine, DType, DynTensor, DynView, DynViewMut, Layout, bf16, f16};

const GIB: usize = 1 << 30;
const MIB: usize = 1 << 20;

/// Resident memory of this process in bytes: the highest so far, and now.
fn resident() -> (usize, usize) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let kib = |name: &str| -> usize {
        let line = status.lines().find(|l| l.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (kib("VmHWM:") << 10, kib("VmRSS:") << 10)
}

/// How much more memory was resident during `work` than before it.
fn grown(work: impl FnOnce()) -> usize {
    // Resets the high-water mark to what is resident now.
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let (_, before) = resident();
    work();
    resident().0.saturating_sub(before)
}

#[test]
#[cfg(target_os = "linux")]
fn neither_destination_nor_expanded_source_costs_memory() {
    // 4 GiB of zeros that nobody has touched.
    let mut memory = vec![0u64; 4 * GIB / 8];
    let ptr = memory.as_mut_ptr().cast::<u8>();
    for dtype in [DType::F32, DType::F16, DType::BF16] {
        let cells = 4 * GIB / dtype.size();
        let index: Vec<i64> = (0..1000)
            .map(|i| (i % 500) * 3_000_017 % cells as i64)
            .collect();
        let mut ones = DynTensor::zeros(dtype, &[1000]).unwrap();
        for i in 0..1000 {
            let at = ones.view_mut().as_mut_ptr().wrapping_add(i * dtype.size());
            // SAFETY: element `i` of the tensor, which is of this type.
            unsafe {
                match dtype {
                    DType::F32 => at.cast::<f32>().write(3.0),
                    DType::F16 => at.cast::<f16>().write(f16::from_f32(3.0)),
                    _ => at.cast::<bf16>().write(bf16::from_f32(3.0)),
                }
            }
        }
        for reduce in ["sum", "mean", "amax"] {
            for include_self in [true, false] {
                let run = || {
                    let layout = Layout::contiguous(dtype, &[cells]).unwrap();
                    // SAFETY: the vector's memory, alive and borrowed by nobody else.
                    let input = unsafe { DynViewMut::from_raw_parts(ptr, layout).unwrap() };
                    let index = strew::TensorView::from(&index).into_dyn();
                    let src = ones.view();
                    strew::torch::scatter_reduce_dyn_(input, 0, index, src, reduce, include_self)
                        .unwrap();
                };
                // The first run makes the pages that it touches resident.
                run();
                let more = grown(run);
                assert!(more < 16 * MIB, "{dtype} {reduce}: {} MiB more", more / MIB);
            }
        }
    }
    drop(memory);

    // One float that stands for 8 GiB of updates, 128 rows of 2^24, to 256 rows by a u8 index.
    let (rows, width) = (128, 1 << 24);
    let one = [7.0f32];
    let layout = Layout::new(DType::F32, &[rows, width], &[0, 0]).unwrap();
    // SAFETY: every element of the expanded view is the one float.
    let source = unsafe { DynView::from_raw_parts(one.as_ptr().cast(), layout).unwrap() };
    assert_eq!(source.len() * 4, 8 * GIB);
    let index: Vec<u8> = (0..rows).map(|i| (i % 2 * 255) as u8).collect();
    let columns = width / 256;
    let index = strew::TensorView::from(&index).into_dyn();
    let shape = [256, columns];
    let output = 256 * columns * 4;
    let more = grown(|| {
        // The window of 2^24 floats is 256 windows of the destination's width, one per batch.
        let index = index.insert_axis(1).broadcast_to(&[rows, 256]).unwrap();
        let source = source.narrow(1, 0, columns).unwrap();
        let source = source
            .insert_axis(1)
            .broadcast_to(&[rows, 256, columns])
            .unwrap();
        let destinations =
            Destinations::rows(&shape, "index", &[index], &[0], None, strew::Bounds::STRICT)
                .unwrap();
        let target = Target::New {
            dtype: DType::F32,
            start: Start::Zero,
        };
        let reduction = Reduction::into_self(Combine::Sum);
        let made = Scatter::new(destinations, reduction, "updates", source, target)
            .and_then(Scatter::run)
            .unwrap();
        let sums = made.tensor.unwrap().typed::<f32>().unwrap();
        let row = |r: usize| &sums.as_slice()[r * columns..(r + 1) * columns];
        let expected = (rows / 2 * 256) as f32 * 7.0;
        assert!(row(0).iter().chain(row(255)).all(|&s| s == expected));
        assert!(row(1).iter().all(|&s| s == 0.0));
    });
    assert!(more < output + 16 * MIB, "{} MiB more", more / MIB);
}
