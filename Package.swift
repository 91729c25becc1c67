// swift-tools-version: 6.2
// The rooms: one target a concern. Sources/ARCHITECTURE.md lists them; the build checks who imports whom.

import PackageDescription

let strict: [SwiftSetting] = [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
  .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let collections: Target.Dependency = .product(name: "HashTreeCollections", package: "swift-collections")
let deque: Target.Dependency = .product(name: "DequeModule", package: "swift-collections")
let ordered: Target.Dependency = .product(name: "OrderedCollections", package: "swift-collections")
let nio: [Target.Dependency] = [
  .product(name: "NIOCore", package: "swift-nio"), .product(name: "NIOPosix", package: "swift-nio"),
  .product(name: "NIOConcurrencyHelpers", package: "swift-nio"), .product(name: "NIOHTTP1", package: "swift-nio"),
  .product(name: "NIOWebSocket", package: "swift-nio"),
]

// Readers of untrusted bytes with checks of what they accept: tests of their seeds, or under GEOMODEL_FUZZ, which `make fuzz`
// sets, a program around libFuzzer.
let fuzzed: [Target.Dependency] = [
  "Documents", "Handlers", "GeoModel", "Filtering", "FeatureStore", "Expressions", "Projection", "Readers", "Reading",
  "GeoJSON", "GridReferences", "Geometry", "JSONRPC", "JSON", "Platform",
]
let fuzz: Target =
  Context.environment["GEOMODEL_FUZZ"] == nil
  ? .testTarget(
    name: "FuzzTests", dependencies: fuzzed, exclude: ["LibFuzzer.swift", "JSONMutation.swift", "Found"],
    swiftSettings: strict)
  : .executableTarget(
    name: "fuzz", dependencies: fuzzed, path: "Tests/FuzzTests", exclude: ["SeedTests.swift", "Found"],
    swiftSettings: strict)

let package = Package(
  name: "geomodel-server",
  products: [.executable(name: "geomodel-server", targets: ["geomodel-server"])],
  dependencies: [
    // Exact, so that a build is the same next year. What these depend on (swift-atomics, swift-system) is chosen by
    // their own manifests. Package.resolved is not committed: its hashes differ between mirrors of the same tags.
    .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
    .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
    .package(url: "https://github.com/apple/swift-collections", exact: "1.6.0"),
  ],
  targets: [
    // C libraries. jansson is linked; the others are opened on first use, so that a start stays quick.
    .systemLibrary(
      name: "CJansson", pkgConfig: "jansson",
      providers: [.apt(["libjansson-dev"]), .brew(["jansson"])]),
    .target(name: "CLibraries"),
    .target(name: "CGEOS", dependencies: ["CLibraries"]),
    .target(name: "CPROJ", dependencies: ["CLibraries"]),
    .target(name: "CGDAL", dependencies: ["CLibraries"]),
    .target(name: "CCairo", dependencies: ["CLibraries"]),
    .target(name: "CReader", dependencies: ["CLibraries"], linkerSettings: [.linkedLibrary("iconv", .when(platforms: [.macOS]))]),

    // The system.
    .systemLibrary(name: "CPlatform"),
    library("Platform", ["CPlatform"]),
    library("Files", ["Platform"]),
    library("Calendar", ["Platform"]),
    library("TextFormatting", ["Calendar", "Platform"]),
    library("NMEA", ["Calendar"]),

    // The wire.
    library("JSON", ["CJansson", "Platform"]),
    library(
      "JSONRPC", ["JSON", "Platform", logging, deque] + nio),
    library("GeoProtocol", ["JSON"]),

    // The model.
    library("Geometry", ["Platform"]),
    library("GridReferences", ["Geometry", "Platform"]),
    library("GeometryEngine", ["Geometry", "CGEOS"]),
    library("Geodetics", ["Geometry", "Platform"]),
    // Questions about features.
    library("Sorting", ["Platform"]),
    library("SpatialIndex", ["Sorting", "Geometry"]),
    library("SpatialRelations", ["Geometry", "GeometryEngine"]),
    library(
      "Expressions",
      ["SpatialRelations", "Sorting", "JSON", "Geometry", "Calendar", "TextFormatting", "Platform"]),
    library("Names", ["Sorting", "TextFormatting"]),
    library("FeatureStore", ["Names", "SpatialIndex", "Sorting", "Geometry", "Calendar", "Platform", collections]),
    library(
      "Filtering",
      ["FeatureStore", "Expressions", "SpatialRelations", "SpatialIndex", "Sorting", "Geometry", "TextFormatting"]),
    library(
      "Proximity",
      ["FeatureStore", "SpatialRelations", "SpatialIndex", "Sorting", "Geodetics", "GeometryEngine", "Geometry", "Platform"]),
    library("Statistics", ["Filtering", "FeatureStore", "Expressions", "Sorting", "Geometry", "Calendar"]),
    library("Clusters", ["FeatureStore", "Sorting", "Geometry", "Platform"]),
    library("VectorTiles", ["FeatureStore", "Geometry", "Platform", "CLibraries"]),

    library(
      "GeoModel",
      [
        "Clusters", "Statistics", "Proximity", "Filtering", "FeatureStore", "Expressions", "SpatialIndex", "Sorting", "JSON",
        "Geometry", "Calendar", "NMEA", "TextFormatting", "Platform", collections, ordered, deque,
      ]),

    // Plans of queries.
    library(
      "Planning",
      [
        "GeoModel", "Statistics", "Proximity", "Filtering", "FeatureStore", "Names", "Expressions", "SpatialRelations",
        "GeometryEngine", "Geometry", "Platform",
      ]),

    // Pictures as lists of what is drawn.
    library("Pictures"),
    library("Painter", ["Pictures", "Platform", "CCairo"]),

    // The wrapper of PROJ.
    library("Projection", ["Geometry", "CPROJ", "Platform"]),

    // Foreign files: what server and reader share, the process that reads, and the server's way to it.
    library("Reading", ["Pictures", "Geometry", "JSON", "Files", "Platform", "CReader"]),
    library("GeoJSON", ["Geometry", "Platform"]),
    library(
      "Reader",
      [
        "Reading", "Painter", "Pictures", "GeoJSON", "GeometryEngine", "Geometry", "JSON", "Files", "Platform", "CReader", "CGDAL",
        "CLibraries",
      ]),
    library("Readers", ["Reading", "Pictures", "GeometryEngine", "Geometry", "JSON", "Files", "Platform", "CReader"]),
    library("Elevation", ["Readers", "Reading", "Geometry", "Files", "Platform"]),
    // Analyses of cells of heights.
    library("Terrain", ["Sorting", "Geometry", "Platform"]),

    // The server: each of these imports those above it that it lists, and no other.
    library(
      "WireCoding",
      [
        "Planning", "GeoModel", "GeoProtocol", "GeometryEngine", "GridReferences", "Geometry", "JSON", "JSONRPC", "Statistics",
        "FeatureStore", "Expressions", "SpatialRelations", "Geodetics", "Elevation", "Readers", "Reading", "Files", "Platform",
      ]),
    library(
      "StateTree",
      ["WireCoding", "GeoModel", "GeoProtocol", "Geometry", "JSON", "JSONRPC", "FeatureStore"]),
    library(
      "Subscriptions",
      ["StateTree", "WireCoding", "GeoModel", "GeoProtocol", "Geometry", "JSON", "JSONRPC", "FeatureStore", ordered]),
    library(
      "Drawing",
      [
        "WireCoding", "GeoModel", "GeoProtocol", "Geometry", "JSON", "JSONRPC", "Pictures", "Clusters", "FeatureStore",
        "VectorTiles", "Expressions", "Reading", "Sorting", "Terrain", "TextFormatting", "Platform",
      ]),
    library(
      "Handlers",
      [
        "Drawing", "Pictures", "Subscriptions", "StateTree", "WireCoding", "Planning", "GeoModel", "GeoProtocol", "GeometryEngine",
        "GridReferences", "Geometry", "JSON", "JSONRPC", "Clusters", "Statistics", "Proximity", "Filtering", "FeatureStore",
        "Expressions", "SpatialRelations", "Geodetics", "Elevation", "Terrain", "Readers", "Reading", "Files", "Calendar",
        "Platform", "VectorTiles",
      ]),
    library(
      "Links",
      [
        "Handlers", "Subscriptions", "StateTree", "WireCoding", "GeoModel", "GeoProtocol", "Geometry", "JSON",
        "JSONRPC", "Expressions", "Sorting",
      ]),
    library(
      "Documents",
      [
        "Links", "Handlers", "StateTree", "WireCoding", "Planning", "GeoModel", "GeoProtocol", "Geometry", "JSON",
        "JSONRPC", "FeatureStore", "Reading", "Files", "Platform",
      ]),
    library(
      "Host",
      [
        "Documents", "Links", "Handlers", "Subscriptions", "StateTree", "WireCoding", "Planning", "GeoModel",
        "GeoProtocol", "SpatialRelations", "GeometryEngine", "Geometry", "JSON", "JSONRPC", "Calendar", "Files", "Readers", "Reading", "Platform", logging,
        deque,
      ]),
    .executableTarget(
      name: "geomodel-server",
      dependencies: [
        "Host", "Handlers", "GeoProtocol", "GeoModel", "Files", "JSONRPC", "Projection", "Reader", "Readers",
        "Platform", "CLibraries",
        logging,
      ],
      swiftSettings: strict,
      // Half of a start would be relocations: addresses are fixed when the server is linked.
      linkerSettings: [
        .unsafeFlags(
          ["-Xclang-linker", "-no-pie", "-Xlinker", "--no-export-dynamic"],
          .when(platforms: [.linux], configuration: .release))
      ]),
    .executableTarget(name: "protocol-gen", dependencies: ["JSON", "Platform", "Expressions"], swiftSettings: strict),

    // Tests.
    fuzz,
    .target(
      name: "TestSupport", dependencies: ["JSON", "JSONRPC", "Platform"], path: "Tests/TestSupport",
      swiftSettings: strict),
    tests("JSONTests", ["JSON"]),
    tests("JSONRPCTests", ["JSONRPC", "JSON", "TestSupport", logging]),
    tests("GeometryTests", ["GridReferences", "Geometry"]),
    tests("TerrainTests", ["Terrain", "Geometry"]),
    tests("CalendarTests", ["Calendar", "TestSupport"]),
    tests("NMEATests", ["NMEA"]),
    tests("PictureTests", ["Painter", "Pictures", "CCairo"]),
    tests(
      "QueryTests",
      [
        "Clusters", "VectorTiles", "Statistics", "Proximity", "Filtering", "FeatureStore", "Names", "Expressions",
        "SpatialRelations", "SpatialIndex", "Sorting", "GeometryEngine", "Geometry", "Calendar", "TextFormatting", "Platform", "TestSupport",
      ]),
    tests(
      "GeoModelTests",
      ["GeoModel", "Proximity", "FeatureStore", "Expressions", "Geometry", "Projection", "TestSupport"]),
    tests(
      "DrawingTests",
      [
        "Drawing", "Pictures", "GeoModel", "Clusters", "Statistics", "FeatureStore", "Expressions", "Geometry", "Projection",
        "TestSupport",
      ]),
    tests(
      "NativeTests",
      [
        "Projection", "GeometryEngine", "Geodetics", "Readers", "Reading", "GeoJSON", "Elevation", "CReader", "Geometry", "JSON",
        "Files", "Pictures", "TestSupport",
      ]),
    tests("ServerTests", ["JSON", "TestSupport"]),
    tests(
      "ConformanceTests",
      [
        "Host", "Handlers", "Subscriptions", "WireCoding", "GeoModel", "GeoProtocol", "FeatureStore", "JSONRPC", "JSON",
        "Geometry", "Projection", "Readers", "TestSupport", logging,
      ]),
    .testTarget(
      name: "HouseTests", dependencies: ["WireCoding", "JSON", "GeoProtocol", "protocol-gen", "TestSupport"],
      exclude: ["Samples"], swiftSettings: strict),
  ]
)
