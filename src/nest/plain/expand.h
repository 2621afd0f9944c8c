#pragma once
/// Expands one operation of HLO to plain nodes (nest/legalise.h).

#include "nest/plain/complex.h"

namespace lowtide::engine {

/// A value of a nest as plain nodes. Predicates, f32, f64 and integers of whole bytes represent themselves, smaller
/// integers are extended to a byte, small floats are held as the f32 of equal value; complex numbers have two parts.
struct PlainValue {
  ElementType type = ElementType::kPred;  ///< its type in HLO
  Plain re, im;                           ///< im: of complex numbers
  Plain bits;                             ///< of a small float: the stored bits, if they are known

  PlainComplex complex() const { return {re, im}; }
};

PlainValue expand(const Node& operation, std::span<const PlainValue> operands);

/// The plain element type of a buffer of this type, and how many plain elements replace one.
ElementType plain_element(ElementType type);
inline int64_t plain_elements(ElementType type) { return is_complex(type) ? 2 : 1; }
/// The plain type in which a part of a value is held.
ElementType held_type(ElementType type);
/// Converts a stored element to its value, and back. Real types.
PlainValue from_stored(ElementType type, Plain bits);
Plain to_stored(const PlainValue& value);

/// HLO's convert, of real types.
Plain converted(Plain value, ElementType from, ElementType to);

}  // namespace lowtide::engine
