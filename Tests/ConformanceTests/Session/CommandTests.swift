// Promise 3: a command that fails changes nothing, one without effect sends nothing, ids are never reused.

import Testing

struct CommandTests {
  private let server: MemoryServer

  init() throws {
    server = try MemoryServer()
    try server.call("clock/set", ["mode": "manual"])
    try server.call("map/create", ["id": "m", "title": "t"])
    try server.call("view/create", ["id": "v", "map": "m"])
    try server.call(
      "view/setViewpoint",
      ["view": "v", "viewpoint": ["type": "centerAndScale", "center": Self.paris, "targetScale": 1000]])
    try server.call("overlay/create", ["id": "o", "view": "v", "name": "n"])
    try server.call(
      "overlay/addGraphics",
      [
        "overlay": "o",
        "graphics": [["geometry": Self.paris, "attributes": ["a": 1]], ["geometry": Self.paris, "isSelected": true]],
      ])
    try server.call(
      "source/openInline",
      [
        "id": "src",
        "data": [
          "type": "FeatureCollection", "features": [["type": "Feature", "properties": [:], "geometry": Self.paris]],
        ],
      ])
    try server.call("layer/add", ["id": "l", "map": "m", "source": "src"])
    try server.call(
      "location/createSimulated",
      ["id": "d", "line": ["type": "LineString", "coordinates": [[0, 0], [1, 1]]], "velocity": 1000])
    try server.call("location/start", ["locationSource": "d"])
    try server.call("view/setLocationDisplay", ["view": "v", "source": "d"])
    server.request(
      "view/animateViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 500], "duration": 100])
    try server.call("state/observe", ["paths": [""]])
    _ = try server.takeMessages()
  }

  private static let paris: Value = ["type": "Point", "coordinates": [2.35, 48.86]]
  private static let nowhere: Value = [
    "type": "centerAndScale", "center": paris, "targetScale": 1, "spatialReference": "EPSG:999999",
  ]
  private static let empty: Value = [
    "type": "boundingGeometry", "geometry": ["type": "MultiPoint", "coordinates": []], "spatialReference": "EPSG:4326",
  ]

  /// Method, params, kind of the error.
  static let bad: [(String, Value, String)] = [
    ("map/create", ["id": "m"], "idExists"),
    ("map/create", ["id": "v"], "idExists"),
    ("map/create", ["id": "x", "spatialReference": "EPSG:999999"], "unknownSpatialReference"),
    ("map/create", ["id": "not an id"], "invalidParams"),
    ("map/update", ["map": "x", "title": "u"], "unknownId"),
    ("map/update", ["map": "m", "title": "u", "clear": ["nothing"]], "unknownMember"),
    ("map/update", ["map": "m", "title": 1], "invalidParams"),
    ("map/close", ["map": "v"], "unknownId"),
    ("layer/add", ["map": "m", "source": "nobody"], "unknownId"),
    ("layer/add", ["map": "m", "source": "src", "sourceLayer": "nothing"], "unknownSourceLayer"),
    ("layer/add", ["map": "m", "source": "src", "index": 2], "indexOutOfRange"),
    ("layer/add", ["map": "m", "source": "src", "id": "o"], "idExists"),
    ("layer/move", ["layer": "l", "index": 1], "indexOutOfRange"),
    ("layer/remove", ["layer": "x"], "unknownId"),
    ("layer/update", ["layer": "l", "opacity": 0.5, "minScale": 10, "maxScale": 20], "invalidScaleRange"),
    ("layer/update", ["layer": "l", "opacity": 2], "invalidParams"),
    ("view/create", ["id": "w", "map": "x"], "unknownId"),
    ("view/create", ["id": "w"], "invalidParams"),
    ("view/create", ["id": "w", "map": "m", "viewpoint": empty], "emptyGeometry"),
    ("view/create", ["id": "w", "map": "m", "viewpoint": nowhere], "unknownSpatialReference"),
    ("view/resize", ["view": "v", "width": 100, "height": -1], "invalidParams"),
    ("view/setViewpoint", ["view": "v", "viewpoint": nowhere], "unknownSpatialReference"),
    ("view/setViewpoint", ["view": "v", "viewpoint": empty], "emptyGeometry"),
    ("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 0]], "invalidParams"),
    (
      "view/setViewpoint",
      ["view": "v", "viewpoint": ["type": "center", "center": ["type": "Point", "coordinates": [0, 100]]]],
      "transformFailed"
    ),
    (
      "view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 5], "meta": ["ifRevision": 1]],
      "contentModified"
    ),
    ("view/animateViewpoint", ["view": "v", "viewpoint": nowhere], "unknownSpatialReference"),
    ("view/setLocationDisplay", ["view": "v", "autoPanMode": "recenter", "source": "x"], "unknownId"),
    ("view/setLocationDisplay", ["view": "v", "wanderExtentFactor": 0.5, "clear": ["autoPanMode"]], "unknownMember"),
    ("map/update", ["map": "m", "title": "u", "clear": ["title"]], "invalidParams"),
    ("view/setLocationDisplay", ["view": "v", "autoPanMode": "recenter", "wanderExtentFactor": 2], "invalidParams"),
    ("overlay/create", ["id": "p", "view": "x"], "unknownId"),
    ("overlay/create", ["id": "p", "view": "v", "spatialReference": "EPSG:999999"], "unknownSpatialReference"),
    ("overlay/update", ["overlay": "o", "name": "u", "clear": ["opacity"]], "unknownMember"),
    ("overlay/update", ["overlay": "o", "name": "u", "minScale": 1, "maxScale": 2], "invalidScaleRange"),
    (
      "overlay/addGraphics", ["overlay": "o", "graphics": [["geometry": paris], ["id": 0, "geometry": paris]]],
      "invalidItems"
    ),
    ("overlay/addGraphics", ["overlay": "o", "graphics": [["id": 7], ["id": 7]]], "invalidItems"),
    (
      "overlay/addGraphics",
      ["overlay": "o", "graphics": [["geometry": paris], ["geometry": ["type": "Point", "coordinates": ["x"]]]]],
      "invalidItems"
    ),
    ("overlay/addGraphics", ["overlay": "o", "graphics": [["attributes": ["new": 1]], ["id": -1]]], "invalidItems"),
    ("overlay/addColumns", ["overlay": "o", "x": [1, 2], "y": [1]], "columnLengths"),
    ("overlay/addColumns", ["overlay": "o", "x": [1, 2], "y": [1, 2], "ids": [5, 1]], "invalidItems"),
    ("overlay/addColumns", ["overlay": "o", "x": [1, 2], "y": [1, 2], "attributes": ["b": [1]]], "columnLengths"),
    (
      "overlay/updateGraphics",
      ["overlay": "o", "graphics": [["id": 0, "isVisible": false], ["id": 99, "isVisible": false]]], "invalidItems"
    ),
    ("overlay/updateColumns", ["overlay": "o", "ids": [0, 99], "x": [1, 2], "y": [1, 2]], "invalidItems"),
    ("overlay/updateColumns", ["overlay": "o", "ids": [0, 1], "x": [1, 2], "y": [1]], "columnLengths"),
    ("overlay/updateColumns", ["overlay": "o", "ids": [0, 1], "x": [1, 2]], "invalidParams"),
    ("overlay/removeGraphics", ["overlay": "o", "ids": [0, 99]], "invalidItems"),
    ("overlay/select", ["overlay": "o", "ids": [0, 99]], "invalidItems"),
    ("overlay/select", ["overlay": "o", "ids": [0, 99], "mode": "add"], "invalidItems"),
    ("location/createSimulated", ["id": "e", "line": paris], "invalidGeometry"),
    (
      "location/createSimulated", ["id": "e", "line": ["type": "LineString", "coordinates": [[1, 1], [1, 1]]]],
      "invalidGeometry"
    ),
    (
      "location/createSimulated",
      ["id": "e", "line": ["type": "LineString", "coordinates": [[0, 0], [1, 1]]], "startTime": "soon"], "invalidTime"
    ),
    ("location/close", ["locationSource": "x"], "unknownId"),
    ("clock/set", ["tickRate": 60, "now": "soon"], "invalidTime"),
    ("clock/set", ["now": "2262-04-11T23:47:16.9Z"], "invalidTime"),
    ("clock/set", ["tickRate": 1000], "invalidParams"),
    ("source/close", ["source": "x"], "unknownId"),
    ("scene/close", ["scene": "x"], "unknownId"),
    ("state/get", ["path": "views"], "invalidPath"),
    ("state/observe", ["paths": ["/views", "~"]], "invalidPath"),
    ("map/create", ["id": "x", "meta": ["ifRevision": "1"]], "invalidParams"),
  ]

  @Test func `a command that fails changes nothing and sends no delta`() throws {
    var before = try server.worldText()
    let revision = try server.revision
    for (method, params, kind) in Self.bad {
      let id = server.request(method, params)
      let messages = try server.takeMessages()
      #expect(messages.count == 1, "\(method) \(params)")
      #expect(messages.first?["id"] == id)
      #expect(messages.first?["error"]?["data"]?["kind"] == .string(kind), "\(method) \(params): \(messages)")
      #expect(try server.revision == revision, "\(method) \(params)")
      let after = try server.worldText()
      #expect(after == before, "\(method) \(params)")
      before = after
      _ = try server.takeMessages()
    }
    // Failed commands use up no id, and the animation continues.
    for id in ["x", "w", "p", "e"] as [Value] { try server.call("map/create", ["id": id]) }
    #expect(try server.state("/views/v/isNavigating").values.first == true)
  }

  /// Commands that set existing values.
  static let equal: [(String, Value)] = [
    ("map/create", ["id": "m", "ifExists": "reuse"]),
    ("map/update", ["map": "m", "title": "t"]),
    ("map/update", ["map": "m"]),
    ("layer/move", ["layer": "l", "index": 0]),
    ("layer/update", ["layer": "l", "opacity": 1, "isVisible": true]),
    ("layer/update", ["layer": "l", "clear": ["minScale"]]),
    ("view/resize", ["view": "v", "width": 800, "height": 600, "dpi": 96]),
    (
      "view/setViewpoint",
      ["view": "v", "viewpoint": ["type": "centerAndScale", "center": paris, "targetScale": 1000]]
    ),
    ("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": 1000]]),
    ("view/setViewpoint", ["view": "v", "viewpoint": ["type": "rotation", "rotation": 360]]),
    ("view/setViewpoint", ["view": "v", "viewpoint": ["type": "center", "center": paris]]),
    ("view/animateViewpoint", ["view": "v", "viewpoint": ["type": "rotation", "rotation": 0]]),
    ("view/setLocationDisplay", ["view": "v", "source": "d", "autoPanMode": "off"]),
    ("overlay/update", ["overlay": "o", "name": "n", "opacity": 1]),
    ("overlay/addGraphics", ["overlay": "o", "graphics": []]),
    ("overlay/updateGraphics", ["overlay": "o", "graphics": [["id": 0, "isVisible": true, "attributes": ["a": 1]]]]),
    ("overlay/updateGraphics", ["overlay": "o", "graphics": [["id": 0, "geometry": paris]]]),
    ("overlay/updateColumns", ["overlay": "o", "ids": [0], "x": [2.35], "y": [48.86]]),
    ("overlay/removeGraphics", ["overlay": "o", "ids": []]),
    ("overlay/select", ["overlay": "o", "ids": [1]]),
    ("overlay/select", ["overlay": "o", "ids": [1], "mode": "add"]),
    ("overlay/select", ["overlay": "o", "ids": [0], "mode": "subtract"]),
    ("location/start", ["locationSource": "d"]),
    ("clock/set", ["mode": "manual", "tickRate": 30]),
    ("clock/advance", ["seconds": 0]),
    ("layer/cancelLoad", ["layer": "l"]),
  ]

  @Test func `setting an equal value sends nothing and keeps the revision`() throws {
    // The first ends the flight; what the view has already would not.
    for scale in [2000, 1000] as [Value] {
      try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "scale", "targetScale": scale]])
    }
    try server.call("clock/advance", ["seconds": 0.04])
    _ = try server.takeMessages()
    let before = try server.worldText()
    let revision = try server.revision
    for (method, params) in Self.equal {
      let id = server.request(method, params)
      let messages = try server.takeMessages()
      #expect(messages.count == 1, "\(method) \(params) \(messages)")
      #expect(messages.first?["id"] == id)
      #expect(messages.first?["result"] != nil, "\(method) \(params) \(messages)")
      #expect(try server.revision == revision, "\(method) \(params)")
      #expect(try server.worldText() == before, "\(method) \(params)")
      _ = try server.takeMessages()
    }
    try server.call("location/stop", ["locationSource": "d"])
    #expect(try server.revision == revision + 1)
    try server.call("location/stop", ["locationSource": "d"])
    #expect(try server.revision == revision + 1)
  }

  @Test func `setting an equal part of a bounding viewpoint keeps its type`() throws {
    let box: Value = [
      "type": "boundingGeometry", "geometry": ["type": "LineString", "coordinates": [[0, 0], [10, 10]]],
      "spatialReference": "EPSG:4326",
    ]
    try server.call("view/setViewpoint", ["view": "v", "viewpoint": box])
    let revision = try server.revision
    try server.call("view/setViewpoint", ["view": "v", "viewpoint": box])
    try server.call("view/setViewpoint", ["view": "v", "viewpoint": ["type": "rotation", "rotation": 0]])
    #expect(try server.revision == revision)
    #expect(try server.state("/views/v/viewpoint/type").values.first == "boundingGeometry")
  }

  @Test func `every command with an effect is one revision, and no id is generated twice`() throws {
    var revision = try server.revision
    func isNext(_ answer: Value, sourceLocation: SourceLocation = #_sourceLocation) {
      revision += 1
      #expect(answer["revision"] == .integer(revision), sourceLocation: sourceLocation)
    }
    isNext(try server.call("overlay/create", ["id": "p", "view": "v"]))
    isNext(
      try server.call("overlay/addGraphics", ["overlay": "p", "graphics": [["geometry": .null], ["geometry": .null]]]))
    isNext(try server.call("overlay/close", ["overlay": "p"]))
    isNext(try server.call("overlay/create", ["id": "p", "view": "v"]))
    isNext(try server.call("view/close", ["view": "v"]))
    // The overlays of a closed view cannot be restored: their ids are free for any kind.
    for id in ["v", "o"] as [Value] { isNext(try server.call("view/create", ["id": id, "map": "m"])) }
    isNext(try server.call("map/close", ["map": "m"]))
    #expect(try server.refusal("source/openInline", ["id": "m", "data": [:]])["holder"] == "map")
    // Generated ids are unique as well, and skip those of clients.
    let first = try #require(try server.call("map/create")["map"]?.string)
    let number = try #require(Int(first.dropFirst(3)))
    try server.call("map/create", ["id": .string("map\(number + 1)")])
    #expect(try server.call("map/create")["map"] == .string("map\(number + 2)"))
    try server.call("map/close", ["map": .string(first)])
    #expect(try server.call("map/create")["map"] == .string("map\(number + 3)"))
  }

  @Test func `a generated graphic id is never reused, whatever was given or removed`() throws {
    func add(_ graphics: Value) throws -> Value {
      try server.call("overlay/addGraphics", ["overlay": "o", "graphics": graphics])
    }
    #expect(try add([["geometry": .null]])["firstId"] == 2)
    try server.call("overlay/removeGraphics", ["overlay": "o", "all": true])
    #expect(try add([["geometry": .null]])["firstId"] == 3)
    _ = try add([["id": 5], ["geometry": .null], ["geometry": .null]])
    let ids = Set(try server.state("/overlays/o/graphics/*").keys)
    #expect(ids.count == 4)
    #expect(ids.contains("/overlays/o/graphics/5"))
  }

  @Test func `a state path matches existing values only`() throws {
    let paths = [
      "/maps/m/operationalLayers/1", "/overlays/o/graphics/00", "/overlays/o/graphics/+1", "/overlays/o/graphics/x",
      "/views/v/viewpoint/center/coordinates/2", "/views/nobody",
    ]
    for path in paths { #expect(try server.state(path).isEmpty, "\(path)") }
    let impossible = [
      "/views/v/isNavigating/x", "/views/v/viewpoint/type/0", "/maps/m/operationalLayers/00",
      "/maps/m/operationalLayers/-1", "/nothing", "/", "/views//", "/clock/mode/*", "/overlays/o/extent/xMin/*/y",
    ]
    for path in impossible {
      #expect(try server.refusal("state/get", ["path": .string(path)])["kind"] == "invalidPath", "\(path)")
    }
    #expect(try server.state("/maps/m/operationalLayers/0").values.first == "l")
    #expect(try server.state("/maps/m/operationalLayers/*") == ["/maps/m/operationalLayers/0": "l"])
    #expect(try server.state("/views/*/viewpoint/center/coordinates/*").count == 2)
    #expect(try server.state("/overlays/*/graphics/*/attributes/a") == ["/overlays/o/graphics/0/attributes/a": 1])
    #expect(try server.state("/clock/*").count == 3)
  }

  @Test func `manual time cannot advance beyond the last representable instant`() throws {
    try server.call("clock/set", ["now": "2262-04-11T00:00:00Z"])
    let last = try server.call("clock/get")["now"]
    #expect(try server.refusal("clock/advance", ["seconds": 86400])["kind"] == "tooManyTicks")
    #expect(try server.call("clock/get")["now"] == last)
    try server.call("clock/set", ["now": "1678-01-01T00:00:00Z"])
    try server.call("clock/advance", ["seconds": 1])
    try server.call("clock/set", ["now": "2262-04-11T00:00:00Z"])
    try server.call("clock/advance", ["seconds": 1])
    try server.call(
      "location/createSimulated",
      [
        "id": "late", "line": ["type": "LineString", "coordinates": [[0, 0], [1, 1]]],
        "startTime": "2262-04-11T23:47:16Z", "interval": 0.5, "velocity": 1,
      ])
    try server.call("location/start", ["locationSource": "late"])
    try server.call("clock/advance", ["seconds": 5])
    #expect(try server.state("/locationSources/late/location/position").isEmpty == false)
  }
}
