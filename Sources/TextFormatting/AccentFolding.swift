// ACCENTI: removes the accents of letters, for accent-insensitive comparison.

/// Removes accents by Unicode's canonical decomposition: `é`, or `e` and a combining acute, becomes `e`.
///
/// A letter without a decomposition is kept (`ø`, `ł`, `ß`), as are marks that some scripts use for vowels and voicing.
package enum AccentFolding {
  /// The text without accents.
  ///
  /// - Complexity: O(n); an ASCII text is returned unchanged.
  package static func folded(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where !isAccent(scalar) { result.append(bases[scalar] ?? scalar) }
    return String(result)
  }

  /// The blocks of combining diacritical marks, without strokes through a letter, which form another letter.
  private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x300...0x333, 0x339...0x36F, 0x1AB0...0x1AFF, 0x1DC0...0x1DFF, 0xFE20...0xFE2F: true
    default: false
    }
  }

  private static let bases: [Unicode.Scalar: Unicode.Scalar] = {
    var bases: [Unicode.Scalar: Unicode.Scalar] = [:]
    for (base, letters) in letters { for letter in letters.unicodeScalars { bases[letter] = base } }
    return bases
  }()

  /// Base letters by accented letter. From the Unicode Character Database, version 14: every letter whose canonical
  /// decomposition has an accent. Some look alike and differ: Å is a letter and the sign of the ångström.
  private static let letters: [(Unicode.Scalar, String)] = [
    ("A", "ÀÁÂÃÄÅĀĂĄǍǞǠǺȀȂȦḀẠẢẤẦẨẪẬẮẰẲẴẶÅ"), ("B", "ḂḄḆ"), ("C", "ÇĆĈĊČḈ"), ("D", "ĎḊḌḎḐḒ"),
    ("E", "ÈÉÊËĒĔĖĘĚȄȆȨḔḖḘḚḜẸẺẼẾỀỂỄỆ"), ("F", "Ḟ"), ("G", "ĜĞĠĢǦǴḠ"), ("H", "ĤȞḢḤḦḨḪ"), ("I", "ÌÍÎÏĨĪĬĮİǏȈȊḬḮỈỊ"),
    ("J", "Ĵ"), ("K", "ĶǨḰḲḴ"), ("L", "ĹĻĽḶḸḺḼ"), ("M", "ḾṀṂ"), ("N", "ÑŃŅŇǸṄṆṈṊ"),
    ("O", "ÒÓÔÕÖŌŎŐƠǑǪǬȌȎȪȬȮȰṌṎṐṒỌỎỐỒỔỖỘỚỜỞỠỢ"), ("P", "ṔṖ"), ("R", "ŔŖŘȐȒṘṚṜṞ"), ("S", "ŚŜŞŠȘṠṢṤṦṨ"),
    ("T", "ŢŤȚṪṬṮṰ"), ("U", "ÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛȔȖṲṴṶṸṺỤỦỨỪỬỮỰ"), ("V", "ṼṾ"), ("W", "ŴẀẂẄẆẈ"), ("X", "ẊẌ"),
    ("Y", "ÝŶŸȲẎỲỴỶỸ"), ("Z", "ŹŻŽẐẒẔ"), ("a", "àáâãäåāăąǎǟǡǻȁȃȧḁạảấầẩẫậắằẳẵặ"), ("b", "ḃḅḇ"), ("c", "çćĉċčḉ"),
    ("d", "ďḋḍḏḑḓ"), ("e", "èéêëēĕėęěȅȇȩḕḗḙḛḝẹẻẽếềểễệ"), ("f", "ḟ"), ("g", "ĝğġģǧǵḡ"), ("h", "ĥȟḣḥḧḩḫẖ"),
    ("i", "ìíîïĩīĭįǐȉȋḭḯỉị"), ("j", "ĵǰ"), ("k", "ķǩḱḳḵ"), ("l", "ĺļľḷḹḻḽ"), ("m", "ḿṁṃ"), ("n", "ñńņňǹṅṇṉṋ"),
    ("o", "òóôõöōŏőơǒǫǭȍȏȫȭȯȱṍṏṑṓọỏốồổỗộớờởỡợ"), ("p", "ṕṗ"), ("r", "ŕŗřȑȓṙṛṝṟ"), ("s", "śŝşšșṡṣṥṧṩ"),
    ("t", "ţťțṫṭṯṱẗ"), ("u", "ùúûüũūŭůűųưǔǖǘǚǜȕȗṳṵṷṹṻụủứừửữự"), ("v", "ṽṿ"), ("w", "ŵẁẃẅẇẉẘ"), ("x", "ẋẍ"),
    ("y", "ýÿŷȳẏẙỳỵỷỹ"), ("z", "źżžẑẓẕ"), ("Æ", "ǢǼ"), ("Ø", "Ǿ"), ("æ", "ǣǽ"), ("ø", "ǿ"), ("ſ", "ẛ"), ("Ʒ", "Ǯ"),
    ("ʒ", "ǯ"), ("Α", "ΆἈἉἊἋἌἍἎἏᾈᾉᾊᾋᾌᾍᾎᾏᾸᾹᾺΆᾼ"), ("Ε", "ΈἘἙἚἛἜἝῈΈ"), ("Η", "ΉἨἩἪἫἬἭἮἯᾘᾙᾚᾛᾜᾝᾞᾟῊΉῌ"),
    ("Ι", "ΊΪἸἹἺἻἼἽἾἿῘῙῚΊ"), ("Ο", "ΌὈὉὊὋὌὍῸΌ"), ("Ρ", "Ῥ"), ("Υ", "ΎΫὙὛὝὟῨῩῪΎ"), ("Ω", "ΏὨὩὪὫὬὭὮὯᾨᾩᾪᾫᾬᾭᾮᾯῺΏῼ"),
    ("α", "άἀἁἂἃἄἅἆἇὰάᾀᾁᾂᾃᾄᾅᾆᾇᾰᾱᾲᾳᾴᾶᾷ"), ("ε", "έἐἑἒἓἔἕὲέ"), ("η", "ήἠἡἢἣἤἥἦἧὴήᾐᾑᾒᾓᾔᾕᾖᾗῂῃῄῆῇ"),
    ("ι", "ΐίϊἰἱἲἳἴἵἶἷὶίῐῑῒΐῖῗ"), ("ο", "όὀὁὂὃὄὅὸό"), ("ρ", "ῤῥ"), ("υ", "ΰϋύὐὑὒὓὔὕὖὗὺύῠῡῢΰῦῧ"),
    ("ω", "ώὠὡὢὣὤὥὦὧὼώᾠᾡᾢᾣᾤᾥᾦᾧῲῳῴῶῷ"), ("ϒ", "ϓϔ"), ("І", "Ї"), ("А", "ӐӒ"), ("Г", "Ѓ"), ("Е", "ЀЁӖ"), ("Ж", "ӁӜ"),
    ("З", "Ӟ"), ("И", "ЍЙӢӤ"), ("К", "Ќ"), ("О", "Ӧ"), ("У", "ЎӮӰӲ"), ("Ч", "Ӵ"), ("Ы", "Ӹ"), ("Э", "Ӭ"), ("а", "ӑӓ"),
    ("г", "ѓ"), ("е", "ѐёӗ"), ("ж", "ӂӝ"), ("з", "ӟ"), ("и", "йѝӣӥ"), ("к", "ќ"), ("о", "ӧ"), ("у", "ўӯӱӳ"),
    ("ч", "ӵ"), ("ы", "ӹ"), ("э", "ӭ"), ("і", "ї"), ("Ѵ", "Ѷ"), ("ѵ", "ѷ"), ("Ә", "Ӛ"), ("ә", "ӛ"), ("Ө", "Ӫ"),
    ("ө", "ӫ"),
  ]
}
