// Builds well-formed captures from a list of events, with libprotobuf and zstd, for the tests of the tools. It shares
// no code with the tracker's writer, on purpose.
//
//     ProcessBuilder process({.rank = 0});
//     process.Begin("aten::add.Tensor").Allocate(0x1000, 64).End();
//     process.Deallocate(0x1000);
//     process.WriteTo(folder);
//
// Events go to the current thread (thread 1 at first) at the current tick, which then grows by `tick_step`. One tick is
// one nanosecond.
#ifndef TESTS_CAPTURES_CAPTURE_BUILDER_H_
#define TESTS_CAPTURES_CAPTURE_BUILDER_H_

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "memoir/v1/capture.pb.h"

namespace memoir::testing {

struct TensorSpec {
  std::uint64_t impl = 0x10;
  std::uint64_t storage = 0;
  std::uint64_t storage_bytes = 0;
  std::vector<std::int64_t> sizes;
  std::string dtype_name = "float32";
  std::uint32_t device = 0;
  bool wants_gradient = false;
  bool unlisted = false;
};

struct ProcessOptions {
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t restart = 0;
  std::uint64_t pid = 100;
  std::string host = "testhost";
  std::string program = "train.py";
  std::uint64_t start_realtime_ns = 1'000'000'000;
  std::uint64_t start_tick = 1000;
  std::uint64_t tick_step = 10;
  double ns_per_tick = 1;          // according to the clock's readings; the estimate is 1
  std::uint64_t chunk_events = 0;  // ends a chunk after so many events; 0: only at EndChunk
  std::string ring_path;
  std::vector<std::string> sources = {"ranges", "cpu-allocator"};
  std::uint64_t recording =
      0x1234567890abcdef;        // in each chunk; 0: none, and no header checksums, as in early versions
  std::uint32_t first_part = 0;  // the number of the first part; not 0 after exec
};

// An event of a step pattern, on thread 1.
struct StretchEventSpec {
  v1::EventKind kind = v1::STEP;
  std::uint64_t tick = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;
  std::uint32_t of_host = 0;
  std::uint32_t freed_event = 0;
};
v1::StretchDef StretchOf(std::uint32_t id, const std::vector<StretchEventSpec>& events);

class ProcessBuilder {
 public:
  explicit ProcessBuilder(ProcessOptions options = {});

  ProcessBuilder& OnThread(std::uint32_t thread);  // from 1
  ProcessBuilder& NameThread(std::uint32_t thread, std::string name);
  ProcessBuilder& WorksFor(std::uint32_t thread, std::uint32_t owner);  // `thread` runs parallel regions of `owner`
  ProcessBuilder& AtTick(std::uint64_t tick);                           // the tick of the next event
  std::uint64_t tick() const { return tick_; }

  // Adds a device to device 0, the CPU. Returns its id for the functions below.
  std::uint32_t AddDevice(const std::string& type, std::uint32_t index, const std::string& product = "");

  ProcessBuilder& Begin(const std::string& operator_name, const std::vector<TensorSpec>& arguments = {});
  ProcessBuilder& BeginUser(const std::string& name);
  ProcessBuilder& BeginNvtx(const std::string& name);
  ProcessBuilder& BeginBackward(const std::string& node, std::int64_t sequence, std::uint64_t forward_thread);
  ProcessBuilder& BeginText(const std::string& name);               // a function range without schema
  ProcessBuilder& BeginDispatch(const std::string& operator_name);  // an operator below autograd
  ProcessBuilder& End(const std::vector<TensorSpec>& results = {});
  // Defines the operator again, as a changed library does that is loaded again.
  ProcessBuilder& Redefine(const std::string& operator_name, const std::string& schema,
                           const std::vector<bool>& written);

  ProcessBuilder& Allocate(std::uint64_t address, std::uint64_t bytes, std::uint32_t device = 0);
  ProcessBuilder& Deallocate(std::uint64_t address, std::uint32_t device = 0);
  // Use the given serial, for late and lost events. Keyframes ignore these events.
  ProcessBuilder& AllocateAs(std::uint64_t serial, std::uint64_t address, std::uint64_t bytes,
                             std::uint32_t device = 0);
  ProcessBuilder& DeallocateAs(std::uint64_t serial, std::uint64_t address, std::uint32_t device = 0);
  // Allocates from a device's caching allocator. Keyframes contain the blocks, but no segments. `requested` 0: equal to
  // `bytes`.
  ProcessBuilder& AllocateBlock(std::uint32_t device, std::uint64_t address, std::uint64_t bytes,
                                std::uint64_t requested = 0);
  // Adds a block that was live before the recording.
  ProcessBuilder& FindBlock(std::uint32_t device, std::uint64_t address, std::uint64_t bytes);
  ProcessBuilder& RequestFree(std::uint32_t device, std::uint64_t address) { return Deallocate(address, device); }
  ProcessBuilder& CompleteFree(std::uint32_t device, std::uint64_t address);
  ProcessBuilder& FreeBlock(std::uint32_t device, std::uint64_t address) {
    return RequestFree(device, address).CompleteFree(device, address);
  }
  ProcessBuilder& ChangeSegment(v1::EventKind kind, std::uint32_t device, std::uint64_t address, std::uint64_t bytes);
  // `limit`: bytes that torch's allocator may reserve. 0 if unknown.
  ProcessBuilder& RunOutOfMemory(std::uint32_t device, std::uint64_t asked, std::uint64_t device_free,
                                 std::uint64_t limit = 0);
  struct Statistics {
    std::uint64_t allocated, active, reserved, retries, ooms;
  };
  ProcessBuilder& CountDevice(std::uint32_t device, const Statistics& statistics);
  // Driver allocations. Keyframes contain the blocks and the device samples.
  ProcessBuilder& GiveDriverBlock(std::uint32_t device, std::uint64_t address, std::uint64_t bytes, v1::DriverCall call,
                                  const std::string& library);
  ProcessBuilder& TakeDriverBlock(std::uint32_t device, std::uint64_t address);
  ProcessBuilder& RefuseDriver(std::uint32_t device, std::uint64_t bytes, v1::DriverCall call,
                               const std::string& library, std::uint32_t error, std::uint64_t device_free);
  struct Reading {
    static constexpr std::uint64_t kNotKnown = ~std::uint64_t{0};
    std::uint64_t free = kNotKnown, total = kNotKnown, process = kNotKnown, others = kNotKnown, pools = kNotKnown;
  };
  ProcessBuilder& ReadDevice(std::uint32_t device, v1::ReadingCause cause, const Reading& reading);
  // Adds a reading of host memory at the current tick, with the cause REGULAR. Keyframes do not contain it.
  ProcessBuilder& ReadHost(const v1::HostReading& numbers);
  // Calls of CUDA.
  struct Launch {
    std::string kernel;  // mangled; "" if unknown
    std::uint64_t stream = 0;
    v1::DeviceCall call = v1::LAUNCH_KERNEL;
    std::vector<std::uint32_t> grid = {1, 1, 1, 128, 1, 1};
    std::uint32_t result = 0;
    std::uint32_t correlation = 0;
  };
  ProcessBuilder& LaunchKernel(std::uint32_t device, const Launch& launch);
  struct CudaCall {
    v1::DeviceCall call = v1::COPY_ASYNC;
    std::uint64_t stream = 0;
    std::uint64_t bytes = 0;
    v1::CopyKind kind = v1::COPY_KIND_UNKNOWN;
    std::uint64_t graph = 0;
    std::uint64_t graph_exec = 0;
    std::uint64_t ticks = 5;
    std::uint32_t result = 0;
    std::uint32_t correlation = 0;
  };
  ProcessBuilder& CallDevice(std::uint32_t device, const CudaCall& call);
  struct DeviceRun {
    std::string kernel;  // mangled; "" if unknown, or not a kernel
    std::uint32_t correlation = 0;
    std::uint64_t ns = 100;
    v1::RunKind kind = v1::RUN_OF_KERNEL;
    std::uint64_t bytes = 0;
    v1::CopyKind copy = v1::COPY_KIND_UNKNOWN;
    std::uint32_t stream = 7;
    std::uint64_t age = 200;
  };
  ProcessBuilder& RunOnDevice(std::uint32_t device, const DeviceRun& ran);
  // torch's allocator takes a segment with cudaMalloc.
  ProcessBuilder& TakeSegment(std::uint32_t device, std::uint64_t address, std::uint64_t bytes) {
    return GiveDriverBlock(device, address, bytes, v1::MALLOC, "libc10_cuda.so")
        .ChangeSegment(v1::SEGMENT_ALLOCATE, device, address, bytes);
  }
  std::uint64_t next_serial() const { return serial_; }

  ProcessBuilder& EnterModule(const std::string& path, const std::string& class_name = "Module",
                              const std::string& root = "Model");
  ProcessBuilder& ExitModule(const std::string& path, const std::string& class_name = "Module",
                             const std::string& root = "Model");
  // The tensors that a module or an optimizer holds. `names` has the names of the parameters, then of the buffers.
  // Empty if unknown.
  ProcessBuilder& ModuleHolds(const std::string& path, const std::vector<std::vector<TensorSpec>>& lists,
                              const std::vector<std::string>& names = {}, const std::string& class_name = "Module",
                              const std::string& root = "Model");
  ProcessBuilder& OptimizerHolds(std::uint64_t optimizer, const std::vector<std::vector<TensorSpec>>& lists);
  // Further tensors of the preceding ModuleHolds or OptimizerHolds.
  ProcessBuilder& HoldsMore(const std::vector<std::vector<TensorSpec>>& lists,
                            const std::vector<std::string>& names = {});
  // The parameter has no gradient if `gradient.impl` is 0.
  ProcessBuilder& GradientOf(const TensorSpec& parameter, const TensorSpec& gradient);
  // An operator with an autograd sequence number, and an argument for each tensor.
  ProcessBuilder& BeginForward(const std::string& operator_name, std::int64_t sequence,
                               const std::vector<TensorSpec>& arguments = {});

  // Sets the Python stack of the current thread, outermost frame first.
  struct PythonFrame {
    std::string file, function;
    std::uint32_t line = 0;
  };
  ProcessBuilder& Stack(const std::vector<PythonFrame>& frames);
  // Begins and ends calls of Python functions. `file` is "" for a function in C, `function` is "" if unknown.
  ProcessBuilder& Call(const std::string& file, const std::string& function);
  ProcessBuilder& Return(std::uint32_t calls = 1);  // ends `calls` calls with one event

  ProcessBuilder& Mark(const std::string& name);
  ProcessBuilder& Step(std::uint64_t step);
  // Sets the level of the following events. Closes all ranges. A change from LEVEL_OFF forgets all blocks.
  ProcessBuilder& SwitchTo(v1::RecordingLevel level);

  // Adds repeated steps to the chunk, apart from its runs, at most once for each chunk. The steps must free every block
  // that they allocate, because keyframes ignore them.
  ProcessBuilder& Repeat(const v1::StretchDef& stretch, const v1::Repeats& repeats);
  ProcessBuilder& Repeat(const v1::Repeats& repeats);

  ProcessBuilder& LoseRecords(std::uint64_t records);  // on the current thread
  // The events of `lose` happen, and keyframes include them, but they are not recorded.
  template <class Function>
  ProcessBuilder& Unrecorded(Function lose) {
    recording_ = false;
    lose(*this);
    recording_ = true;
    return *this;
  }

  ProcessBuilder& EndChunk(bool keyframe_next = false);
  ProcessBuilder& SkipChunks(std::uint64_t chunks);  // leaves a gap in the sequence
  ProcessBuilder& EndPart(bool with_index = true);   // the next part starts with a keyframe
  ProcessBuilder& RenumberDictionaries();            // as memoir-drain does in the part it adds
  ProcessBuilder& RemovePart(std::uint32_t part);    // its file is not written
  // Evict the oldest `parts` parts, or one part, as --max-size does. The counters include them.
  ProcessBuilder& FoldParts(std::uint32_t parts);
  ProcessBuilder& FoldPart(std::uint32_t part);

  v1::Counters& counters() { return counters_; }  // written with every later chunk
  v1::ProcessInfo& info() { return info_; }
  ProcessBuilder& SayProcessAgain() {  // writes info() again, in the next chunk
    process_again_ = true;
    return *this;
  }
  ProcessBuilder& set_end(v1::End::Reason reason, const std::string& message = "");  // default: EXITED
  v1::End& end() { return end_; }
  ProcessBuilder& set_host_at_end(const v1::HostReading& numbers);
  // Ends without End and index, as after SIGKILL.
  ProcessBuilder& Kill();

  // Closes open ranges and the last part. Call once; then FileName and parts are complete.
  void Finish();
  void WriteTo(const std::string& folder);  // calls Finish
  const std::vector<std::string>& parts();  // the bytes of each part file; calls Finish
  std::string FileName(std::uint32_t part) const;
  // The offset of each chunk of a part, and the end of the last chunk.
  const std::vector<std::uint64_t>& chunk_offsets(std::uint32_t part) const { return chunk_offsets_[part]; }
  std::uint64_t events() const { return events_; }

 private:
  struct OpenRange {
    v1::EventKind kind;
    std::uint32_t name;
    bool is_operator;
    std::uint64_t tick;
  };
  struct Live {
    std::uint64_t bytes, serial, tick;
    std::uint32_t thread, operator_name, leaf_name;
    std::vector<PythonFrame> python;
  };
  struct DriverLive {
    std::uint64_t bytes, serial, tick;
    v1::DriverCall call;
    std::uint32_t library;
  };
  struct Thread {
    v1::ThreadRun run;
    std::uint64_t run_first_record = 0, next_record = 0;
    std::uint64_t last_tick = 0, last_address = 0, last_serial = 0, last_stream = 0, last_correlation = 0;
    std::int64_t last_sequence = 0;
    std::vector<OpenRange> stack;
    std::vector<std::uint32_t> devices;
    std::string name;
    std::uint32_t works_for = 0;
    std::vector<PythonFrame> python;
    std::uint32_t calls = 0;
  };

  Thread& thread() { return threads_[thread_]; }
  v1::ThreadRun& AddEvent(v1::EventKind kind, std::uint64_t tensors = 0);
  ProcessBuilder& BeginRange(v1::EventKind kind, const std::string& name, bool is_operator, std::int64_t sequence,
                             std::uint64_t forward_thread, const std::vector<TensorSpec>& arguments);
  ProcessBuilder& AddAllocator(v1::EventKind kind, std::uint64_t serial, std::uint64_t address, std::uint64_t bytes,
                               std::uint32_t device);
  v1::ThreadRun& AddDeviceEvent(v1::EventKind kind, std::uint32_t device, std::uint64_t address);
  v1::ThreadRun& AddCall(v1::EventKind kind, std::uint32_t device, std::uint64_t stream);
  std::uint32_t ModuleIdOf(const std::string& root, const std::string& path, const std::string& class_name);
  ProcessBuilder& AddModule(v1::EventKind kind, std::uint32_t module);
  v1::ThreadRun& AddLists(v1::EventKind kind, const std::vector<std::vector<TensorSpec>>& lists,
                          const std::vector<std::string>& names);
  std::uint32_t NameIdOf(const std::string& text, bool is_operator);
  std::uint32_t CodeIdOf(const PythonFrame& frame);
  std::uint32_t StackIdOf(const std::vector<PythonFrame>& frames);
  std::uint32_t LayoutIdOf(const TensorSpec& tensor);
  std::uint32_t SignatureIdOf(const std::string& kinds, const std::vector<std::size_t>& list_lengths);
  void AddTensors(v1::ThreadRun& run, const std::vector<TensorSpec>& tensors);
  void AddTensor(v1::ThreadRun& run, const TensorSpec& tensor);
  void FillKeyframe(v1::Keyframe* keyframe);
  void FillDriver(v1::Keyframe* keyframe) const;
  void StartChunk(bool keyframe);
  void WriteChunk(v1::Chunk& chunk);
  void AppendIndex();
  void Track(bool allocate, std::uint64_t serial, std::uint64_t address, std::uint64_t bytes, std::uint32_t device);

  ProcessOptions options_;
  v1::ProcessInfo info_;
  v1::Counters counters_;
  v1::End end_;
  bool process_again_ = false;
  bool killed_ = false;
  bool finished_ = false;
  bool positional_ = false;  // each tensor is a separate argument, not an element of a list
  bool recording_ = true;

  std::uint64_t tick_;
  std::uint64_t serial_ = 1;
  v1::RecordingLevel level_ = v1::LEVEL_ALL;
  std::uint32_t thread_ = 1;
  std::uint64_t events_ = 0;
  std::uint64_t chunk_event_count_ = 0;
  std::uint64_t sequence_ = 0;
  std::map<std::uint32_t, Thread> threads_;
  std::vector<v1::DeviceDef> devices_;
  std::map<std::pair<bool, std::string>, std::uint32_t> names_;
  std::map<std::string, std::uint32_t> layouts_;
  std::map<std::vector<std::pair<std::uint32_t, std::uint32_t>>, std::uint32_t> stacks_;  // by code and line
  std::map<std::string, std::uint32_t> signatures_;                                       // by kinds and list lengths
  // Definitions that the current part already has. A missing definition is added to the current chunk.
  std::map<std::pair<int, std::uint32_t>, bool> defined_;
  std::map<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t, std::uint32_t>,
           std::uint32_t>
      tensor_rows_;
  std::uint64_t last_impl_ = 0, last_storage_ = 0;
  v1::Payload payload_;
  bool chunk_has_keyframe_ = false;

  std::map<std::pair<std::uint32_t, std::uint64_t>, Live> live_;
  std::map<std::pair<std::uint32_t, std::uint64_t>, DriverLive> driver_;
  // Per device: the first, the one with the least free bytes, the newest.
  std::map<std::uint32_t, std::vector<v1::DeviceReading>> readings_;
  std::map<std::uint32_t, v1::DeviceTotals> totals_;
  std::map<std::uint32_t, v1::OperatorTotals> operators_;

  std::vector<std::string> parts_;
  std::vector<std::vector<std::uint64_t>> chunk_offsets_;
  std::vector<v1::Index> indices_;
  std::vector<bool> removed_;
  bool part_is_new_ = true;
};

// Stores a payload in a chunk, compressed with zstd and with its checksum.
void Seal(const v1::Payload& payload, v1::Chunk* chunk);
void SealBytes(const std::string& plain, v1::Chunk* chunk);
// Returns tag, length and chunk. Adds a checksum of the header if the chunk has a recording id.
std::string Delimited(const v1::Chunk& chunk);
std::string Delimited(const v1::Part& part);  // all of its chunks

// A folder under the test's temporary directory, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};
void WriteFile(const std::string& path, const std::string& bytes);

}  // namespace memoir::testing

#endif  // TESTS_CAPTURES_CAPTURE_BUILDER_H_
