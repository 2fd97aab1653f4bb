"""The libraries export what the manifest of the ABI declares."""

from release.conftest import ABI, Release


def test_every_library_exports_the_functions_of_the_header(release: Release) -> None:
    declared = {function["name"] for function in ABI["functions"]}
    assert release.abi_version == ABI["abi_version"]
    libraries = release.libraries()
    assert len(libraries) == 11
    for path, library in libraries.items():
        # Zig's linker exports two names of its own from a library for macOS.
        own = {"__dso_handle", "_mh_dylib_header"} if path.endswith(".dylib") else set()
        assert set(library.exports or []) - own == declared, path
