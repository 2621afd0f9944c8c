#pragma once
/// One operation of HLO as plain nodes (nest/legalise.h).

#include "nest/plain/complex.h"

namespace lowtide::engine {

/// A value of a nest as plain nodes. Predicates, f32, f64 and integers of whole bytes are themselves, smaller integers
/// their extension to a byte, small floats the f32 they equal; complex numbers have two parts.
struct PlainValue {
  ElementType type = ElementType::kPred;  ///< what it is in HLO
  Plain re, im;                           ///< im: of complex numbers
  Plain bits;                             ///< of a small float: the stored bits, where they are at hand

  PlainComplex complex() const { return {re, im}; }
};

PlainValue expand(const Node& operation, std::span<const PlainValue> operands);

/// What a buffer of the type holds instead: the element type, and how many of them for one.
ElementType plain_element(ElementType type);
inline int64_t plain_elements(ElementType type) { return is_complex(type) ? 2 : 1; }
/// The plain type in which a part of a value is held.
ElementType held_type(ElementType type);
/// A stored element as the value it stands for, and back. Real types.
PlainValue from_stored(ElementType type, Plain bits);
Plain to_stored(const PlainValue& value);

/// HLO's convert, of real types.
Plain converted(Plain value, ElementType from, ElementType to);

}  // namespace lowtide::engine
