#include "simcuda/configuration/visible_devices.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "simcuda/process/mutex.h"

namespace memoir::simcuda {
namespace {

// The variable's value at the first call here. As with a real driver, later changes by the program have no effect.
constinit LazyObject<std::string> visible;

}  // namespace

int PhysicalDevice(int device) {
  std::string_view list = visible.Get([] {
    const char* const variable = std::getenv("CUDA_VISIBLE_DEVICES");
    return new std::string(variable == nullptr ? "" : variable);
  });
  for (int skipped = 0; skipped < device && !list.empty(); ++skipped)
    list.remove_prefix(std::min(list.find(','), list.size() - 1) + 1);
  const std::string_view name = list.substr(0, list.find(','));
  int value = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
  return error == std::errc{} && end == name.data() + name.size() ? value : device;
}

}  // namespace memoir::simcuda
