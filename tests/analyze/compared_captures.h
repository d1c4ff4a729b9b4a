// Compares two captures that tests make, and the parameters of their modules.
#ifndef TESTS_ANALYZE_COMPARED_CAPTURES_H_
#define TESTS_ANALYZE_COMPARED_CAPTURES_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/compare/compare_captures.h"
#include "tools/analyze/compare/comparison.h"

namespace memoir::testing {

class ComparedCaptures : public ::testing::Test {
 protected:
  Comparison Compare(ProcessBuilder& a, ProcessBuilder& b, const CompareOptions& options = {}) {
    a.WriteTo(folder_ / "a");
    b.WriteTo(folder_ / "b");
    const auto capture_a = Capture::Open(folder_ / "a"), capture_b = Capture::Open(folder_ / "b");
    EXPECT_TRUE(capture_a.ok() && capture_b.ok());
    absl::StatusOr<Comparison> comparison = CompareCaptures(*capture_a, *capture_b, options);
    EXPECT_TRUE(comparison.ok()) << comparison.status();
    return *std::move(comparison);
  }
  TemporaryFolder folder_;
};

// A square parameter of `width` that is trained.
inline TensorSpec Parameter(std::uint64_t address, std::int64_t width) {
  return {.impl = address + 1,
          .storage = address,
          .storage_bytes = static_cast<std::uint64_t>(width * width * 4),
          .sizes = {width, width},
          .wants_gradient = true};
}

}  // namespace memoir::testing

#endif  // TESTS_ANALYZE_COMPARED_CAPTURES_H_
