# The module itself is generated from the manifest of the ABI when the wheel is built.
from typing import Any

ffi: Any
