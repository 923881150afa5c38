# What a wheel contains besides ctsne: nanobind, and the hash map that nanobind uses, linked into
# the module. Their licences ask for their notices in every copy, so the notices are taken from the
# installed nanobind and put next to ours; bundled.cdx.json lists both for programs (PEP 770).

if(NOT DEFINED SKBUILD_METADATA_DIR)
  return() # a plain CMake build makes no wheel
endif()

set(robin_map_headers "${NB_DIR}/ext/robin_map/include/tsl")
file(READ "${robin_map_headers}/robin_map.h" header)
string(REGEX MATCH "/\\*\\*\n( \\*[^\n]*\n)+" notice "${header}")
string(REGEX REPLACE "(^|\n) ?/?\\*+/? ?" "\\1" notice "${notice}")
string(STRIP "${notice}" notice)
if(NOT notice MATCHES "^MIT License.*Copyright.*SOFTWARE\\.$")
  message(FATAL_ERROR "no licence found in ${robin_map_headers}/robin_map.h")
endif()
file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/licenses/robin-map.txt" "${notice}\n")

file(GLOB nanobind_licence "${NB_DIR}/../nanobind-*.dist-info/licenses/LICENSE")
if(NOT nanobind_licence)
  message(FATAL_ERROR "no licence found next to ${NB_DIR}")
endif()
configure_file("${nanobind_licence}" "${CMAKE_CURRENT_BINARY_DIR}/licenses/nanobind.txt" COPYONLY)

# Sets `name`_version from the macros PREFIX_MAJOR, _MINOR and _PATCH of a header.
function(read_version name header prefix)
  file(READ "${header}" text)
  foreach(part MAJOR MINOR PATCH)
    string(REGEX MATCH "#define ${prefix}_${part} +([0-9]+)" found "${text}")
    list(APPEND numbers ${CMAKE_MATCH_1})
  endforeach()
  list(JOIN numbers "." numbers)
  set(${name}_version "${numbers}" PARENT_SCOPE)
endfunction()

read_version(nanobind "${NB_DIR}/include/nanobind/nanobind.h" NB_VERSION)
read_version(robin_map "${robin_map_headers}/robin_growth_policy.h" TSL_RH_VERSION)
configure_file(
  "${CMAKE_CURRENT_LIST_DIR}/bundled.cdx.json.in" "${CMAKE_CURRENT_BINARY_DIR}/bundled.cdx.json"
  @ONLY)

install(DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/licenses" DESTINATION "${SKBUILD_METADATA_DIR}")
install(
  FILES "${CMAKE_CURRENT_BINARY_DIR}/bundled.cdx.json"
  DESTINATION "${SKBUILD_METADATA_DIR}/sboms")
