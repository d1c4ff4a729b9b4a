#include "tools/view/oom/remedy_text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "fmt/format.h"
#include "tools/analyze/categories/rules.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/oom/holder_lists.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 40;

// Each `...Helps` function returns nullopt if its remedy would not have helped.

// Returns the fix of a leak as a remedy. Leaked memory grows even if another remedy is used.
std::optional<Remedy> LeakHelps(const OutOfMemory& error) {
  if (!error.leaking) return std::nullopt;
  const LeakTotals& leaking = *error.leaking;
  const std::string named =
      leaking.operator_name.empty() ? "code outside of any operator" : QuotedHolder(leaking.operator_name);
  const std::string largest = leaking.line.known() ? ShownPlace(leaking.line, kNameInLine) : named;
  return Remedy{fmt::format("fix the leak at {}{}: {} so far, {} more in every step (memoir check leaks)",
                            leaking.places == 1 ? "" : fmt::format("{} places, the largest ", leaking.places), largest,
                            FormatBytes(leaking.bytes), FormatBytes(leaking.bytes_per_step)),
                leaking.bytes};
}

// Returns the removal of a second copy as a remedy: weights that were loaded onto the device and are kept in addition
// to the model.
std::optional<Remedy> WithoutCopyHelps(const OutOfMemory& error) {
  const LineHolding* largest = nullptr;
  std::uint64_t bytes = 0;
  for (const LineHolding& holder : error.by_line) {
    if (!IsSecondCopy(holder.category)) continue;
    if (largest == nullptr) largest = &holder;
    bytes += holder.bytes;
  }
  if (largest == nullptr) return std::nullopt;
  return Remedy{"without " + SecondCopyText(bytes, largest->line), bytes};
}

// Returns true if the leak is a cause of the error: it has at least 1/10 of the allocated bytes.
bool LeakIsWhy(const OutOfMemory& error) {
  constexpr std::uint64_t kSmallestPart = 10;
  return error.leaking && error.leaking->bytes >= error.allocated_bytes / kSmallestPart;
}

// Returns checkpointing as a remedy. The freed bytes are an estimate for the device's peak, so checkpointing is a
// remedy only if the error was near the peak.
std::optional<Remedy> CheckpointingHelps(const OutOfMemory& error, const Summary& summary) {
  const auto device = std::ranges::find_if(summary.devices, [&](const DeviceRow& row) {
    return row.name == error.device && row.process == error.process && row.checkpointing.has_value();
  });
  if (device == summary.devices.end()) return std::nullopt;
  if (LeakIsWhy(error)) return std::nullopt;  // the leak keeps what checkpointing would free
  if (error.allocated_bytes + error.asked_bytes < device->peak_allocated_bytes / 10 * 9) return std::nullopt;
  const CheckpointRow& row = *device->checkpointing;
  const std::string modules = QuotedHolder(row.name) + " (" + FormatCounted(row.modules, "module", "modules") +
                              (row.cut_off ? " called so far)" : ")");
  const auto bytes = static_cast<std::uint64_t>(row.freed_bytes);
  const std::string freed = FormatBytes(bytes);
  return Remedy{row.cut_off ? fmt::format("checkpointing {}: {} less by then (an estimate; the forward had not ended)",
                                          modules, freed)
                            : fmt::format("checkpointing {}: up to {} less at the peak (an estimate)", modules, freed),
                bytes};
}

std::uint64_t BytesOf(const OutOfMemory& error, std::string_view category) {
  const auto found = std::ranges::find(error.by_category, category, &HoldingRow::name);
  return found == error.by_category.end() ? 0 : found->bytes;
}

// Returns a smaller batch as a remedy. The batch size that fits can be estimated only if earlier steps had inputs of
// several sizes, because the failed step stopped before it had allocated all its memory. Otherwise the text contains
// the bytes that are known to grow with the batch, or the activations, which usually grow with it.
std::optional<Remedy> SmallerBatchHelps(const OutOfMemory& error) {
  // A smaller batch leaks less, but does not stop the growth.
  if (LeakIsWhy(error)) return std::nullopt;
  if (error.fitting_input) {
    const FittingInput& input = *error.fitting_input;
    return Remedy{fmt::format("a smaller batch: inputs of about {} would fit, these had {} (an estimate from {} steps)",
                              FormatBytes(input.fitting_bytes), FormatBytes(input.input_bytes),
                              FormatCount(input.steps)),
                  std::nullopt};
  }
  constexpr std::uint64_t kSmallestPart = 4;
  const auto is_large = [&](std::uint64_t bytes) {
    return bytes > 0 && bytes >= error.allocated_bytes / kSmallestPart;
  };
  if (is_large(error.batch_bytes)) {
    return Remedy{fmt::format("a smaller batch ({} grow with it): memoir fit --vary", FormatBytes(error.batch_bytes)),
                  error.batch_bytes};
  }
  const std::uint64_t activations = BytesOf(error, "activation");
  if (!is_large(activations)) return std::nullopt;
  return Remedy{
      fmt::format("a smaller batch, if activations ({}) grow with it: memoir fit --vary", FormatBytes(activations)),
      activations};
}

// Returns true if the forward pass can go on with `bytes`: they are a considerable share of the reserved bytes
// (IsRealShare), and at least one page of an expandable segment. Torch maps such segments in pages of 20 MiB for
// requests above 1 MiB.
bool IsEnoughToGoOn(std::uint64_t bytes, std::uint64_t reserved) {
  constexpr std::uint64_t kPage = std::uint64_t{20} << 20;
  return bytes >= kPage && IsRealShare(bytes, reserved);
}

// Returns a setting of torch's caching allocator as a remedy. After the refused request the forward pass would allocate
// more. So a setting that leaves almost nothing free would only move the error to the next layer.
std::optional<Remedy> SettingHelps(const OutOfMemory& error) {
  const OutOfMemoryRoom& room = error.room;
  if (error.refusal) return std::nullopt;
  if (room.cause == OutOfMemoryCause::kLimit)
    return Remedy{"a larger fraction in torch.cuda.set_per_process_memory_fraction", error.device_free};
  if (room.cause != OutOfMemoryCause::kFragmentation) return std::nullopt;
  const std::uint64_t free = room.own_free + error.device_free;
  const bool goes_on = error.phase == Phase::kForward && free >= error.asked_bytes;
  if (goes_on && !IsEnoughToGoOn(free - error.asked_bytes, error.reserved_bytes)) return std::nullopt;
  const std::string text = fmt::format(
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, which makes one piece of free memory ({})", FormatBytes(free));
  if (!goes_on) return Remedy{text, free};
  return Remedy{text + fmt::format(": it leaves {} for the rest of the step", FormatBytes(free - error.asked_bytes)),
                free};
}

}  // namespace

std::vector<Remedy> RemediesOf(const OutOfMemory& error, const Summary& summary) {
  if (error.refusal && error.refusal->of_host) return {};
  std::vector<std::optional<Remedy>> ways = {SettingHelps(error), CheckpointingHelps(error, summary),
                                             SmallerBatchHelps(error)};
  // In forward, the rest of the pass needs more than this one request, so the setting comes last.
  if (error.phase == Phase::kForward) std::ranges::rotate(ways, ways.begin() + 1);
  ways.insert(ways.begin(), WithoutCopyHelps(error));
  ways.insert(LeakIsWhy(error) ? ways.begin() : ways.end(), LeakHelps(error));
  std::vector<Remedy> remedies;
  for (std::optional<Remedy>& way : ways) {
    if (way) remedies.push_back(*std::move(way));
  }
  return remedies;
}

std::string RemedyText(const OutOfMemory& error, const Summary& summary) {
  std::string text;
  for (const Remedy& remedy : RemediesOf(error, summary)) text += (text.empty() ? "" : "; ") + remedy.text;
  return text;
}

}  // namespace memoir
