#include "tools/analyze/pass/instant.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "tools/model/job.h"

namespace memoir {
namespace {

std::string Seconds(std::uint64_t ns) { return absl::StrFormat("%.4f s", static_cast<double>(ns) / 1e9); }

class InstantPass : public ChangePass {
 public:
  InstantPass(const Capture& capture, const Selection& selection, const InstantChoice& at)
      : ChangePass(capture, selection), at_(at) {}
  const Instants& instants() const { return instants_; }
  bool found_mark() const { return found_mark_; }
  bool found_out_of_memory() const { return found_out_of_memory_; }
  bool mark_is_outside() const { return mark_is_outside_; }
  // OutOfRange, with an explanation, if the instant lies outside of the windows of a process. Otherwise OK.
  const absl::Status& outside() const { return outside_; }
  std::uint64_t first_left_ns() const { return first_left_ns_; }
  std::uint64_t end_ns() const { return end_ns_; }

 protected:
  void SeeChange(const Event& event, DeviceId id, Device& device) override {
    if (!is_inside()) return;
    const bool peak = at_.kind == InstantChoice::Kind::kPeak && device.live > device.peak;
    if (peak) device.peak = device.live;
    if (peak) Note(event, id, device);
    if (at_.kind == InstantChoice::Kind::kTime) NoteTime(event, id, device);
  }
  void SeeWindowClose(const Event& event) override {
    if (at_.kind == InstantChoice::Kind::kEnd) NoteAll(event);
  }
  void SeeProcessBegin(const ProcessEvent& event) override {
    marked_ = false;
    if (!capture().processes()[event.process.value].starts_at_first_chunk)
      first_left_ns_ = std::max(first_left_ns_, Nanoseconds(event));
  }
  void SeeProcessEnd(const ProcessEvent& event) override {
    end_ns_ = std::max(end_ns_, Nanoseconds(event));
    if (at_.kind == InstantChoice::Kind::kTime && outside_.ok()) outside_ = CheckInWindow(event.process);
  }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override {
    if (at_.kind != InstantChoice::Kind::kOutOfMemory || !in_window()) return;
    found_out_of_memory_ = true;
    devices()[event.asked->device].process = event.process;
    Note(event, event.asked->device, devices()[event.asked->device]);
  }
  void SeeMark(const MarkEvent& event) override {
    if (at_.kind != InstantChoice::Kind::kMark || marked_) return;
    if (state().dictionary().text(event.name) != at_.mark) return;
    if (!in_window()) {
      mark_is_outside_ = true;
      return;
    }
    marked_ = found_mark_ = true;
    NoteAll(event);
  }

 private:
  void Note(const Event& event, DeviceId id, const Device& device) {
    instants_[id] = {device.changes, Nanoseconds(event)};
  }
  // When a recording begins or resumes, the replay first adds the memory that was live before (is_being_found()).
  // Meanwhile, sums are incomplete. If the selected time lies in this period, the instant is the end of the period.
  void NoteTime(const Event& event, DeviceId id, const Device& device) {
    const bool before = Nanoseconds(event) <= at_.ns, finding = state().memory(id).is_being_found();
    if (before || (finding && in_snapshot_.contains(id))) Note(event, id, device);
    if (!finding) in_snapshot_.erase(id);
    if (finding && before) in_snapshot_.insert(id);
  }
  void NoteAll(const Event& event) {
    for (const auto& [id, device] : devices()) {
      if (device.process == event.process) Note(event, id, device);
    }
  }
  absl::Status CheckInWindow(ProcessId process) const;

  const InstantChoice& at_;
  Instants instants_;
  absl::Status outside_;
  std::set<DeviceId> in_snapshot_;  // devices whose is_being_found() is true at the selected time
  bool mark_is_outside_ = false;
  bool marked_ = false;
  bool found_mark_ = false;
  bool found_out_of_memory_ = false;
  std::uint64_t first_left_ns_ = 0;  // latest begin among the processes whose first parts are evicted
  std::uint64_t end_ns_ = 0;
};

// Returns an error if the time lies outside of all windows of the process, because instants are noted only in windows.
absl::Status InstantPass::CheckInWindow(ProcessId process) const {
  const SelectionWindow::Kind kind = selection().window.kind;
  const std::uint64_t ns = at_.ns;
  if (kind == SelectionWindow::Kind::kAll || spans().spans().empty() || spans().Contains(ns)) return absl::OkStatus();
  const std::size_t count = spans().spans().size();
  const TimeSpan nearest = spans().Nearest(ns);
  const std::string who = capture().processes().size() == 1 ? "" : ProcessLabel(capture(), process) + ": ";
  return absl::OutOfRangeError(absl::StrCat(capture().path(), ": ", who, Seconds(ns), " lies outside of the ",
                                            count == 1 ? "window, " : absl::StrCat(count, " windows; the nearest is "),
                                            Seconds(nearest.begin_ns), " to ", Seconds(nearest.end_ns), "; leave out ",
                                            kind == SelectionWindow::Kind::kSteps ? "--steps" : "--range",
                                            ", or choose an instant inside"));
}

// Returns an error if the capture does not contain the instant. Without this check, a table would show no live blocks.
absl::Status CheckInside(const Capture& capture, const InstantChoice& at, const InstantPass& instants,
                         const ReplayReport& report) {
  if (at.kind != InstantChoice::Kind::kTime) return absl::OkStatus();
  if (at.ns > instants.end_ns()) {
    return absl::OutOfRangeError(absl::StrCat(capture.path(), ": the recording ends at ", Seconds(instants.end_ns()),
                                              ", before ", Seconds(at.ns)));
  }
  if (at.ns < instants.first_left_ns()) {
    return absl::OutOfRangeError(absl::StrCat(capture.path(), ": what is left of the recording begins at ",
                                              Seconds(instants.first_left_ns()), ", after ", Seconds(at.ns)));
  }
  for (const ReplayReport::Process& process : report.processes) {
    for (const auto& span : process.evicted) {
      if (at.ns <= span.begin_ns || at.ns >= span.end_ns) continue;
      return absl::OutOfRangeError(absl::StrCat(capture.path(), ": --max-size kept only sums from ",
                                                Seconds(span.begin_ns), " to ", Seconds(span.end_ns),
                                                "; choose an instant before or after"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

Task<absl::StatusOr<Instants>> FindInstants(JointReplays& replays, Selection selection, InstantChoice at) {
  const Capture& capture = replays.capture();
  InstantPass instants(capture, selection, at);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(instants);
  if (!report.ok()) co_return report.status();
  if (!instants.selection_status().ok()) co_return instants.selection_status();
  if (at.kind == InstantChoice::Kind::kMark && !instants.found_mark() && instants.mark_is_outside()) {
    co_return absl::NotFoundError(absl::StrCat(capture.path(), ": mark '", at.mark, "' lies outside of the window"));
  }
  if (at.kind == InstantChoice::Kind::kMark && !instants.found_mark()) {
    co_return absl::NotFoundError(absl::StrCat(capture.path(), ": no mark '", at.mark, "'; memoir.mark() makes them"));
  }
  if (at.kind == InstantChoice::Kind::kOutOfMemory && !instants.found_out_of_memory())
    co_return absl::NotFoundError("no out-of-memory error is recorded in " + capture.path());
  if (absl::Status inside = CheckInside(capture, at, instants, *report); !inside.ok()) co_return inside;
  if (!instants.outside().ok()) co_return instants.outside();
  co_return instants.instants();
}

}  // namespace memoir
