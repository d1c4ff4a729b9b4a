#include "tests/writer/random_stream.h"

#include "memoir/v1/capture.pb.h"

namespace memoir::test {
namespace {

constexpr char kScalarKinds[] = "UNbidcsBIDSvglo";
const DeviceName kDevices[] = {{"cpu", 0}, {"cpu", 0}, {"cpu", 0}, {"cuda", 0}, {"cuda", 1}, {"xpu", 0}};

DeviceName AnyDevice(std::uint64_t number) { return kDevices[number % std::size(kDevices)]; }

}  // namespace

std::uint64_t AnyNumber(std::mt19937_64& random) { return random() >> (random() % 64); }

void RandomHeap::Allocate(Event* event) {
  if (!free_.empty() && random_() % 4 != 0) {
    const std::size_t at = random_() % free_.size();
    *event = free_[at];
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(at));
  } else {
    event->device = AnyDevice(random_());
    event->address = AnyNumber(random_) | ((serial_ + 1) << 40);  // never one twice
  }
  event->kind = memoir::v1::ALLOCATE;
  event->bytes = AnyNumber(random_) >> 8;
  event->serial = ++serial_;
  live_.push_back(*event);
}

bool RandomHeap::Deallocate(Event* event) {
  if (live_.empty()) return false;
  const std::size_t at = random_() % live_.size();
  *event = live_[at];
  live_.erase(live_.begin() + static_cast<std::ptrdiff_t>(at));
  event->kind = memoir::v1::DEALLOCATE;
  event->bytes = 0;
  event->serial = ++serial_;
  free_.push_back(*event);
  return true;
}

void RandomHeap::Driver(Event* event) {
  const std::uint64_t choice = random_() % 10;
  if (choice < 4 && !driver_.empty()) {
    const std::size_t at = random_() % driver_.size();
    event->device = driver_[at].device;
    event->address = driver_[at].address;
    driver_.erase(driver_.begin() + static_cast<std::ptrdiff_t>(at));
    event->kind = memoir::v1::DRIVER_FREE;
  } else if (choice < 8) {
    event->kind = choice < 7 ? memoir::v1::DRIVER_ALLOCATE : memoir::v1::DRIVER_REFUSED;
    event->device = AnyDevice(random_());
    event->bytes = AnyNumber(random_);
    event->driver_call = static_cast<std::uint32_t>(1 + random_() % 12);
    if (random_() % 8 != 0) event->library = "lib" + std::string(random_() % 30, 'x') + std::to_string(random_() % 5);
    if (choice < 7) {
      event->address = 64 * (random_() % 50);  // often one from before
      driver_.push_back(*event);
    } else {
      event->device_free = random_() % 4 == 0 ? ~std::uint64_t{0} : AnyNumber(random_);
      event->driver_error = static_cast<std::uint32_t>(random_());
    }
  } else {
    event->kind = memoir::v1::DEVICE_READING;
    event->device = {"cuda", static_cast<std::uint32_t>(random_() % 3)};
    event->reading_cause = static_cast<std::uint32_t>(1 + random_() % 5);
    for (int i = 0; i < 5; ++i) event->reading.push_back(random_() % 4 == 0 ? ~std::uint64_t{0} : AnyNumber(random_));
  }
  event->serial = ++serial_;
}

Event RandomStream::Next() {
  const std::uint64_t choice = Below(100);
  Event event;
  if (Chance(4)) {
    heap_.Driver(&event);
    return event;
  }
  if (Chance(10)) return Stack();
  if (Chance(10)) return Call();
  if (Chance(5)) return DeviceCallKind();
  if (choice < 25 && depth_ < 60) return Begin();
  if (choice < 50 && depth_ > 0) return End();
  if (choice < 70 && heap_.Deallocate(&event)) return event;
  if (choice < 95) {
    heap_.Allocate(&event);
    return event;
  }
  return Mark();
}

void RandomStream::Module(Event* event) {
  event->name = Chance(5) ? "" : "layers." + std::to_string(Below(20));
  event->module_class = "Class" + std::to_string(Below(3));
  event->module_root = Chance(50) ? "Model" : "Model#2";
}

void RandomStream::AddList(std::uint64_t length, Event* event) {
  event->kinds.push_back('L');
  event->list_lengths.push_back(static_cast<std::uint32_t>(length));
  for (; length > 0; --length)
    event->tensors.push_back(Chance(20) ? std::nullopt : std::optional<TensorSeen>(Tensor()));
}

// As many as there are parameters and buffers; those that found no room are not known.
void RandomStream::NameHeld(Event* event) {
  const std::uint64_t known = Chance(70) ? 100 : Below(5);
  for (std::uint64_t i = 0; i < std::uint64_t{event->list_lengths[0]} + event->list_lengths[2]; ++i) {
    const bool is_known = i < known && !Chance(10);
    event->held_names.push_back(is_known ? "name" + std::to_string(Below(9)) + std::string(Below(30), 'x') : "");
  }
}

// Some frames return, others are called; the innermost that is left goes on to another line.
Event RandomStream::Stack() {
  stack_.resize(Below(stack_.size() + 1));
  if (!stack_.empty() && Chance(70)) stack_.back().line = static_cast<std::uint32_t>(Below(40));
  const std::uint64_t most = Chance(2) ? 480 : 12;
  for (std::uint64_t calls = Below(5); calls > 0 && stack_.size() < most; --calls) {
    for (std::uint64_t again = Chance(2) ? 100 : 1; again > 0 && stack_.size() < most; --again) {
      const std::string name = "function" + std::to_string(Below(20)) + (Chance(1) ? std::string(900, 'f') : "");
      stack_.push_back({"folder/file" + std::to_string(Below(4)) + ".py", name, static_cast<std::uint32_t>(Below(40))});
    }
  }
  Event event;
  event.kind = memoir::v1::STACK;
  event.frames = stack_;
  return event;
}

// Some calls end together, as one does that throws.
Event RandomStream::Call() {
  Event event;
  if (calls_ > 0 && Chance(50)) {
    calls_ = static_cast<std::uint32_t>(Below(calls_));
    event.kind = memoir::v1::CALL_END;
    event.level = calls_;
    return event;
  }
  event.kind = memoir::v1::CALL_BEGIN;
  event.level = calls_++;
  const bool in_c = Chance(40);
  event.frames = {{in_c ? "" : "folder/file" + std::to_string(Below(4)) + ".py",
                   (in_c ? "<built-in function " : "function") + std::to_string(Below(20)), 0}};
  return event;
}

Event RandomStream::Holds() {
  Event event;
  const std::uint64_t kind = Below(4);
  event.kind = kind == 3 ? memoir::v1::GRADIENT_OF : static_cast<int>(memoir::v1::MODULE_HOLDS + kind);
  if (event.kind == memoir::v1::MODULE_HOLDS) Module(&event);
  if (event.kind == memoir::v1::OPTIMIZER_HOLDS) event.owner = AnyNumber(random_);
  const std::uint64_t parameters = event.kind == memoir::v1::GRADIENT_OF ? 1 : Chance(5) ? Below(127) : Below(5);
  AddList(parameters, &event);
  AddList(parameters, &event);
  if (event.kind == memoir::v1::OPTIMIZER_HOLDS || (event.kind == memoir::v1::HOLDS_MORE && Chance(50))) {
    for (std::uint64_t i = 0; i < parameters; ++i) AddList(Below(4), &event);
  } else if (event.kind != memoir::v1::GRADIENT_OF && Chance(80)) {
    AddList(Below(5), &event);
  }
  const bool named = event.kind == memoir::v1::MODULE_HOLDS || event.kind == memoir::v1::HOLDS_MORE;
  if (named && event.kinds == "LLL") NameHeld(&event);
  return event;
}

Event RandomStream::DeviceCallKind() {
  Event event;
  event.kind = Chance(50) ? memoir::v1::KERNEL_LAUNCH : memoir::v1::DEVICE_CALL;
  event.device = {"cuda", static_cast<std::uint32_t>(Below(3))};
  if (Chance(30)) event.correlation = static_cast<std::uint32_t>(AnyNumber(random_));
  if (Chance(20)) return KernelRun(std::move(event));
  event.stream = Chance(50) ? 0 : 64 * Below(5);
  event.device_call = static_cast<std::uint32_t>(1 + Below(19));
  event.call_result = Chance(5) ? static_cast<std::uint32_t>(Below(1 << 16)) : 0;
  if (event.kind == memoir::v1::KERNEL_LAUNCH) {
    if (!Chance(10)) event.name = "_Z6kernel" + std::to_string(Below(20)) + (Chance(2) ? std::string(2000, 'k') : "");
    for (int i = 0; i < 6; ++i) event.grid.push_back(static_cast<std::uint32_t>(AnyNumber(random_)));
    return event;
  }
  event.bytes = AnyNumber(random_);
  event.copy_kind = Chance(60) ? 0 : static_cast<std::uint32_t>(1 + Below(5));
  event.graph = Chance(70) ? 0 : AnyNumber(random_);
  event.graph_exec = Chance(70) ? 0 : AnyNumber(random_);
  event.call_ticks = AnyNumber(random_);
  return event;
}

Event RandomStream::KernelRun(Event event) {
  event.kind = memoir::v1::KERNEL_RUN;
  event.run_kind = static_cast<std::uint32_t>(1 + Below(3));
  if (event.run_kind == 1) event.name = "_Z6kernel" + std::to_string(Below(20));
  event.copy_kind = event.run_kind == 2 ? static_cast<std::uint32_t>(1 + Below(5)) : 0;
  event.bytes = event.run_kind == 1 ? 0 : AnyNumber(random_);
  event.run_stream = static_cast<std::uint32_t>(Below(9));
  event.run_ns = AnyNumber(random_);
  event.run_age = Below(50);
  return event;
}

Event RandomStream::Mark() {
  Event event;
  if (Chance(20)) return Holds();
  if (Chance(40)) {
    event.kind = Chance(50) ? memoir::v1::MODULE_ENTER : memoir::v1::MODULE_EXIT;
    Module(&event);
    return event;
  }
  event.kind = Chance(50) ? memoir::v1::MARK : memoir::v1::STEP;
  if (event.kind == memoir::v1::MARK) {
    event.name = Chance(5) ? "" : "mark " + std::to_string(Below(20)) + std::string(Below(40), 'x');
  } else {
    event.step = AnyNumber(random_);
  }
  return event;
}

Event RandomStream::Begin() {
  Event event;
  ++depth_;
  event.kind = static_cast<int>(memoir::v1::RANGE_BEGIN_FUNCTION + Below(4));
  const std::uint64_t number = Below(30);
  if (Chance(60)) {
    event.name = "aten::op" + std::to_string(number);
    event.schema = event.name + "(Tensor self) -> Tensor";
    for (std::uint64_t i = 0; i < number % 3; ++i) event.schema += "\n" + event.name + ".o" + std::to_string(i) + "()";
    for (std::uint64_t i = 0; i < number % 4; ++i) event.written.push_back((number >> i & 1) != 0);
  } else {
    event.name = "Node" + std::to_string(number) + (Chance(2) ? std::string(1000, 'n') : "");
  }
  event.sequence = Chance(30) ? -1 : static_cast<std::int64_t>(AnyNumber(random_));
  if (event.kind == memoir::v1::RANGE_BEGIN_BACKWARD) event.forward_thread = random_() & 0xffffffff;
  Arguments(&event);
  return event;
}

Event RandomStream::End() {
  Event event;
  --depth_;
  event.kind = memoir::v1::RANGE_END;
  Arguments(&event);
  return event;
}

void RandomStream::Arguments(Event* event) {
  const std::uint64_t count = Chance(2) ? Below(300) : Below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t choice = Below(100);
    if (choice < 45) {
      event->kinds.push_back('T');
      event->tensors.push_back(Tensor());
    } else if (choice < 55 && event->list_lengths.size() < 100) {
      const std::uint64_t length = Chance(3) ? Below(900) : Below(5);
      event->kinds.push_back('L');
      event->list_lengths.push_back(static_cast<std::uint32_t>(length));
      for (std::uint64_t j = 0; j < length; ++j) {
        event->tensors.push_back(Chance(20) ? std::nullopt : std::optional<TensorSeen>(Tensor()));
      }
    } else {
      event->kinds.push_back(kScalarKinds[Below(sizeof(kScalarKinds) - 1)]);
    }
  }
}

std::int64_t RandomStream::Size() {
  const std::uint64_t choice = Below(10);
  return choice == 0 ? static_cast<std::int64_t>(AnyNumber(random_)) : static_cast<std::int64_t>(Below(50));
}

TensorSeen RandomStream::Tensor() {
  if (!recent_.empty() && Chance(60)) return recent_[Below(recent_.size())];
  TensorSeen tensor;
  tensor.impl = AnyNumber(random_) | 1;
  tensor.storage = Chance(10) ? 0 : AnyNumber(random_);
  tensor.storage_bytes = AnyNumber(random_);
  tensor.dtype = static_cast<std::uint32_t>(Below(50));
  tensor.device = AnyDevice(random_());
  tensor.has_storage = !Chance(10);
  tensor.shape_unknown = Chance(5);
  tensor.wants_gradient = Chance(10);
  tensor.unlisted = Chance(5);
  const std::uint64_t dimensions = tensor.shape_unknown ? 0 : Chance(2) ? Below(64) : Below(5);
  for (std::uint64_t i = 0; i < dimensions; ++i) tensor.sizes.push_back(Size());
  if (Chance(30)) {
    for (std::uint64_t i = 0; i < dimensions; ++i) tensor.strides.push_back(Size());
  }
  recent_.push_back(tensor);
  if (recent_.size() > 30) recent_.erase(recent_.begin());
  return tensor;
}

}  // namespace memoir::test
