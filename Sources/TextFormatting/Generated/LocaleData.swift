// Names of months and days, and separators of numbers, by locale. Generated; do not edit: `make generate-locales`.
// swift-format-ignore-file
//
// Data of the Unicode CLDR, version 47, by Babel 2.18.0. Copyright © 1991-2025 Unicode, Inc. Used under the Unicode
// License v3 (SPDX: Unicode-3.0, https://www.unicode.org/license.txt).

extension CalendarNames {
  static let english = CalendarNames(
    months: "January February March April May June July August September October November December",
    shortMonths: "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
    weekdays: "Sunday Monday Tuesday Wednesday Thursday Friday Saturday",
    shortWeekdays: "Sun Mon Tue Wed Thu Fri Sat",
    halves: "AM|PM")

  /// By language, besides English.
  static let known: [String: CalendarNames] = [
    "cs": CalendarNames(
      months: "ledna února března dubna května června července srpna září října listopadu prosince",
      shortMonths: "led úno bře dub kvě čvn čvc srp zář říj lis pro",
      weekdays: "neděle pondělí úterý středa čtvrtek pátek sobota",
      shortWeekdays: "ne po út st čt pá so",
      halves: "dop.|odp.",
      monthsAlone: "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec"),
    "da": CalendarNames(
      months: "januar februar marts april maj juni juli august september oktober november december",
      shortMonths: "jan. feb. mar. apr. maj jun. jul. aug. sep. okt. nov. dec.",
      weekdays: "søndag mandag tirsdag onsdag torsdag fredag lørdag",
      shortWeekdays: "søn. man. tirs. ons. tors. fre. lør.",
      halves: "AM|PM"),
    "de": CalendarNames(
      months: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
      shortMonths: "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
      weekdays: "Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag",
      shortWeekdays: "So. Mo. Di. Mi. Do. Fr. Sa.",
      halves: "AM|PM"),
    "es": CalendarNames(
      months: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
      shortMonths: "ene feb mar abr may jun jul ago sept oct nov dic",
      weekdays: "domingo lunes martes miércoles jueves viernes sábado",
      shortWeekdays: "dom lun mar mié jue vie sáb",
      halves: "a.\u{202F}m.|p.\u{202F}m."),
    "fi": CalendarNames(
      months: "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
      shortMonths: "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu",
      weekdays: "sunnuntai maanantaina tiistaina keskiviikkona torstaina perjantaina lauantaina",
      shortWeekdays: "su ma ti ke to pe la",
      halves: "ap.|ip.",
      monthsAlone: "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu",
      weekdaysAlone: "sunnuntai maanantai tiistai keskiviikko torstai perjantai lauantai"),
    "fr": CalendarNames(
      months: "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
      shortMonths: "janv. févr. mars avr. mai juin juil. août sept. oct. nov. déc.",
      weekdays: "dimanche lundi mardi mercredi jeudi vendredi samedi",
      shortWeekdays: "dim. lun. mar. mer. jeu. ven. sam.",
      halves: "AM|PM"),
    "it": CalendarNames(
      months: "gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre",
      shortMonths: "gen feb mar apr mag giu lug ago set ott nov dic",
      weekdays: "domenica lunedì martedì mercoledì giovedì venerdì sabato",
      shortWeekdays: "dom lun mar mer gio ven sab",
      halves: "AM|PM"),
    "ja": CalendarNames(
      months: "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
      shortMonths: "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
      weekdays: "日曜日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日",
      shortWeekdays: "日 月 火 水 木 金 土",
      halves: "午前|午後"),
    "nb": CalendarNames(
      months: "januar februar mars april mai juni juli august september oktober november desember",
      shortMonths: "jan. feb. mars apr. mai juni juli aug. sep. okt. nov. des.",
      weekdays: "søndag mandag tirsdag onsdag torsdag fredag lørdag",
      shortWeekdays: "søn. man. tir. ons. tor. fre. lør.",
      halves: "a.m.|p.m."),
    "nl": CalendarNames(
      months: "januari februari maart april mei juni juli augustus september oktober november december",
      shortMonths: "jan feb mrt apr mei jun jul aug sep okt nov dec",
      weekdays: "zondag maandag dinsdag woensdag donderdag vrijdag zaterdag",
      shortWeekdays: "zo ma di wo do vr za",
      halves: "a.m.|p.m."),
    "no": CalendarNames(
      months: "januar februar mars april mai juni juli august september oktober november desember",
      shortMonths: "jan. feb. mars apr. mai juni juli aug. sep. okt. nov. des.",
      weekdays: "søndag mandag tirsdag onsdag torsdag fredag lørdag",
      shortWeekdays: "søn. man. tir. ons. tor. fre. lør.",
      halves: "a.m.|p.m."),
    "pl": CalendarNames(
      months: "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
      shortMonths: "sty lut mar kwi maj cze lip sie wrz paź lis gru",
      weekdays: "niedziela poniedziałek wtorek środa czwartek piątek sobota",
      shortWeekdays: "niedz. pon. wt. śr. czw. pt. sob.",
      halves: "AM|PM",
      monthsAlone: "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień"),
    "pt": CalendarNames(
      months: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
      shortMonths: "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.",
      weekdays: "domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado",
      shortWeekdays: "dom. seg. ter. qua. qui. sex. sáb.",
      halves: "AM|PM"),
    "ru": CalendarNames(
      months: "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
      shortMonths: "янв. февр. мар. апр. мая июн. июл. авг. сент. окт. нояб. дек.",
      weekdays: "воскресенье понедельник вторник среда четверг пятница суббота",
      shortWeekdays: "вс пн вт ср чт пт сб",
      halves: "AM|PM",
      monthsAlone: "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь"),
    "sv": CalendarNames(
      months: "januari februari mars april maj juni juli augusti september oktober november december",
      shortMonths: "jan. feb. mars apr. maj juni juli aug. sep. okt. nov. dec.",
      weekdays: "söndag måndag tisdag onsdag torsdag fredag lördag",
      shortWeekdays: "sön mån tis ons tors fre lör",
      halves: "fm|em"),
    "tr": CalendarNames(
      months: "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
      shortMonths: "Oca Şub Mar Nis May Haz Tem Ağu Eyl Eki Kas Ara",
      weekdays: "Pazar Pazartesi Salı Çarşamba Perşembe Cuma Cumartesi",
      shortWeekdays: "Paz Pzt Sal Çar Per Cum Cmt",
      halves: "ÖÖ|ÖS"),
    "zh": CalendarNames(
      months: "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月",
      shortMonths: "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
      weekdays: "星期日 星期一 星期二 星期三 星期四 星期五 星期六",
      shortWeekdays: "周日 周一 周二 周三 周四 周五 周六",
      halves: "上午|下午"),
  ]
}

extension NumberStyle {
  /// Languages, and regions that differ from their language. A language that is not here is as English.
  static let known: [(style: NumberStyle, tags: String)] = [
    (NumberStyle(decimal: ",", group: "."),
      """
      ar-DZ ar-LB ar-LY ar-MA ar-MR ar-TN ast az bs ca da de dsb el en-AT en-BE en-DE en-DK en-ES en-ID en-IT en-NL \
      en-PL en-RO en-SI es-AR es-BO es-CL es-CO es-EC es-PY es-UY es-VE eu fo fr-LU fy gl hr hsb id is jgo jv kgp kkj \
      kl ku lb lij lld ln lo lu mgh mk ms-BN ms-ID mua nl nnh ps pt qu-BO rn ro rw sc seh sg sr su sw-CD tr vi wo yrl
      """),
    (NumberStyle(decimal: ",", group: ".", leastBeforeGroup: 2),
      """
      es ia it sl
      """),
    (NumberStyle(decimal: ",", group: "\u{A0}"),
      """
      af agq bas blo br cs cv dua dyo en-CZ en-FI en-HU en-NO en-PT en-SE en-SK en-ZA eo es-CR ewo ff fi fr-CA ht hy \
      ie kab kea kk ksf ky lt nb nmg nn no nr pt-AO ru sah se shi sk smn ss sv tg tk tok ts tt tzm uk uz ve yav zgh
      """),
    (NumberStyle(decimal: ",", group: "\u{A0}", leastBeforeGroup: 2),
      """
      be bg et hu ka lv pl pt-CH pt-CV pt-GQ pt-GW pt-LU pt-MO pt-MZ pt-PT pt-ST pt-TL ru-UA sq
      """),
    (NumberStyle(decimal: ",", group: "\u{202F}"),
      """
      en-FR fr vec
      """),
    (NumberStyle(),
      """
      es-419 es-BR es-BZ es-CU es-DO es-GT es-HN es-MX es-NI es-PA es-PE es-PR es-SV es-US ta-MY ta-SG
      """),
    (NumberStyle(leastBeforeGroup: 3),
      """
      ee
      """),
    (NumberStyle(isIndian: true),
      """
      as bn brx ccp dv dz en-IN gu hi kxv ml mr ne or pa sa ta te xnr
      """),
    (NumberStyle(group: "\u{A0}"),
      """
      dje khq mfe nso ses twq xh
      """),
    (NumberStyle(group: "’"),
      """
      de-CH de-LI en-CH gsw rm tn
      """),
    (NumberStyle(group: "’", leastBeforeGroup: 2),
      """
      it-CH
      """),
  ]
}
