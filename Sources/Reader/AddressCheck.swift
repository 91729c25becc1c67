// What a reader of the network says when no data came: GDAL says that it does not recognize them.

import CGDAL
import CReader
import Files
import Platform
import Reading

enum AddressCheck {
  /// Numbers of curl's errors.
  private static let (noConnection, tooManyRedirects): (CInt, CInt) = (7, 47)

  /// Keeps this process from private addresses, unless the address itself is one.
  static func guardNetwork(for address: String) {
    let names = ["http_proxy", "https_proxy", "all_proxy", "GDAL_HTTP_PROXY", "GDAL_HTTPS_PROXY"]
    let proxies = (names + names.map { $0.uppercased() }).compactMap { getenv($0).map { String(cString: $0) } }.filter { !$0.isEmpty }
    let hosts = proxies.map { Address($0.contains("://") ? $0 : "http://" + $0).host.name }
    withStrings(hosts) { hosts in if let hosts { creader_guard_network(Address(address).host.name, hosts) } }
  }

  /// Why no data came from the address; nil if some did, and GDAL's error stands.
  static func fault(of address: String) -> AddressFault? {
    guard case .success = GDALLibrary.shared else { return nil }
    let call = GDALCall()
    defer { call.end() }
    var text = [CChar](repeating: 0, count: 1024)
    let failure = creader_refused_address() == nil ? cgdal_probe(address, &text, text.count) : 0
    if let refused = creader_refused_address() {
      return AddressFault(.redirectRefused, "it leads to \(String(cString: refused)), and is in the public network itself")
    }
    let said = text.withUnsafeBytes { ReaderFiles.cleaned(String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)) }
    let digits = said.split(separator: " ").last.flatMap { Int($0) }
    switch (failure, digits) {
    case (tooManyRedirects, _): return AddressFault(.redirectLoop, said)
    case (noConnection, _):
      let (host, port) = Address(address).host
      let number = creader_connection_failure(host, port)
      return AddressFault(.unreachable, number == 0 ? said : errorText(number))
    case (CGDAL_NO_RANGES, _): return AddressFault(.noRanges, "the server sends whole files only, not the ranges that formats are read by")
    case (0, let status?) where [401, 407].contains(status) && said.contains("HTTP"):
      return AddressFault(.credentials, "the server asks for a user name and a password", status: status)
    // 416: the data are empty, and have no first byte.
    case (0, let status?) where status >= 400 && status != 416 && said.contains("HTTP"):
      let meaning = [403: "Forbidden", 404: "Not Found", 410: "Gone", 429: "Too Many Requests", 500: "Internal Server Error"][status]
      return AddressFault(.status, "the server answers \(status)\(meaning.map { " " + $0 } ?? "")", status: status)
    case (0, _): return nil
    default: return AddressFault(.unreachable, said.isEmpty ? "error \(failure) of curl" : said)
    }
  }
}
