// Something after the module.
// RUN: verify
// ERROR: expected the end of the text behind the module
module {
  func.func @main() {
    return
  }
}
x
