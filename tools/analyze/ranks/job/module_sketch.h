// Describes a set of names in half a kilobyte: by the smallest hashes of the names. Equal sets have equal sketches.
// Different sets have different sketches, unless they differ in only a few of thousands of names.
#ifndef TOOLS_ANALYZE_RANKS_JOB_MODULE_SKETCH_H_
#define TOOLS_ANALYZE_RANKS_JOB_MODULE_SKETCH_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace memoir {

class ModuleSketch {
 public:
  static constexpr std::size_t kMostHashes = 64;
  void Add(std::string_view name);
  const std::set<std::uint64_t>& hashes() const { return hashes_; }

 private:
  std::set<std::uint64_t> hashes_;
};

// Returns "Linear layers.#.mlp" for "Linear layers.3.mlp".
std::string WithoutNumbers(std::string_view name);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_RANKS_JOB_MODULE_SKETCH_H_
