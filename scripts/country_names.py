#!/usr/bin/env python3
"""Write the names of countries in the languages that requests are translated from, out of the Unicode CLDR.

    pip install babel==2.19.0
    scripts/country_names.py > crates/models/src/languages/countries.tsv

The names are those of the CLDR (Unicode License v3, https://www.unicode.org/license.txt).
"""

from babel import Locale

# Besides countries: the world's regions.
REGIONS = ["001", "002", "003", "005", "009", "013", "019", "142", "150"]


def names(locale):
    return Locale.parse(locale).territories


def main():
    english, others = names("en"), [names(code) for code in ("de", "fr", "es", "zh")]
    print("# Names of countries: English, German, French, Spanish, Chinese. Unicode CLDR, by scripts/country_names.py; Unicode License v3.")
    for code, name in sorted(english.items(), key=lambda item: item[1]):
        if (len(code) == 2 and code not in ("EZ", "QO", "XA", "XB", "ZZ")) or code in REGIONS:
            row = [name] + [other.get(code, "") for other in others]
            print("\t".join(part.replace(",", "").split(" (")[0] for part in row))


main()
