#include "CGDAL.h"
