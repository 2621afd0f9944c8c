#!/usr/bin/env python3
"""Starting points for the fuzzers: make_seeds.py FOLDER. Small real files of each kind, from the tests and the example, and
dictionaries of the words of HLO text and of StableHLO. Protobuf modules need jaxlib; without it that fuzzer starts from nothing."""
import gzip
import json
import os
import pathlib
import re
import struct
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LARGEST = 12_000  # bytes: libFuzzer gets nowhere on large files
ATTRIBUTES = """dimensions to_apply condition body calls branch_computations true_computation false_computation slice padding
dynamic_slice_sizes lhs_contracting_dims rhs_contracting_dims lhs_batch_dims rhs_batch_dims window size stride pad lhs_dilate
rhs_dilate rhs_reversal dim_labels feature_group_count batch_group_count offset_dims collapsed_slice_dims start_index_map
operand_batching_dims start_indices_batching_dims index_vector_dim slice_sizes indices_are_sorted update_window_dims
inserted_window_dims scatter_dims_to_operand_dims input_batching_dims scatter_indices_batching_dims unique_indices is_stable
iota_dimension direction type index kind custom_call_target api_version custom_call_has_side_effect output_to_operand_aliasing
replica_groups source_target_pairs channel_id use_global_device_ids sharding metadata op_name source_file source_line
stack_frame_id frontend_attributes backend_config control-predecessors exponent_bits mantissa_bits fft_type fft_length algorithm
distribution epsilon feature_index lower left_side unit_diagonal transpose_a delta k largest select scatter is_scheduled
num_partitions replica_count input_output_alias buffer_donor entry_computation_layout execution_thread""".split()
MARKS = ["HloModule", "ENTRY", "ROOT", "FileNames", "FunctionNames", "FileLocations", "StackFrames", "may-alias", "must-alias",
         "{...}", "<=[8]", "T(1,0)", "{1,0:T(8,128)S(1)}", "mesh['a'=2]", "last_tile_dim_replicate", "devices=[2,1]0,1", "->", "<=4",
         "b01f_01io->b01f", "1_1_1x0_0", "[0:4:2]", "nan", "-inf", "9223372036854775807", "-1", "/*index=5*/", "kLoop", "token[]"]


def definitions(name, row):
    return re.findall(row, (ROOT / "src" / "ir" / name).read_text())


def texts():
    """(name, text) of small HLO programs and of XLA's reports."""
    for path in sorted((ROOT / "tests" / "text").rglob("*.hlo")):
        yield "_".join(path.relative_to(ROOT / "tests" / "text").parts), path.read_text(errors="replace")
    for path in sorted((ROOT / "examples").rglob("*.txt.gz")) + sorted((ROOT / "tests" / "data").rglob("*.txt")):
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield path.stem, raw.decode(errors="replace")


def write_stablehlo(target, folder):
    """The texts of the tests, and the words in them."""
    words = set()
    for path in sorted((ROOT / "tests" / "text").rglob("*.mlir")):
        text = re.sub(r"^//.*\n?", "", path.read_text(), flags=re.M)
        (folder / path.name).write_text(cut(text))
        words.update(re.findall(r'"?[a-z_]+\.[a-z_0-9]+"?|#\w+(?:[.<]\w+)*|tensor<\w+>|[a-z_]+ = |[-<{(]+|[})>]+', text))
    quoted = (word.replace("\\", "\\\\").replace('"', '\\"') for word in sorted(words))
    (target / "stablehlo.dict").write_text("".join(f'"{word}"\n' for word in quoted if len(word) < 60))


def cut(text):
    return text[: text.rfind("\n", 0, LARGEST) + 1] if len(text) > LARGEST else text


def safetensors(dtype, shape, data):
    header = json.dumps({"__metadata__": {"rtol": "1e-3"}, "arg0": {"dtype": dtype, "shape": shape, "data_offsets": [0, len(data)]}})
    header += " " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header.encode() + data


def main():
    target = pathlib.Path(sys.argv[1])
    folders = {name: target / name for name in ("hlo_text", "stablehlo_text", "bytecode", "proto", "any_input", "dump_reports", "safetensors", "program")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    write_stablehlo(target, folders["stablehlo_text"])
    programs = []
    for name, text in texts():
        if any(word in name for word in ("buffer-assignment", "live-range", "memory-usage")):
            (folders["dump_reports"] / name).write_text(cut(text))
        elif len(text) <= LARGEST:
            (folders["hlo_text"] / name).write_text(text)
            programs.append((name, text))
    for name, text in programs[::7]:
        (folders["any_input"] / name).write_text(text)
        (folders["any_input"] / (name + ".gz")).write_bytes(gzip.compress(text.encode()))
    for dtype, shape, data in (("F32", [2, 3], bytes(24)), ("BOOL", [3], b"\0\1\1"), ("C128", [], bytes(16)), ("I8", [0], b"")):
        (folders["safetensors"] / dtype).write_bytes(safetensors(dtype, shape, data))
    for path in sorted((ROOT / "tests" / "data" / "bytecode").iterdir()):
        if path.suffix != ".mlir":
            (folders["bytecode"] / path.name).write_bytes(path.read_bytes())
    for seed in range(32):
        (folders["program"] / str(seed)).write_bytes(bytes((seed * 37 + k * 101) % 256 for k in range(8 + 2 * seed)))
    try:
        import jaxlib._hlo as hlo
        for name, text in programs:
            if "// ERROR:" in text:
                continue
            child = os.fork()  # a program that XLA's own parser doesn't survive must not end the others
            if child == 0:
                try:
                    raw = hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
                    (folders["proto"] / (name + ".pb")).write_bytes(raw)
                    (folders["any_input"] / (name + ".pb.gz")).write_bytes(gzip.compress(raw))
                finally:
                    os._exit(0)
            os.waitpid(child, 0)
    except ImportError as error:
        print(f"no protobuf modules to start from: {error}")
    words = definitions("opcodes.def", r'OP\(\w+, "([^"]+)"') + definitions("types.def", r'TYPE\(\w+, "([^"]+)"')
    words += [word + "=" for word in ATTRIBUTES] + MARKS
    quoted = [word.replace("\\", "\\\\").replace('"', '\\"') for word in words]
    (target / "hlo.dict").write_text("".join(f'"{word}"\n' for word in quoted))
    print(", ".join(f"{name} {len(list(folder.iterdir()))}" for name, folder in folders.items()))


if __name__ == "__main__":
    main()
