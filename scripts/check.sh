#!/usr/bin/env bash
# check.sh [--tidy-all]: format, floors, sizes, words, and clang-tidy. Prints one line a part; exits 1 if any part fails.
# clang-tidy looks at the files changed since the last commit, or at all of them with --tidy-all. Deprecation is left to
# the compiler: GCC 12's own headers use what they deprecate. Files of other builds (fuzzers, tests with jaxlib's headers)
# are left out.
set -uo pipefail
cd "$(dirname "$0")/.."
failed=0
part() {  # part NAME COMMAND...
  local name=$1; shift
  if output=$("$@" 2>&1); then echo "ok      $name"; else echo "FAILED  $name"; echo "$output" | head -40; failed=1; fi
}
sources() { git ls-files --cached --others --exclude-standard '*.cpp' '*.h' | while read -r f; do [[ -f $f ]] && echo "$f"; done; }
format() { sources | xargs clang-format-19 --dry-run -Werror; }
tidy() {
  local files
  if [[ ${1:-} == --tidy-all ]]; then files=$(sources | grep '\.cpp$' | grep -vE '^tests/(fuzz|external)/')
  else files=$(git diff --name-only --diff-filter=d HEAD -- '*.cpp' | grep -vE '^tests/(fuzz|external)/'); fi
  [[ -z $files ]] && return 0
  cmake --preset release -B build-alone -DLOWTIDE_TOGETHER=OFF >/dev/null || return 1  # each file as it stands
  echo "$files" | xargs -P 2 -n 4 clang-tidy-19 -p build-alone --quiet --warnings-as-errors='*' --extra-arg=-Wno-deprecated-declarations 2>&1 | grep -v 'warnings generated'
  return "${PIPESTATUS[1]}"
}
words() {  # neither disabled tests nor promises in the place of code
  ! git grep -nE 'DISABLED_|TODO|FIXME|XXX' -- src tools pjrt python tests scripts bench ':!scripts/check.sh'
}
part format format
part floors scripts/layers.py
part floors.control scripts/layers.py --control
part sizes scripts/sizes.py
part words words
part tidy tidy "${1:-}"
exit $failed
