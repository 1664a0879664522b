# Only LEMON's header templates are used; its library is not linked.
find_path(LEMON_INCLUDE_DIR lemon/list_graph.h)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LEMON REQUIRED_VARS LEMON_INCLUDE_DIR
  REASON_FAILURE_MESSAGE "install liblemon-dev")
if(LEMON_FOUND AND NOT TARGET LEMON::LEMON)
  add_library(LEMON::LEMON INTERFACE IMPORTED)
  set_target_properties(LEMON::LEMON PROPERTIES INTERFACE_SYSTEM_INCLUDE_DIRECTORIES "${LEMON_INCLUDE_DIR}"
                                                INTERFACE_INCLUDE_DIRECTORIES "${LEMON_INCLUDE_DIR}")
endif()
