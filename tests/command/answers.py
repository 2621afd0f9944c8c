#!/usr/bin/env python3
"""What goes in and comes out by name: arguments by number or by tree path, from safetensors and .npz; results named by path,
and what differs between them; JSON that answers on refusal, too, and is as docs/schema says. --control: each check must
notice a command without that (rude.py).

  answers.py build/lowtide [NAME...] [--control]
"""
import array
import json
import os
import sys
import zipfile

from command import SMALL, attention, read, require, run_checks

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = """HloModule jit_step, input_output_alias={ {1}: (0, {}, may-alias) }
ENTRY main {
  w = f32[2,3] parameter(0), metadata={op_name="params[\\'layer\\'][\\'w\\']"}
  b = f32[3] parameter(1), metadata={op_name="params[\\'layer\\'][\\'b\\']"}
  x = f32[4,2] parameter(2), metadata={op_name="batch"}
  n = s32[] parameter(3), metadata={op_name="opt_state[0].count"}
  y = f32[4,3] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  bb = f32[4,3] broadcast(b), dimensions={1}
  f = f32[] convert(n)
  fb = f32[4,3] broadcast(f), dimensions={}
  z = f32[4,3] add(y, bb)
  zf = f32[4,3] add(z, fb), metadata={op_name="jit(step)/layer/add"}
  w2 = f32[2,3] add(w, w)
  ROOT t = (f32[4,3], f32[2,3]) tuple(zf, w2)
}
"""
NAMED = """module @jit_f {
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> (tensor<4xf32> {jax.result_info = "result['loss']"}) {
    %0 = stablehlo.sine %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""
W, B, X = [1, 2, 3, 4, 5, 6], [10, 20, 30], [1, 0, 0, 1, 1, 1, 2, 2]


def npy(dims, values, letter="f", big=False, columns=False, version=1):
    """An array as numpy writes it."""
    if columns and len(dims) == 2:
        values = [values[r * dims[1] + c] for c in range(dims[1]) for r in range(dims[0])]
    data = array.array(letter, values)
    if big != (sys.byteorder == "big"):
        data.byteswap()
    kind = {"f": "f4", "i": "i4"}[letter]
    shape = "(" + "".join(f"{d}," for d in dims) + ")" if len(dims) < 2 else str(tuple(dims))
    header = f"{{'descr': '{'>' if big else '<'}{kind}', 'fortran_order': {columns}, 'shape': {shape}, }}".encode()
    width = 2 if version == 1 else 4
    header += b" " * (63 - (len(header) + 8 + width) % 64) + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + len(header).to_bytes(width, "little") + header + data.tobytes()


def npz(path, packed=False, **members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED) as archive:
        for name, content in members.items():
            with archive.open(name + ".npy", "w", force_zip64=True) as member:  # as numpy does
                member.write(content)
    return path


def positional(lowtide):
    """Arguments by path, in every form; .npz in every form."""
    at, call = lowtide.at, lowtide.call
    program = at("tree.hlo", TREE)
    w, b, x, n = npy([2, 3], W), npy([3], B), npy([4, 2], X), npy([], [7], "i")
    inputs = {"params/layer/w": w, "params['layer']['b']": b, "batch": x, "opt_state[0].count": n}
    by_path = npz(at("path.npz"), **inputs)
    results = at("results")
    code, _, error = call("run", program, "--inputs", by_path, "--outputs", results)
    require(code == 0, f"inputs by path: exit {code} {error}")
    columns, swapped = npy([2, 3], W, columns=True), npy([2, 3], W, big=True)
    files = {
        "the ends of paths": npz(at("1.npz"), **{"w": w, "layer/b": b, "batch": x, "count": n}),
        "numbers": npz(at("2.npz"), arg0=w, arg1=b, arg2=x, arg3=n),
        "numpy's numbers": npz(at("3.npz"), arr_0=w, arr_1=b, arr_2=x, arr_3=n),
        "numbers with a dash": npz(at("4.npz"), arg_0=w, arg_1=b, arg_2=x, arg_3=n),
        "packed": npz(at("5.npz"), packed=True, **inputs),
        "column-major": npz(at("6.npz"), arg0=columns, arg1=b, arg2=x, arg3=n),
        "big-endian": npz(at("7.npz"), arg0=swapped, arg1=npy([3], B, big=True), arg2=x, arg3=npy([], [7], "i", big=True)),
        "a long header": npz(at("8.npz"), packed=True, arg0=npy([2, 3], W, version=2), arg1=b, arg2=x, arg3=n)}
    for what, file in files.items():
        for how in ((), ("--interpret",)):
            code, _, error = call("run", program, "--inputs", file, "--expect", results, *how)
            require(code == 0, f"inputs with {what} {how}: exit {code} {error}")
    wrong = {
        "did you mean params['layer']['w']": npz(at("w1.npz"), **{**inputs, "params/layer/v": w}),
        "expected one or the other": npz(at("w2.npz"), arg0=w, arg1=b, batch=x, arg3=n),
        "expected the whole path": npz(at("w3.npz"), w=w, b=b, layer=n),
        "no tensor arg3 (opt_state[0].count)": npz(at("w4.npz"), w=w, b=b, batch=x),
        "are both params['layer']['w']": npz(at("w5.npz"), **{**inputs, "layer/w": w}),
        "expected s32[]": npz(at("w6.npz"), arg0=w, arg1=b, arg2=x, arg3=npy([], [7])),
        "type |O": npz(at("w7.npz"), arg0=w.replace(b"'<f4'", b"'|O' "), arg1=b, arg2=x, arg3=n)}
    at("tied.hlo", TREE.replace("opt_state[0].count", "layer").replace('"batch"', "\"other[\\'w\\']\""))
    for words, file in wrong.items():
        on = at("tied.hlo") if "whole path" in words else program
        code, _, error = call("run", on, "--inputs", file)
        require(code == 3 and words in error, f"{words!r} is wanted: exit {code} {error}")
    # Archives that are damaged: each byte of a small one, each length of it. No crash, no other results in silence.
    packed = open(files["packed"], "rb").read()
    for k in range(0, len(packed), 7):
        damaged = packed[:k] + bytes([packed[k] ^ 0x41]) + packed[k + 1:]
        code, _, error = call("run", program, "--inputs", at("damaged.npz", damaged), "--expect", results)
        require(code in (0, 3), f"byte {k} of an archive is damaged: exit {code} {error}")
        code, _, error = call("run", program, "--inputs", at("damaged.npz", packed[:k]))
        require(code == 3, f"an archive of {k} bytes: exit {code} {error}")


def nameless(lowtide):
    """Results by path, and what differs in which of them."""
    at, call = lowtide.at, lowtide.call
    program, results = at("tree.hlo", TREE), at("results")
    require(call("run", program, "--outputs", results)[0] == 0, "run --outputs")
    with open(results, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
    require(header["__metadata__"] == {"out0": "layer/add", "out1": "params['layer']['w']"}, f"names in --outputs: {header['__metadata__']}")
    same = call("run", program, "--inputs", npz(at("in.npz"), arg0=npy([2, 3], W), arg1=npy([3], B), arg2=npy([4, 2], X),
                                                arg3=npy([], [7], "i")), "--outputs", at("known"))
    require(same[0] == 0, "run --inputs")
    z = [X[2 * r] * W[c] + X[2 * r + 1] * W[3 + c] + B[c] + 7 for r in range(4) for c in range(3)]
    w2 = [2 * v for v in W]
    expected = npz(at("expected.npz"), **{"layer/add": npy([4, 3], z), "params/layer/w": npy([2, 3], w2)})
    code, ran, error = call("run", program, "--inputs", at("in.npz"), "--expect", expected)
    require(code == 0 and ran["differences"] == [], f"results by path: exit {code} {error}")
    z[5] += 1.5
    z[7] += 0.25
    w2[0] = 0
    wrong = npz(at("wrong.npz"), **{"layer/add": npy([4, 3], z), "params/layer/w": npy([2, 3], w2)})
    code, ran, error = call("run", program, "--inputs", at("in.npz"), "--expect", wrong)
    require(code == 5 and ran["mismatches"] == 3, f"three elements differ: exit {code} {ran.get('mismatches')}")
    first, second = ran["differences"]
    require((first.get("path"), first["mismatches"], first["elements"], first["max_abs_error"]) == ("layer/add", 2, 12, 1.5), f"{first}")
    require("{1,2}" in first["first"] and "expected" in first["first"] and first["max_ulp"] > 0, f"{first}")
    require((second.get("path"), second["mismatches"], second["elements"]) == ("params['layer']['w']", 1, 6), f"{second}")
    for words in ("out0 (layer/add) f32[4,3]: 2 of 12 elements, largest error 1.5", "out1 (params['layer']['w']) f32[2,3]: 1 of 6"):
        require(words in error, f"{words!r} is missing: {error}")
    code, said, error = lowtide.run("run", at("named.mlir", NAMED))
    require(code == 0 and "result['loss']" in said, f"JAX's names of results: {said} {error}")


def is_valid(value, schema, root, place=""):
    """Empty, or the first way in which `value` isn't as a JSON schema says; of the words of the format those that ours uses."""
    if "$ref" in schema:
        return is_valid(value, root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root, place)
    if "const" in schema and value != schema["const"]:
        return f"{place}: {value}, not {schema['const']}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{place}: {value}, none of {schema['enum']}"
    kinds = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool, "null": type(None)}
    wanted = schema.get("type", [])
    wanted = [wanted] if isinstance(wanted, str) else wanted
    fits = [k for k in wanted if isinstance(value, kinds[k]) and not (isinstance(value, bool) and k in ("integer", "number"))]
    if wanted and not fits:
        return f"{place}: {value!r} is no {wanted}"
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                return f"{place}: no {key}"
        for key, one in value.items():
            known = schema.get("properties", {})
            if key not in known and schema.get("additionalProperties") is False:
                return f"{place}.{key}: a key that the schema doesn't have"
            fault = is_valid(one, known.get(key, {}), root, f"{place}.{key}")
            if fault:
                return fault
    for k, one in enumerate(value if isinstance(value, list) else []):
        fault = is_valid(one, schema.get("items", {}), root, f"{place}[{k}]")
        if fault:
            return fault
    return ""


def answers(lowtide):
    """(command words, exit code, what must stand in the answer), of every kind of answer."""
    at = lowtide.at
    small, scores = at("small.hlo", SMALL), at("scores.hlo", attention(512, 32))
    foreign = at("foreign.hlo", SMALL.replace("sine(x)", 'custom-call(x), custom_call_target="te_norm"'))
    csv, broken = at("buffers.csv", "id,lower,upper,size\na,0,2,4\nb,1,3,4\n"), at("broken.hlo", SMALL.replace("sine(x)", "sine(y)"))
    results, other = at("results"), at("other.npz")
    lowtide.run("run", small, "--outputs", results)
    npz(other, out0=npy([1000], range(1000)))
    return [(("explain", scores), 0, "at_peak"), (("explain", foreign), 0, "refusal"), (("explain", broken), 3, "place"),
            (("fit", scores, "--check"), 0, "check"), (("fit", scores, "--limit", "1"), 4, "error"), (("fit", foreign), 6, "refusal"),
            (("fit", scores, "--for", "xla"), 0, "note"), (("fit", broken), 3, "place"), (("fit", scores, "--limit", "much"), 2, "error"),
            (("run", scores), 0, "run_seconds"), (("run", small, "--expect", results), 0, "mismatches"),
            (("run", small, "--expect", other), 5, "differences"), (("run", scores, "--limit", "1"), 4, "best_peak_bytes"),
            (("run", foreign), 6, "place"), (("run", broken), 3, "place"), (("run", at("nowhere")), 3, "error"),
            (("run", small, "--inputs", at("nowhere")), 3, "peak_bytes"), (("run", small, "--interpret"), 0, "run_seconds"),
            (("run", small, "--lmit", "1"), 2, "error"), (("check", scores, "--max-peak", "1G"), 0, "met"),
            (("check", scores, "--max-peak", "1"), 4, "error"), (("diff", scores, small), 0, "differences"),
            (("diff", small, scores, "--fail-above", "1"), 4, "error"), (("plan", csv), 0, "buffers"),
            (("plan", csv, "--capacity", "3"), 4, "error"),
            (("fit", scores, "--max-batch", "0:0", "--limit", "1MiB"), 0, "largest_extent"),
            (("fit", scores, "--max-batch", "0:0", "--limit", "1"), 4, "next_extent"),
            (("fit", scores, "--max-batch", "0:9", "--limit", "1"), 2, "error")]


def mute(lowtide):
    """JSON on refusal as well, with the sentence, the exit code and the place."""
    for words, wanted, key in answers(lowtide):
        code, said, error = lowtide.call(*words)
        require(code == wanted and key in said, f"{words}: exit {code}, keys {list(said)} {error}")
        if wanted == 0:
            require("error" not in said and "exit_code" not in said, f"{words}: an error where there is none")
            continue
        require(said.get("exit_code") == wanted and said.get("error", "?") in error, f"{words}: {said.get('error')!r}, on stderr {error!r}")
        if "place" in said:
            require(f"{said['place']['file']}:{said['place']['line']}:{said['place']['column']}: " in error, f"{words}: {said['place']}")


def chatty(lowtide):
    """All answers are as the schema says, and the page names every key of the commands."""
    schema = json.loads(read(os.path.join(HERE, "../../docs/schema/lowtide.schema.json")))
    for words, wanted, _ in answers(lowtide):
        said = lowtide.call(*words)[1]
        usual = "max_batch" if "--max-batch" in words else words[0]
        kind = usual if is_valid(said, schema["$defs"]["fault"], schema) else "fault"
        fault = is_valid(said, schema["$defs"][kind], schema)
        require(not fault, f"{words}: {fault}")
        require(wanted != 0 or kind == usual, f"{words}: an answer is that of a fault")


CHECKS = [positional, nameless, mute, chatty]

if __name__ == "__main__":
    sys.exit(run_checks(CHECKS))
