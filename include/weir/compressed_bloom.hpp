// A Bloom filter for the wire (Mitzenmacher, Compressed Bloom Filters, 2002).
//
// Idea: in memory a Bloom filter is best half full. On the wire bits are cheaper where they are
// rare, so send a larger, sparse array made with fewer probes, entropy-coded. n keys with k probes
// in m bits set a share p = 1 - e^(-kn/m); the FPR is p^k, and m bits of which a share p is set
// have m H(p) bits of information.
//
// Coding: the gaps between set bits are geometric, and Golomb's code is the best prefix code for
// them. With p near 1/2 its parameter becomes 1, and the coded array is the array itself: the
// plain filter is the special case.
//
// Guarantee: what is decoded is bit for bit what was encoded, so the filter has no false negative.
// Predicted: with z bits a key on the wire a plain filter has an FPR of 0.6185^z, one probe in a
// sparse array 2^-(z - 1.5).
// Measured (`weir lab run compressed-bloom`): at 8 bits a key 1.04 %, where a plain filter has
// 2.15 %; at 16 bits 0.011 and 0.045 %; each as predicted, and so is the size.
// Stops working: the sparse array has to fit in memory on both sides, 1/FPR bits a key with one
// probe. best_compressed_bloom() takes as much as it is allowed to.
#pragma once

#include <cstdint>

#include "weir/filter.hpp"
#include "weir/snapshot.hpp"

namespace weir {

struct CompressedBloom {
  std::uint64_t m = 0;    // bits in memory
  std::uint32_t k = 0;    // probes
  double fpr = 1;         // expected, after all keys are in
  double wire_bytes = 0;  // expected
};

// What a filter of that shape comes to with so many keys in it.
CompressedBloom compressed_bloom(double keys, std::uint64_t m, std::uint32_t k);

// The lowest FPR that at most `wire_bytes` can buy, with an array of at most `memory` bytes on
// both sides. Throws Error(Config) where not even 64 bits can be sent.
CompressedBloom best_compressed_bloom(double keys, double wire_bytes, std::uint64_t memory);

// An empty filter of that shape.
FilterPtr make_bloom(const CompressedBloom& shape);

// Codes the array of a filter "bloom" with one shard. Throws Error(Config) for anything else.
void encode_bloom(const Filter& bloom, ByteSink& to);
// Sets the array of an empty filter of the same shape. Throws Error(BadState) where the bytes are
// not what encode_bloom() wrote; the filter is of no use then.
void decode_bloom(Filter& bloom, ByteSource& from);

}  // namespace weir
