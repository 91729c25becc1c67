// NMEA 0183: sentences, epochs, and what is skipped.

import NMEA
import Testing

/// A sentence with its checksum.
func sentence(_ body: String) -> String {
  let sum = String(body.utf8.reduce(0, ^), radix: 16, uppercase: true)
  return "$\(body)*\(sum.count < 2 ? "0" + sum : sum)\r\n"
}

struct NMEAReaderTests {
  private var reader = NMEAReader()

  private mutating func read(_ bodies: String...) -> [NMEAReader.Event] { reader.read(bodies.map(sentence).joined().utf8) }

  @Test mutating func `the sentences of one time are one fix`() {
    #expect(
      read(
        "GPGGA,123519,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,",
        "GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W,A", "GPGST,123519,1.8,,,,3.0,4.0,5.5") == [])
    guard case .fix(let fix)? = reader.endEpoch() else {
      Issue.record("no fix")
      return
    }
    #expect(abs(fix.latitude - (48 + 7.038 / 60)) < 1e-12)
    #expect(abs(fix.longitude - (11 + 31.0 / 60)) < 1e-12)
    #expect(fix.altitude == 545.4)
    // 1994-03-23T12:35:19Z.
    #expect(fix.time == 764_426_119_000)
    #expect(fix.horizontalAccuracy == 5)
    #expect(fix.verticalAccuracy == 5.5)
    #expect(fix.course == 84.4)
    #expect(abs((fix.speed ?? 0) - 22.4 * 1852 / 3600) < 1e-9)
    #expect(reader.endEpoch() == nil)
  }

  @Test mutating func `an epoch ends with another time, and from then on with its last sentence`() {
    #expect(read("GNGGA,000001,0000.0,N,00000.0,E,1,08,1,0,M,,,,", "GNVTG,10,T,,M,,N,36,K,A").isEmpty)
    #expect(read("GNGGA,000002,0000.6,S,00000.0,W,1,08,1,0,M,,,,").count == 1)
    let events = read("GNVTG,,T,,M,,N,0,K,A")
    #expect(events.count == 1)
    guard case .fix(let fix)? = events.first else { return }
    #expect(fix.latitude == -0.01)
    #expect(fix.course == nil)
    #expect(fix.speed == 0)
    #expect(fix.time == nil)
    #expect(fix.horizontalAccuracy == 5)
  }

  @Test mutating func `an epoch that is given twice is one fix`() {
    let epoch = ["GPGGA,000001,0000.0,N,00000.0,E,1,08,1,0,M,,,,", "GPGLL,0000.0,N,00000.0,E,000001,A,A"]
    var events = read(epoch[0], epoch[1], epoch[0], epoch[1])
    events += [reader.endEpoch()].compactMap { $0 }
    events += read(epoch[0], epoch[1])
    #expect(events.count == 1)
    #expect(reader.faults == [.repeated: 4])
  }

  @Test mutating func `without a position there is no fix`() {
    #expect(read("GPRMC,,V,,,,,,,,,,N", "GPRMC,,V,,,,,,,,,,N") == [.noFix])
    #expect(read("GPGGA,000001,,,,,0,00,,,M,,M,,") == [])
    #expect(reader.endEpoch() == .noFix)
    #expect(reader.faults.isEmpty)
  }

  @Test(arguments: [1, 7, 30]) func `text may be cut anywhere`(size: Int) {
    let text = Array(
      (sentence("GPGGA,000001,0000.0,N,00000.0,E,1,08,1,0,M,,,,") + sentence("GPGGA,000002,0000.0,N,00000.0,E,1,08,1,0,M,,,,"))
        .utf8)
    var reader = NMEAReader()
    var events: [NMEAReader.Event] = []
    for start in stride(from: 0, to: text.count, by: size) { events += reader.read(text[start..<min(start + size, text.count)]) }
    #expect(events.count == 2)
    #expect(reader.faults.isEmpty)
  }

  @Test mutating func `what is no sentence is skipped and counted by its reason`() {
    let good = sentence("GPGLL,0000.0,N,00000.0,E,000001,A,A")
    let lines = [
      good.replacing("0000.0,N", with: "0000.1,N"), "$GPGLL,0000.0,N\r\n", "hello\r\n", "$GPGLL,00" + good,
      sentence("GPXDR,1"), sentence("PUBX,00"), sentence("GPGLL,9100.0,N,00000.0,E,000002,A"),
      sentence("GPGLL,0060.0,N,00000.0,E,000002,A"), sentence("GPRMC,000002,A,0000.0,N,00000.0,E,nan,,,,"),
      sentence("GPRMC,250000,A,0000.0,N,00000.0,E,,,,,"), sentence("GPRMC,000002,A,0000.0,N,00000.0,E,1,1,320199,,"),
      "$" + String(repeating: "x", count: 1000) + "\r\n", sentence("GPGSV,10,1,37"),
    ]
    // A sentence of another time ends the epoch, although the rest of it is malformed.
    #expect(reader.read(lines.joined().utf8).count == 1)
    #expect(
      reader.faults == [.checksum: 2, .noise: 1, .cut: 1, .unsupported: 2, .malformed: 6, .tooLong: 1])
    #expect(reader.sentences == 1)
  }

  @Test mutating func `satellites are those of all systems, with their best signal and whether they are used`() {
    _ = read(
      "GPGSV,2,1,05,01,40,083,46,02,17,308,41,12,07,344,39,14,22,228,,1", "GPGSV,2,2,05,32,10,010,20,1",
      "GPGSV,1,1,01,02,17,308,44,8", "GLGSV,1,1,01,65,80,100,30,1", "GNGSA,A,3,01,02,,,,,,,,,,,1.5,0.8,1.2,1",
      "GNGSA,A,3,65,,,,,,,,,,,,1.5,0.8,1.2,2", "GNGLL,0000.0,N,00000.0,E,000001,A,A")
    guard case .fix(let fix)? = reader.endEpoch() else {
      Issue.record("no fix")
      return
    }
    #expect(fix.verticalAccuracy == 6)
    #expect(reader.satellites.map(\.system) == ["glonass", "gps", "gps", "gps", "gps", "gps"])
    #expect(reader.satellites.map(\.id) == [65, 1, 2, 12, 14, 32])
    #expect(reader.satellites.map(\.isUsed) == [true, true, true, false, false, false])
    #expect(reader.satellites.map(\.signal) == [30, 46, 44, 39, nil, 20])
  }

  @Test mutating func `after midnight it is the next day`() {
    _ = read("GPRMC,235959.5,A,0000.0,N,00000.0,E,,,311299,,,A", "GPGLL,0000.0,N,00000.0,E,000000.5,A,A")
    guard case .fix(let fix)? = reader.endEpoch() else {
      Issue.record("no fix")
      return
    }
    // 2000-01-01T00:00:00.5Z.
    #expect(fix.time == 946_684_800_500)
  }

  @Test func `random bytes do nothing worse than being counted`() {
    var state: UInt64 = 42
    var reader = NMEAReader()
    let alphabet = Array("$,*GPASVLR0123456789.\r\nNEW".utf8)
    for _ in 0..<2000 {
      var bytes: [UInt8] = []
      for _ in 0..<100 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        bytes.append(alphabet[Int(state >> 33) % alphabet.count])
      }
      // A right checksum leads into the fields.
      let body = "GP" + ["GGA", "GLL", "GSA", "GST", "GSV", "RMC", "VTG"][Int(state >> 40) % 7] + ","
        + String(decoding: bytes.prefix(40).filter { !"$*\r\n".utf8.contains($0) }, as: UTF8.self)
      _ = reader.read(bytes)
      _ = reader.read(sentence(body).utf8)
      _ = reader.endEpoch()
    }
    #expect(reader.satellites.count < 500)
  }
}
