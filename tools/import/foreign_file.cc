#include "tools/import/foreign_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/import/files/byte_source.h"
#include "tools/import/snapshot/snapshot_capture.h"
#include "tools/import/snapshot/snapshot_reader.h"
#include "tools/import/snapshot/torch_snapshot.h"
#include "tools/import/trace/profiler_capture.h"
#include "tools/import/trace/profiler_trace.h"

namespace memoir {
namespace {

enum class Format { kNone, kPickle, kOldPickle, kZip, kJson, kMemray };

constexpr std::size_t kStart = 64;  // number of first bytes that identify the program of a file

using ByteSink = std::function<absl::Status(std::string_view)>;

struct ForeignSource {
  Format format = Format::kNone;
  ByteSource source;
};

absl::Status Errno(const std::string& what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

// Returns true if `start` can be the begin of a JSON file. A part of a capture also begins with a newline, but a length
// and a control character follow it.
bool IsJson(std::string_view start) {
  constexpr std::string_view kSpace = " \t\r\n";
  const std::size_t first = start.find_first_not_of(kSpace);
  if (first == start.npos || (start[first] != '{' && start[first] != '[')) return false;
  const std::size_t second = first + 1;
  if (second == start.size()) return true;
  constexpr std::string_view kBegins = "\"{}[]-0123456789tfn";
  return kSpace.find(start[second]) != start.npos || kBegins.find(start[second]) != start.npos;
}

// Pickles of protocol 0 begin with "(dp0\n", of protocol 1 with "}q" and a zero byte.
bool IsOldPickle(std::string_view start) {
  return start.starts_with("(dp") || start.starts_with("(lp") || start.starts_with(std::string_view("}q\0", 3)) ||
         start.starts_with(std::string_view("]q\0", 3));
}

// A memray file is uncompressed, or compressed with LZ4. LZ4 does not compress the first bytes of a file, so they
// contain the word memray too.
bool IsMemrayFile(std::string_view start) {
  constexpr std::string_view kMemray = "memray";
  return start.starts_with(kMemray) || (start.starts_with("\x04\x22\x4d\x18") && start.find(kMemray) != start.npos);
}

Format FormatOf(std::string_view start) {
  if (start.size() >= 2 && start[0] == '\x80' && start[1] >= 2 && start[1] <= 5) return Format::kPickle;
  if (start.starts_with("PK\x03\x04")) return Format::kZip;
  if (IsMemrayFile(start)) return Format::kMemray;
  if (IsJson(start)) return Format::kJson;
  return IsOldPickle(start) ? Format::kOldPickle : Format::kNone;
}

absl::StatusOr<ForeignSource> Open(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return Errno(path);
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    close(descriptor);
    return absl::FailedPreconditionError(path + ": not a regular file");
  }
  absl::StatusOr<ByteSource> source = ByteSource::Open(descriptor);
  if (!source.ok()) return source.status();
  const std::size_t there = source->Fill(kStart);
  const Format format = FormatOf({source->data(), std::min(there, kStart)});
  return ForeignSource{format, *std::move(source)};
}

absl::Status WithPath(const std::string& path, const absl::Status& status) {
  return absl::Status(status.code(), absl::StrCat(path, ": ", status.message()));
}

// Creates a file without a name. If the file system does not support this, creates a file and removes its name at once.
int OpenUnnamed(const std::string& folder) {
  const int unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  std::string pattern = folder + "/memoir-XXXXXX";
  const int named = mkostemp(pattern.data(), O_CLOEXEC);
  if (named >= 0) unlink(pattern.c_str());
  return named;
}

absl::Status WriteAll(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return Errno("cannot be converted: writing to the folder for temporary files (TMPDIR) failed");
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return absl::OkStatus();
}

absl::Status ConvertSnapshot(ByteSource& source, const std::string& name, const ByteSink& write) {
  const absl::StatusOr<TorchSnapshot> snapshot = ReadTorchSnapshot(source);
  return snapshot.ok() ? WriteSnapshotCapture(*snapshot, name, write) : snapshot.status();
}

absl::Status ConvertTrace(ByteSource& source, const std::string& name, const ByteSink& write) {
  const absl::StatusOr<ProfilerTrace> trace = ReadProfilerTrace(source);
  return trace.ok() ? WriteProfilerCapture(*trace, name, write) : trace.status();
}

absl::Status Convert(ForeignSource& opened, const std::string& name, const ByteSink& write) {
  switch (opened.format) {
    case Format::kPickle:
      return ConvertSnapshot(opened.source, name, write);
    case Format::kJson:
      return ConvertTrace(opened.source, name, write);
    case Format::kZip:
      return absl::InvalidArgumentError(
          "a zip archive, as torch.save() writes, not a memory snapshot; give a file of "
          "torch.cuda.memory._dump_snapshot()");
    case Format::kOldPickle:
      return absl::InvalidArgumentError(
          "a pickle of protocol 0 or 1; write it with protocol 2 or newer: pickle.dump(snapshot, file, protocol=2)");
    case Format::kMemray:
      return absl::InvalidArgumentError(
          "a file of memray, whose records have no times and which its own package alone can read; show it with "
          "python -m memray flamegraph FILE, or record with memoir run (docs/imports.md)");
    case Format::kNone:
      break;
  }
  return absl::InvalidArgumentError("not a file that Memoir imports: docs/imports.md lists them");
}

}  // namespace

bool IsForeignFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const absl::StatusOr<ForeignSource> opened = Open(path);
  return opened.ok() && opened->format != Format::kNone;
}

absl::Status ConvertForeignFile(const std::string& path, const std::function<absl::Status(std::string_view)>& write) {
  absl::StatusOr<ForeignSource> opened = Open(path);
  if (!opened.ok()) return opened.status();
  const std::string name = std::filesystem::path(path).filename().string();
  const absl::Status converted = Convert(*opened, name, write);
  return converted.ok() ? converted : WithPath(path, converted);
}

absl::StatusOr<std::shared_ptr<const ConvertedFile>> ConvertedFile::Convert(const std::string& path) {
  const char* const folder = std::getenv("TMPDIR");
  const int descriptor = OpenUnnamed(folder == nullptr || *folder == '\0' ? "/tmp" : folder);
  if (descriptor < 0) return WithPath(path, Errno("cannot be converted: no file can be made in TMPDIR or /tmp"));
  std::shared_ptr<const ConvertedFile> converted(new ConvertedFile(descriptor));
  const absl::Status done =
      ConvertForeignFile(path, [&](std::string_view bytes) { return WriteAll(descriptor, bytes); });
  if (!done.ok()) return done;
  return converted;
}

ConvertedFile::~ConvertedFile() { close(descriptor_); }

std::string ConvertedFile::path() const { return absl::StrCat("/proc/self/fd/", descriptor_); }

}  // namespace memoir
