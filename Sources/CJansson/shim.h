// Why: one header for the module map; everything the JSON target uses of jansson is declared there.
#include <jansson.h>
