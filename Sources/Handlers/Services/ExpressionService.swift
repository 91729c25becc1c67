// Handlers of `expression/*`.

import Expressions
import GeoModel
import GeoProtocol
import JSON
import JSONRPC
import WireCoding

package enum ExpressionService: ExpressionHandlers {
  package static func convert(_ params: Convert.Params, in world: World) throws -> Convert.Result {
    let given = try Wire.parsed(params.expression, at: "/params/expression")
    do throws(ExpressionError) {
      let json = try given.json()
      return .init(
        cql2Text: try given.normalized(), cql2Json: .written { $0.raw(json) }, properties: given.properties)
    } catch { throw RPCError(error, at: "/params/expression") }
  }
}
