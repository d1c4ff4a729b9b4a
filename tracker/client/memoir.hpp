// Records a C++ program: sessions, steps, marks, ranges. Header only, C++17; knows nothing of torch's headers
// (memoir/torch.hpp does).
//
//     memoir::Session session("run1", {{"max_size", "2GiB"}});   // until the end of the scope
//     for (...) {
//       memoir::Step();
//       { const memoir::Range range("validation"); ... }
//     }
//     memoir::Mark("trained");
//
// Links nothing of Memoir's. A Session loads Memoir (memoir/load.h says from where) and starts a recording; everything
// else finds the recording that runs, also that of `memoir run` and of the Python package, and does nothing where there
// is none. Nothing here throws but std::bad_alloc, and nothing ends the program. Any thread.
#ifndef TRACKER_CLIENT_MEMOIR_HPP_
#define TRACKER_CLIENT_MEMOIR_HPP_

#include <errno.h>
#include <memoir.h>
#include <memoir/load.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace memoir {
namespace internal {

using Functions = memoir_functions;

// What this program knows of Memoir. Its members are found once and kept for good.
struct Client {
  std::atomic<const Functions*> functions{nullptr};
  std::atomic<bool> looked{false};
  std::atomic<int> session_of{0};  // process whose Session records
  std::atomic<std::uint64_t> next_step{0};
  std::atomic<void (*)()> describe{nullptr};  // torch.hpp's: what modules and optimizers hold

  static Client& Get() {
    static Client* const client = new Client;  // threads may be using it until the very end
    return *client;
  }
  void Describe() const {
    if (const auto torch = describe.load()) torch();
  }
};

inline const Functions* Keep(const Functions& found) {
  Client& client = Client::Get();
  auto fresh = std::make_unique<Functions>(found);
  const Functions* known = nullptr;
  if (client.functions.compare_exchange_strong(known, fresh.get())) return fresh.release();
  return known;
}

// Memoir's functions in this process; nullptr: it is not there. Looks once; `again` looks also where it was not there.
inline const Functions* Find(bool again = false) {
  Client& client = Client::Get();
  if (const Functions* known = client.functions.load(std::memory_order_acquire)) return known;
  if (client.looked.exchange(true) && !again) return nullptr;
  Functions found;
  return memoir_find(&found) == 0 ? Keep(found) : nullptr;
}

// While operators are recorded.
inline const Functions* Recording() {
  const Functions* functions = Find();
  return functions != nullptr && functions->level() == MEMOIR_ALL ? functions : nullptr;
}

inline void Say(const std::string& line) { std::fputs(("memoir: " + line + "\n").c_str(), stderr); }

// At exit(), with a Session still open.
inline void EndAtExit() {
  Client& client = Client::Get();
  const Functions* functions = Find();
  char message[1024] = "";
  if (functions == nullptr || client.session_of.exchange(0) != getpid()) return;
  client.Describe();
  if (functions->stop(MEMOIR_EXITED, message, sizeof message) != 0) Say(message);
}

}  // namespace internal

// Whether something worked, and if not, one line with the cause and what to do.
class Status {
 public:
  Status() = default;
  explicit Status(std::string problem) : problem_(std::move(problem)) {}
  bool ok() const { return problem_.empty(); }
  explicit operator bool() const { return ok(); }
  const std::string& message() const { return problem_; }

 private:
  std::string problem_;
};

// Names and values as memoir.start() of Python has them: {{"max_size", "2GiB"}, {"stacks", "native"}}.
using Options = std::vector<std::pair<std::string, std::string>>;

// Records this process from here to End(), the end of the scope, or exit(). What goes wrong is said in a line on
// standard error and kept in status(); the program runs on, unrecorded.
//
//   under `memoir run`                 that recording goes on, and this session does nothing; a line says so
//   while another Session records      this one does not
//   in a forked child                  the parent's Session does nothing; the child may have its own
//   left by an exception               the capture has a mark "exception", and ends in order
//   std::terminate, a signal, _exit    `memoir show`, on this machine, finds all that was recorded
class Session {
 public:
  // `folder`: of the capture, made if it is not there; "": as the environment says, else memoir-DATE-TIME.
  explicit Session(const std::string& folder = "", const Options& options = {}) {
    const internal::Functions* functions = Load();
    if (functions == nullptr) return;
    if (functions->recording() == 1 && internal::Client::Get().session_of != getpid()) {
      Join(*functions);
    } else {
      Start(*functions, folder, options);
    }
  }
  ~Session() {
    if (owner_ == 0) return;
    if (std::uncaught_exceptions() > exceptions_) internal::Find()->mark("exception");
    End();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Returns when everything is on file. A session that did not start, or has ended, says so.
  Status End() {
    if (owner_ == 0) return ended_ ? Status("this session has ended already") : status_;
    ended_ = true;
    const int owner = std::exchange(owner_, 0);
    if (owner == kJoined || owner != getpid()) return Status();  // another's, or a forked child's copy
    internal::Client& client = internal::Client::Get();
    if (client.session_of.exchange(0) != owner) return Status();  // exit() came first
    client.Describe();
    char message[1024] = "";
    if (internal::Find()->stop(MEMOIR_STOPPED, message, sizeof message) != 0) Set(message, "");
    return status_;
  }

  // Of the start, and of the end once it has come.
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  explicit operator bool() const { return ok(); }

 private:
  static constexpr int kJoined = -1;

  void Set(const std::string& problem, const char* before) {
    status_ = Status(problem);
    internal::Say(before + problem);
  }

  const internal::Functions* Load() {
    if (const internal::Functions* known = internal::Find(true)) return known;
    internal::Functions found;
    char message[5000] = "";
    if (memoir_load(&found, message, sizeof message) == 0) return internal::Keep(found);
    Set(message, "not recording: ");
    return nullptr;
  }

  void Join(const internal::Functions& functions) {
    char folder[4096] = "";
    functions.output(folder, sizeof folder);
    internal::Say(std::string("Session ignored: this process is being recorded already, into ") + folder);
    owner_ = kJoined;
  }

  void Start(const internal::Functions& functions, const std::string& folder, const Options& options) {
    std::vector<std::string> texts = {std::string("program=") + program_invocation_short_name};
    if (!folder.empty()) texts.push_back("output=" + folder);
    for (const auto& [name, value] : options) texts.push_back(name + "=" + value);
    std::vector<const char*> settings;
    for (const std::string& text : texts) settings.push_back(text.c_str());
    settings.push_back(nullptr);
    char message[1024] = "";
    if (functions.start(settings.data(), message, sizeof message) != 0) return Set(message, "not recording: ");
    owner_ = getpid();
    internal::Client::Get().session_of = owner_;
    internal::Client::Get().Describe();
    [[maybe_unused]] static const int registered = std::atexit(&internal::EndAtExit);
  }

  int owner_ = 0;  // process that this session records; kJoined: it is recorded without it
  bool ended_ = false;
  int exceptions_ = std::uncaught_exceptions();
  Status status_;
};

// A training step begins: call it first in the body of the loop. Counted from 0, or `number`.
inline void Step(std::uint64_t number) {
  internal::Client& client = internal::Client::Get();
  client.next_step = number + 1;
  const internal::Functions* functions = internal::Find(true);
  if (functions == nullptr) return;
  client.Describe();
  functions->step(number);
}
inline void Step() { Step(internal::Client::Get().next_step); }

// Names this instant: `memoir show --at mark:NAME`. What is longer than 1,024 bytes is cut.
inline void Mark(const std::string& name) {
  const internal::Functions* functions = internal::Find(true);
  if (functions != nullptr) functions->mark(name.c_str());
}

// A user range, as record_function in Python: from here to the end of the scope, on this thread.
class Range {
 public:
  explicit Range(const std::string& name) : functions_(internal::Recording()) {
    if (functions_ != nullptr) range_ = functions_->begin_range(name.c_str());
  }
  ~Range() {
    if (range_ != nullptr) functions_->end_range(range_);
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  const internal::Functions* functions_;
  void* range_ = nullptr;
};

// Nothing is recorded until Resume(), or allocations alone. False: this process is not recorded, or it was too late.
inline bool Pause(bool keep_memory = false) {
  const internal::Functions* functions = internal::Find(true);
  return functions != nullptr && functions->pause(keep_memory ? 1 : 0) == 0;
}
inline bool Resume() {
  const internal::Functions* functions = internal::Find(true);
  return functions != nullptr && functions->resume() == 0;
}

// Also while it is paused.
inline bool IsRecording() {
  const internal::Functions* functions = internal::Find(true);
  return functions != nullptr && functions->recording() == 1;
}

// Returns when all that was recorded so far is on file.
inline void Flush() {
  if (const internal::Functions* functions = internal::Find(true)) functions->flush();
}

}  // namespace memoir

#endif  // TRACKER_CLIENT_MEMOIR_HPP_
