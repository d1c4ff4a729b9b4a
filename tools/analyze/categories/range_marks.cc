#include "tools/analyze/categories/range_marks.h"

namespace memoir {

RangeMarks MarksOf(std::string_view name) {
  const auto is = [&](std::string_view operator_name) {
    return name.starts_with(operator_name) &&
           (name.size() == operator_name.size() || name[operator_name.size()] == '.');
  };
  RangeMarks marks;
  marks.known = true;
  marks.loader = name.starts_with("enumerate(DataLoader)#");
  marks.copies = is("aten::to") || is("aten::_to_copy") || is("aten::clone");
  marks.writes = name.substr(0, name.find('.')).ends_with('_');
  for (const std::string_view fill : {"aten::uniform_", "aten::normal_", "aten::zero_", "aten::fill_"})
    marks.initialises = marks.initialises || is(fill);
  for (const std::string_view fills : {"aten::zeros", "aten::zeros_like", "aten::ones_like", "aten::full",
                                       "aten::full_like", "aten::empty_like", "aten::clone"})
    marks.fills = marks.fills || is(fills);
  // The functional ones call these. Those of lists of lists show no tensors.
  marks.reduces = is("c10d::allreduce_") || is("c10d::allreduce_coalesced_");
  marks.gathers = is("c10d::_allgather_base_");
  marks.copies_in = is("fsdp::all_gather_copy_in");
  marks.copies_out = is("fsdp::split_with_sizes_copy");
  marks.scatters = is("c10d::_reduce_scatter_base_");
  marks.chunks = is("fsdp::chunk_cat");
  marks.copies_over = is("aten::copy_");
  marks.empties = is("aten::empty") || is("aten::empty_strided") || is("aten::new_empty");
  marks.cuts = is("aten::as_strided");
  for (const std::string_view range : {"FSDP::pre_forward", "FSDP::root_pre_forward", "FSDP::pre_backward",
                                       "FSDP::backward_prefetch", "FSDP::all_gather"})
    marks.shards = marks.shards || name.starts_with(range);
  marks.saves = SavedBy(name);
  return marks;
}

}  // namespace memoir
