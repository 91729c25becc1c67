// Text conventions at a node, from its environment: units, number formats, languages and time zones.

import TextFormatting

extension World {
  /// Conventions with which labels, popups, legends and derived properties format text for an object.
  ///
  /// Names of months and days are in the `language`, or in the language of the `locale` if that is null.
  ///
  /// - Parameter object: a node, or an object below one; nil for the session.
  public func conventions(at object: ObjectReference?) -> TextConventions {
    func set(_ key: String) -> String? { environmentSource(key, at: object)?.value.text }
    let (locale, language, units, zone) = (set("locale"), set("language"), set("units"), set("timeZone"))
    if locale == nil, language == nil, units == nil, zone == nil { return .neutral }
    return TextConventions(
      locale: locale ?? "en", language: language, units: units.flatMap(UnitSystem.init) ?? .metric,
      timeZone: zone.flatMap(timeZones.zone) ?? .utc)
  }

  /// Throws if the machine has no data for the time zone.
  func checkTimeZone(_ value: Value) throws(ModelError) {
    guard let name = value.text, timeZones.zone(named: name) == nil else { return }
    throw .flow(
      .wrongType(path: "", expected: "a time zone that this machine has data for, which \"\(name)\" is not"))
  }
}
