#pragma once
/// What a library shows: nothing but what is marked so.

#define LOWTIDE_PUBLIC __attribute__((visibility("default")))
