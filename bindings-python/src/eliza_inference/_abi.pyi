# The module itself is generated from the C header when the wheel is built.
from typing import Any

ffi: Any
