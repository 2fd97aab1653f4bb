# find_package(elizainference): the imported target elizainference::elizainference, for the platform that is
# built for. Point CMAKE_PREFIX_PATH (or elizainference_DIR) at the folder of the release.

get_filename_component(_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" _processor)
if(_processor MATCHES "^(x86_64|amd64)$")
  set(_processor x64)
elseif(_processor MATCHES "^(aarch64|arm64)$")
  set(_processor arm64)
endif()
if(APPLE AND CMAKE_OSX_ARCHITECTURES)
  string(REPLACE "x86_64" "x64" _processor "${CMAKE_OSX_ARCHITECTURES}")
  if(_processor MATCHES ";")
    set(_processor universal)
  endif()
endif()

set(_library "${_root}/lib/${CMAKE_SYSTEM_NAME}-${_processor}") # of a platform that the release does not know
set(_import)
set(_linkage SHARED)
if(ANDROID)
  set(_library "${_root}/android/jniLibs/${CMAKE_ANDROID_ARCH_ABI}/libelizainference.so")
  if(ANDROID_ABI)
    set(_library "${_root}/android/jniLibs/${ANDROID_ABI}/libelizainference.so")
  endif()
elseif(WIN32)
  set(_library "${_root}/lib/win32-${_processor}/elizainference.dll")
  set(_import "${_root}/lib/win32-${_processor}/elizainference.lib")
elseif(CMAKE_SYSTEM_NAME STREQUAL "iOS")
  set(_slice ios-arm64)
  if(CMAKE_OSX_SYSROOT MATCHES "[Ss]imulator")
    set(_slice ios-arm64_x86_64-simulator)
  endif()
  set(_library "${_root}/apple/CElizaInference.xcframework/${_slice}/libelizainference.a")
  set(_linkage STATIC)
elseif(CMAKE_SYSTEM_NAME STREQUAL "Darwin")
  set(_library "${_root}/lib/darwin-${_processor}/libelizainference.dylib")
elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  # CMake does not tell glibc from musl: elizainference_LIBC is "-musl" for the latter.
  set(_library "${_root}/lib/linux-${_processor}${elizainference_LIBC}/libelizainference.so")
endif()

if(NOT EXISTS "${_library}")
  set(elizainference_FOUND FALSE)
  set(elizainference_NOT_FOUND_MESSAGE "this release has no library for this platform: ${_library} does not exist")
elseif(NOT TARGET elizainference::elizainference)
  add_library(elizainference::elizainference ${_linkage} IMPORTED)
  set_target_properties(elizainference::elizainference PROPERTIES
    IMPORTED_LOCATION "${_library}"
    IMPORTED_IMPLIB "${_import}"
    INTERFACE_INCLUDE_DIRECTORIES "${_root}/include")
endif()

unset(_root)
unset(_processor)
unset(_library)
unset(_linkage)
unset(_slice)
unset(_import)
