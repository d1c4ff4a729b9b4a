#include "tests/writer/capture_decoder.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <xxhash.h>
#include <zstd.h>

#include "tests/writer/content_hashes.h"
#include "tests/writer/device_columns.h"
#include "tests/writer/header_check.h"
#include "tests/writer/read_columns.h"

namespace memoir::test {
namespace {
using namespace memoir::v1;

class PartDecoder {
 public:
  PartDecoder(const std::string& path, std::vector<std::string>* errors) : errors_(*errors) {
    part_.path = path;
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    part_.file_bytes = bytes_.size();
  }

  DecodedPart Decode() {
    std::size_t offset = 0;
    while (offset < bytes_.size() && DecodeChunkAt(&offset)) {
    }
    if (!part_.has_index) return std::move(part_);
    Part whole;  // a part file is one message
    if (!whole.ParseFromString(bytes_)) Error("does not parse as one Part");
    return std::move(part_);
  }

 private:
  void Error(const std::string& what) {
    errors_.push_back(part_.path + ": chunk " + std::to_string(part_.chunks.size()) + ": " + what);
  }

  bool DecodeChunkAt(std::size_t* offset) {
    const std::size_t start = *offset;
    std::size_t at = start;
    if (bytes_[at++] != 0x0a) return Error("no chunk tag"), false;
    std::uint64_t length = 0;
    for (int shift = 0; at < bytes_.size(); shift += 7) {
      const auto byte = static_cast<unsigned char>(bytes_[at++]);
      length |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) break;
    }
    if (length > bytes_.size() - at) return false;  // cut: allowed
    Chunk chunk;
    if (!chunk.ParseFromArray(bytes_.data() + at, static_cast<int>(length)))
      return Error("chunk does not parse"), false;
    *offset = at + length;
    if (const std::string wrong = WhatIsWrongWithHeader(chunk, bytes_.substr(at, length), &recording_); !wrong.empty())
      Error(wrong);
    if (part_.has_index) Error("a chunk behind the index");
    if (chunk.has_index()) return CheckIndex(chunk, length), true;
    ChunkRef ref;
    ref.set_offset(start);
    ref.set_bytes(*offset - start);
    ref.set_first_tick(chunk.first_tick());
    ref.set_last_tick(chunk.last_tick());
    ref.set_event_count(chunk.event_count());
    ref.set_has_keyframe(chunk.has_keyframe());
    *expected_index_.add_chunks() = ref;
    DecodePayload(std::move(chunk));
    return true;
  }

  void CheckIndex(const Chunk& chunk, std::size_t length) {
    part_.has_index = true;
    if (!chunk.payload().empty()) Error("index chunk with a payload");
    if (chunk.chunk_bytes() != length) Error("chunk_bytes is not the chunk's length");
    if (bytes_[bytes_.size() - 9] != 0x79) Error("the file does not end with field 15");
    if (chunk.index().SerializeAsString() != expected_index_.SerializeAsString())
      Error("the index is not that of the chunks");
  }

  // Only the rank may become known later.
  void TakeProcess(const memoir::v1::ProcessInfo& process, bool first) {
    auto with_old_rank = process;
    with_old_rank.set_rank(part_.process.rank());
    with_old_rank.set_world_size(part_.process.world_size());
    with_old_rank.set_rank_source(part_.process.rank_source());
    if (!first && with_old_rank.SerializeAsString() != part_.process.SerializeAsString())
      Error("ProcessInfo is given again with other facts");
    part_.process = process;
  }

  void DecodePayload(Chunk&& chunk) {
    DecodedChunk decoded;
    const bool first = part_.chunks.empty();
    if (first && !chunk.has_process()) Error("the first chunk lacks ProcessInfo");
    if (chunk.has_process()) TakeProcess(chunk.process(), first);
    const std::string& stored = chunk.payload();
    if (XXH64(stored.data(), stored.size(), 0) != chunk.checksum()) Error("checksum");
    if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != chunk.payload_bytes())
      Error("content size not stated");
    std::string payload(chunk.payload_bytes(), '\0');
    const std::size_t size = ZSTD_decompress(payload.data(), payload.size(), stored.data(), stored.size());
    if (size != payload.size() || !decoded.payload.ParseFromString(payload)) Error("payload");
    decoded.payload_bytes = payload.size();
    chunk.clear_payload();
    decoded.header = std::move(chunk);
    Define(decoded.payload);
    DecodeTensors(decoded.payload.tensors());
    for (const ThreadRun& run : decoded.payload.runs()) decoded.runs.push_back(DecodeRun(run));
    CheckHeader(decoded);
    part_.chunks.push_back(std::move(decoded));
  }

  void CheckHeader(const DecodedChunk& chunk) {
    std::uint64_t count = 0;
    std::uint64_t first = ~std::uint64_t{0};
    std::uint64_t last = 0;
    for (const DecodedRun& run : chunk.runs) {
      count += run.events.size();
      for (const Event& event : run.events) {
        first = std::min(first, event.tick);
        last = std::max(last, event.tick);
      }
    }
    const Chunk& header = chunk.header;
    if (header.event_count() != count) Error("event_count");
    if (header.first_tick() != (count == 0 ? 0 : first) || header.last_tick() != last) Error("first_tick, last_tick");
    if (header.has_keyframe() != chunk.payload.has_keyframe()) Error("has_keyframe");
    if (chunk.payload.clock().tick() == 0) Error("no clock");
  }

  // A definition may be repeated, as after a snapshot, and is equal then.
  template <typename Map, typename Definition>
  static bool IsNewOr(const Map& known, const Definition& same) {
    const auto found = known.find(same.id());
    return found == known.end() || found->second.SerializeAsString() == same.SerializeAsString();
  }

  void Define(const Payload& payload) {
    for (const NameDef& name : payload.names()) {
      if (name.id() == 0 || name.hash().size() != 16) Error("name definition");
      if (!IsNewOr(part_.names, name)) Error("another name of an id: " + name.text());
      if (NameHash(name) != name.hash()) Error("hash of name " + name.text());
      part_.names[name.id()] = name;
    }
    for (const StackDef& stack : payload.stacks()) DefineStack(stack);
    for (const LayoutDef& layout : payload.layouts()) {
      if (layout.id() == 0 || LayoutHash(layout) != layout.hash()) Error("layout definition");
      if (!IsNewOr(layouts_, layout)) Error("another layout of an id");
      layouts_[layout.id()] = layout;
    }
    for (const SignatureDef& signature : payload.signatures()) {
      if (signature.id() == 0 || !IsNewOr(signatures_, signature)) Error("signature definition");
      signatures_[signature.id()] = signature;
    }
    for (const ThreadDef& thread : payload.threads()) part_.threads[thread.id()] = thread;
    for (const DeviceDef& device : payload.devices()) part_.devices[device.id()] = device;
  }

  void DefineStack(const StackDef& stack) {
    if (stack.id() == 0) Error("stack definition");
    if (stack.parent() != 0 && !part_.stacks.contains(stack.parent()))
      Error("a stack's parent is not defined before it");
    std::vector<FrameSeen> frames = stack.parent() == 0 ? std::vector<FrameSeen>() : part_.stacks[stack.parent()];
    FrameSeen& frame = frames.emplace_back();
    frame.line = stack.line();
    if (stack.code() != 0) {
      const NameDef& code = part_.names[stack.code()];
      if (code.kind() != NameDef::CODE) Error("code of a stack");
      frame.file = code.code_file();
      frame.function = code.text();
    }
    const auto [known, is_new] = part_.stacks.emplace(stack.id(), frames);
    if (!is_new && known->second != frames) Error("another stack of an id");
  }

  bool SetFrames(std::uint32_t id, std::vector<FrameSeen>* frames) {
    if (id == 0) return true;
    if (!part_.stacks.contains(id)) return Error("undefined stack"), false;
    *frames = part_.stacks[id];
    return true;
  }

  DeviceName Device(std::uint32_t id) {
    if (id == 0) return {"cpu", 0};
    if (!part_.devices.contains(id)) return Error("undefined device"), DeviceName{"?", id};
    return {part_.devices[id].type(), part_.devices[id].index()};
  }

  void DecodeTensors(const TensorTable& table) {
    tensors_.clear();
    TensorSeen tensor;
    for (int i = 0; i < table.impl_delta_size(); ++i) {
      if (!layouts_.contains(table.layout(i))) return Error("undefined layout");
      const LayoutDef& layout = layouts_[table.layout(i)];
      tensor.impl += static_cast<std::uint64_t>(table.impl_delta(i));
      tensor.storage += static_cast<std::uint64_t>(table.storage_delta(i));
      tensor.storage_bytes = table.storage_bytes(i);
      tensor.device = Device(table.device_size() == 0 ? 0 : table.device(i));
      tensor.dtype = layout.dtype();
      tensor.sizes.assign(layout.sizes().begin(), layout.sizes().end());
      tensor.strides.assign(layout.strides().begin(), layout.strides().end());
      tensor.has_storage = layout.has_storage();
      tensor.shape_unknown = layout.shape_unknown();
      const std::uint32_t traits = table.traits_size() == 0 ? 0 : table.traits(i);
      tensor.wants_gradient = (traits & 1) != 0;
      tensor.unlisted = (traits & 2) != 0;
      if (table.impl_delta_size() < 500)
        duplicate_rows_ += static_cast<int>(std::count(tensors_.begin(), tensors_.end(), tensor));
      tensors_.push_back(tensor);
    }
    if (duplicate_rows_ != 0) Error("a tensor stands twice in the table");
  }

  DecodedRun DecodeRun(const ThreadRun& run) {
    DecodedRun decoded{run.thread(), run.first_record(), run.record_count(), run.start_depth(), {}, {}};
    SetFrames(run.start_stack(), &decoded.start_stack);
    if (!part_.threads.contains(run.thread())) Error("undefined thread");
    ReadColumns columns(run);
    std::uint64_t tick = run.first_tick();
    if (run.tick_delta_size() != static_cast<int>(run.kind().size())) return Error("tick_delta"), decoded;
    for (std::size_t i = 0; i < run.kind().size(); ++i) {
      Event event;
      event.kind = run.kind()[i];
      tick += run.tick_delta(static_cast<int>(i));
      if (i == 0 && run.tick_delta(0) != 0) Error("first tick_delta");
      event.tick = tick;
      if (!DecodeEvent(run, &columns, &event)) return Error("a column is too short"), decoded;
      decoded.events.push_back(std::move(event));
    }
    if (!columns.AllTaken(run)) Error("a column is too long");
    return decoded;
  }

  bool DecodeEvent(const ThreadRun& run, ReadColumns* at, Event* event) {
    if (IsOfDevice(event->kind))
      return DecodeBlock(run, at, event) && TakeDeviceColumns(run, part_.names, &at->of_device, &at->bytes, event);
    if (event->kind == KERNEL_LAUNCH || event->kind == DEVICE_CALL || event->kind == KERNEL_RUN)
      return DecodeDevice(run, at, event) && TakeCallColumns(run, part_.names, &at->of_device, &at->bytes, event);
    switch (event->kind) {
      case RANGE_BEGIN_FUNCTION:
      case RANGE_BEGIN_BACKWARD:
      case RANGE_BEGIN_USER:
      case RANGE_BEGIN_DISPATCH:
      case RANGE_BEGIN_NVTX:
        return DecodeBegin(run, at, event) && DecodeArguments(run, at, event);
      case RANGE_END:
        return DecodeArguments(run, at, event);
      case ALLOCATE:
        if (at->bytes >= run.bytes_size()) return false;
        event->bytes = run.bytes(at->bytes++);
        return DecodeBlock(run, at, event);
      case DEALLOCATE:
      case DEALLOCATE_COMPLETED:
        return DecodeBlock(run, at, event);
      case MARK:
        if (at->mark >= run.mark_name_size()) return false;
        return SetName(run.mark_name(at->mark++), event);
      case STEP:
        if (at->step >= run.step_size()) return false;
        event->step = run.step(at->step++);
        return true;
      case STACK:
        if (at->stack >= run.stack_size()) return false;
        return SetFrames(run.stack(at->stack++), &event->frames);
      case CALL_BEGIN:
      case CALL_END:
        return at->of_calls.Take(run, part_.names, event);
      case PAUSE:
      case RESUME:
        if (at->level >= run.level_size()) return false;
        event->level = run.level(at->level++);
        return true;
      case MODULE_ENTER:
      case MODULE_EXIT:
        if (at->module >= run.module_size()) return false;
        return SetName(run.module(at->module++), event);
      case MODULE_HOLDS:
        if (at->module >= run.module_size()) return false;
        return SetName(run.module(at->module++), event) && DecodeArguments(run, at, event) &&
               DecodeHeldNames(run, at, event);
      case OPTIMIZER_HOLDS:
        if (at->owner >= run.owner_size()) return false;
        event->owner = run.owner(at->owner++);
        return DecodeArguments(run, at, event);
      case HOLDS_MORE:
        return DecodeArguments(run, at, event) && DecodeHeldNames(run, at, event);
      case GRADIENT_OF:
        return DecodeArguments(run, at, event);
      case HOST_READING:
        return TakeHostReading(run, &at->of_device, event);
      default:
        return Error("event kind " + std::to_string(event->kind)), false;
    }
  }

  bool SetName(std::uint32_t id, Event* event) {
    if (id == 0) return event->name = "(none)", true;
    if (!part_.names.contains(id)) return Error("undefined name"), false;
    const NameDef& name = part_.names[id];
    if ((name.kind() == NameDef::OPERATOR) != !name.schema().empty()) Error("kind and schema of " + name.text());
    event->name = name.text();
    event->schema = name.schema();
    for (const std::string& overload : name.overloads()) event->schema += "\n" + overload;
    event->module_class = name.module_class();
    event->module_root = name.module_root();
    const bool module = event->kind == MODULE_ENTER || event->kind == MODULE_EXIT || event->kind == MODULE_HOLDS;
    if (module != (name.kind() == NameDef::MODULE)) return Error("kind of name " + name.text()), false;
    event->written.assign(name.argument_is_written().begin(), name.argument_is_written().end());
    return true;
  }

  bool DecodeBegin(const ThreadRun& run, ReadColumns* at, Event* event) {
    if (at->name >= run.name_size() || at->sequence >= run.sequence_delta_size()) return false;
    at->sequence_value += static_cast<std::uint64_t>(run.sequence_delta(at->sequence++));
    event->sequence = static_cast<std::int64_t>(at->sequence_value);
    if (event->kind == RANGE_BEGIN_BACKWARD) {
      if (at->forward >= run.forward_thread_size()) return false;
      event->forward_thread = run.forward_thread(at->forward++);
    }
    return SetName(run.name(at->name++), event);
  }

  bool DecodeArguments(const ThreadRun& run, ReadColumns* at, Event* event) {
    if (at->signature >= run.signature_size()) return false;
    const std::uint32_t id = run.signature(at->signature++);
    if (id == 0) return true;
    if (!signatures_.contains(id)) return Error("undefined signature"), false;
    const SignatureDef& signature = signatures_[id];
    event->kinds = signature.kinds();
    event->list_lengths.assign(signature.list_lengths().begin(), signature.list_lengths().end());
    std::uint64_t count = static_cast<std::uint64_t>(std::count(event->kinds.begin(), event->kinds.end(), 'T'));
    for (const std::uint32_t length : event->list_lengths) count += length;
    for (; count > 0; --count) {
      if (at->tensor >= run.tensor_size()) return false;
      const std::uint32_t reference = run.tensor(at->tensor++);
      if (reference > tensors_.size()) return Error("tensor reference"), false;
      if (reference == 0) {
        event->tensors.push_back(std::nullopt);
      } else {
        event->tensors.push_back(tensors_[reference - 1]);
      }
    }
    return true;
  }

  // Of three lists the first and the third have names.
  bool DecodeHeldNames(const ThreadRun& run, ReadColumns* at, Event* event) {
    if (event->kinds != "LLL") return true;
    event->held_names.resize(event->list_lengths[0] + event->list_lengths[2]);
    if (run.holds_name_size() == 0) return true;
    for (std::string& text : event->held_names) {
      if (at->holds_name >= run.holds_name_size()) return false;
      const std::uint32_t id = run.holds_name(at->holds_name++);
      if (id == 0) continue;
      if (!part_.names.contains(id)) return Error("undefined name of what is held"), false;
      if (part_.names[id].kind() != NameDef::TEXT) Error("kind of name " + part_.names[id].text());
      text = part_.names[id].text();
    }
    return true;
  }

  bool DecodeDevice(const ThreadRun& run, ReadColumns* at, Event* event) {
    if (!at->no_devices && at->device >= run.device_size()) return false;
    event->device = Device(at->no_devices ? 0 : run.device(at->device++));
    return true;
  }

  bool DecodeBlock(const ThreadRun& run, ReadColumns* at, Event* event) {
    if (at->block >= run.serial_delta_size() || !DecodeDevice(run, at, event)) return false;
    if (at->block >= run.address_delta_size()) return false;
    at->address += static_cast<std::uint64_t>(run.address_delta(at->block));
    at->serial += static_cast<std::uint64_t>(run.serial_delta(at->block));
    event->address = at->address;
    event->serial = at->serial;
    ++at->block;
    return true;
  }

  std::vector<std::string>& errors_;
  std::string bytes_;
  DecodedPart part_;
  Index expected_index_;
  std::map<std::uint32_t, LayoutDef> layouts_;
  std::map<std::uint32_t, SignatureDef> signatures_;
  std::vector<TensorSeen> tensors_;
  int duplicate_rows_ = 0;
  std::uint64_t recording_ = 0;
};

}  // namespace

DecodedPart DecodePart(const std::string& path, std::vector<std::string>* errors) {
  return PartDecoder(path, errors).Decode();
}

}  // namespace memoir::test
