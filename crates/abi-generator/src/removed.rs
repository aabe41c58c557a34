//! Names that MPI 3.0 removed, for the header.

/// Text for the header. The names are defined for programs that define MPI_REMOVED_NAMES before they include the
/// header. No symbol of the library corresponds to them: each is an alias of its replacement, or a function of the
/// header.
pub(crate) const NAMES: &str = "
#ifdef MPI_REMOVED_NAMES
#include <stdlib.h>

#define MPI_Address MPI_Get_address
#define MPI_Errhandler_create MPI_Comm_create_errhandler
#define MPI_Errhandler_get MPI_Comm_get_errhandler
#define MPI_Errhandler_set MPI_Comm_set_errhandler
#define MPI_Handler_function MPI_Comm_errhandler_function
#define MPI_Type_hindexed MPI_Type_create_hindexed
#define MPI_Type_hvector MPI_Type_create_hvector

/* No datatype is made by them any more. */
#define MPI_COMBINER_HVECTOR_INTEGER (-101)
#define MPI_COMBINER_HINDEXED_INTEGER (-102)
#define MPI_COMBINER_STRUCT_INTEGER (-103)

/* Marks of the ends of a datatype, which only MPI_Type_struct takes. */
#define MPI_LB ((MPI_Datatype)0x3fe)
#define MPI_UB ((MPI_Datatype)0x3ff)

static inline int MPI_Type_extent(MPI_Datatype type, MPI_Aint *extent) {
    MPI_Aint lower;
    return MPI_Type_get_extent(type, &lower, extent);
}

static inline int MPI_Type_lb(MPI_Datatype type, MPI_Aint *lower) {
    MPI_Aint extent;
    return MPI_Type_get_extent(type, lower, &extent);
}

static inline int MPI_Type_ub(MPI_Datatype type, MPI_Aint *upper) {
    MPI_Aint lower;
    int code = MPI_Type_get_extent(type, &lower, upper);
    if (code == MPI_SUCCESS) *upper += lower;
    return code;
}

static inline int MPI_Type_struct(int count, int lengths[], MPI_Aint places[], MPI_Datatype types[], MPI_Datatype *made) {
    int kept = 0, code, has_lower = 0, has_upper = 0;
    MPI_Aint lower = 0, upper = 0, own_lower, own_extent;
    size_t room = count > 0 ? (size_t)count : 1;
    int *kept_lengths = (int *)malloc(room * sizeof *kept_lengths);
    MPI_Aint *kept_places = (MPI_Aint *)malloc(room * sizeof *kept_places);
    MPI_Datatype *kept_types = (MPI_Datatype *)malloc(room * sizeof *kept_types), plain;
    for (int i = 0; i < count; i++) {
        if (types[i] == MPI_LB) {
            lower = has_lower && lower < places[i] ? lower : places[i];
            has_lower = 1;
        } else if (types[i] == MPI_UB) {
            upper = has_upper && upper > places[i] ? upper : places[i];
            has_upper = 1;
        } else {
            kept_lengths[kept] = lengths[i];
            kept_places[kept] = places[i];
            kept_types[kept++] = types[i];
        }
    }
    code = MPI_Type_create_struct(count < 0 ? count : kept, kept_lengths, kept_places, kept_types, &plain);
    free(kept_lengths);
    free(kept_places);
    free(kept_types);
    if (code != MPI_SUCCESS || !(has_lower || has_upper)) {
        *made = code == MPI_SUCCESS ? plain : MPI_DATATYPE_NULL;
        return code;
    }
    MPI_Type_get_extent(plain, &own_lower, &own_extent);
    lower = has_lower ? lower : own_lower;
    upper = has_upper ? upper : own_lower + own_extent;
    code = MPI_Type_create_resized(plain, lower, upper - lower, made);
    MPI_Type_free(&plain);
    return code;
}
#else
/* In other programs, the compiler and the linker name the option that defines a removed function. */
#define MPI_Address MPI_Address_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Errhandler_create MPI_Errhandler_create_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Errhandler_get MPI_Errhandler_get_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Errhandler_set MPI_Errhandler_set_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Type_extent MPI_Type_extent_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Type_hindexed MPI_Type_hindexed_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Type_hvector MPI_Type_hvector_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Type_lb MPI_Type_lb_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Type_struct MPI_Type_struct_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#define MPI_Type_ub MPI_Type_ub_was_removed_in_MPI_3_compile_with_DMPI_REMOVED_NAMES
#endif
";
