// The packers of a chunk. Each packer encodes the events of one subject, in the columns of a run or in pattern rows,
// and owns the state that only this packer needs. packers.def maps every kind of record to its packer. One thread.
#ifndef TRACKER_WRITER_PACK_PACKERS_H_
#define TRACKER_WRITER_PACK_PACKERS_H_

#include <cstddef>
#include <utility>

#include "tracker/writer/pack/allocator_packer.h"
#include "tracker/writer/pack/argument_packer.h"
#include "tracker/writer/pack/block_packer.h"
#include "tracker/writer/pack/device_call_packer.h"
#include "tracker/writer/pack/driver_packer.h"
#include "tracker/writer/pack/holder_packer.h"
#include "tracker/writer/pack/python_packer.h"
#include "tracker/writer/pack/range_packer.h"
#include "tracker/writer/pack/row_packer.h"
#include "tracker/writer/pack/shared_pack_state.h"
#include "tracker/writer/pack/step_packer.h"

namespace memoir {

struct Packers {
  Packers(const RingReader& ring, std::size_t max_live_blocks, Names::MarkUsed mark_used_names,
          StackTable::MarkUsed mark_used_stacks)
      : shared(ring, max_live_blocks, std::move(mark_used_names), std::move(mark_used_stacks)) {}
  Packers(const Packers&) = delete;
  Packers& operator=(const Packers&) = delete;

  SharedPackState shared;
  ArgumentPacker arguments{shared};
  RangePacker ranges{shared, arguments};
  BlockPacker blocks{shared};
  AllocatorPacker allocator{shared};
  DriverPacker driver{shared};
  DeviceCallPacker device_calls{shared};
  PythonPacker python{shared};
  HolderPacker holders{shared, arguments};
  StepPacker steps{shared, driver};
  RowPacker rows{shared, blocks, python};
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_PACKERS_H_
