// How a layer over an entity source shows where its entities have been.

/// What is shown of tracks beside the entities.
public struct TrackDisplay: Hashable, Sendable {
  /// Observations shown of each track, the entity included.
  public var maximumObservations = 5
  public var showsPreviousObservations = false
  public var showsTrackLines = false
  /// The symbols of previous observations, and of track lines; nil for those of the layer, and for gray lines.
  public var previousObservationRenderer: Renderer?
  public var trackLineRenderer: Renderer?

  public init() {}

  /// The renderers with their member's names.
  func mapRenderers(
    _ body: (Renderer) throws(SymbologyError) -> Renderer
  ) throws(SymbologyError) -> TrackDisplay {
    var result = self
    do { result.previousObservationRenderer = try previousObservationRenderer.map(body) } catch {
      throw error.under("previousObservationRenderer")
    }
    do { result.trackLineRenderer = try trackLineRenderer.map(body) } catch { throw error.under("trackLineRenderer") }
    return result
  }
}

extension TrackDisplay: MemberSettable {
  public var memberValue: MemberValue { .trackDisplay(self) }
}
