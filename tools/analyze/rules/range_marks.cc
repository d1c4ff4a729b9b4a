#include "tools/analyze/rules/range_marks.h"

namespace memoir {

RangeMarks MarksOf(std::string_view name) {
  const auto is = [&](std::string_view operator_name) {
    return name.starts_with(operator_name) &&
           (name.size() == operator_name.size() || name[operator_name.size()] == '.');
  };
  RangeMarks marks;
  marks.known = true;
  marks.loader = name.starts_with("enumerate(DataLoader)#");
  marks.copies = is("aten::to") || is("aten::_to_copy");
  marks.reduces = is("c10d::allreduce_") || is("c10d::allreduce_coalesced_") || is("_c10d_functional::all_reduce") ||
                  is("_c10d_functional::all_reduce_");
  marks.gathers = is("c10d::_allgather_base_") || is("c10d::allgather_") ||
                  is("c10d::allgather_into_tensor_coalesced_") || is("_c10d_functional::all_gather_into_tensor") ||
                  is("_c10d_functional::all_gather_into_tensor_out");
  marks.copies_out = is("fsdp::split_with_sizes_copy");
  marks.scatters = is("c10d::_reduce_scatter_base_") || is("c10d::reduce_scatter_") ||
                   is("c10d::reduce_scatter_tensor_coalesced_") || is("_c10d_functional::reduce_scatter_tensor");
  return marks;
}

}  // namespace memoir
