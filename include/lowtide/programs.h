#pragma once
/// Programs as functions of arrays, so that a program from a file can be differentiated, batched and compiled like any
/// function; and functions of arrays as programs, which can be saved, explained and fitted.
///
///   const auto loss = function_of("loss.hlo");
///   const auto step = value_and_grad(loss, {0, 1});
///   Module gradient = to_module([&](const auto& in) { return step(in).second; }, args);
///   std::ofstream("gradient.mlir") << gradient.stablehlo().value();

#include <string>
#include <vector>

#include "lowtide/array.h"
#include "lowtide/module.h"
#include "lowtide/transforms.h"
#include "lowtide/visibility.h"

namespace lowtide {

/// The program as a function of its arguments (Module::arguments(), in order) that returns its results. Calls with
/// other shapes or types are std::invalid_argument. std::runtime_error names the operation and its place if
///  - the program uses features that arrays lack: other element types, dynamic shapes, communication between devices,
///    side effects (stateful random bits, host calls, checks);
///  - a derivative is needed of an operation that has none here.
/// Loops with a known trip count become scans, which have derivatives in both modes; other loops have only forward-mode
/// ones (jvp).
LOWTIDE_PUBLIC ManyToMany function_of(const Module& program);
/// The same for a file in any form that Session::read() accepts.
LOWTIDE_PUBLIC ManyToMany function_of(const std::string& path);

/// The program that computes fun(args): its arguments have the shapes and types of args, whose elements aren't read.
/// Arrays that fun captures become constants of the program; they are evaluated.
LOWTIDE_PUBLIC Module to_module(const ManyToMany& fun, const std::vector<array>& args,
                                const std::string& name = "arrays");

}  // namespace lowtide
