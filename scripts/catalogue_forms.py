#!/usr/bin/env python3
"""Write one made catalogue of research data in every form that `lakeward index` reads.

    scripts/catalogue_forms.py OUT [--records 200] [--broken 0] [--form FORM]

Each form gets a folder of its own below OUT, which is a lake by itself: own, ckan, dcat, schema-org, datacite-json, datacite-xml,
oai-dc, oai-datacite, dataverse, iso-19115, science-db. `truth.jsonl` beside them has the records and `FORM.json` in it what the
form can say. The records depend only on their number. With `--broken N` each form that is XML or lines also gets N broken records.
"""

import argparse
import json
import pathlib
from xml.sax.saxutils import escape

TOPICS = [
    ("Soil moisture", ["Earth science", "Hydrology"], "time-domain reflectometry at 5 cm depth"),
    ("Glacier mass balance", ["Earth science", "Glaciology"], "stakes and snow pits read each September"),
    ("Bird ringing recoveries", ["Biology", "Zoology"], "mist nets opened for six hours at dawn"),
    ("Household water use", ["Social science", "Demography"], "meters read each month by volunteers"),
    ("Nitrogen dioxide in streets", ["Environment", "Air quality"], "diffusion tubes exposed for four weeks"),
    ("Coral cover", ["Biology", "Marine ecology"], "photo quadrats along fixed transects"),
    ("Wheat yields", ["Agriculture", "Crop science"], "plots of ten square metres harvested by hand"),
    ("Seismic tremor", ["Earth science", "Seismology"], "three-component seismometers sampled at 100 Hz"),
]
PLACES = ["Quebec", "Ontario", "Norway", "Kenya", "Bavaria", "Patagonia", "Yunnan", "Iceland"]
INSTITUTIONS = [
    ("University of Tromso", "Department of Geosciences"),
    ("Chinese Academy of Sciences", "Institute of Botany"),
    ("Kenya Meteorological Service", "Climate Section"),
    ("Technical University of Munich", "Chair of Hydrology"),
]
PUBLISHERS = ["Northern Data Archive", "Open Field Repository", "Science Data Bank"]
LICENCES = ["CC BY 4.0", "CC0 1.0", "CC BY-NC 4.0"]
FORMATS = [("CSV", "text/csv"), ("NetCDF", "application/netcdf"), ("GeoTIFF", "image/tiff")]


def record(number):
    topic, taxonomy, method = TOPICS[number % len(TOPICS)]
    place = PLACES[(number // len(TOPICS)) % len(PLACES)]
    first = 1961 + (number * 7) % 55
    published = 2014 + number % 10
    name, media = FORMATS[number % len(FORMATS)]
    university, department = INSTITUTIONS[number % len(INSTITUTIONS)]
    return {
        "number": number,
        "title": f"{topic} in {place}, series {number}",
        "abstract": f"Measurements of {topic.lower()} at {3 + number % 20} sites in {place}, made for the regional monitoring programme.",
        "method": f"Measured with {method}.",
        "keywords": [topic.lower(), "monitoring", f"network {number % 5}"],
        "taxonomy": taxonomy,
        "institution": [university, department],
        "creator": ["Lindqvist, Asta", "Okafor, Ben", "Wang, Li"][number % 3],
        "publisher": PUBLISHERS[number % len(PUBLISHERS)],
        "licence": LICENCES[number % len(LICENCES)],
        "doi": f"10.5072/made.{number}",
        "cstr": f"31253.11.made.{number:05}",
        "published": f"{published}-{1 + number % 12:02}-{1 + number % 28:02}",
        "updated": f"{published + 1}-02-03",
        "version": f"V{1 + number % 4}",
        "place": place,
        "start": f"{first}-01-01",
        "end": f"{first + 3 + number % 30}-12-31",
        "file": {"name": f"series-{number}.{name.lower()}", "format": name, "media": media, "bytes": 1000 * (number + 1)},
        "paper": f"10.5072/paper.{number}",
        "url": f"https://archive.example.org/datasets/{number}",
    }


def own(r):
    return {
        "id": f"made-{r['number']}", "title": r["title"], "description": r["abstract"], "method": r["method"], "tags": r["keywords"],
        "taxonomy": [" > ".join(r["taxonomy"])], "publisher": r["publisher"], "institutions": r["institution"], "creators": [r["creator"]],
        "license": r["licence"], "doi": r["doi"], "cstr": r["cstr"], "issued": r["published"], "modified": r["updated"],
        "version": r["version"], "spatial": [r["place"]], "temporal": f"{r['start']}/{r['end']}", "url": r["url"], "format": r["file"]["format"],
        "files": [{"name": r["file"]["name"], "format": r["file"]["format"], "size": r["file"]["bytes"]}],
        "related": [{"relation": "IsSupplementTo", "doi": r["paper"]}],
    }


def ckan(r):
    return {
        "id": f"made-{r['number']}", "name": f"made-{r['number']}", "title": r["title"], "notes": r["abstract"], "methodology": r["method"],
        "tags": [{"name": tag} for tag in r["keywords"]], "taxonomy": [" > ".join(r["taxonomy"])],
        "organization": {"title": r["publisher"], "name": "archive"}, "institution": r["institution"], "license_title": r["licence"],
        "doi": r["doi"], "cstr": r["cstr"], "issued": r["published"], "metadata_modified": r["updated"], "version": r["version"],
        "spatial_text": r["place"], "temporal_start": r["start"], "temporal_end": r["end"],
        "extras": [{"key": "temporal_start", "value": r["start"]}, {"key": "temporal_end", "value": r["end"]}],
        "url": r["url"], "related_works": [{"relation": "IsSupplementTo", "identifier": r["paper"]}],
        "resources": [{"name": r["file"]["name"], "format": r["file"]["format"], "size": r["file"]["bytes"], "url": f"{r['url']}/{r['file']['name']}"}],
    }


def dcat(r):
    return {
        "@type": "dcat:Dataset", "identifier": r["doi"], "otherIdentifier": [r["cstr"]], "title": r["title"], "description": r["abstract"],
        "keyword": r["keywords"], "taxonomy": [" > ".join(r["taxonomy"])], "publisher": {"name": r["publisher"]},
        "creator": [{"name": r["institution"][0], "subOrganization": [{"name": r["institution"][1]}]}],
        "license": r["licence"], "issued": r["published"], "modified": r["updated"], "versionInfo": r["version"], "spatial": r["place"],
        "temporal": f"{r['start']}/{r['end']}", "landingPage": r["url"], "provenance": r["method"],
        "isReferencedBy": [{"identifier": r["paper"], "relation": "IsSupplementTo"}],
        "distribution": [{"title": r["file"]["name"], "format": r["file"]["format"], "byteSize": r["file"]["bytes"], "downloadURL": f"{r['url']}/{r['file']['name']}"}],
    }


def schema_org(r):
    return {
        "@context": "https://schema.org/", "@type": "Dataset", "@id": f"https://doi.org/{r['doi']}", "name": r["title"], "description": r["abstract"],
        "measurementTechnique": r["method"], "keywords": r["keywords"], "about": [" > ".join(r["taxonomy"])], "publisher": {"name": r["publisher"]},
        "creator": [{"name": r["creator"], "affiliation": {"name": r["institution"][0], "subOrganization": [{"name": r["institution"][1]}]}}],
        "license": r["licence"], "identifier": [r["doi"], f"CSTR:{r['cstr']}"], "datePublished": r["published"], "dateModified": r["updated"],
        "version": r["version"], "spatialCoverage": r["place"], "temporalCoverage": f"{r['start']}/{r['end']}", "url": r["url"],
        "citation": [{"@id": f"https://doi.org/{r['paper']}"}],
        "distribution": [{"@type": "DataDownload", "name": r["file"]["name"], "encodingFormat": r["file"]["format"], "contentSize": f"{r['file']['bytes']} B", "contentUrl": f"{r['url']}/{r['file']['name']}"}],
    }


def datacite(r):
    attributes = {
        "doi": r["doi"], "titles": [{"title": r["title"], "lang": "en"}], "creators": [{"name": r["creator"], "affiliation": r["institution"]}],
        "publisher": r["publisher"], "publicationYear": int(r["published"][:4]), "subjects": [{"subject": tag} for tag in r["keywords"]]
        + [{"subject": " > ".join(r["taxonomy"]), "subjectScheme": "Fields of science"}],
        "dates": [{"date": r["published"], "dateType": "Issued"}, {"date": r["updated"], "dateType": "Updated"}, {"date": f"{r['start']}/{r['end']}", "dateType": "Coverage"}],
        "alternateIdentifiers": [{"alternateIdentifier": f"CSTR:{r['cstr']}", "alternateIdentifierType": "CSTR"}],
        "relatedIdentifiers": [{"relatedIdentifier": r["paper"], "relatedIdentifierType": "DOI", "relationType": "IsSupplementTo"}],
        "sizes": [f"{r['file']['bytes']} bytes"], "formats": [r["file"]["format"]], "version": r["version"],
        "rightsList": [{"rights": r["licence"]}], "descriptions": [{"description": r["abstract"], "descriptionType": "Abstract"}, {"description": r["method"], "descriptionType": "Methods"}],
        "geoLocations": [{"geoLocationPlace": r["place"]}], "types": {"resourceTypeGeneral": "Dataset"}, "url": r["url"], "state": "findable",
    }
    return {"id": r["doi"], "type": "dois", "attributes": attributes}


def datacite_resource(r):
    e = escape
    affiliations = "".join(f"<affiliation>{e(name)}</affiliation>" for name in r["institution"])
    subjects = "".join(f"<subject>{e(tag)}</subject>" for tag in r["keywords"])
    return f"""<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI">{r['doi']}</identifier>
<creators><creator><creatorName>{e(r['creator'])}</creatorName>{affiliations}</creator></creators>
<titles><title xml:lang="en">{e(r['title'])}</title></titles><publisher>{e(r['publisher'])}</publisher><publicationYear>{r['published'][:4]}</publicationYear>
<resourceType resourceTypeGeneral="Dataset">Dataset</resourceType>
<subjects>{subjects}<subject subjectScheme="Fields of science">{e(' > '.join(r['taxonomy']))}</subject></subjects>
<dates><date dateType="Issued">{r['published']}</date><date dateType="Updated">{r['updated']}</date><date dateType="Coverage">{r['start']}/{r['end']}</date></dates>
<alternateIdentifiers><alternateIdentifier alternateIdentifierType="CSTR">CSTR:{r['cstr']}</alternateIdentifier></alternateIdentifiers>
<relatedIdentifiers><relatedIdentifier relatedIdentifierType="DOI" relationType="IsSupplementTo">{r['paper']}</relatedIdentifier></relatedIdentifiers>
<sizes><size>{r['file']['bytes']} bytes</size></sizes><formats><format>{r['file']['format']}</format></formats><version>{r['version']}</version>
<rightsList><rights>{e(r['licence'])}</rights></rightsList>
<descriptions><description descriptionType="Abstract">{e(r['abstract'])}</description><description descriptionType="Methods">{e(r['method'])}</description></descriptions>
<geoLocations><geoLocation><geoLocationPlace>{e(r['place'])}</geoLocationPlace></geoLocation></geoLocations></resource>
"""


def oai(metadata):
    def one(r):
        return f"""<record><header><identifier>oai:made:{r['number']}</identifier><datestamp>{r['updated']}</datestamp></header>
<metadata>{metadata(r)}</metadata></record>
"""
    return one


def dublin_core(r):
    e = escape
    fields = [("title", r["title"]), ("creator", r["creator"]), ("publisher", r["publisher"]), ("description", r["abstract"]), ("date", r["published"]),
              ("type", "dataset"), ("identifier", f"https://doi.org/{r['doi']}"), ("identifier", f"CSTR:{r['cstr']}"), ("identifier", r["url"]), ("rights", r["licence"]),
              ("coverage", r["place"]), ("coverage", f"{r['start']}/{r['end']}"), ("format", r["file"]["format"]),
              ("format", f"{r['file']['bytes']} bytes"), ("relation", f"https://doi.org/{r['paper']}")] + [("subject", tag) for tag in r["keywords"]]
    fields += [("subject", level) for level in r["taxonomy"]]
    inner = "".join(f"<dc:{name}>{e(value)}</dc:{name}>" for name, value in fields)
    return f'<oai_dc:dc xmlns:oai_dc="http://www.openarchives.org/OAI/2.0/oai_dc/" xmlns:dc="http://purl.org/dc/elements/1.1/">{inner}</oai_dc:dc>'


def dataverse(r):
    def field(name, value):
        return {"typeName": name, "multiple": False, "typeClass": "primitive", "value": value}

    def compound(name, **parts):
        return {"typeName": name, "multiple": True, "typeClass": "compound", "value": [{key: field(key, value) for key, value in parts.items()}]}

    citation = [
        field("title", r["title"]), compound("author", authorName=r["creator"], authorAffiliation=" > ".join(r["institution"])),
        compound("dsDescription", dsDescriptionValue=r["abstract"]), field("methodology", r["method"]),
        {"typeName": "keyword", "multiple": True, "typeClass": "compound", "value": [{"keywordValue": field("keywordValue", tag)} for tag in r["keywords"]]},
        field("subject", [" > ".join(r["taxonomy"])]), compound("otherId", otherIdValue=f"CSTR:{r['cstr']}"),
        compound("timePeriodCovered", timePeriodCoveredStart=r["start"], timePeriodCoveredEnd=r["end"]),
        compound("publication", publicationRelationType="IsSupplementTo", publicationURL=f"https://doi.org/{r['paper']}"),
    ]
    return {
        "id": r["number"], "identifier": f"made.{r['number']}", "persistentUrl": f"https://doi.org/{r['doi']}", "publisher": r["publisher"], "publicationDate": r["published"],
        "datasetVersion": {
            "datasetPersistentId": f"doi:{r['doi']}", "versionNumber": r["version"], "lastUpdateTime": f"{r['updated']}T00:00:00Z", "license": {"name": r["licence"], "uri": "https://example.org/licence"},
            "metadataBlocks": {"citation": {"fields": citation}, "geospatial": {"fields": [compound("geographicCoverage", state=r["place"])]}},
            "files": [{"label": r["file"]["name"], "dataFile": {"filename": r["file"]["name"], "contentType": r["file"]["format"], "filesize": r["file"]["bytes"]}}],
        },
    }


def iso(r):
    def text(value):
        return f"<gco:CharacterString>{escape(value)}</gco:CharacterString>"

    def date(value, kind):
        return (f'<gmd:date><gmd:CI_Date><gmd:date><gco:Date>{value}</gco:Date></gmd:date><gmd:dateType><gmd:CI_DateTypeCode codeList="x" '
                f'codeListValue="{kind}"/></gmd:dateType></gmd:CI_Date></gmd:date>')

    def party(name, role):
        return (f"<gmd:CI_ResponsibleParty><gmd:organisationName>{text(name)}</gmd:organisationName><gmd:role><gmd:CI_RoleCode codeList=\"x\" "
                f"codeListValue=\"{role}\"/></gmd:role></gmd:CI_ResponsibleParty>")

    codes = "".join(f"<gmd:identifier><gmd:MD_Identifier><gmd:code>{text(code)}</gmd:code></gmd:MD_Identifier></gmd:identifier>" for code in (f"https://doi.org/{r['doi']}", f"CSTR:{r['cstr']}"))
    keywords = "".join(f"<gmd:keyword>{text(tag)}</gmd:keyword>" for tag in [*r["keywords"], " > ".join(r["taxonomy"])])
    contacts = f"<gmd:pointOfContact>{party(r['publisher'], 'publisher')}</gmd:pointOfContact>" + f"<gmd:pointOfContact>{party(' > '.join(r['institution']), 'author')}</gmd:pointOfContact>"
    return f"""<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco" xmlns:gml="http://www.opengis.net/gml">
<gmd:fileIdentifier>{text('made-' + str(r['number']))}</gmd:fileIdentifier><gmd:identificationInfo><gmd:MD_DataIdentification>
<gmd:citation><gmd:CI_Citation><gmd:title>{text(r['title'])}</gmd:title>{date(r['published'], 'publication')}{date(r['updated'], 'revision')}<gmd:edition>{text(r['version'])}</gmd:edition>{codes}</gmd:CI_Citation></gmd:citation>
<gmd:abstract>{text(r['abstract'])}</gmd:abstract>{contacts}<gmd:descriptiveKeywords><gmd:MD_Keywords>{keywords}</gmd:MD_Keywords></gmd:descriptiveKeywords>
<gmd:resourceConstraints><gmd:MD_LegalConstraints><gmd:otherConstraints>{text(r['licence'])}</gmd:otherConstraints></gmd:MD_LegalConstraints></gmd:resourceConstraints>
<gmd:aggregationInfo><gmd:MD_AggregateInformation><gmd:aggregateDataSetName><gmd:CI_Citation><gmd:title>{text('https://doi.org/' + r['paper'])}</gmd:title></gmd:CI_Citation></gmd:aggregateDataSetName></gmd:MD_AggregateInformation></gmd:aggregationInfo>
<gmd:extent><gmd:EX_Extent><gmd:description>{text(r['place'])}</gmd:description><gmd:temporalElement><gmd:EX_TemporalExtent><gmd:extent><gml:TimePeriod gml:id="t"><gml:beginPosition>{r['start']}</gml:beginPosition><gml:endPosition>{r['end']}</gml:endPosition></gml:TimePeriod></gmd:extent></gmd:EX_TemporalExtent></gmd:temporalElement></gmd:EX_Extent></gmd:extent>
</gmd:MD_DataIdentification></gmd:identificationInfo>
<gmd:distributionInfo><gmd:MD_Distribution><gmd:distributionFormat><gmd:MD_Format><gmd:name>{text(r['file']['format'])}</gmd:name></gmd:MD_Format></gmd:distributionFormat><gmd:transferOptions><gmd:MD_DigitalTransferOptions><gmd:onLine><gmd:CI_OnlineResource><gmd:linkage><gmd:URL>{r['url']}</gmd:URL></gmd:linkage><gmd:name>{text(r['file']['name'])}</gmd:name></gmd:CI_OnlineResource></gmd:onLine></gmd:MD_DigitalTransferOptions></gmd:transferOptions></gmd:MD_Distribution></gmd:distributionInfo>
<gmd:dataQualityInfo><gmd:DQ_DataQuality><gmd:lineage><gmd:LI_Lineage><gmd:statement>{text(r['method'])}</gmd:statement></gmd:LI_Lineage></gmd:lineage></gmd:DQ_DataQuality></gmd:dataQualityInfo></gmd:MD_Metadata>
"""


def science_db(r):
    return {
        "dataSetId": f"made{r['number']}", "titleEn": r["title"], "titleZh": "数据集", "introductionEn": f"<p>{r['abstract']}</p>", "methodEn": r["method"], "keywordEn": r["keywords"],
        "taxonomy": [{"code": "1", "nameEn": r["taxonomy"][0], "nameZh": "一", "children": [{"code": "11", "nameEn": r["taxonomy"][1], "nameZh": "二"}]}],
        "author": [{"nameEn": r["creator"], "organizations": [{"nameEn": r["institution"][0], "children": [{"nameEn": r["institution"][1]}]}]}],
        "publisher": r["publisher"], "copyRight": {"code": "x", "name": r["licence"]}, "doi": r["doi"], "cstr": r["cstr"], "dataSetPublishDate": f"{r['published']}T08:00:00Z",
        "dataSetUpdateDate": r["updated"], "version": r["version"], "spatial": [r["place"]], "temporal": f"{r['start']}/{r['end']}", "size": r["file"]["bytes"],
        "files": [{"fileName": r["file"]["name"], "fileType": r["file"]["format"], "size": r["file"]["bytes"]}], "papers": [{"url": f"https://doi.org/{r['paper']}", "relation": "IsSupplementTo"}], "url": r["url"],
    }


def listed(before, one, after, between=",\n"):
    """Parts of a JSON document around its list."""
    def write(out, records):
        out.write(before)
        for place, r in enumerate(records):
            out.write((between if place else "") + json.dumps(one(r), ensure_ascii=False))
        out.write(after)
    return write


def lines(one):
    def write(out, records):
        for r in records:
            out.write(json.dumps(one(r), ensure_ascii=False) + "\n")
    return write


def elements(before, one, after):
    def write(out, records):
        out.write(before)
        for r in records:
            out.write(one(r))
        out.write(after)
    return write


OAI = '<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2024-01-01T00:00:00Z</responseDate><ListRecords>\n'
OAI_END = "</ListRecords></OAI-PMH>\n"
# Form: the file, how it is written, and what it cannot say.
FORMS = {
    "own": ("records.jsonl", lines(own), []),
    "ckan": ("package_search.json", listed('{"success": true, "result": {"results": [', ckan, "]}}"), ["creator"]),
    "dcat": ("data.json", listed('{"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": [', dcat, "]}"), ["creator"]),
    "schema-org": ("catalogue.jsonld", listed('{"@context": "https://schema.org/", "@graph": [', schema_org, "]}"), ["relation"]),
    "datacite-json": ("datacite.json", listed('{"data": [', datacite, "]}"), ["file"]),
    "datacite-xml": ("datacite.xml", elements('<?xml version="1.0"?>\n<resources>\n', datacite_resource, "</resources>\n"), ["file", "url"]),
    "oai-dc": ("oai_dc.xml", elements(OAI, oai(dublin_core), OAI_END), ["method", "levels", "institution", "updated", "version", "url", "file", "relation"]),
    "oai-datacite": ("oai_datacite.xml", elements(OAI, oai(datacite_resource), OAI_END), ["file", "url"]),
    "dataverse": ("dataverse.json", listed('{"status": "OK", "data": {"items": [', dataverse, "]}}"), ["url"]),
    "iso-19115": ("iso.xml", elements('<?xml version="1.0"?>\n<csw xmlns="x">\n', iso, "</csw>\n"), ["creator", "size", "relation"]),
    "science-db": ("scidb.json", listed('{"code": 20000, "data": {"total": 1, "data": [', science_db, "]}}"), []),
}


def broken(number):
    """A broken record as XML of OAI-PMH; of each kind one in turn."""
    head = f"<header><identifier>oai:broken:{number}</identifier></header>"
    good = dublin_core(record(number))
    kinds = [
        f"<record><header/><metadata>{dublin_core({**record(number), 'title': ''}).replace('<dc:description>', '<dc:x>').replace('</dc:description>', '</dc:x>')}</metadata></record>",
        f"<record>{head}<metadata>{good.replace('<dc:date>', '<dc:date>2014-13-45T')}</metadata></record>",
        f"<record>{head}<metadata>{good.replace('<dc:title>', '<dc:title>' + chr(0x202E) + '&lt;script&gt;alert(1)&lt;/script&gt;')}</metadata></record>",
        f"<record>{head}<metadata>{good.replace('</dc:title>', '</dc:titel>')}</metadata></record>",
        f"<record>{head}<metadata>{good.replace('<dc:relation>https://doi.org/10.5072/paper.', '<dc:relation>https://doi.org/10.5072/made.')}</metadata></record>",
        f"<record>{head}<metadata>{good.replace('<dc:creator>', '<dc:creator>&unknown;')}</metadata></record>",
        f"<record>{head}<metadata><other>nothing known</other></metadata></record>",
    ]
    if number % 500 == 0:
        return f"<record>{head}<metadata>{good.replace('<dc:description>', '<dc:description>' + 'x' * 5_000_000)}</metadata></record>\n"
    return kinds[number % len(kinds)] + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--broken", type=int, default=0)
    parser.add_argument("--form", choices=[*FORMS], action="append")
    given = parser.parse_args()
    for form in given.form or FORMS:
        name, write, _ = FORMS[form]
        folder = given.out / form
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / name, "w", encoding="utf-8") as out:
            write(out, (record(number) for number in range(given.records)))
    if given.broken:
        folder = given.out / "broken"
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "oai.xml", "w", encoding="utf-8") as out:
            out.write(OAI)
            for number in range(given.broken):
                out.write(broken(number))
            out.write(oai(dublin_core)(record(given.broken)) + OAI_END)
    with open(given.out / "truth.jsonl", "w", encoding="utf-8") as out:
        for number in range(min(given.records, 10_000)):
            out.write(json.dumps(record(number), ensure_ascii=False) + "\n")
    with open(given.out / "cannot_say.json", "w", encoding="utf-8") as out:
        json.dump({form: cannot for form, (_, _, cannot) in FORMS.items()}, out, indent=1)


if __name__ == "__main__":
    main()
