"""@rules_cc of a Bazel that has the rules in itself (4 to 7), so that nothing is downloaded: the names that our files and Bazel's own load."""

cc_binary = native.cc_binary
cc_import = native.cc_import
cc_library = native.cc_library
cc_proto_library = native.cc_proto_library
cc_test = native.cc_test
cc_toolchain = native.cc_toolchain
cc_toolchain_suite = native.cc_toolchain_suite
fdo_prefetch_hints = native.fdo_prefetch_hints
fdo_profile = native.fdo_profile

def _compiler_flag(_ctx):
    return [config_common.FeatureFlagInfo(value = "compiler")]

compiler_flag = rule(implementation = _compiler_flag, attrs = {})
