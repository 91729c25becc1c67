// The functions of PROJ that this server calls, found on first use: linked, the library would cost every start.
#ifndef CPROJ_H
#define CPROJ_H

#include <geodesic.h>
#include <proj.h>

/// Every function called, once. Adding one here is all it takes.
#define CPROJ_FUNCTIONS(X) \
  X(proj_context_create) X(proj_context_destroy) X(proj_context_errno) X(proj_context_errno_string) \
  X(proj_context_set_enable_network) X(proj_context_set_fileapi) X(proj_context_set_search_paths) X(proj_info) X(proj_log_func) X(proj_log_level) X(proj_create) X(proj_destroy) \
  X(proj_get_type) X(proj_get_name) X(proj_get_id_auth_name) X(proj_get_id_code) X(proj_get_area_of_use) \
  X(proj_get_source_crs) X(proj_crs_is_derived) X(proj_crs_get_sub_crs) X(proj_identify) X(proj_list_get_count) X(proj_list_get) \
  X(proj_list_destroy) X(proj_int_list_destroy) X(proj_crs_get_coordinate_system) X(proj_cs_get_axis_info) X(proj_cs_get_axis_count) \
  X(proj_create_crs_to_crs_from_pj) X(proj_normalize_for_visualization) X(proj_trans_generic) \
  X(proj_as_projjson) X(proj_as_wkt) X(proj_create_operation_factory_context) X(proj_operation_factory_context_destroy) \
  X(proj_operation_factory_context_set_grid_availability_use) X(proj_create_operations) X(proj_create_from_database) \
  X(proj_operation_factory_context_set_spatial_criterion) X(proj_operation_factory_context_set_discard_superseded) \
  X(proj_operation_factory_context_set_area_of_interest) X(proj_coordoperation_get_accuracy) \
  X(proj_concatoperation_get_step_count) X(proj_concatoperation_get_step) X(proj_coordoperation_is_instantiable) \
  X(proj_coordoperation_has_ballpark_transformation) X(proj_coordoperation_get_grid_used_count) X(proj_coordoperation_get_grid_used) \
  X(proj_errno_reset) X(proj_trans_bounds) X(geod_init) X(geod_inverse) X(geod_geninverse) X(geod_direct) X(geod_lineinit) X(geod_genposition) \
  X(geod_polygon_init) X(geod_polygon_addpoint) X(geod_polygon_compute)

/// The library's functions, each of the type that its header declares.
struct cproj_functions {
#define CPROJ_FIELD(name) __typeof__(&name) _Nonnull name;
  CPROJ_FUNCTIONS(CPROJ_FIELD)
#undef CPROJ_FIELD
};

/// Opens the library the first time; later calls give the same answer. Safe from any thread.
///
/// Returns NULL where the library is not on this machine or lacks a function; `*reason` then says which, for good.
const struct cproj_functions *_Nullable cproj_load(const char *_Nullable *_Nonnull reason);

/// Lets a context open regular files beneath PROJ's own folders for reading, and nothing else: a definition in WKT, PROJJSON or
/// PROJ's own form may name any path of the machine, and a FIFO there would hold its thread for good.
void cproj_confine(PJ_CONTEXT *_Nonnull context);

#endif
