#include "tools/analyze/summary/copied_parameters.h"

#include <algorithm>
#include <functional>

namespace memoir {

void CopiedParametersPass::SeeAllocate(const AllocateEvent& event) {
  const Block& block = *event.block;
  if (!IsSecondCopy(categories_.RuleOf(block))) return;
  const StackId stack = block.line_callstack();
  const std::uint32_t line = stack.valid() ? lines_.NumberOf(stack, state().dictionary()) : kNoLine;
  bytes_[block.device][line] += block.bytes;
}

void CopiedParametersPass::SeeProcessEnd(const ProcessEvent& event) {
  for (const auto& [device, by_line] : bytes_) {
    CopiedParameters& copied = copied_.emplace_back();
    copied.process = event.process;
    copied.device = ToString(state().dictionary().device(device));
    std::uint64_t most = 0;
    for (const auto& [line, bytes] : by_line) {
      copied.bytes += bytes;
      if (bytes <= most) continue;
      most = bytes;
      copied.line = line == kNoLine ? SourceLine() : SourceLineOf(lines_.FrameOf(line), state().dictionary());
    }
  }
  bytes_.clear();
  std::ranges::stable_sort(copied_, std::ranges::greater(), &CopiedParameters::bytes);
}

}  // namespace memoir
