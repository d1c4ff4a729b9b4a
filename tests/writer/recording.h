// A Writer with a ring and a capture in a temporary folder, for most tests of the writer.
#ifndef TESTS_WRITER_RECORDING_H_
#define TESTS_WRITER_RECORDING_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "interpose/ring/ring.h"
#include "tracker/writer/writer.h"

namespace memoir::test {

inline constexpr char kStem[] = "r00000.a0.testhost.1";
// The block that writer_kill_victim allocates first and never frees.
inline constexpr std::uint64_t kLongLivedAddress = 0x7e0000000000;
inline constexpr std::uint64_t kLongLivedBytes = 100u << 20;

class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& parent = "");
  ~TemporaryFolder();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

ProcessFacts SomeFacts();

// Opens the ring and switches recording on; Stop closes both. One at a time.
class Recording {
 public:
  struct Options {
    std::string capture;  // "": a new temporary folder
    std::uint64_t ring_bytes = kMinRingBytes;
    std::uint64_t max_bytes = 0;
    std::uint64_t part_bytes = kDefaultPartBytes;
    std::uint64_t retry_ns = kDefaultRetryNs;
    std::uint64_t patience_ns = kDefaultPatienceNs;
    std::function<void()> before_read = nullptr;
    bool repeats = false;                         // as with --detail auto
    std::function<bool()> is_followed = nullptr;  // as with --detail auto
  };
  explicit Recording(const Options& options);
  Recording() : Recording(Options{}) {}
  ~Recording();

  bool ok() const { return writer_ != nullptr; }
  const std::string& error() const { return error_; }
  const std::string& folder() const { return capture_; }
  Writer& writer() { return *writer_; }
  const ProcessFacts& facts() const { return facts_; }
  void Stop(EndReason reason = EndReason::kStopped, const std::string& message = "");
  WriterStatus status() const { return status_; }   // after Stop
  std::uint64_t unread() const { return unread_; }  // records left in the ring, after Stop

 private:
  TemporaryFolder temporary_;
  std::string capture_;
  std::string error_;
  ProcessFacts facts_ = SomeFacts();
  std::unique_ptr<Writer> writer_;
  WriterStatus status_;
  std::uint64_t unread_ = 0;
};

}  // namespace memoir::test

#endif  // TESTS_WRITER_RECORDING_H_
