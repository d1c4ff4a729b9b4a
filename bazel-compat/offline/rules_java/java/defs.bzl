"""@rules_java for Bazel's own files, which load it before any toolchain is chosen: nothing here is Java."""

java_binary = native.java_binary
java_import = native.java_import
java_library = native.java_library
java_proto_library = native.java_proto_library
java_runtime = native.java_runtime
java_toolchain = native.java_toolchain
