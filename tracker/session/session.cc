#include "tracker/session/session.h"

#include <unistd.h>

#include <ctime>
#include <fstream>
#include <memory>

#include "interpose/ring.h"
#include "interpose/tick.h"
#include "tracker/session/rank.h"
#include "tracker/torch/hooks.h"

namespace memoir {
namespace {

// The session of this process. Leaked on exit on purpose: hooks may run until the very end.
struct Session {
  pid_t owner = 0;
  std::string output;
  Writer* writer = nullptr;
};
constinit Session* session = nullptr;

bool OwnedHere() { return session != nullptr && session->writer != nullptr && session->owner == getpid(); }

std::string BootId() {
  std::string id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
  return id;
}

std::string HostName() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  std::string host(name);
  for (char& c : host) {
    if (c == '/' || c == '\n') c = '_';
  }
  return host.empty() ? "host" : host;
}

std::string FileStem(const ProcessFacts& facts) {
  char rank[16];
  std::snprintf(rank, sizeof rank, "r%05u", facts.rank);
  return std::string(rank) + ".a" + std::to_string(facts.restart) + "." + facts.host + "." + std::to_string(facts.pid);
}

ProcessFacts Facts(const Settings& settings, std::uint64_t ticks_per_second) {
  const Rank rank = FindRank(settings.rank);
  ProcessFacts facts;
  facts.pid = static_cast<std::uint64_t>(getpid());
  facts.host = HostName();
  facts.rank = rank.rank;
  facts.world_size = rank.world_size;
  facts.restart = rank.restart;
  facts.rank_source = rank.source;
  facts.program = settings.program;
  facts.memoir_version = MEMOIR_VERSION;
  facts.torch_version = TorchVersion();
  facts.python_version = settings.python_version;
  facts.ticks_per_second = ticks_per_second;
  facts.sources = {"ranges", "cpu-allocator"};
  facts.boot_id = BootId();
  return facts;
}

bool OpenRing(const Settings& settings, const std::string& stem, std::string* error) {
  RingOptions ring{};
  ring.folder = settings.ring_dir.empty() ? nullptr : settings.ring_dir.c_str();
  ring.bytes = settings.ring_size == 0 ? kDefaultRingBytes : settings.ring_size;
  ring.capture_folder = settings.output.c_str();
  ring.file_stem = stem.c_str();
  char message[512] = "";
  if (RingOpen(ring, message, sizeof message)) return true;
  *error = message;
  return false;
}

// Hooks that passed the flag before it went off are short; give them time to commit what they began.
void LetHooksLeave() {
  const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  nanosleep(&pause, nullptr);
}

}  // namespace

bool StartSession(const Settings& settings, std::string* error) {
  if (session == nullptr) session = new Session;
  if (session->writer != nullptr) {
    *error = "this process is being recorded already, into " + session->output;
    return false;
  }
  const std::uint64_t ticks_per_second = ChooseTick();
  WriterOptions options;
  options.folder = settings.output;
  options.max_bytes = settings.max_size;
  options.process = Facts(settings, ticks_per_second);
  options.stem = FileStem(options.process);
  if (!OpenRing(settings, options.stem, error)) return false;
  std::unique_ptr<Writer> writer = Writer::Start(options, error);
  if (writer == nullptr) {
    RingClose();
    return false;
  }
  session->owner = getpid();
  session->output = settings.output;
  session->writer = writer.release();
  InstallTorchHooks();
  SetRecordingEnabled(true);
  return true;
}

void StopSession(EndReason reason) {
  if (!OwnedHere()) return;
  SetRecordingEnabled(false);
  LetHooksLeave();
  session->writer->Stop(reason, "");
  delete session->writer;
  session->writer = nullptr;
  RingClose();
}

void FlushSession() {
  if (OwnedHere()) session->writer->Flush();
}

const char* SessionOutput() { return session == nullptr ? "" : session->output.c_str(); }

}  // namespace memoir
