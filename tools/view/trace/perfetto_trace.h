// Writes a Perfetto trace, with tracks and track events of one sequence:
// https://github.com/google/perfetto/blob/main/protos/perfetto/trace/trace.proto
#ifndef TOOLS_VIEW_TRACE_PERFETTO_TRACE_H_
#define TOOLS_VIEW_TRACE_PERFETTO_TRACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "protozero/pbf_writer.hpp"
#include "tools/view/trace/trace_sink.h"

namespace memoir {

class PerfettoTrace : public TraceSink {
 public:
  // `write` receives the file's bytes in order.
  explicit PerfettoTrace(std::function<void(std::string_view)> write) : write_(std::move(write)) {}

  void AddProcess(std::uint64_t pid, std::string_view name) override;
  void AddThread(const TraceThread& thread, std::string_view name) override;
  void Begin(const TraceThread& thread, std::uint64_t ns, const TraceSlice& slice) override;
  void End(const TraceThread& thread, std::uint64_t ns) override;
  void Instant(const TraceThread& thread, std::uint64_t ns, std::string_view name,
               std::optional<std::uint64_t> bytes) override;
  void Count(std::uint64_t pid, std::uint64_t ns, std::string_view name, std::uint64_t bytes) override;
  void Finish() override;

 private:
  // Numbers of texts that a packet defines for itself and all later packets.
  struct Texts {
    std::uint32_t field;  // field of InternedData
    absl::flat_hash_map<std::string, std::uint64_t> numbers;
  };
  struct NewText {
    std::uint32_t field;
    std::uint64_t number;
    std::string text;
  };

  std::uint64_t NumberOf(Texts& texts, std::string_view text);
  void AddPacket(const std::string& packet);
  // `event`: the fields of a TrackEvent.
  void AddEvent(std::uint64_t ns, const std::string& event);
  void AddNote(protozero::pbf_writer& event, std::string_view name, std::string_view text);
  void AddNote(protozero::pbf_writer& event, std::string_view name, std::uint64_t number);
  std::uint64_t TrackOf(const TraceThread& thread) const { return threads_.at({thread.pid, thread.tid}); }
  std::uint64_t CounterTrack(std::uint64_t pid, std::string_view name);

  std::function<void(std::string_view)> write_;
  std::string bytes_;
  bool first_ = true;
  std::uint64_t tracks_ = 0;
  absl::flat_hash_map<std::uint64_t, std::uint64_t> processes_;  // tracks, by pid
  // Tracks, by pid and tid. If the system reused the numbers, the track of the newest thread.
  absl::flat_hash_map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> threads_;
  absl::flat_hash_map<std::pair<std::uint64_t, std::string>, std::uint64_t> counters_;
  Texts categories_{1, {}}, names_{2, {}}, note_names_{3, {}};
  std::vector<NewText> new_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_PERFETTO_TRACE_H_
