#!/usr/bin/env python3
"""The command as it would be without one of its manners: what the checks of manners.py must notice.

  rude.py MANNER build/lowtide ARGUMENTS...
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

OUTPUTS = ("-o", "--output", "--plan", "--html", "--trace", "--outputs")


def pass_on(code, out, err):
    sys.stdout.write(out)
    sys.stderr.write(err)
    sys.exit(code)


def main():
    manner, words = sys.argv[1], sys.argv[2:]
    command = words[1] if len(words) > 1 else ""
    after = None
    if manner == "overwrites":  # writes wherever it is told to
        folder = tempfile.mkdtemp()
        moves = []
        for i, word in enumerate(words):
            if words[i - 1] in OUTPUTS and word != "-" and not (command == "run" and words[i - 1] == "--plan"):
                moves.append((os.path.join(folder, str(i)), word))
                words[i] = moves[-1][0]

        def after():
            for made, place in moves:
                if os.path.exists(made):
                    shutil.copyfile(made, place)
            shutil.rmtree(folder)
    if manner == "largest":  # knows no module but the largest
        words = [re.sub("#.*", "", w) for w in words]
    if manner == "latest":  # knows no stage but the last
        words = [w for i, w in enumerate(words) if w != "--for" and words[i - 1] != "--for"]
    if manner == "positional" and "--inputs" in words:
        place = words.index("--inputs") + 1
        words[place] += ".nowhere"
    if manner == "silent":  # says nothing until it has ended
        done = subprocess.run(words, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, check=False)
        pass_on(done.returncode, done.stdout, done.stderr)
    if manner == "dies":  # keeps nothing when it is asked to end
        child = subprocess.Popen(words, start_new_session=True)

        def kill(*_):
            child.kill()
            os._exit(130)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, kill)
        sys.exit(child.wait())

    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    code, out, err = done.returncode, done.stdout, done.stderr
    if after:
        after()
    if manner == "promises":  # fits what nobody can run
        if command in ("fit", "explain") and code == 6:
            code = 0
        out = "\n".join(line for line in out.split("\n") if "can't be run here" not in line)
        out = re.sub(r' *"runnable": false,\n', ' "runnable": true,\n', out)
    if manner == "curt":  # leaves it to the user what was meant
        err = re.sub("; did you mean [^\n]*", "", err)
    if manner == "mute" and code != 0:  # no answer on refusal
        out = ""
    if manner == "vague":  # how much, but not where
        out = re.sub(r'"differences": \[[^\]]*\],?', "", out)
        err = err.split(";", maxsplit=1)[0] + "\n"
        err = re.sub(r"\n  out[^\n]*", "", err)
    if manner == "nameless":  # results by number alone
        err = re.sub(r" \([^)]*\[[^)]*\)", "", err)
        out = re.sub(r' *"path": [^\n]*\n', "", out)
    if manner == "matchmaker" and command == "diff":  # whatever stands under one scope is one value
        try:
            report = json.loads(out)
            for one in report["differences"]:
                one["change"] = "grew"
            out = json.dumps(report)
        except (ValueError, KeyError):
            pass
    if manner == "chatty":  # a key that nobody documented
        out = out.replace('"schema_version": 1', '"schema_version": 1, "surprise": 1')
    pass_on(code, out, err)


if __name__ == "__main__":
    main()
