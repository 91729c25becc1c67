// Data sources: added when a task has read the schema, closed by a command.

extension World {
  @discardableResult
  public mutating func addSource(
    id: SourceID?, driver: String, origin: SourceOrigin, layers: [SourceLayer], status: SourceStatus = .open,
    warnings: [String] = []
  ) throws(ModelError) -> Source {
    let id = try claim(id, prefix: "source")
    let number = makeNumber()
    let source = Source(
      id: id, number: number, driver: driver, origin: origin, layers: layers, status: status, warnings: warnings)
    return insert(source, at: number)
  }

  public mutating func closeSource(_ id: SourceID) throws(ModelError) {
    _ = try sources.require(id)
    remove(id)
  }
}
