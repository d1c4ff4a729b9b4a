#include "tracker/session/end_snapshot.h"

#include <cstdlib>
#include <utility>

namespace memoir {
namespace {

struct EndSnapshot {
  std::shared_ptr<const RecordingSnapshots> snapshots;
  RequestedSnapshot wish;
  std::string wrong;
};

// exit() calls this function with the exit code `status` and the EndSnapshot `argument`. Keeps and reports the snapshot
// if the code is not 0; otherwise removes it.
void KeepWhereItFailed(int status, void* argument) {
  constexpr int kSeenByParent = 0xff;  // the parent sees 0 after exit(256)
  const std::unique_ptr<const EndSnapshot> made(static_cast<const EndSnapshot*>(argument));
  try {
    if ((status & kSeenByParent) != 0) {
      made->snapshots->Print(made->wish, made->wrong);
    } else if (made->wrong.empty()) {
      made->snapshots->Remove(made->wish);
    }
  } catch (...) {  // no memory for the snapshot's path: the snapshot stays
  }
}

}  // namespace

void SnapshotAtEnd(std::shared_ptr<RecordingSnapshots> snapshots, Writer& writer, EndReason reason,
                   const std::string& exception) {
  const bool by_exception = snapshots->triggers().exception && !exception.empty();
  if (!by_exception && !(snapshots->triggers().exit && reason == EndReason::kExited)) return;
  auto made = std::make_unique<EndSnapshot>();
  made->wish = snapshots->PlanNext(by_exception ? "exception" : "exit");
  made->wrong = writer.WriteSnapshot(made->wish);
  made->snapshots = std::move(snapshots);
  if (by_exception) return made->snapshots->Print(made->wish, made->wrong);
  // If on_exit fails, the snapshot stays, and no message reports it.
  if (on_exit(&KeepWhereItFailed, made.get()) == 0) static_cast<void>(made.release());
}

}  // namespace memoir
