#include "tracker/session/end_snapshot.h"

#include <cstdlib>
#include <utility>

namespace memoir {
namespace {

struct Made {
  std::shared_ptr<const Snapshots> snapshots;
  SnapshotWish wish;
  std::string wrong;
};

void KeepWhereItFailed(int status, void* argument) {
  constexpr int kSeenByParent = 0xff;  // of exit(256) it sees 0
  const std::unique_ptr<const Made> made(static_cast<const Made*>(argument));
  try {
    if ((status & kSeenByParent) != 0) {
      made->snapshots->Say(made->wish, made->wrong);
    } else if (made->wrong.empty()) {
      made->snapshots->Remove(made->wish);
    }
  } catch (...) {  // no memory for its path: it stays
  }
}

}  // namespace

void SnapshotAtEnd(std::shared_ptr<Snapshots> snapshots, Writer& writer, EndReason reason,
                   const std::string& exception) {
  const bool by_exception = snapshots->on().exception && !exception.empty();
  if (!by_exception && !(snapshots->on().exit && reason == EndReason::kExited)) return;
  auto made = std::make_unique<Made>();
  made->wish = snapshots->Next(by_exception ? "exception" : "exit");
  made->wrong = writer.Snapshot(made->wish);
  made->snapshots = std::move(snapshots);
  if (by_exception) return made->snapshots->Say(made->wish, made->wrong);
  if (on_exit(&KeepWhereItFailed, made.get()) == 0) static_cast<void>(made.release());  // else it stays, unsaid
}

}  // namespace memoir
