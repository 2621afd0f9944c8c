// Several functions and none is the entry.
// RUN: verify
// ERROR: found several functions (@f, @g), expected one named @main
func.func @f() {
  return
}
func.func @g() {
  return
}
