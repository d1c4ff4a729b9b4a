// Packs the arguments and results of ranges, and other lists of tensors. Owns the tensor table of the chunk, and the
// ids of signatures (recent_signatures.h). One thread.
#ifndef TRACKER_WRITER_PACK_ARGUMENT_PACKER_H_
#define TRACKER_WRITER_PACK_ARGUMENT_PACKER_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "tracker/writer/dictionaries/content_ids.h"
#include "tracker/writer/dictionaries/recent_signatures.h"
#include "tracker/writer/dictionaries/tensor_table.h"
#include "tracker/writer/events/event_group.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/pack/shared_pack_state.h"

namespace memoir {

class ArgumentPacker {
 public:
  explicit ArgumentPacker(SharedPackState& shared) : shared_(shared), tensors_(&shared.devices) {}

  // Packs the event's arguments into `run`. Returns false if the event has no arguments, or if they are damaged and
  // therefore left out.
  bool AddArguments(const EventGroup& group, RunColumns& run);

  // Returns the encoded size of the chunk's tensors in bytes. AddTo appends the tensors to a Payload.
  std::size_t bytes() const { return tensors_.bytes(); }
  void AddTo(std::string* payload) const { tensors_.AddTo(payload); }
  void Clear() { tensors_.Clear(); }

 private:
  std::uint32_t FindSignature(const EventGroup& group);

  SharedPackState& shared_;
  TensorTable tensors_;
  ContentIds signatures_;
  RecentSignatures recent_signatures_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_ARGUMENT_PACKER_H_
