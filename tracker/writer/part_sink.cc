#include "tracker/writer/part_sink.h"

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

#include "interpose/private_file.h"
#include "tracker/writer/capture_fields.h"
#include "tracker/writer/paths.h"

namespace memoir {
namespace {

// Of one call: no signal reaches the writer's thread, so that a file system which goes on saying EINTR is broken.
constexpr int kMostInterruptions = 1000;

}  // namespace

std::string PartPath(const std::string& folder, const std::string& stem, std::uint32_t number) {
  char digits[16];
  std::snprintf(digits, sizeof(digits), "%04u", number);
  return folder + "/" + stem + ".p" + digits + ".memoir";
}

std::string FixFor(int error_number) {
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
      return MakeRoomFor(error_number) + ", or " + choose;
    case ENOMEM:
      return "allow the program more memory";
    default:
      return choose;
  }
}

std::string MakeRoomFor(int error_number) {
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
    // Another rank may have made it meanwhile.
    if (IsFolder(made)) continue;
    return "cannot make the folder " + folder + ": " + std::strerror(cause) + "; " + FixFor(cause);
  }
  return "";
}

constexpr char kFolderIsGone[] = ": its folder was removed during the recording";

PartSink::PartSink(std::string folder, std::string stem, std::uint64_t max_bytes, std::uint32_t first_number)
    : folder_(std::move(folder)), stem_(std::move(stem)), max_bytes_(max_bytes), next_number_(first_number) {}

PartSink::~PartSink() { Close(); }

void PartSink::NoteError(const char* what, const std::string& file, int error_number) {
  last_errno_ = error_number;
  last_error_ = std::string("cannot ") + what + " " + file + ": " + std::strerror(error_number);
}

bool PartSink::PrepareNext() {
  int interruptions = 0;
  while (next_.fd < 0) {
    const std::string next = PartPath(folder_, stem_, next_number_);
    next_ = OpenKeptFile(next.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND);
    if (next_.fd >= 0) break;
    if (errno == EEXIST) {
      ++next_number_;
    } else if (errno != EINTR || ++interruptions >= kMostInterruptions) {
      NoteError("create", next, errno);
      // The folder was there when the recording began.
      if (last_errno_ == ENOENT) last_error_ = "cannot create " + next + kFolderIsGone;
      return false;
    }
  }
  return true;
}

bool PartSink::Open() {
  if (!PrepareNext()) return false;
  file_ = std::exchange(next_, {});
  number_ = next_number_++;
  offset_ = chunks_ = 0;
  index_.clear();
  parts_.push_back({path(), number_, 0, 0});
  return true;
}

// `bytes`: what it holds by now.
bool PartSink::KeepPartOpen(std::uint64_t bytes) {
  if (KeepOpen(&file_, path().c_str(), O_WRONLY | O_APPEND, bytes)) return true;
  NoteError("go on with", path(), errno);
  return false;
}

bool PartSink::WriteAll(std::string_view bytes) {
  int interruptions = 0;
  for (std::uint64_t end = offset_; !bytes.empty();) {
    if (!KeepPartOpen(end)) return false;
    const ssize_t written = write(file_.fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR && ++interruptions < kMostInterruptions) continue;
    if (written <= 0) {
      NoteError("write", path(), written < 0 ? errno : ENOSPC);
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
    end += static_cast<std::uint64_t>(written);
  }
  return true;
}

// For two: the old parts go only behind this chunk.
bool PartSink::HasRoom(std::uint64_t bytes) const {
  return max_bytes_ == 0 || bytes_on_disk_ + 2 * bytes <= max_bytes_;
}

// What the parts held that go stays in the sums of the keyframes behind them. A part without a chunk has no keyframe
// yet: the one before it stays until then.
void PartSink::PlanRoom(std::uint64_t bytes, std::span<const std::uint32_t> kept) {
  const std::size_t needed = offset_ == 0 ? 2 : 1;
  while (parts_.size() > needed && !HasRoom(bytes)) {
    const auto goes = parts_.begin() + static_cast<std::ptrdiff_t>(LeastImportant(parts_.size() - needed, kept));
    bytes_on_disk_ -= goes->bytes;
    folded_events_ += goes->events;
    ++folded_parts_;
    planned_.push_back(goes->path);
    parts_.erase(goes);
  }
}

// Of the first `count` parts.
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
  const auto goes = std::find(stays.begin(), stays.end(), false);
  return goes == stays.end() ? last : static_cast<std::size_t>(goes - stays.begin());
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

// Cuts a torn chunk off, which also gives its bytes back to a full disk; a part without any chunk goes altogether.
void PartSink::Abandon() {
  if (offset_ == 0) {
    if (!WasRemoved()) unlink(path().c_str());
    parts_.pop_back();
    next_number_ = number_;
  } else if (!IsKept(file_) || ftruncate(file_.fd, static_cast<off_t>(offset_)) != 0) {
    // The torn chunk stays; readers skip it.
  }
  // The error that brought us here is the one to report.
  CloseKeptFile(&file_);
}

bool PartSink::Close() {
  if (!is_open()) return true;
  // After EINTR it is closed all the same.
  const bool failed = CloseKeptFile(&file_) != 0 && errno != EINTR;
  if (failed) NoteError("close", path(), errno);
  return !failed;
}

bool PartSink::WasRemoved() const { return is_open() && IsGoneFrom(file_, path().c_str()); }

void PartSink::Forget() {
  last_errno_ = ENOENT;
  last_error_ = path() + " was removed while it was written";
  CloseKeptFile(&file_);
  bytes_on_disk_ -= parts_.back().bytes;
  parts_.pop_back();
}

bool PartSink::Remove() {
  if (!is_open() || WasRemoved() || unlink(path().c_str()) != 0) return false;
  CloseKeptFile(&file_);
  bytes_on_disk_ -= parts_.back().bytes;
  parts_.pop_back();
  return true;
}

}  // namespace memoir
