#include "tests/writer/recording.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "interpose/system/tick.h"

namespace memoir::test {

TemporaryFolder::TemporaryFolder(const std::string& parent) {
  std::string name =
      (parent.empty() ? std::filesystem::temp_directory_path().string() : parent) + "/memoir-writer-XXXXXX";
  path_ = mkdtemp(name.data());
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

ProcessFacts SomeFacts() {
  ProcessFacts facts;
  facts.pid = static_cast<std::uint64_t>(getpid());
  facts.host = "testhost";
  facts.rank = 3;
  facts.world_size = 8;
  facts.restart = 1;
  facts.rank_source = "torchrun";
  facts.program = "train.py";
  facts.memoir_version = "0.1";
  facts.torch_version = "2.11.0";
  facts.python_version = "3.11.2";
  facts.ticks_per_second = ChooseTick();
  facts.sources = {"ranges", "cpu-allocator"};
  facts.boot_id = "boot";
  return facts;
}

Recording::Recording(const Options& options)
    : capture_(options.capture.empty() ? temporary_.path() + "/capture" : options.capture) {
  if (options.repeats) facts_.sources.emplace_back("known-steps");
  WriterOptions writer;
  writer.folder = capture_;
  writer.stem = kStem;
  writer.process = facts_;
  writer.max_bytes = options.max_bytes;
  writer.part_bytes = options.part_bytes;
  writer.retry_ns = options.retry_ns;
  writer.patience_ns = options.patience_ns;
  writer.before_read = options.before_read;
  writer.is_followed = options.is_followed;
  char error[512] = "";
  if (!RingOpen({temporary_.path().c_str(), options.ring_bytes, capture_.c_str(), kStem}, error, sizeof(error))) {
    error_ = error;
    return;
  }
  writer_ = Writer::Start(writer, &error_);
  if (writer_ != nullptr) SetRecordingEnabled(true);
}

Recording::~Recording() { Stop(); }

void Recording::Stop(EndReason reason, const std::string& message) {
  if (writer_ != nullptr) {
    SetRecordingEnabled(false);
    writer_->Stop(reason, message);
    status_ = writer_->Status();
    writer_.reset();
    unread_ = RingClose();
  }
  RingClose();
}

}  // namespace memoir::test
