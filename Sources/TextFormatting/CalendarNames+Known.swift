// The names of months, days and halves of the day in the languages that dates are written in; English stands in for others.
//
// They are facts from the Unicode CLDR, version 47: the Gregorian calendar's names in the "format" context, as they stand beside a
// day of the month, and in the "stand-alone" context where that says it otherwise. Sunday comes first.

extension CalendarNames {
  /// By language.
  static let known: [String: CalendarNames] = [
    "de": CalendarNames(
      months: "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
      shortMonths: "Jan. Feb. März Apr. Mai Juni Juli Aug. Sept. Okt. Nov. Dez.",
      weekdays: "Sonntag Montag Dienstag Mittwoch Donnerstag Freitag Samstag",
      shortWeekdays: "So. Mo. Di. Mi. Do. Fr. Sa.",
      halves: "AM|PM"),
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
    "es": CalendarNames(
      months: "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
      shortMonths: "ene feb mar abr may jun jul ago sept oct nov dic",
      weekdays: "domingo lunes martes miércoles jueves viernes sábado",
      shortWeekdays: "dom lun mar mié jue vie sáb",
      halves: "a.\u{202F}m.|p.\u{202F}m."),
    "pt": CalendarNames(
      months: "janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro",
      shortMonths: "jan. fev. mar. abr. mai. jun. jul. ago. set. out. nov. dez.",
      weekdays: "domingo segunda-feira terça-feira quarta-feira quinta-feira sexta-feira sábado",
      shortWeekdays: "dom. seg. ter. qua. qui. sex. sáb.",
      halves: "AM|PM"),
    "nl": CalendarNames(
      months: "januari februari maart april mei juni juli augustus september oktober november december",
      shortMonths: "jan feb mrt apr mei jun jul aug sep okt nov dec",
      weekdays: "zondag maandag dinsdag woensdag donderdag vrijdag zaterdag",
      shortWeekdays: "zo ma di wo do vr za",
      halves: "a.m.|p.m."),
    "da": CalendarNames(
      months: "januar februar marts april maj juni juli august september oktober november december",
      shortMonths: "jan. feb. mar. apr. maj jun. jul. aug. sep. okt. nov. dec.",
      weekdays: "søndag mandag tirsdag onsdag torsdag fredag lørdag",
      shortWeekdays: "søn. man. tirs. ons. tors. fre. lør.",
      halves: "AM|PM"),
    "sv": CalendarNames(
      months: "januari februari mars april maj juni juli augusti september oktober november december",
      shortMonths: "jan. feb. mars apr. maj juni juli aug. sep. okt. nov. dec.",
      weekdays: "söndag måndag tisdag onsdag torsdag fredag lördag",
      shortWeekdays: "sön mån tis ons tors fre lör",
      halves: "fm|em"),
    "nb": CalendarNames(
      months: "januar februar mars april mai juni juli august september oktober november desember",
      shortMonths: "jan. feb. mars apr. mai juni juli aug. sep. okt. nov. des.",
      weekdays: "søndag mandag tirsdag onsdag torsdag fredag lørdag",
      shortWeekdays: "søn. man. tir. ons. tor. fre. lør.",
      halves: "a.m.|p.m."),
    "fi": CalendarNames(
      months:
        "tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta joulukuuta",
      shortMonths: "tammi helmi maalis huhti touko kesä heinä elo syys loka marras joulu",
      weekdays: "sunnuntai maanantaina tiistaina keskiviikkona torstaina perjantaina lauantaina",
      shortWeekdays: "su ma ti ke to pe la",
      halves: "ap.|ip.",
      monthsAlone:
        "tammikuu helmikuu maaliskuu huhtikuu toukokuu kesäkuu heinäkuu elokuu syyskuu lokakuu marraskuu joulukuu",
      weekdaysAlone: "sunnuntai maanantai tiistai keskiviikko torstai perjantai lauantai"),
    "pl": CalendarNames(
      months: "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia",
      shortMonths: "sty lut mar kwi maj cze lip sie wrz paź lis gru",
      weekdays: "niedziela poniedziałek wtorek środa czwartek piątek sobota",
      shortWeekdays: "niedz. pon. wt. śr. czw. pt. sob.",
      halves: "AM|PM",
      monthsAlone: "styczeń luty marzec kwiecień maj czerwiec lipiec sierpień wrzesień październik listopad grudzień"),
    "cs": CalendarNames(
      months: "ledna února března dubna května června července srpna září října listopadu prosince",
      shortMonths: "led úno bře dub kvě čvn čvc srp zář říj lis pro",
      weekdays: "neděle pondělí úterý středa čtvrtek pátek sobota",
      shortWeekdays: "ne po út st čt pá so",
      halves: "dop.|odp.",
      monthsAlone: "leden únor březen duben květen červen červenec srpen září říjen listopad prosinec"),
    "ru": CalendarNames(
      months: "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
      shortMonths: "янв. февр. мар. апр. мая июн. июл. авг. сент. окт. нояб. дек.",
      weekdays: "воскресенье понедельник вторник среда четверг пятница суббота",
      shortWeekdays: "вс пн вт ср чт пт сб",
      halves: "AM|PM",
      monthsAlone: "январь февраль март апрель май июнь июль август сентябрь октябрь ноябрь декабрь"),
    "tr": CalendarNames(
      months: "Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık",
      shortMonths: "Oca Şub Mar Nis May Haz Tem Ağu Eyl Eki Kas Ara",
      weekdays: "Pazar Pazartesi Salı Çarşamba Perşembe Cuma Cumartesi",
      shortWeekdays: "Paz Pzt Sal Çar Per Cum Cmt",
      halves: "ÖÖ|ÖS"),
    "ja": CalendarNames(
      months: "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
      shortMonths: "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
      weekdays: "日曜日 月曜日 火曜日 水曜日 木曜日 金曜日 土曜日",
      shortWeekdays: "日 月 火 水 木 金 土",
      halves: "午前|午後"),
    "zh": CalendarNames(
      months: "一月 二月 三月 四月 五月 六月 七月 八月 九月 十月 十一月 十二月",
      shortMonths: "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
      weekdays: "星期日 星期一 星期二 星期三 星期四 星期五 星期六",
      shortWeekdays: "周日 周一 周二 周三 周四 周五 周六",
      halves: "上午|下午"),
  ]
}
