// The file of MBTiles 1.3: a database of SQLite with a table of tiles, written page by page without SQLite.
// https://github.com/mapbox/mbtiles-spec/blob/master/1.3/spec.md, https://sqlite.org/fileformat2.html

import Geometry

/// The pages of a database while its tiles are written one after the other. The first page comes last, as it says where the tables begin.
package struct TileDatabase: TileFile {
  package static let dataOffset = pageSize

  private var pages = Pages()
  private var tiles = Table()
  private var places: [(zoom: Int, column: Int, row: Int, id: Int)] = []

  package init() {}

  package var tileCount: Int { tiles.rowCount }

  package mutating func place(_ address: TileAddress, _ data: [UInt8]) -> [UInt8] {
    // Rows go northwards there.
    let (zoom, column, row) = (address.zoom, address.x, (1 << address.zoom) - 1 - address.y)
    tiles.add([.integer(zoom), .integer(column), .integer(row), .blob(data)], &pages)
    places.append((zoom, column, row, tiles.rowCount))
    return pages.take()
  }

  package mutating func finished(_ about: TileSet) -> (head: [UInt8], tail: [UInt8]) {
    let (bounds, center) = (about.bounds, about.bounds.center)
    var metadata = Table()
    for (name, value) in [
      ("name", about.name), ("format", about.isOfPixels ? "png" : "pbf"), ("type", "overlay"), ("version", "1"),
      ("bounds", "\(bounds.xMin),\(bounds.yMin),\(bounds.xMax),\(bounds.yMax)"),
      ("center", "\(center.x),\(center.y),\(about.zooms.lowerBound)"), ("minzoom", "\(about.zooms.lowerBound)"),
      ("maxzoom", "\(about.zooms.upperBound)"), ("json", about.metadata),
    ] { metadata.add([.text(name), .text(value)], &pages) }
    var schema = Table()
    for (kind, name, table, page, text) in [
      ("table", "metadata", "metadata", metadata.root(&pages), "CREATE TABLE metadata (name text, value text)"),
      ("table", "tiles", "tiles", tiles.root(&pages),
        "CREATE TABLE tiles (zoom_level integer, tile_column integer, tile_row integer, tile_data blob)"),
      ("index", "tile_index", "tiles", writeIndex(), "CREATE UNIQUE INDEX tile_index ON tiles (zoom_level, tile_column, tile_row)"),
    ] { schema.add([.text(kind), .text(name), .text(table), .integer(page), .text(text)], &pages) }
    return (firstPage(schema.cells), pages.take())
  }

  // MARK: Tables

  /// Pages in their order, of which the first is not among them.
  private struct Pages {
    var count = 1
    /// Those that are not appended yet.
    private var bytes: [UInt8] = []

    /// Adds a page, which gets the next number.
    mutating func add(_ page: [UInt8]) -> Int {
      bytes += page
      count += 1
      return count
    }

    mutating func take() -> [UInt8] {
      defer { bytes.removeAll(keepingCapacity: true) }
      return bytes
    }
  }

  /// The rows of a leaf that is not full, and the leaves before, each with its last row.
  private struct Table {
    private(set) var cells: [[UInt8]] = []
    private var size = 0
    private var leaves: [(page: Int, last: Int)] = []
    private(set) var rowCount = 0

    mutating func add(_ values: [Value], _ pages: inout Pages) {
      let record = record(values)
      var cell = varint(record.count) + varint(rowCount + 1)
      let local = Self.localSize(record.count)
      cell += record[..<local]
      if local < record.count {
        // The rest is a chain of pages, each with the number of the next.
        cell += word(pages.count + 1)
        for start in stride(from: local, to: record.count, by: pageSize - 4) {
          let end = min(start + pageSize - 4, record.count)
          let next = end < record.count ? pages.count + 2 : 0
          _ = pages.add(word(next) + record[start..<end] + [UInt8](repeating: 0, count: pageSize - 4 - (end - start)))
        }
      }
      if size + cell.count + 2 > pageSize - 8 { closeLeaf(&pages) }
      rowCount += 1
      cells.append(cell)
      size += cell.count + 2
    }

    private mutating func closeLeaf(_ pages: inout Pages) {
      leaves.append((pages.add(page(.tableLeaf, cells)), rowCount))
      (cells, size) = ([], 0)
    }

    /// How much of a record is in its leaf.
    private static func localSize(_ size: Int) -> Int {
      guard size > pageSize - 35 else { return size }
      let least = (pageSize - 12) * 32 / 255 - 23
      let local = least + (size - least) % (pageSize - 4)
      return local <= pageSize - 35 ? local : least
    }

    /// Adds what is left of the table. The root's number.
    mutating func root(_ pages: inout Pages) -> Int {
      if !cells.isEmpty || leaves.isEmpty { closeLeaf(&pages) }
      var level = leaves
      while level.count > 1 {
        // A cell has at most 13 bytes, and two that point to it.
        level = parts(of: level.count, atMost: (pageSize - 12) / 15).map { part in
          let last = level[part.upperBound - 1]
          let cells = level[part].dropLast().map { word($0.page) + varint($0.last) }
          return (pages.add(page(.table, cells, right: last.page)), last.last)
        }
      }
      return level[0].page
    }
  }

  // MARK: The index

  /// Writes the index of the tiles. The root's number.
  private mutating func writeIndex() -> Int {
    let sorted = places.sorted { ($0.zoom, $0.column, $0.row) < ($1.zoom, $1.column, $1.row) }
    let keys = sorted.map { place in
      let record = record([.integer(place.zoom), .integer(place.column), .integer(place.row), .integer(place.id)])
      return varint(record.count) + record
    }
    // A key has at most 22 bytes. Between two leaves is one that the level above has.
    var separators: [[UInt8]] = []
    var level: [Int] = []
    let leaves = parts(of: keys.count + 1, atMost: (pageSize - 8) / 24)
    for part in leaves {
      level.append(pages.add(page(.indexLeaf, Array(keys[part.lowerBound..<part.upperBound - 1]))))
      if part.upperBound <= keys.count { separators.append(keys[part.upperBound - 1]) }
    }
    while level.count > 1 {
      var (above, between): ([Int], [[UInt8]]) = ([], [])
      for part in parts(of: level.count, atMost: (pageSize - 12) / 28) {
        let last = part.upperBound - 1
        let cells = (part.lowerBound..<last).map { word(level[$0]) + separators[$0] }
        above.append(pages.add(page(.index, cells, right: level[last])))
        if part.upperBound < level.count { between.append(separators[last]) }
      }
      (level, separators) = (above, between)
    }
    return level[0]
  }

  private func firstPage(_ schema: [[UInt8]]) -> [UInt8] {
    var first = page(.tableLeaf, schema, at: 100)
    // 64, 32 and 32 are what every file has; then what changes with a change, and the number of pages.
    var header = Array("SQLite format 3\u{0}".utf8) + word(pageSize)[2...] + [1, 1, 0, 64, 32, 32]
    // Texts of UTF-8 and the fourth version of tables; the identifier of the format, and the version of SQLite that wrote it.
    for number in [1, pages.count, 0, 0, 1, 4, 0, 0, 1, 0, 0, 0x4d50_4258, 0, 0, 0, 0, 0, 1, 3_008_000] { header += word(number) }
    first.replaceSubrange(0..<header.count, with: header)
    return first
  }
}

private let pageSize = 4096

/// The kinds of pages of a B-tree.
private enum Kind: UInt8 { case index = 2, table = 5, indexLeaf = 10, tableLeaf = 13 }

private enum Value {
  case integer(Int)
  case text(String)
  case blob([UInt8])
}

/// As few ranges of nearly equal size as have at most `limit` items.
private func parts(of count: Int, atMost limit: Int) -> [Range<Int>] {
  let parts = max((count + limit - 1) / limit, 1)
  return (0..<parts).map { count * $0 / parts..<count * ($0 + 1) / parts }
}

/// - Parameter start: where the header of the page is.
private func page(_ kind: Kind, _ cells: [[UInt8]], right: Int? = nil, at start: Int = 0) -> [UInt8] {
  var page = [UInt8](repeating: 0, count: pageSize)
  var (content, pointer) = (pageSize, start + (right == nil ? 8 : 12))
  for cell in cells {
    content -= cell.count
    page.replaceSubrange(content..<content + cell.count, with: cell)
    page.replaceSubrange(pointer..<pointer + 2, with: word(content)[2...])
    pointer += 2
  }
  page[start] = kind.rawValue
  page.replaceSubrange(start + 3..<start + 5, with: word(cells.count)[2...])
  page.replaceSubrange(start + 5..<start + 7, with: word(content)[2...])
  if let right { page.replaceSubrange(start + 8..<start + 12, with: word(right)) }
  return page
}

private func record(_ values: [Value]) -> [UInt8] {
  var (types, body): ([UInt8], [UInt8]) = ([], [])
  for value in values {
    switch value {
    case .integer(let number):
      types.append(4)
      body += word(number)
    case .text(let text):
      types += varint(2 * text.utf8.count + 13)
      body += text.utf8
    case .blob(let bytes):
      types += varint(2 * bytes.count + 12)
      body += bytes
    }
  }
  // The size includes itself; types of these tables take less than 127 bytes.
  return [UInt8(types.count + 1)] + types + body
}

private func word(_ number: Int) -> [UInt8] {
  [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: number >> $0) }
}

/// Seven bits a byte, the highest first.
private func varint(_ number: Int) -> [UInt8] {
  var (bytes, rest) = ([UInt8(number & 0x7f)], number >> 7)
  while rest > 0 {
    bytes.insert(UInt8(rest & 0x7f | 0x80), at: 0)
    rest >>= 7
  }
  return bytes
}
