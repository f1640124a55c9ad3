//! Every operator, end to end: from files of each format, to files of each format.

mod common;

use common::{Folder, parse_npy, raw_npy, read_npy};
use half::{bf16, f16};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::io::{Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

#[test]
fn mxnet_scatter_nd_from_npy() {
    let folder = Folder::new();
    folder.npy("data.npy", &[3], &[2.0f32, 3.0, 0.0]);
    folder.npy("indices.npy", &[2, 3], &[1i64, 1, 0, 0, 1, 0]);
    folder
        .strew("run mxnet.scatter_nd --data data.npy --indices indices.npy --shape 2,2 -o out.npy")
        .ok();
    assert_eq!(
        read_npy::<f32>(&folder.path("out.npy")),
        (vec![2, 2], vec![0.0, 0.0, 2.0, 3.0])
    );
}

#[test]
fn openvino_slice_scatter_takes_lists_and_tensors_of_integers() {
    let folder = Folder::new();
    folder.npy("data.npy", &[6], &[0i32, 1, 2, 3, 4, 5]);
    folder.npy("updates.npy", &[2], &[10i32, 30]);
    folder.npy("stop.npy", &[1], &[-6i8]);
    let shown = folder
        .strew(
            "run openvino.slice_scatter --data data.npy --updates updates.npy --start -2 \
             --stop stop.npy --step -3 --axes None",
        )
        .ok();
    // From 4 down to 1: the two cells 4 and 1.
    assert_eq!(shown, "out: int32 [6]\n[ 0, 30,  2,  3, 10,  5]\n");
    let shown = folder
        .strew(
            "run openvino.slice_scatter --data data.npy --updates data.npy --start [] --stop [] --step []",
        )
        .ok();
    assert_eq!(shown, "out: int32 [6]\n[0, 1, 2, 3, 4, 5]\n");
}

#[test]
fn torch_scatter_reduce_from_a_safetensors_file() {
    let folder = Folder::new();
    let bytes = |values: &[f32]| {
        values
            .iter()
            .flat_map(|v| v.to_le_bytes())
            .collect::<Vec<u8>>()
    };
    let index: Vec<u8> = [0i64, 1, 0, 1, 2, 1]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let (input, src) = (bytes(&[1., 2., 3., 4.]), bytes(&[1., 2., 3., 4., 5., 6.]));
    let tensors = [
        (
            "input",
            TensorView::new(Dtype::F32, vec![4], &input).unwrap(),
        ),
        ("src", TensorView::new(Dtype::F32, vec![6], &src).unwrap()),
        (
            "index",
            TensorView::new(Dtype::I64, vec![6], &index).unwrap(),
        ),
    ];
    folder.write(
        "all.safetensors",
        safetensors::serialize(tensors, None).unwrap(),
    );
    let call = "run torch.scatter_reduce --input all.safetensors:input --dim 0 \
                --index all.safetensors:index --src all.safetensors:src --reduce sum";
    folder.strew(&format!("{call} -o with.npy")).ok();
    folder
        .strew(&format!("{call} --include-self false -o without.npy"))
        .ok();
    folder
        .strew(&format!("{call} --include_self False -o again.npy"))
        .ok();
    let with = read_npy::<f32>(&folder.path("with.npy")).1;
    assert_eq!(with, [5.0, 14.0, 8.0, 4.0]);
    let without = read_npy::<f32>(&folder.path("without.npy")).1;
    assert_eq!(without, [4.0, 12.0, 5.0, 4.0]);
    assert_eq!(folder.read("without.npy"), folder.read("again.npy"));
}

#[test]
fn operators_in_place_change_a_copy() {
    let folder = Folder::new();
    folder.npy("x.npy", &[2, 3], &[1.0f32, 1.0, 1.0, 2.0, 2.0, 2.0]);
    let before = folder.read("x.npy");
    folder
        .strew(
            "run mindspore.scatter_mul --input_x x.npy --indices [0,1,0]:int32 \
             --updates [[2,2,2],[3,3,3],[5,5,5]]:float32 -o out.npy",
        )
        .ok();
    assert_eq!(
        read_npy::<f32>(&folder.path("out.npy")),
        (vec![2, 3], vec![10.0, 10.0, 10.0, 6.0, 6.0, 6.0])
    );
    folder
        .strew(
            "run torch.scatter_reduce_ --input x.npy --dim -1 --index [[0,0],[2,1]] \
             --src [[7,3],[4,9]]:float32 --reduce amax -o out2.npy",
        )
        .ok();
    assert_eq!(
        read_npy::<f32>(&folder.path("out2.npy")).1,
        [7.0, 1.0, 1.0, 2.0, 9.0, 4.0]
    );
    folder
        .strew(
            "run torch_scatter.scatter --src [[1,2,4]]:float32 --index [0,1,0] --out [[10,20]]:float32 -o out3.npy",
        )
        .ok();
    assert_eq!(
        read_npy::<f32>(&folder.path("out3.npy")),
        (vec![1, 2], vec![15.0, 22.0])
    );
    assert_eq!(folder.read("x.npy"), before);
}

#[test]
fn torch_scatter_and_its_second_outputs() {
    let folder = Folder::new();
    let call = "run torch_scatter.scatter_min --src [3,1,2,1]:float32 --index [0,2,0,2]";
    folder
        .strew(&format!("{call} -o out.npy --output-arg arg.npy"))
        .ok();
    assert_eq!(read_npy::<f32>(&folder.path("out.npy")).1, [2.0, 0.0, 1.0]);
    assert_eq!(read_npy::<i64>(&folder.path("arg.npy")).1, [2, 4, 1]);

    folder.strew(&format!("{call} -o both.npz")).ok();
    let mut archive =
        ZipArchive::new(std::fs::File::open(folder.path("both.npz")).unwrap()).unwrap();
    let mut member = |name: &str| {
        let mut bytes = Vec::new();
        archive
            .by_name(name)
            .unwrap()
            .read_to_end(&mut bytes)
            .unwrap();
        bytes
    };
    assert_eq!(parse_npy::<f32>(&member("out.npy")).1, [2.0, 0.0, 1.0]);
    assert_eq!(parse_npy::<i64>(&member("arg.npy")).1, [2, 4, 1]);

    folder.strew(&format!("{call} -o both.safetensors")).ok();
    let bytes = folder.read("both.safetensors");
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(tensors.tensor("out").unwrap().shape(), [3]);
    let arg = tensors.tensor("arg").unwrap();
    assert_eq!(arg.dtype(), Dtype::I64);
    assert_eq!(arg.data(), [2i64, 4, 1].map(i64::to_le_bytes).concat());

    // A .npy file holds one array; the other is asked for by name or left out.
    folder.strew(&format!("{call} -o one.npy")).ok();
    assert_eq!(folder.read("one.npy"), folder.read("out.npy"));
    let shown = folder.strew(call).ok();
    assert_eq!(
        shown,
        "out: float32 [3]\n[2.0, 0.0, 1.0]\narg: int64 [3]\n[2, 4, 1]\n"
    );
}

#[test]
fn every_operator_of_torch_scatter_runs() {
    let folder = Folder::new();
    let cases = [
        ("scatter_sum", "[4, 3, 0]"),
        ("scatter_add", "[4, 3, 0]"),
        ("scatter_mul", "[3, 3, 1]"),
        ("scatter_mean", "[2, 3, 0]"),
        ("scatter_min", "[1, 3, 0]"),
        ("scatter_max", "[3, 3, 0]"),
        ("scatter --reduce mean", "[2, 3, 0]"),
    ];
    for (name, wanted) in cases {
        let shown = folder
            .strew(&format!(
                "run torch_scatter.{name} --src [1,3,3] --index [0,1,0] --dim_size 3"
            ))
            .ok();
        assert_eq!(shown.lines().nth(1), Some(wanted), "{name}");
    }
}

#[test]
fn segments_and_gathers_run() {
    let folder = Folder::new();
    for (call, wanted) in [
        (
            "segment_coo --src [1,3,3] --index [0,0,2] --reduce mean",
            "[2, 0, 3]",
        ),
        (
            "segment_sum_coo --src [1,3,3] --index [0,0,1] --dim_size 3",
            "[4, 3, 0]",
        ),
        (
            "segment_max_csr --src [1,3,3] --indptr [0,2,2,3]",
            "[3, 0, 3]",
        ),
        ("segment_csr --src [1,3,3] --indptr [0,2,2,3]", "[4, 0, 3]"),
        ("gather_coo --src [1,3] --index [0,0,1]", "[1, 1, 3]"),
        ("gather_csr --src [1,3] --indptr [0,2,3]", "[1, 1, 3]"),
    ] {
        let shown = folder.strew(&format!("run torch_scatter.{call}")).ok();
        assert_eq!(shown.lines().nth(1), Some(wanted), "{call}");
    }
    let text = folder
        .strew("explain torch_scatter.segment_csr --src [1,3,3] --indptr [0,2,3] --no-measure")
        .ok();
    for part in ["strategy ", "runs\n", "reduction ", "sum\n"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn the_printed_result_is_a_literal_again() {
    let folder = Folder::new();
    let call = |data: &str| {
        let line = format!("run mxnet.scatter_nd --data {data} --indices [[0,1]] --shape 2,3");
        let shown = folder.strew(&line).ok();
        shown.split_once('\n').unwrap().1.replace([' ', '\n'], "")
    };
    let first = call("[[1.5,nan,-inf],[1e30,-0.0,3]]");
    assert_eq!(first, "[[1.5,NaN,-inf],[1e30,-0.0,3.0]]");
    assert_eq!(call(&first), first);
}

#[test]
fn half_precision_and_bfloat16() {
    let folder = Folder::new();
    let halves = [half_of(1.5), half_of(2.25), half_of(1000.0)];
    folder.npy("half.npy", &[3], &halves);
    folder
        .strew("run torch_scatter.scatter --src half.npy --index [0,0,1] -o out.npy")
        .ok();
    let found = read_npy::<f16>(&folder.path("out.npy"));
    assert_eq!(found, (vec![2], vec![half_of(3.75), half_of(1000.0)]));

    // bfloat16 has no name in .npy: two bytes without a type, or unsigned integers.
    let data: Vec<u8> = [1.5f32, 2.5, 8.0]
        .iter()
        .flat_map(|&v| bf16::from_f32(v).to_le_bytes())
        .collect();
    for (name, descr) in [
        ("void.npy", "<V2"),
        ("bare.npy", "|V2"),
        ("uint.npy", "<u2"),
    ] {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': (3,), }}");
        folder.write(name, raw_npy(&header, &data));
        let call = format!("run torch_scatter.scatter --src {name}:bf16 --index [0,0,1]");
        let shown = folder.strew(&call).ok();
        assert_eq!(shown, "out: bfloat16 [2]\n[4.0, 8.0]\n", "{name}");
        folder.strew(&format!("{call} -o sum.npy --force")).ok();
        let written = folder.read("sum.npy");
        let header = String::from_utf8_lossy(&written[10..64]).into_owned();
        assert!(header.contains("'descr': '<V2'"), "{header}");
        let sums = [bf16::from_f32(4.0), bf16::from_f32(8.0)].map(bf16::to_le_bytes);
        assert_eq!(written[written.len() - 4..], sums.concat());
    }
    let complaint = folder
        .strew("run torch_scatter.scatter --src void.npy --index [0,0,1]")
        .refused();
    assert!(
        complaint.contains("void.npy") && complaint.contains(":bf16"),
        "{complaint}"
    );
    folder.npy("f.npy", &[3], &[1.0f32, 2.0, 3.0]);
    let complaint = folder
        .strew("run torch_scatter.scatter --src f.npy:bf16 --index [0,0,1]")
        .refused();
    assert!(
        complaint.contains("'<f4' cannot be read as bfloat16"),
        "{complaint}"
    );
    // Named, in .safetensors.
    folder
        .strew("run torch_scatter.scatter --src void.npy:bf16 --index [0,0,1] -o sum.safetensors")
        .ok();
    let bytes = folder.read("sum.safetensors");
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(tensors.tensor("out").unwrap().dtype(), Dtype::BF16);
    let shown = folder
        .strew("run torch_scatter.scatter --src sum.safetensors:out --index [1,0]")
        .ok();
    assert_eq!(shown, "out: bfloat16 [2]\n[8.0, 4.0]\n");
}

fn half_of(value: f64) -> f16 {
    f16::from_f64(value)
}

#[test]
fn fortran_order_is_read_where_it_lies_and_copied_to_be_changed() {
    let folder = Folder::new();
    // The matrix [[1, 2, 3], [4, 5, 6]], column by column.
    folder.npy_fortran("x.npy", &[2, 3], &[1i64, 4, 2, 5, 3, 6]);
    let shown = folder
        .strew("run torch_scatter.scatter --src x.npy --index [0,1,0] --dim 1")
        .ok();
    assert_eq!(shown, "out: int64 [2, 2]\n[[ 4,  2],\n [10,  5]]\n");
    folder
        .strew(
            "run mindspore.scatter_mul --input_x x.npy --indices [1] --updates [[2,3,4]] -o y.npy",
        )
        .ok();
    assert_eq!(
        read_npy::<i64>(&folder.path("y.npy")),
        (vec![2, 3], vec![1, 2, 3, 8, 15, 24])
    );
    // Three axes, so that a mere transposition of two would show.
    let values: Vec<i32> = (0..24).collect();
    let stored: Vec<i32> = (0..4)
        .flat_map(|k| (0..3).flat_map(move |j| (0..2).map(move |i| (i * 3 + j) * 4 + k)))
        .collect();
    folder.npy("c.npy", &[2, 3, 4], &values);
    folder.npy_fortran("f.npy", &[2, 3, 4], &stored);
    for call in [
        "torch_scatter.scatter --index [0,1,0] --dim 1 --src",
        "mindspore.scatter_mul --indices [] --updates []:int32 --input_x",
        "mindspore.scatter_mul --indices 1:int32 --updates c2.npy --input_x",
    ] {
        folder.npy("c2.npy", &[3, 4], &values[1..13]);
        let call = call.replace(
            "--indices [] --updates []:int32",
            "--indices 0 --updates c2.npy",
        );
        folder
            .strew(&format!("run {call} c.npy -o 1.npy --force"))
            .ok();
        folder
            .strew(&format!("run {call} f.npy -o 2.npy --force"))
            .ok();
        assert_eq!(folder.read("1.npy"), folder.read("2.npy"), "{call}");
    }
}

#[test]
fn big_endian_files_are_read() {
    let folder = Folder::new();
    let data: Vec<u8> = [1i32, -2, 300]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    folder.write(
        "be.npy",
        raw_npy(
            "{'descr': '>i4', 'fortran_order': False, 'shape': (3,), }",
            &data,
        ),
    );
    let complex: Vec<u8> = [1.0f32, -2.0]
        .iter()
        .flat_map(|v| v.to_be_bytes())
        .collect();
    folder.write(
        "cplx.npy",
        raw_npy(
            "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }",
            &complex,
        ),
    );
    let shown = folder
        .strew("run torch_scatter.scatter --src be.npy --index [0,0,1]")
        .ok();
    assert_eq!(shown, "out: int32 [2]\n[ -1, 300]\n");
    let shown = folder
        .strew("run torch_scatter.scatter --src cplx.npy --index [0]")
        .ok();
    assert_eq!(shown, "out: complex64 [1]\n[1-2j]\n");
}

#[test]
fn members_of_archives_stored_and_deflated() {
    let folder = Folder::new();
    let src = common::npy_bytes(npyz::Order::C, &[2000], &[1.0f32; 2000]);
    let index: Vec<i64> = (0..2000).map(|n| n % 3).collect();
    let index = common::npy_bytes(npyz::Order::C, &[2000], &index);
    let fortran = common::npy_bytes(npyz::Order::Fortran, &[2, 2], &[1i64, 3, 2, 4]);
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let mut archive = ZipWriter::new(std::io::Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default().compression_method(method);
        for (name, bytes) in [("src", &src), ("i:x", &index), ("f", &fortran)] {
            archive.start_file(format!("{name}.npy"), options).unwrap();
            archive.write_all(bytes).unwrap();
        }
        folder.write("a.npz", archive.finish().unwrap().into_inner());
        let shown = folder
            .strew("run torch_scatter.scatter --src a.npz:src --index a.npz:i:x.npy")
            .ok();
        assert_eq!(
            shown, "out: float32 [3]\n[667.0, 667.0, 666.0]\n",
            "{method:?}"
        );
        let shown = folder
            .strew("run torch_scatter.scatter --src a.npz:f --index [0,1]")
            .ok();
        assert_eq!(
            shown, "out: int64 [2, 2]\n[[1, 2],\n [3, 4]]\n",
            "{method:?}"
        );
        folder
            .strew("run mindspore.scatter_mul --input_x a.npz:f --indices [1] --updates [[2,3]] -o b.npz --force")
            .ok();
        // A single member needs no name.
        let shown = folder
            .strew("run torch_scatter.scatter --src b.npz --index [0,1]")
            .ok();
        assert_eq!(
            shown, "out: int64 [2, 2]\n[[ 1,  2],\n [ 6, 12]]\n",
            "{method:?}"
        );
        let complaint = folder
            .strew("run torch_scatter.scatter --src a.npz --index [0]")
            .refused();
        assert!(
            complaint.contains("name one of its members") && complaint.contains("i:x"),
            "{complaint}"
        );
        let complaint = folder
            .strew("run torch_scatter.scatter --src a.npz:q --index [0]")
            .refused();
        assert!(complaint.contains("no member 'q'"), "{complaint}");
    }
}

#[test]
fn every_element_type_goes_through_every_format() {
    let folder = Folder::new();
    let types = [
        ("bool", "[true,false]", "[ true, false]"),
        ("int8", "[-1,2]", "[-1,  2]"),
        ("int16", "[-1,2]", "[-1,  2]"),
        ("int32", "[-1,2]", "[-1,  2]"),
        ("int64", "[-1,2]", "[-1,  2]"),
        ("uint8", "[1,255]", "[  1, 255]"),
        ("uint16", "[1,65535]", "[    1, 65535]"),
        ("uint32", "[1,4294967295]", "[         1, 4294967295]"),
        ("uint64", "[1,2]", "[1, 2]"),
        ("float16", "[0.5,-2]", "[ 0.5, -2.0]"),
        ("bfloat16", "[0.5,-2]", "[ 0.5, -2.0]"),
        ("float32", "[0.1,-2]", "[ 0.1, -2.0]"),
        ("float64", "[0.1,-2]", "[ 0.1, -2.0]"),
        ("complex64", "[0.5-1j,-2]", "[0.5-1j,  -2+0j]"),
        ("complex128", "[0.5-1j,-2]", "[0.5-1j,  -2+0j]"),
    ];
    for (dtype, values, shown) in types {
        for (file, place) in [
            ("x.npy", "x.npy"),
            ("x.npz", "x.npz:out"),
            ("x.safetensors", "x.safetensors:out"),
        ] {
            let to_file = format!(
                "run mxnet.scatter_nd --data {values}:{dtype} --indices [[0,1]] --shape 2 --force -o {file}"
            );
            if (dtype, file) == ("complex128", "x.safetensors") {
                let complaint = folder.strew(&to_file).refused();
                assert!(complaint.contains("cannot hold complex128"), "{complaint}");
                assert!(complaint.contains("x.safetensors"), "{complaint}");
                continue;
            }
            folder.strew(&to_file).ok();
            let suffix = match dtype {
                "bfloat16" if file != "x.safetensors" => ":bf16",
                _ => "",
            };
            let again = folder
                .strew(&format!(
                    "run mxnet.scatter_nd --data {place}{suffix} --indices [[0,1]] --shape 2"
                ))
                .ok();
            assert_eq!(again, format!("out: {dtype} [2]\n{shown}\n"), "{file}");
        }
    }
}

#[test]
fn ranks_from_none_to_many_and_empty_arrays() {
    let folder = Folder::new();
    folder.npy("zero.npy", &[], &[7i64]);
    let shown = folder
        .strew("run torch.scatter_reduce --input zero.npy --dim 0 --index 0 --src 5 --reduce sum")
        .ok();
    assert_eq!(shown, "out: int64 []\n12\n");
    folder.npy::<f32>("empty.npy", &[0, 3], &[]);
    folder
        .strew("run torch_scatter.scatter --src empty.npy --index []:int64 --dim 0 --dim_size 2 -o e.npy")
        .ok();
    assert_eq!(
        read_npy::<f32>(&folder.path("e.npy")),
        (vec![2, 3], vec![0.0; 6])
    );
    folder.npy("deep.npy", &[1, 1, 1, 2, 1, 1, 1], &[3i64, 4]);
    let shown = folder
        .strew("run torch_scatter.scatter --src deep.npy --index [0,0] --dim 3")
        .ok();
    assert_eq!(shown, "out: int64 [1, 1, 1, 1, 1, 1, 1]\n[[[[[[[7]]]]]]]\n");
}

#[test]
fn strategies_and_threads_change_nothing() {
    let folder = Folder::new();
    let src: Vec<f32> = (0..5000).map(|n| (n as f32).sin()).collect();
    let index: Vec<i64> = (0..5000).map(|n| n * n % 17).collect();
    folder.npy("src.npy", &[5000], &src);
    folder.npy("index.npy", &[5000], &index);
    let call = "run torch_scatter.scatter --src src.npy --index index.npy -o";
    folder.strew(&format!("{call} out.npy")).ok();
    for (n, more) in [
        "--strategy in-order",
        "--strategy dense-table",
        "--strategy compact-table",
        "--threads 1",
        "--threads 4",
    ]
    .iter()
    .enumerate()
    {
        folder.strew(&format!("{call} {n}.npy {more}")).ok();
        assert_eq!(
            folder.read(&format!("{n}.npy")),
            folder.read("out.npy"),
            "{more}"
        );
    }
    let complaint = folder
        .strew(
            "run torch_scatter.scatter_max --src src.npy --index index.npy --strategy dense-table",
        )
        .refused();
    assert!(complaint.contains("dense-table"), "{complaint}");
}

#[test]
fn large_files_stay_where_they_are() {
    let folder = Folder::new();
    // Two gibibytes that take no room on disk; only the corner that index covers is read.
    let n: u64 = 1 << 31;
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({n},), }}");
    let start = raw_npy(&header, &[5, 7]);
    folder.write("big.npy", &start);
    let file = std::fs::OpenOptions::new()
        .write(true)
        .open(folder.path("big.npy"))
        .unwrap();
    file.set_len(start.len() as u64 - 2 + n).unwrap();
    let call =
        "torch.scatter_reduce --input [1]:uint8 --dim 0 --index [0,0] --src big.npy --reduce sum";
    let shown = folder.strew(&format!("--memory-limit 1M run {call}")).ok();
    assert_eq!(shown, "out: uint8 [1]\n[13]\n");
    // One that must be copied is too large.
    let call =
        "torch.scatter_reduce_ --input big.npy --dim 0 --index [0] --src [1]:uint8 --reduce sum";
    let complaint = folder
        .strew(&format!("--memory-limit 1M run {call}"))
        .refused();
    assert!(
        complaint.contains("--input: ") && complaint.contains("2147483648 bytes"),
        "{complaint}"
    );
}
