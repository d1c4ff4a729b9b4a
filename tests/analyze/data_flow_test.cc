// Categories by torch.profiler's rules, room by room: schemas, identities, versions, and a small training step.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/captures/capture_builder.h"
#include "tools/analyze/data_flow/schema_match.h"
#include "tools/analyze/data_flow/tensor_extent.h"
#include "tools/analyze/data_flow/tensor_identities.h"
#include "tools/analyze/data_flow/tree_builder.h"
#include "tools/analyze/torch_profiler/category_profile.h"

namespace memoir {
namespace {

using testing::ProcessBuilder;
using testing::TemporaryFolder;
using testing::TensorSpec;

constexpr std::string_view kAdd = "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)";

TEST(SchemaMatchTest, ParsesWhatTorchPrints) {
  const auto add = ParseSchemaArguments(kAdd);
  ASSERT_EQ(add.size(), 3u);
  EXPECT_EQ(add[0].type, ArgumentType::kTensor);
  EXPECT_TRUE(add[0].written);
  EXPECT_FALSE(add[1].written);
  EXPECT_EQ(add[2].type, ArgumentType::kNumber);

  const auto odd = ParseSchemaArguments(
      "aten::x(Tensor?[] indices, int[1]? dim, str mode=\"a, (b\", Tensor(b!)[] out, SymInt[] size=[1, 1], "
      "ScalarType? dtype=None) -> (Tensor, Tensor)");
  ASSERT_EQ(odd.size(), 6u);
  EXPECT_EQ(odd[0].type, ArgumentType::kOptionalTensorList);
  EXPECT_EQ(odd[1].type, ArgumentType::kOther);
  EXPECT_TRUE(odd[1].optional);
  EXPECT_EQ(odd[2].type, ArgumentType::kOther);
  EXPECT_EQ(odd[3].type, ArgumentType::kTensorList);
  EXPECT_TRUE(odd[3].written);
  EXPECT_EQ(odd[4].type, ArgumentType::kOther);
  EXPECT_EQ(odd[5].type, ArgumentType::kInt);
  EXPECT_TRUE(ParseSchemaArguments("no schema").empty());
  EXPECT_TRUE(ParseSchemaArguments("aten::x() -> ()").empty());
}

TEST(SchemaMatchTest, FitsAsTorchProfilerSeesTheArguments) {
  const auto add = ParseSchemaArguments(kAdd);
  EXPECT_TRUE(FitsSchema(add, "TTi"));
  EXPECT_TRUE(FitsSchema(add, "TTb"));
  EXPECT_FALSE(FitsSchema(add, "TTN"));
  EXPECT_FALSE(FitsSchema(add, "TT"));
  EXPECT_FALSE(FitsSchema(add, std::string("T") + kNoStorage + "i"));
  const auto to = ParseSchemaArguments("aten::to(Tensor? a, int? b, int[] c, float d, Tensor[] e) -> Tensor");
  EXPECT_TRUE(FitsSchema(to, "UNIdL"));
  EXPECT_TRUE(FitsSchema(to, std::string(1, kNoStorage) + "iNdL"));
  EXPECT_FALSE(FitsSchema(to, "NNNiL"));
  EXPECT_FALSE(FitsSchema(to, std::string("NNNd") + kListNoStorage));
}

TEST(SchemaMatchTest, AListOfOptionalTensorsFitsOnlyWhereItIsNotShown) {
  const auto index = ParseSchemaArguments("aten::index(Tensor self, Tensor?[] indices) -> Tensor");
  EXPECT_TRUE(FitsSchema(index, std::string("T") + kNotShown));
  EXPECT_FALSE(FitsSchema(index, "TL"));
  const auto twin = ParseSchemaArguments("aten::index.Tensor_hacked_twin(Tensor self, Tensor[] indices) -> Tensor");
  EXPECT_TRUE(FitsSchema(twin, "TL"));
  EXPECT_FALSE(FitsSchema(twin, std::string("T") + kNotShown));
}

TEST(SchemaMatchTest, WritesWhatAnyOverloadThatFitsWrites) {
  Schema schema;
  schema.text = "aten::f.b(Tensor a, int[] d) -> Tensor";
  schema.overloads = {"aten::f.a(Tensor(a!) a, str[] d) -> Tensor", schema.text, "aten::f.c(int a, int[] d) -> int"};
  const OperatorSchemas schemas = ParseSchemas(schema);
  const SchemaMatch match = MatchSchemas(&schemas, "TI");
  EXPECT_EQ(match.overloads, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(match.written, (std::vector{SchemaMatch::Mutation::kYes, SchemaMatch::Mutation::kNo}));
  const SchemaMatch none = MatchSchemas(&schemas, "L");
  EXPECT_TRUE(none.overloads.empty());
  EXPECT_EQ(none.written, std::vector{SchemaMatch::Mutation::kUnknown});
}

Tensor At(std::uint64_t impl, std::uint64_t storage) {
  Tensor tensor;
  tensor.impl = impl;
  tensor.storage = storage;
  tensor.device = DeviceId{0};
  return tensor;
}

TEST(TensorIdentitiesTest, StoragesOfOneTensorAreOneTensor) {
  TensorIdentities identities;
  const AllocationId first = identities.NoteTensor(At(1, 0x100)), view = identities.NoteTensor(At(2, 0x100));
  EXPECT_EQ(first, view);
  identities.NoteStorageChange(1, 0x200);
  const AllocationId second = identities.NoteTensor(At(1, 0x200));
  EXPECT_NE(first, second);
  const auto tensors = identities.Finish();
  EXPECT_EQ(tensors[first], tensors[second]);
}

TEST(TensorIdentitiesTest, AnAddressThatComesTwiceIsTwoTensors) {
  TensorIdentities identities;
  const AllocationId first = identities.NoteTensor(At(1, 0x100));
  EXPECT_EQ(identities.NoteDeallocation(DeviceId{0}, 0x100), first);
  identities.NoteResult(1, 0x200);
  const AllocationId second = identities.NoteTensor(At(1, 0x200)), third = identities.NoteTensor(At(1, 0x100));
  EXPECT_NE(first, third);
  const auto tensors = identities.Finish();
  EXPECT_NE(tensors[first], tensors[second]);
  EXPECT_NE(tensors[second], tensors[third]);
}

// aten::arange gives an empty tensor to the overload that resizes it, and returns that.
TEST(TensorIdentitiesTest, WhatAnOperatorInsideHasResizedIsTheSameTensor) {
  TensorIdentities identities;
  const AllocationId none = identities.NoteTensor(At(1, 0));
  identities.NoteStorageChange(1, 0x200);
  identities.NoteResult(1, 0x200);
  const AllocationId resized = identities.NoteTensor(At(1, 0x200));
  EXPECT_NE(none, resized);
  const auto tensors = identities.Finish();
  EXPECT_EQ(tensors[none], tensors[resized]);
}

TEST(TensorIdentitiesTest, WhatNoArgumentShowsIsNoTensor) {
  TensorIdentities identities;
  const AllocationId block = identities.NoteAllocation(DeviceId{0}, 0x100);
  EXPECT_EQ(identities.Finish()[block], kNoTensor);
}

TEST(TensorExtentTest, ReachesAsFarAsItsStrides) {
  Layout layout;
  layout.dtype_name = "float32";
  EXPECT_EQ(ExtentOf(layout), 4u);
  layout.sizes = {2, 3};
  EXPECT_EQ(ExtentOf(layout), 24u);
  layout.strides = {0, 1};
  EXPECT_EQ(ExtentOf(layout), 12u);
  layout.has_storage = false;
  EXPECT_EQ(ExtentOf(layout), 0u);
}

testing::ProcessOptions Recorded() {
  testing::ProcessOptions options;
  options.sources = {"ranges", "modules"};
  return options;
}

CategoryProfile Profile(ProcessBuilder& process, const Selection& selection = {}) {
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
  EXPECT_TRUE(capture.ok()) << capture.status();
  absl::StatusOr<CategoryProfile> profile = ProfileByTorchRules(*capture, selection);
  EXPECT_TRUE(profile.ok()) << profile.status();
  return *std::move(profile);
}

TensorSpec T(std::uint64_t impl, std::uint64_t storage) {
  return {.impl = impl, .storage = storage, .storage_bytes = 16, .sizes = {4}};
}

void Define(ProcessBuilder& process) {
  process.Redefine("aten::mul.Tensor", "aten::mul.Tensor(Tensor self, int? n, Tensor[] other) -> Tensor",
                   {false, false, false});
  process.Redefine("aten::detach", "aten::detach(Tensor(a) self, int n) -> Tensor(a)", {false, false});
  process.Redefine("aten::add_", "aten::add_(Tensor(a!) self, int? n, Tensor[] other) -> Tensor(a!)",
                   {true, false, false});
}

// z = x * w; z.backward(); w.add_(w.grad), all of it raw tensors.
void Train(ProcessBuilder& process) {
  Define(process);
  process.BeginUser("step");
  process.Begin("aten::mul.Tensor", {T(1, 0x100), T(2, 0x200)}).Allocate(0x300, 16).End({T(3, 0x300)});
  process.BeginText("autograd::engine::evaluate_function: MulBackward0").BeginBackward("MulBackward0", 1, 0);
  process.Begin("aten::mul.Tensor", {T(3, 0x300), T(1, 0x100)}).Allocate(0x500, 16).Allocate(0x400, 16);
  process.Deallocate(0x500).End({T(4, 0x400)}).End().End();
  process.BeginBackward("torch::autograd::AccumulateGrad", 2, 0);
  process.Begin("aten::detach", {T(4, 0x400)}).End({T(5, 0x400)}).End();
  process.Begin("aten::add_", {T(2, 0x200), T(5, 0x400)}).End({T(2, 0x200)});
  process.Deallocate(0x300).End();
}

// torch.profiler is not told of pinned memory.
TEST(EventTreeTest, PinnedMemoryIsNotInIt) {
  ProcessBuilder process(Recorded());
  const std::uint32_t pinned = process.AddDevice("pinned", 0);
  process.Begin("aten::nonzero").Allocate(0x100, 4, pinned).Allocate(0x200, 8).Deallocate(0x100, pinned);
  process.Deallocate(0x200).End();
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<EventTree> tree = BuildEventTree(*Capture::Open(folder.path()), {});
  ASSERT_TRUE(tree.ok()) << tree.status();
  std::vector<TreeNode::Kind> kinds;
  for (const TreeNode& node : tree->nodes) kinds.push_back(node.kind);
  EXPECT_EQ(kinds, (std::vector{TreeNode::Kind::kRange, TreeNode::Kind::kAllocate, TreeNode::Kind::kFree}));
}

// Autograd's range on a GPU's thread stands where its node says, also behind operators of a hook.
TEST(EventTreeTest, ANodeBehindAHookStandsInTheRangeOfItsForwardThread) {
  ProcessBuilder process(Recorded());
  process.BeginUser("step").OnThread(2).BeginText("autograd::engine::evaluate_function: MulBackward0");
  process.Begin("aten::mul.Tensor", {T(1, 0x100)}).End().BeginBackward("MulBackward0", 7, 1).End().End();
  process.OnThread(1).End();
  const TemporaryFolder folder;
  process.WriteTo(folder.path());
  const absl::StatusOr<EventTree> tree = BuildEventTree(*Capture::Open(folder.path()), {});
  ASSERT_TRUE(tree.ok()) << tree.status();
  std::vector<std::pair<std::string, std::uint32_t>> nodes;
  for (const TreeNode& node : tree->nodes) nodes.emplace_back(tree->names[node.name], node.parent);
  EXPECT_EQ(nodes, (std::vector<std::pair<std::string, std::uint32_t>>{
                       {"step", TreeNode::kNone},
                       {"autograd::engine::evaluate_function: MulBackward0", 0},
                       {"aten::mul", 1},
                       {"MulBackward0", 1}}));
}

// Buffers are not state, and autograd's gradients may differ from those that a module held at its call.
TEST(EventTreeTest, WhatIsHeldIsTheSameInBothForms) {
  const TensorSpec weight = T(1, 0x100), bias = T(2, 0x200), gradient = T(3, 0x300), none{.impl = 0, .sizes = {}};
  const TensorSpec step = T(4, 0x400), momentum = T(5, 0x500), buffer = T(6, 0x600);
  const auto tree = [&](bool first_form) {
    ProcessBuilder process(Recorded());
    if (first_form) {
      process.ModuleHolds("fc", {{weight, bias}, {gradient, none}}).EnterModule("fc").ExitModule("fc");
      process.OptimizerHolds(1, {{weight, bias}, {gradient, none}, {step, momentum, step}});
    } else {
      process.ModuleHolds("fc", {{weight}, {gradient}, {buffer}}, {"weight", "buffer"});
      process.HoldsMore({{bias}, {none}, {buffer}}, {"bias", "b"}).GradientOf(bias, gradient);
      process.ModuleHolds("never called", {{buffer}, {gradient}, {}}, {"weight"}).EnterModule("fc").ExitModule("fc");
      process.OptimizerHolds(1, {{weight}, {gradient}, {step, momentum}}).GradientOf(weight, none);
      process.HoldsMore({{bias}, {none}, {step}}, {"", ""});
    }
    process.OptimizerHolds(1, {{}, {}}).BeginUser("range").End();
    const TemporaryFolder folder;
    process.WriteTo(folder.path());
    const absl::StatusOr<Capture> capture = Capture::Open(folder.path());
    EXPECT_TRUE(capture.ok()) << capture.status();
    absl::StatusOr<EventTree> built = BuildEventTree(*capture, {});
    EXPECT_TRUE(built.ok()) << built.status();
    return *std::move(built);
  };
  const auto held = [](const EventTree& of) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> addresses;
    const auto at = [&](AllocationId id) { return id == kNoAllocation ? 0 : of.addresses[id]; };
    for (const EventTree::ParameterGradient& one : of.parameter_gradients)
      addresses.emplace_back(at(one.parameter), at(one.gradient));
    for (const AllocationId state : of.optimizer_state) addresses.emplace_back(at(state), 1);
    return addresses;
  };
  EXPECT_EQ(held(tree(true)),
            (std::vector<std::pair<std::uint64_t, std::uint64_t>>{
                {0x100, 0x300}, {0x200, 0}, {0x100, 0x300}, {0x200, 0}, {0x400, 1}, {0x500, 1}, {0x400, 1}}));
  EXPECT_EQ(held(tree(true)), held(tree(false)));
}

TEST(CategoriesTest, ATrainingStep) {
  ProcessBuilder process(Recorded());
  Train(process);
  const CategoryProfile profile = Profile(process);
  std::vector<std::string> rows;
  for (const TimelineRow& row : profile.rows) {
    rows.push_back(std::string(ToString(row.action)) + " " + std::string(NameOf(row.category)) + " " +
                   std::to_string(row.bytes) + " v" + std::to_string(row.version));
  }
  // A block that was allocated and freed in a node, and never shown, has no category.
  EXPECT_EQ(rows, (std::vector<std::string>{"PREEXISTING INPUT 16 v0", "PREEXISTING PARAMETER 16 v0",
                                            "CREATE ACTIVATION 16 v0", "CREATE UNKNOWN 16 v0", "CREATE GRADIENT 16 v0",
                                            "DESTROY UNKNOWN -16 v0", "INCREMENT_VERSION PARAMETER -16 v0",
                                            "INCREMENT_VERSION PARAMETER 16 v1", "DESTROY ACTIVATION -16 v0"}));
  ASSERT_EQ(profile.totals.size(), 1u);
  EXPECT_EQ(profile.totals[0].peak, 80);
}

TEST(CategoriesTest, WhatIsForgottenIsNotFreed) {
  ProcessBuilder process(Recorded());
  Define(process);
  process.Allocate(0x600, 16).BeginUser("step").Allocate(0x700, 16).End();
  process.BeginUser("step").Deallocate(0x600).Deallocate(0x700).Allocate(0x800, 16).End();
  Selection selection;
  selection.window = SelectionWindow::Range("step", 1);
  EXPECT_EQ(Profile(process, selection).rows.size(), 5u) << "two frees, of what was there before, and an allocation";
  selection.forget_before = true;
  EXPECT_EQ(Profile(process, selection).rows.size(), 3u) << "torch.profiler knows what it saw in an earlier range";
}

// A free that no profiler saw leaves its entry in torch's table: the next block there is taken for the one before.
TEST(CategoriesTest, AFreeIsKnownByItsAddress) {
  ProcessBuilder process(Recorded());
  Define(process);
  process.BeginUser("step").Allocate(0x600, 16).End().Deallocate(0x600).Allocate(0x600, 48);
  process.BeginUser("step").Deallocate(0x600).End();
  Selection selection;
  selection.window = SelectionWindow::Range("step", 1);
  selection.forget_before = true;
  const CategoryProfile profile = Profile(process, selection);
  ASSERT_EQ(profile.rows.size(), 2u) << "it was there before, and is freed";
  EXPECT_EQ(profile.rows[1].bytes, -16);
}

}  // namespace
}  // namespace memoir
