#include "tools/analyze/categories/range_traits.h"

namespace memoir {

RangeTraits TraitsOf(std::string_view name) {
  const auto is = [&](std::string_view operator_name) {
    return name.starts_with(operator_name) &&
           (name.size() == operator_name.size() || name[operator_name.size()] == '.');
  };
  RangeTraits traits;
  traits.known = true;
  traits.loader = name.starts_with("enumerate(DataLoader)#");
  traits.copies = is("aten::to") || is("aten::_to_copy") || is("aten::clone");
  traits.writes = name.substr(0, name.find('.')).ends_with('_');
  for (const std::string_view fill : {"aten::uniform_", "aten::normal_", "aten::zero_", "aten::fill_"})
    traits.initialises = traits.initialises || is(fill);
  for (const std::string_view fills : {"aten::zeros", "aten::zeros_like", "aten::ones_like", "aten::full",
                                       "aten::full_like", "aten::empty_like", "aten::clone"})
    traits.fills = traits.fills || is(fills);
  // Functional collectives also call these operators. Operators whose tensors are in nested lists are missing here,
  // because recordings do not contain such tensors.
  traits.reduces = is("c10d::allreduce_") || is("c10d::allreduce_coalesced_");
  traits.gathers = is("c10d::_allgather_base_");
  traits.copies_in = is("fsdp::all_gather_copy_in");
  traits.copies_out = is("fsdp::split_with_sizes_copy");
  traits.scatters = is("c10d::_reduce_scatter_base_");
  traits.chunks = is("fsdp::chunk_cat") || is("fsdp::chunk_cat_mixed_dtype");  // the second exists since torch 2.15
  traits.copies_over = is("aten::copy_");
  traits.empties = is("aten::empty") || is("aten::empty_strided") || is("aten::new_empty");
  traits.cuts = is("aten::as_strided");
  for (const std::string_view range : {"FSDP::pre_forward", "FSDP::root_pre_forward", "FSDP::pre_backward",
                                       "FSDP::backward_prefetch", "FSDP::all_gather"})
    traits.shards = traits.shards || name.starts_with(range);
  traits.saves = SavesOf(name);
  return traits;
}

}  // namespace memoir
