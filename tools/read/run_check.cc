#include "tools/read/run_check.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

absl::Status Damaged(std::string what) { return absl::DataLossError(std::move(what)); }

constexpr v1::EventKind kWithSignature[] = {
    v1::RANGE_BEGIN_FUNCTION, v1::RANGE_BEGIN_BACKWARD, v1::RANGE_BEGIN_USER, v1::RANGE_BEGIN_DISPATCH, v1::RANGE_END,
    v1::MODULE_HOLDS,         v1::OPTIMIZER_HOLDS,      v1::HOLDS_MORE,       v1::GRADIENT_OF};

bool HasSignature(char kind) {
  return std::ranges::find(kWithSignature, static_cast<std::uint8_t>(kind)) != std::end(kWithSignature);
}

// How often each kind stands in a run.
struct KindCounts {
  std::array<std::uint64_t, 256> of{};
  std::uint64_t events = 0;
  std::uint64_t begins() const {
    return of[v1::RANGE_BEGIN_FUNCTION] + of[v1::RANGE_BEGIN_BACKWARD] + of[v1::RANGE_BEGIN_USER] +
           of[v1::RANGE_BEGIN_DISPATCH];
  }
  std::uint64_t switches() const { return of[v1::PAUSE] + of[v1::RESUME]; }
  std::uint64_t segments() const {
    return of[v1::SEGMENT_ALLOCATE] + of[v1::SEGMENT_FREE] + of[v1::SEGMENT_MAP] + of[v1::SEGMENT_UNMAP] +
           of[v1::SEGMENT_FOUND];
  }
  std::uint64_t device_blocks() const { return of[v1::BLOCK_ALLOCATE] + of[v1::BLOCK_FOUND]; }
  // Allocations, deallocations, and all of a device's.
  std::uint64_t memory() const {
    return of[v1::ALLOCATE] + of[v1::DEALLOCATE] + device_blocks() + of[v1::DEALLOCATE_COMPLETED] + segments() +
           of[v1::OUT_OF_MEMORY] + of[v1::DEVICE_STATISTICS] + driver();
  }
  std::uint64_t driver() const {
    return of[v1::DRIVER_ALLOCATE] + of[v1::DRIVER_FREE] + of[v1::DRIVER_REFUSED] + of[v1::DEVICE_READING];
  }
  // Those with a stream and a pool.
  std::uint64_t placed() const { return device_blocks() + segments() + of[v1::OUT_OF_MEMORY]; }
  std::uint64_t known() const {
    return begins() + of[v1::RANGE_END] + memory() + of[v1::MARK] + of[v1::STEP] + switches() + modules() +
           of[v1::OPTIMIZER_HOLDS] + of[v1::HOLDS_MORE] + of[v1::GRADIENT_OF];
  }
  std::uint64_t modules() const { return of[v1::MODULE_ENTER] + of[v1::MODULE_EXIT] + of[v1::MODULE_HOLDS]; }
  std::uint64_t signatures() const {
    std::uint64_t sum = 0;
    for (const v1::EventKind kind : kWithSignature) sum += of[kind];
    return sum;
  }
};

KindCounts CountKinds(std::string_view kinds) {
  KindCounts counts;
  for (const char kind : kinds) ++counts.of[static_cast<std::uint8_t>(kind)];
  counts.events = kinds.size();
  return counts;
}

bool Has(const Column& column, std::uint64_t wanted) {
  std::uint64_t values = 0;
  return column.Count(&values) && values == wanted;
}

absl::Status CheckTensorColumn(const Run& run, std::uint64_t ranges, const SignatureTensors& signature_tensors) {
  Column signature = run.signature;
  std::uint64_t wanted = 0;
  for (std::uint64_t i = 0; i < ranges; ++i) {
    const std::uint32_t id = signature.Next32();
    if (id == 0) continue;
    const auto found = signature_tensors.find(id);
    if (found == signature_tensors.end())
      return Damaged(absl::StrCat("chunk uses signature ", id, ", which no chunk before defines"));
    wanted += found->second.tensors;
    if (wanted > run.tensor.size()) break;  // before hostile lengths can wrap around
  }
  return Has(run.tensor, wanted) ? absl::OkStatus() : Damaged("tensor column of a run does not match its signatures");
}

// One for each parameter and buffer of the modules' events, in a run that knows any.
bool HoldsNamesMatch(const Run& run, const SignatureTensors& signature_tensors) {
  if (run.holds_name.empty()) return true;
  Column signature = run.signature;
  std::uint64_t wanted = 0;
  for (const char kind : run.kind) {
    if (!HasSignature(kind)) continue;
    const std::uint32_t id = signature.Next32();
    if (id == 0 || (kind != v1::MODULE_HOLDS && kind != v1::HOLDS_MORE)) continue;
    wanted += signature_tensors.at(id).names;
    if (wanted > run.holds_name.size()) return false;
  }
  return Has(run.holds_name, wanted);
}

bool DeviceColumnsMatch(const Run& run, const KindCounts& counts) {
  const std::uint64_t placed = counts.placed();
  return Has(run.requested, counts.device_blocks()) && Has(run.stream_delta, placed) &&
         (run.pool_graph.empty() || Has(run.pool_graph, placed)) &&
         (run.pool_user.empty() || Has(run.pool_user, placed)) &&
         Has(run.statistic, 5 * counts.of[v1::DEVICE_STATISTICS]);
}

bool DriverColumnsMatch(const Run& run, const KindCounts& counts) {
  const std::uint64_t errors = counts.of[v1::OUT_OF_MEMORY], refused = counts.of[v1::DRIVER_REFUSED];
  const std::uint64_t calls = counts.of[v1::DRIVER_ALLOCATE] + refused, readings = counts.of[v1::DEVICE_READING];
  return Has(run.device_free, errors + refused) && (run.device_limit.empty() || Has(run.device_limit, errors)) &&
         Has(run.driver_call, calls) && Has(run.library, calls) && Has(run.driver_error, refused) &&
         Has(run.reading_cause, readings) && Has(run.reading, 5 * readings);
}

}  // namespace

absl::Status CheckRun(const Run& run, const SignatureTensors& signature_tensors) {
  const KindCounts counts = CountKinds(run.kind);
  if (counts.known() != counts.events) return Damaged("run holds event kinds that this Memoir does not know");
  const std::uint64_t begins = counts.begins();
  const std::uint64_t ranges = counts.signatures();
  const std::uint64_t blocks = counts.memory();
  const bool match = Has(run.tick_delta, counts.events) && Has(run.name, begins) && Has(run.sequence_delta, begins) &&
                     Has(run.forward_thread, counts.of[v1::RANGE_BEGIN_BACKWARD]) && Has(run.signature, ranges) &&
                     Has(run.address_delta, blocks) && Has(run.serial_delta, blocks) &&
                     (run.device.empty() || Has(run.device, blocks)) &&
                     Has(run.bytes, counts.of[v1::ALLOCATE] + counts.placed() + counts.of[v1::DRIVER_ALLOCATE] +
                                        counts.of[v1::DRIVER_REFUSED]) &&
                     DeviceColumnsMatch(run, counts) && DriverColumnsMatch(run, counts) &&
                     Has(run.mark_name, counts.of[v1::MARK]) && Has(run.step, counts.of[v1::STEP]) &&
                     Has(run.level, counts.switches()) && Has(run.module, counts.modules()) &&
                     Has(run.owner, counts.of[v1::OPTIMIZER_HOLDS]);
  if (!match) return Damaged("columns of a run do not match its events");
  if (absl::Status tensors = CheckTensorColumn(run, ranges, signature_tensors); !tensors.ok()) return tensors;
  if (HoldsNamesMatch(run, signature_tensors)) return absl::OkStatus();
  return Damaged("names of what modules hold do not match the events of a run");
}

}  // namespace memoir
