#include "tracker/writer/file/part_sink.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>

#include <protozero/pbf_writer.hpp>

#include "interpose/system/own_files.h"
#include "interpose/system/private_file.h"
#include "tracker/writer/events/capture_fields.h"
#include "tracker/writer/file/folder_paths.h"

namespace memoir {
namespace {

// Limit on interruptions of one call. No signal reaches the writer's thread, so a file system that returns EINTR again
// and again is broken.
constexpr int kMostInterruptions = 1000;

}  // namespace

std::string PartPath(const std::string& folder, const std::string& stem, std::uint32_t number) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%04u", number);
  return folder + "/" + stem + ".p" + digits + ".memoir";
}

std::string RemedyFor(int error_number) {
  std::string choose = "choose another folder (MEMOIR_OUTPUT, --output)";
  switch (error_number) {
    case EACCES:
    case EPERM:
      return "ask for permission to write there, or " + choose;
    case EEXIST:
    case ENOTDIR:
      return "a file is in the way: remove it, or " + choose;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return RemedyDuringRecording(error_number) + ", or " + choose;
    case ENOMEM:
      return "allow the program more memory";
    default:
      return choose;
  }
}

std::string RemedyDuringRecording(int error_number) {
  switch (error_number) {
    case ENOSPC:
      return "make room there";
    case EDQUOT:
      return "make room there or raise the disk quota";
    case EFBIG:
      return "raise the limit on file sizes (ulimit -f)";
    default:
      return "check the folder's disk";
  }
}

std::string MakeFolder(const std::string& folder) {
  for (std::size_t end = 0; end < folder.size();) {
    end = std::min(folder.find('/', end + 1), folder.size());
    const std::string made = folder.substr(0, end);
    if (IsFolder(made) || MakePrivateFolder(made.c_str())) continue;
    const int cause = errno == EEXIST ? ENOTDIR : errno;
    // Another rank may have made the folder meanwhile.
    if (IsFolder(made)) continue;
    return "cannot make the folder " + folder + ": " + std::strerror(cause) + "; " + RemedyFor(cause);
  }
  return "";
}

constexpr char kFolderIsGone[] = ": its folder was removed during the recording";

PartSink::PartSink(std::string folder, std::string stem, std::uint64_t max_bytes, std::uint32_t first_number)
    : folder_(std::move(folder)), stem_(std::move(stem)), max_bytes_(max_bytes), next_number_(first_number) {}

PartSink::~PartSink() {
  if (is_open()) InOwnFiles([this] { close(fd_); });
}

void PartSink::NoteError(const char* what, const std::string& file, int error_number) {
  last_errno_ = error_number;
  last_error_ = std::string("cannot ") + what + " " + file + ": " + std::strerror(error_number);
}

bool PartSink::PrepareNext() {
  int interruptions = 0;
  while (next_fd_ < 0) {
    const std::string next = PartPath(folder_, stem_, next_number_);
    next_fd_ = OpenLastingFile(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (next_fd_ >= 0) break;
    if (errno == EEXIST) {
      ++next_number_;
    } else if (errno != EINTR || ++interruptions >= kMostInterruptions) {
      NoteError("create", next, errno);
      // The folder existed when the recording began.
      if (last_errno_ == ENOENT) last_error_ = "cannot create " + next + kFolderIsGone;
      return false;
    }
  }
  return true;
}

bool PartSink::Open() {
  if (!PrepareNext()) return false;
  fd_ = std::exchange(next_fd_, -1);
  number_ = next_number_++;
  offset_ = chunks_ = 0;
  index_.clear();
  parts_.push_back({path(), number_, 0, 0});
  return true;
}

bool PartSink::WriteAll(std::string_view bytes) {
  int interruptions = 0;
  while (!bytes.empty()) {
    const ssize_t written = write(fd_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR && ++interruptions < kMostInterruptions) continue;
    if (written <= 0) {
      NoteError("write", path(), written < 0 ? errno : ENOSPC);
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

// Counts the chunk twice, because evicted parts are removed only after this chunk is written.
bool PartSink::HasRoom(std::uint64_t bytes) const {
  return max_bytes_ == 0 || bytes_on_disk_ + 2 * bytes <= max_bytes_;
}

// Only the counts of evicted parts are written into later chunks, and not the events, because later keyframes contain
// the sums of their events. While the newest part has no chunk, it has no keyframe either, so the part before it is not
// evicted.
void PartSink::PlanRoom(std::uint64_t bytes, std::span<const std::uint32_t> kept) {
  const std::size_t needed = offset_ == 0 ? 2 : 1;
  while (parts_.size() > needed && !HasRoom(bytes)) {
    const auto chosen = parts_.begin() + static_cast<std::ptrdiff_t>(LeastImportant(parts_.size() - needed, kept));
    bytes_on_disk_ -= chosen->bytes;
    folded_events_ += chosen->events;
    ++folded_parts_;
    planned_.push_back(chosen->path);
    parts_.erase(chosen);
  }
}

// Returns the index of the part to evict among the first `count` parts: the oldest part that `kept` does not protect.
// If `kept` protects all of them, the least important part.
std::size_t PartSink::LeastImportant(std::size_t count, std::span<const std::uint32_t> kept) const {
  std::vector<bool> stays(count);
  std::uint64_t room = max_bytes_ / 2;
  std::size_t last = 0;
  for (const std::uint32_t number : kept) {
    for (std::size_t i = 0; i < count; ++i) {
      if (parts_[i].number != number || stays[i] || parts_[i].bytes > room) continue;
      stays[i] = true;
      room -= parts_[i].bytes;
      last = i;
    }
  }
  const auto chosen = std::find(stays.begin(), stays.end(), false);
  return chosen == stays.end() ? last : static_cast<std::size_t>(chosen - stays.begin());
}

void PartSink::RemovePlanned() {
  for (const std::string& path : planned_) {
    if (unlink(path.c_str()) == 0 || errno == ENOENT) continue;
    last_errno_ = errno;
    last_error_ = "cannot remove " + path + ": " + std::strerror(errno);
  }
  planned_.clear();
}

bool PartSink::Append(std::string_view chunk, const ChunkFacts& facts) {
  if (!is_open()) return false;
  const bool written = WriteAll(chunk);
  RemovePlanned();
  if (!written) {
    Abandon();
    return false;
  }
  {
    protozero::pbf_writer index(index_);
    protozero::pbf_writer reference(index, field::index::kChunks);
    reference.add_uint64(field::chunk_ref::kOffset, offset_);
    reference.add_uint64(field::chunk_ref::kBytes, chunk.size());
    reference.add_uint64(field::chunk_ref::kFirstTick, facts.first_tick);
    reference.add_uint64(field::chunk_ref::kLastTick, facts.last_tick);
    reference.add_uint64(field::chunk_ref::kEventCount, facts.event_count);
    if (facts.has_keyframe) reference.add_bool(field::chunk_ref::kHasKeyframe, true);
  }
  offset_ += chunk.size();
  ++chunks_;
  bytes_written_ += chunk.size();
  bytes_on_disk_ += chunk.size();
  parts_.back().bytes += chunk.size();
  parts_.back().events += facts.event_count;
  return true;
}

// Cuts off an incomplete chunk, which also frees its bytes on a full disk. A part without any chunk is removed.
void PartSink::Abandon() {
  if (offset_ == 0) {
    if (!WasRemoved()) unlink(path().c_str());
    parts_.pop_back();
    next_number_ = number_;
  } else if (ftruncate(fd_, static_cast<off_t>(offset_)) != 0) {
    // The incomplete chunk stays; readers skip it.
  }
  // An error of close() is ignored, because the caller reports the earlier error.
  close(std::exchange(fd_, -1));
}

bool PartSink::Close() {
  if (!is_open()) return true;
  // close() closes the file even if it fails with EINTR.
  const bool failed = close(std::exchange(fd_, -1)) != 0 && errno != EINTR;
  if (failed) NoteError("close", path(), errno);
  return !failed;
}

bool PartSink::WasRemoved() const { return is_open() && IsGoneFrom(fd_, path().c_str()); }

void PartSink::Forget() {
  last_errno_ = ENOENT;
  last_error_ = path() + " was removed while it was written";
  close(std::exchange(fd_, -1));
  bytes_on_disk_ -= parts_.back().bytes;
  parts_.pop_back();
}

bool PartSink::Remove() {
  if (!is_open() || WasRemoved() || unlink(path().c_str()) != 0) return false;
  close(std::exchange(fd_, -1));
  bytes_on_disk_ -= parts_.back().bytes;
  parts_.pop_back();
  return true;
}

}  // namespace memoir
