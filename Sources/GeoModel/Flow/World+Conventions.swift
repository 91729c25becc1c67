// How text is written for people at a node: what its environment says of units, numbers, names and times.

import Geometry
import Query
import TextFormatting

extension World {
  /// By what labels, popups, legends and derived properties make text where an object sees its environment.
  ///
  /// Names of months and days are in the `language`, or in the language of the `locale` where that is null.
  ///
  /// - Parameter object: a node, or what belongs to one; nil for the session.
  public func conventions(at object: ObjectReference?) -> TextConventions {
    func set(_ key: String) -> String? { environmentSource(key, at: object)?.value.text }
    let (locale, language, units, zone) = (set("locale"), set("language"), set("units"), set("timeZone"))
    if locale == nil, language == nil, units == nil, zone == nil { return .neutral }
    return TextConventions(
      locale: locale ?? "en", language: language, units: units.flatMap(UnitSystem.init) ?? .metric,
      timeZone: zone.flatMap(timeZones.zone) ?? .utc)
  }

  /// Refuses a time zone that cannot be shown here, whatever its name looks like.
  func checkTimeZone(_ value: Value) throws(ModelError) {
    guard let name = value.text, timeZones.zone(named: name) == nil else { return }
    throw .flow(
      .wrongType(place: "", expected: "a time zone that this machine has data for, which \"\(name)\" is not"))
  }
}
