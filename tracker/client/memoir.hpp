// Records a C++ program: sessions, steps, marks, ranges. Header only, C++17, independent of torch's headers
// (memoir/torch.hpp uses them).
//
//     memoir::Session session("run1", {{"max_size", "2GiB"}});   // until the end of the scope
//     for (...) {
//       memoir::Step();
//       { const memoir::Range range("validation"); ... }
//     }
//     memoir::Mark("trained");
//
// The program links no library of Memoir. A Session loads Memoir (memoir/load.h lists the folders that are searched)
// and starts a recording. The other functions and classes use the recording that runs, which `memoir run` or the Python
// package may also have started. If no recording runs, they do nothing. The only exception that they throw is
// std::bad_alloc. No error ends the program. They may be used on any thread.
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

// The state of this header in the process: the functions of Memoir, searched for once and kept, and the Session that
// records.
struct Client {
  std::atomic<const Functions*> functions{nullptr};
  std::atomic<bool> looked{false};  // Find has searched for Memoir
  std::atomic<int> session_of{0};   // id of the process whose Session records; 0: no Session records
  std::atomic<std::uint64_t> next_step{0};
  std::atomic<void (*)()> describe{nullptr};  // set by torch.hpp: reports the tensors of modules and optimizers

  static Client& Get() {
    static Client* const client = new Client;  // never freed: threads may use it until the process ends
    return *client;
  }
  void Describe() const {
    if (const auto torch = describe.load()) torch();
  }
};

// Stores `found` for the whole process, unless another thread has already stored the functions. Returns the stored
// functions.
inline const Functions* Keep(const Functions& found) {
  Client& client = Client::Get();
  auto fresh = std::make_unique<Functions>(found);
  const Functions* known = nullptr;
  if (client.functions.compare_exchange_strong(known, fresh.get())) return fresh.release();
  return known;
}

// Returns Memoir's functions in this process; nullptr if Memoir is not loaded. Only the first call searches for Memoir;
// with `again`, each call searches until Memoir is found.
inline const Functions* Find(bool again = false) {
  Client& client = Client::Get();
  if (const Functions* known = client.functions.load(std::memory_order_acquire)) return known;
  if (client.looked.exchange(true) && !again) return nullptr;
  Functions found;
  return memoir_find(&found) == 0 ? Keep(found) : nullptr;
}

// Returns Memoir's functions while operators are recorded; otherwise nullptr.
inline const Functions* Recording() {
  const Functions* functions = Find();
  return functions != nullptr && functions->level() == MEMOIR_ALL ? functions : nullptr;
}

inline void PrintLine(const std::string& line) { std::fputs(("memoir: " + line + "\n").c_str(), stderr); }

// Ends a Session that is still open at exit().
inline void EndAtExit() {
  Client& client = Client::Get();
  const Functions* functions = Find();
  char message[1024] = "";
  if (functions == nullptr || client.session_of.exchange(0) != getpid()) return;
  client.Describe();
  if (functions->stop(MEMOIR_EXITED, message, sizeof message) != 0) PrintLine(message);
}

}  // namespace internal

// Success, or one line with the cause and the remedy.
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

// Names and values of options, as for memoir.start() in Python: {{"max_size", "2GiB"}, {"stacks", "native"}}.
using Options = std::vector<std::pair<std::string, std::string>>;

// Records this process from the constructor to End(), the end of the scope, or exit(). An error is printed as one line
// on standard error and stored in status(); the program continues unrecorded.
//
//   under `memoir run`                 the recording of `memoir run` continues; this Session only prints a line
//   while another Session records      this Session does not record, and a line is printed
//   in a forked child                  the parent's Session does nothing; the child may have its own
//   left by an exception               the capture has a mark "exception", and ends normally
//   std::terminate, a signal, _exit    `memoir show`, on this machine, finds all recorded events
class Session {
 public:
  // `folder`: the folder of the capture, created if necessary. "": the folder from the environment, else
  // memoir-DATE-TIME.
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

  // Ends the recording of this session, and returns when all events are in the capture. An error if the session did not
  // start, or has ended already.
  Status End() {
    if (owner_ == 0) return ended_ ? Status("this session has ended already") : status_;
    ended_ = true;
    const int owner = std::exchange(owner_, 0);
    // This session did not start the recording, or it is the copy in a forked child.
    if (owner == kJoined || owner != getpid()) return Status();
    internal::Client& client = internal::Client::Get();
    if (client.session_of.exchange(0) != owner) return Status();  // EndAtExit has ended the recording
    client.Describe();
    char message[1024] = "";
    if (internal::Find()->stop(MEMOIR_STOPPED, message, sizeof message) != 0) Set(message, "");
    return status_;
  }

  // The result of the start; after End(), an error of End() replaces it.
  const Status& status() const { return status_; }
  bool ok() const { return status_.ok(); }
  explicit operator bool() const { return ok(); }

 private:
  static constexpr int kJoined = -1;

  void Set(const std::string& problem, const char* before) {
    status_ = Status(problem);
    internal::PrintLine(before + problem);
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
    internal::PrintLine(std::string("Session ignored: this process is being recorded already, into ") + folder);
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

  int owner_ = 0;  // id of the process that this session records; kJoined: another recording continues; 0: no recording
  bool ended_ = false;
  int exceptions_ = std::uncaught_exceptions();
  Status status_;
};

// Begins the training step `number`. Call it first in the body of the loop. Step() without a number begins the step
// after the previous step, or step 0.
inline void Step(std::uint64_t number) {
  internal::Client& client = internal::Client::Get();
  client.next_step = number + 1;
  const internal::Functions* functions = internal::Find(true);
  if (functions == nullptr) return;
  client.Describe();
  functions->step(number);
}
inline void Step() { Step(internal::Client::Get().next_step); }

// Records a mark with this name, for `memoir show --at mark:NAME`. Names are cut to 1,024 bytes.
inline void Mark(const std::string& name) {
  const internal::Functions* functions = internal::Find(true);
  if (functions != nullptr) functions->mark(name.c_str());
}

// A user range, like record_function in Python: it lasts until the end of the scope, on this thread.
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

// Pauses the recording until Resume(). With `keep_memory`, allocations are still recorded. Returns false if no
// recording runs, or if the pause could not be recorded.
inline bool Pause(bool keep_memory = false) {
  const internal::Functions* functions = internal::Find(true);
  return functions != nullptr && functions->pause(keep_memory ? 1 : 0) == 0;
}
// Ends a pause. Returns false for the same reasons as Pause().
inline bool Resume() {
  const internal::Functions* functions = internal::Find(true);
  return functions != nullptr && functions->resume() == 0;
}

// Returns true while this process is recorded, also while the recording is paused.
inline bool IsRecording() {
  const internal::Functions* functions = internal::Find(true);
  return functions != nullptr && functions->recording() == 1;
}

// Waits until the capture contains all events that were recorded before this call.
inline void Flush() {
  if (const internal::Functions* functions = internal::Find(true)) functions->flush();
}

}  // namespace memoir

#endif  // TRACKER_CLIENT_MEMOIR_HPP_
