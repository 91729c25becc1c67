// Addresses in the network: which are private, and what of them is shown.

import CReader
import Files
import Testing

struct AddressTests {
  @Test(arguments: [
    ("127.0.0.1", "a loopback address"), ("127.255.255.254", "a loopback address"), ("0.0.0.0", "a loopback address"),
    ("10.0.0.1", "an address of a private network"), ("172.16.0.1", "an address of a private network"),
    ("172.31.255.255", "an address of a private network"), ("192.168.1.1", "an address of a private network"),
    ("100.64.0.1", "an address of a private network"), ("169.254.1.1", "a link-local address"),
    ("169.254.169.254", "a metadata address of a cloud"), ("100.100.100.200", "a metadata address of a cloud"),
    ("192.0.0.192", "a metadata address of a cloud"), ("168.63.129.16", "a metadata address of a cloud"),
    ("fd00:ec2::254", "a metadata address of a cloud"), ("224.0.0.1", "a reserved address"), ("255.255.255.255", "a reserved address"),
    ("198.18.0.1", "a reserved address"), ("::", "a loopback address"), ("::1", "a loopback address"),
    ("fe80::1", "a link-local address"), ("febf::1", "a link-local address"), ("fec0::1", "an address of a private network"),
    ("fc00::1", "an address of a private network"), ("fdff::1", "an address of a private network"), ("ff02::1", "a reserved address"),
    ("::ffff:127.0.0.1", "a loopback address"), ("::ffff:169.254.169.254", "a metadata address of a cloud"),
    ("::10.0.0.1", "an address of a private network"), ("64:ff9b::10.0.0.1", "an address of a private network"),
    ("64:ff9b:1::1", "an address of a private network"), ("2002:7f00:1::", "a loopback address"),
    ("2002:c0a8:101::1", "an address of a private network"),
  ])
  func `an address that is not of the public network is one of a kind`(address: String, kind: String) {
    #expect(creader_private_kind(address).map { String(cString: $0) } == kind)
  }

  @Test(arguments: [
    "1.1.1.1", "9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.0", "172.15.255.255", "172.32.0.0", "192.167.255.255",
    "192.169.0.0", "169.253.255.255", "169.255.0.0", "100.63.255.255", "100.128.0.0", "223.255.255.255", "203.0.113.5",
    "2606:4700::1", "fbff::1", "fe00::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1", "2003::1", "no address",
  ])
  func `other addresses are of the public network`(address: String) { #expect(creader_private_kind(address) == nil) }

  @Test(arguments: [
    ("https://example.com/a.fgb", "https://example.com/a.fgb"), ("https://me@example.com/a", "https://me@example.com/a"),
    ("https://me:secret@example.com/a", "https://me:***@example.com/a"), ("http://:secret@h", "http://:***@h"),
    ("https://me:se:cr@et@h:8080/a@b?c#d", "https://me:***@h:8080/a@b?c#d"), ("https://me:secret@[::1]:80/", "https://me:***@[::1]:80/"),
    ("https://me:sec/ret@h/a", "https://me:***@h/a"), ("HTTPS://me:secret@h/a", "HTTPS://me:***@h/a"), ("https://h:80/@a", "https://h:80/@a"),
    ("https://h/a?token=abc&b=c", "https://h/a?token=***&b=c"), ("https://h/a?b=c&API_Key=abc", "https://h/a?b=c&API_Key=***"),
    ("https://h/a?X-Amz-Signature=abc&x=1#access_token=def", "https://h/a?X-Amz-Signature=***&x=1#access_token=***"),
    ("https://h/a?b=1&&sig=%2B=x;key=y", "https://h/a?b=1&&sig=***;key=***"), ("https://h/a?token", "https://h/a?token"),
    ("https://h/a?%74ok%65n=abc&a%70i%2Dkey=d", "https://h/a?%74ok%65n=***&a%70i%2Dkey=***"), ("https://h/a?%7=b&%zz=c", "https://h/a?%7=b&%zz=c"),
    ("/vsicurl/https://me:secret@h/a?sig=b", "/vsicurl/https://me:***@h/a?sig=***"),
    ("https://h/a?token=", "https://h/a?token="), ("/data/a://me:secret@h", "/data/a://me:secret@h"), ("://:@", "://:@"), ("", ""),
  ])
  func `an address is shown without its secrets`(address: String, shown: String) {
    #expect(Address(address).shown == shown)
    #expect(Address(address).lacksSecret == false && Address(shown).lacksSecret == shown.contains("***") && Address(shown).shown == shown)
  }

  @Test(arguments: [
    ("https://h/a", nil, "https://:p%2Fw%20%C3%A9@h/a"), ("https://h/a", "m@e", "https://m%40e:p%2Fw%20%C3%A9@h/a"),
    ("https://me@h/a", nil, "https://me:p%2Fw%20%C3%A9@h/a"), ("https://me:***@h/a", nil, "https://me:p%2Fw%20%C3%A9@h/a"),
    ("https://me:old@h/a", "you", "https://you:p%2Fw%20%C3%A9@h/a"), ("https://h/a?key=***&b=c", nil, "https://h/a?key=p%2Fw%20%C3%A9&b=c"),
    ("https://h/a?key=***", "me", "https://me:p%2Fw%20%C3%A9@h/a?key=p%2Fw%20%C3%A9"),
  ])
  func `credentials take the place of what an address lacks`(address: String, user: String?, full: String) {
    #expect(Address(address).with(Credentials(user: user, password: "p/w é")) == full)
  }

  @Test(arguments: [
    ("https://me:secret@h/a", "h", "443"), ("http://h", "h", "80"), ("http://h:8080?a=b", "h", "8080"), ("https://[::1]:8443/", "::1", "8443"),
    ("http://[fe80::1]", "fe80::1", "80"),
  ])
  func `the host of an address is what is connected to`(address: String, host: String, port: String) {
    #expect(Address(address).host.name == host && Address(address).host.port == port)
  }
}
