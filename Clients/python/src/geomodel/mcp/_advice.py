"""What an agent does next after an error: a sentence for each kind that it can meet and do something about."""

from __future__ import annotations

from ..errors import CallTimeoutError, ClosedError, EncodeError, Error, GeoModelError, ServerDiedError, ServerNotFoundError

# Kinds of this side, beside those of the protocol.
UNKNOWN_TOOL, INVALID_ARGUMENTS, SERVER_LOST, NO_SERVER = "unknownTool", "invalidArguments", "serverLost", "serverNotFound"

_SEE_FIELDS = "call describe_layer for the layer's fields and their types"
_SEE_MODEL = "call describe_model for the ids that exist"
_SEE_METHOD = "call describe with the method's name for its params"
_CHOOSE_FILE = "ask the user for the path; relative paths start in the folder that the server was started with"
_CQL2 = "write CQL2: texts in single quotes, field names bare or in double quotes, LIKE with %; describe('expressions') lists functions"

NEXT: dict[str, str] = {
    "unknownId": _SEE_MODEL,
    "idExists": "choose another id, or leave it out",
    "unknownMethod": "call describe without a name for the domains, with a domain for its methods",
    "unknownMember": _SEE_METHOD,
    "invalidParams": _SEE_METHOD,
    "notACommand": _SEE_METHOD,
    "unknownField": _SEE_FIELDS,
    "wrongFieldType": f"{_SEE_FIELDS}; toNumber(field) converts a text",
    "expressionSyntax": _CQL2,
    "expressionType": f"{_SEE_FIELDS}; compare numbers with numbers and texts with texts in single quotes",
    "expressionTooDeep": "split the condition, or use IN with a list",
    "tooExpensive": "narrow by bbox or where first",
    "noTime": "the layer has no time fields: use where on a date field",
    "invalidTime": "write times by RFC 3339, as 2026-05-01T00:00:00Z",
    "fileNotFound": _CHOOSE_FILE,
    "notAFile": _CHOOSE_FILE,
    "pathRefused": "use a path in the folders that the user allowed (--allow-dir, --allow-write); call('session/status') lists them",
    "unknownFormat": "data: GeoJSON, GeoPackage, Shapefile, CSV, GPX, KML, FlatGeobuf; rasters: GeoTIFF, PNG; documents by open_document",
    "openFailed": "the data are damaged or of another format: check them, or tell the user",
    "readFailed": "the file is damaged: tell the user",
    "readerFailed": "the file crashed its reader, the model is unharmed: tell the user, try another format of the data",
    "changedWhileRead": "open the file again",
    "missingField": "open the file without x_field and y_field to see its fields",
    "unknownSourceLayer": "call open_file without layers: the answer names them",
    "noGeometry": "open it as a table, or for CSV give x_field and y_field",
    "addressFailed": "tell the user that the address does not answer",
    "credentialsNeeded": "ask the user to open it: secrets are not for agents",
    "notLoaded": "call('layer/load', {'layer': id})",
    "sourceClosed": "open the file again",
    "wrongKind": "choose a layer with features: call describe_model",
    "unknownSpatialReference": "write an authority's code, as EPSG:4326 or EPSG:3857",
    "transformFailed": "the place has no coordinates in that spatial reference: choose another one",
    "gridMissing": "choose another spatial reference or accept less accuracy; tell the user",
    "invalidGeometry": "give GeoJSON: longitude before latitude, rings closed",
    "emptyGeometry": "give a geometry with at least one position",
    "outOfRange": "longitudes are -180 to 180, latitudes -90 to 90; x comes first",
    "planarDegrees": "measure on the ellipsoid: the geodetic method, or geodetic: true",
    "noGround": "choose a place that an elevation source covers",
    "cameraNeedsScene": "give a center and a scale, or a bbox",
    "documentUntitled": "call save_document with a path",
    "documentBusy": "wait for the document, then repeat the call",
    "invalidDocument": "it is no document: open data with open_file",
    "documentTooNew": "tell the user: a newer server wrote it",
    "saveFailed": "choose another folder, or tell the user about the disk",
    "fileExists": "choose another path, or overwrite=true if the user agrees",
    "layerExists": "choose another layer_name, or overwrite=true if the user agrees",
    "packageExpired": "tell the user that the package was to be used until a time that has come",
    "packageRefused": "tell the user that the package is not to be trusted",
    "invalidPackage": "tell the user that the package is damaged",
    "nothingToUndo": "there is nothing to undo: go on",
    "nothingToRedo": "there is nothing to redo: go on",
    "editInProgress": "someone is editing: try again later, or tell the user",
    "undoConflict": "another client has changed the same since: look at it again, and change it forward instead",
    "readOnlyClient": "this session only reads: say what you would change, and ask the user",
    "contentModified": "someone changed it meanwhile: read it again, then decide",
    "resultTooLarge": "ask for less: fewer fields, no geometry, a smaller limit",
    "tooManyGroups": "group by a field with fewer values, or narrow by where",
    "surfaceTooLarge": "take a smaller area or a coarser step",
    "readOnly": "this member is computed: change what it depends on",
    "notWritable": "use the method that changes it: describe has them",
    "invalidPath": "write a JSON Pointer into the state tree, as /layers/countries/name",
    "serverBusy": "wait, then repeat the call",
    "limitReached": "wait until other calls are answered, then repeat it",
    "cancelled": "it was cancelled: repeat the call if it is still wanted",
    "timedOut": "narrow the request, or repeat it with a longer time",
    "libraryMissing": "tell the user which library the server is missing",
    "engineFailed": "narrow the request: the process that computes ran out of memory",
    "internalError": "tell the user: this is a fault of the server",
    UNKNOWN_TOOL: "call one of the tools that are listed; describe and call reach everything else",
    INVALID_ARGUMENTS: "correct the arguments by the tool's input schema",
    NO_SERVER: "tell the user to install geomodel-server, to set GEOMODEL_SERVER, or to mend what the message says",
}


def kind_of(error: Error) -> str:
    if isinstance(error, GeoModelError):
        return error.kind or "error"
    if isinstance(error, ServerNotFoundError):
        return NO_SERVER
    if isinstance(error, (ServerDiedError, ClosedError)):
        return SERVER_LOST
    if isinstance(error, CallTimeoutError):
        return "timedOut"
    return "invalidParams" if isinstance(error, EncodeError) else "error"


def next_step(kind: str) -> str:
    return NEXT.get(kind, "read the message; describe has the method's params, describe_model the ids")
