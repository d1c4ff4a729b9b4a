#include "tools/analyze/data_flow/device_call_names.h"

#include <cstddef>
#include <utility>

#include "tools/model/kernel_name.h"

namespace memoir {

bool TorchHides(const OpenRange& range, const Dictionary& dictionary) {
  if (!range.name.valid() || range.source == RangeSource::kNvtx) return true;
  return range.source == RangeSource::kUser && dictionary.text(range.name).starts_with("torch.compile: ");
}

std::string_view NameOfDriverCall(v1::DriverCall call) {
  switch (call) {
    case v1::MALLOC:
      return "cudaMalloc";
    case v1::MALLOC_ASYNC:
      return "cudaMallocAsync";
    case v1::MALLOC_MANAGED:
      return "cudaMallocManaged";
    case v1::HOST_ALLOCATE:
      return "cudaHostAlloc";
    case v1::HOST_REGISTER:
      return "cudaHostRegister";
    default:
      return "";
  }
}

std::uint32_t TreeNames::Index(NameId name, const Dictionary& dictionary, std::vector<std::string>& names) {
  constexpr std::uint32_t kNone = 0xffffffffu;
  if (!name.valid()) return kNone;
  if (ranges_.size() <= name.value) ranges_.resize(name.value + 1, kNone);
  std::uint32_t& index = ranges_[name.value];
  if (index != kNone) return index;
  index = static_cast<std::uint32_t>(names.size());
  std::string text(dictionary.text(name));
  const std::size_t dot = text.find('.', text.find("::") + 1);
  if (dictionary.name(name).is_operator && dot != std::string::npos) text.resize(dot);
  names.push_back(std::move(text));
  return index;
}

std::uint32_t TreeNames::Index(std::string_view name, std::vector<std::string>& names) {
  const auto [known, added] = others_.try_emplace(std::string(name), static_cast<std::uint32_t>(names.size()));
  if (added) names.emplace_back(name);
  return known->second;
}

std::string DeviceCallNames::NameOf(const DeviceCallEvent& event, const Dictionary& dictionary) {
  if (event.call == v1::STREAM_BEGIN_CAPTURE && event.result == 0) ++captures_;
  if (event.call == v1::STREAM_END_CAPTURE && captures_ > 0) --captures_;
  if (event.result != 0 || captures_ > 0) return "";
  if (event.call == v1::SET || event.call == v1::SET_ASYNC) return "Memset (Device)";
  return event.is_launch && event.kernel.valid() ? KernelSignature(dictionary.text(event.kernel)) : "";
}

}  // namespace memoir
