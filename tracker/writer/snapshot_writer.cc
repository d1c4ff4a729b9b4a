#include "tracker/writer/snapshot_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include <protozero/pbf_writer.hpp>

#include "tracker/writer/events/capture_fields.h"
#include "tracker/writer/file/chunk_frame.h"
#include "tracker/writer/file/part_sink.h"
#include "tracker/writer/file/process_facts.h"
#include "tracker/writer/file/ring_clock.h"
#include "tracker/writer/writer_options.h"

namespace memoir {
namespace {

// Not 0, so that readers know that earlier events are missing, and that they must begin with the keyframe.
constexpr std::uint64_t kFirstSequence = 1;

std::string ProcessInfoOf(const SnapshotRequest& request) {
  std::string info = request.process_info;
  protozero::pbf_writer message(info);
  message.add_string(field::process_info::kSources, "snapshot:" + request.why);
  return AddPartNumber(info, 0);
}

void AddClockNow(std::string* payload) {
  protozero::pbf_writer message(*payload);
  AddClock(message, field::payload::kClock, ReadClock());
}

void AddEnd(std::string* payload) {
  protozero::pbf_writer message(*payload);
  protozero::pbf_writer end(message, field::payload::kEnd);
  end.add_enum(field::end::kReason, static_cast<int>(EndReason::kStopped));
}

// Removes the file of a snapshot if it was not written completely.
class PartRemover {
 public:
  explicit PartRemover(std::string path) : path_(std::move(path)) {}
  ~PartRemover() {
    if (!whole_) unlink(path_.c_str());
  }
  PartRemover(const PartRemover&) = delete;
  PartRemover& operator=(const PartRemover&) = delete;
  void KeepPart() { whole_ = true; }

 private:
  const std::string path_;
  bool whole_ = false;
};

bool AreTheSame(const std::string& a, const std::string& b) {
  struct stat one{};
  struct stat other{};
  return stat(a.c_str(), &one) == 0 && stat(b.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
         one.st_ino == other.st_ino;
}

// Lends the builder to a snapshot, whose part number is `own`. Restores the recording's `part` afterwards, even if
// memory runs out.
class BorrowedBuilder {
 public:
  BorrowedBuilder(ChunkBuilder& builder, std::uint32_t own, std::uint32_t part) : builder_(builder), part_(part) {
    builder_.SetPart(own);
  }
  ~BorrowedBuilder() {
    builder_.Clear();
    builder_.SetPart(part_);
  }
  BorrowedBuilder(const BorrowedBuilder&) = delete;
  BorrowedBuilder& operator=(const BorrowedBuilder&) = delete;

 private:
  ChunkBuilder& builder_;
  const std::uint32_t part_;
};

}  // namespace

std::string SnapshotWriter::Write(const SnapshotRequest& request, std::uint32_t part) {
  if (std::string wrong = MakeFolder(request.folder); !wrong.empty()) return wrong;
  if (AreTheSame(request.folder, request.recording))
    return request.folder + " is the recording's own folder; choose another one";
  if (access(PartPath(request.folder, request.stem, 0).c_str(), F_OK) == 0)
    return request.folder + " has a snapshot of this process already; choose another folder";
  PartSink sink(request.folder, request.stem, 0, 0);
  if (!sink.Open()) return sink.last_error() + "; " + RemedyFor(sink.last_errno());
  PartRemover file(sink.path());
  const BorrowedBuilder borrowed(builder_, ~snapshots_++, part);
  const std::string info = ProcessInfoOf(request);
  ChunkFrame frame(RecordingIdOf(info));
  ChunkHeader header;
  header.sequence = kFirstSequence;
  header.complete_until_tick = request.tick;
  header.process = info;
  header.facts.has_keyframe = true;
  std::string payload;
  builder_.AddKeyframe(request.tick, &payload);
  AddClockNow(&payload);
  bool written = sink.Append(frame.EncodePayload(header, payload), header.facts);

  builder_.AddCurrentHoldings(request.tick);
  payload.clear();
  builder_.AddTo(&payload);
  AddClockNow(&payload);
  AddEnd(&payload);
  header.sequence = kFirstSequence + 1;
  header.process = {};
  header.facts = {builder_.first_tick(), builder_.last_tick(), builder_.events(), false};
  written = written && sink.Append(frame.EncodePayload(header, payload), header.facts);
  written = written && sink.Append(frame.EncodeIndex(kFirstSequence + 2, sink.index()), {}) && sink.Close();
  if (!written) return sink.last_error() + "; " + RemedyFor(sink.last_errno());
  file.KeepPart();
  return "";
}

}  // namespace memoir
