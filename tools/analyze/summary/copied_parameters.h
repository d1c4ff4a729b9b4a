// The line of the program that made a second copy of a model's parameters (categories/second_copies.h), and the bytes
// of the copy.
#ifndef TOOLS_ANALYZE_SUMMARY_COPIED_PARAMETERS_H_
#define TOOLS_ANALYZE_SUMMARY_COPIED_PARAMETERS_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {

struct CopiedParameters {
  ProcessId process;
  std::string device;
  SourceLine line;  // the line with the most bytes; not known(): no stack was recorded
  std::uint64_t bytes = 0;
};

class CopiedParametersPass : public WindowedVisitor {
 public:
  CopiedParametersPass(const Capture& capture, const Selection& selection, const BlockCategories& categories)
      : WindowedVisitor(capture, selection), categories_(categories), lines_(selection.own) {}
  bool takes_repeats() const override { return true; }
  // Call it after the replay. Returns an entry for each device, largest first.
  std::vector<CopiedParameters> Take() { return std::move(copied_); }

 protected:
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;

 private:
  static constexpr std::uint32_t kNoLine = 0xffffffffu;

  const BlockCategories& categories_;
  SourceLines lines_;
  // Bytes in the current process, by device and by the number of the line in lines_.
  std::map<DeviceId, std::map<std::uint32_t, std::uint64_t>> bytes_;
  std::vector<CopiedParameters> copied_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_COPIED_PARAMETERS_H_
