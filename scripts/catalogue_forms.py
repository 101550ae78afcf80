#!/usr/bin/env python3
"""Write one made catalogue of research data in every form that `lakeward index` reads.

    scripts/catalogue_forms.py OUT [--records 200] [--broken 0] [--form FORM] [--corpus CORPUS]

Each form gets a folder of its own below OUT, which is a lake by itself: own, ckan, dcat (Project Open Data), dcat-ap (JSON-LD, a graph),
schema-org, datacite-json, datacite-xml, oai-dc, oai-datacite, dataverse, iso-19115, science-db. `truth.jsonl` beside them has the records and
`cannot_say.json` what a form has no place for. The records depend only on their number; with
`--corpus` they are the first of a `corpus.jsonl`. With `--broken N` a folder `broken/FORM` of each
form has N broken records and one that is whole behind them.
"""

import argparse
import itertools
import json
import pathlib
import re
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
        "id": f"made-{number}",
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
        "places": [place],
        "start": f"{first}-01-01",
        "end": f"{first + 3 + number % 30}-12-31",
        "file": {"name": f"series-{number}.{name.lower()}", "format": name, "media": media, "bytes": 1000 * (number + 1)},
        "paper": f"10.5072/paper.{number}",
        "url": f"https://archive.example.org/datasets/{number}",
    }


def from_corpus(number, line):
    """A record of a benchmark's corpus as one of these; what it does not say is empty."""
    said = json.loads(line)
    named = said.get("dimensions", [])
    told = [("surveys", said.get("surveys", [])), ("dimensions", [dimension["name"] for dimension in named]), ("frequency", [said.get("frequency", "")])]
    told = [f"{name}: {'; '.join(values)}" for name, values in told if any(values)]
    author = said.get("author", "")
    return {
        "number": number, "id": said["id"], "title": said.get("title", ""), "abstract": said.get("description") or ". ".join(told), "method": "",
        "keywords": [*said.get("tags", []), *said.get("subjects", [])], "taxonomy": [], "institution": [], "creator": "",
        "publisher": author if isinstance(author, str) else author.get("name", ""), "licence": "", "doi": f"10.5072/shown.{said['id']}", "cstr": "",
        "published": said.get("date", "")[:10], "updated": "", "version": "", "places": said.get("geography", {}).get("members", []),
        "start": said.get("start", ""), "end": said.get("end", ""), "file": {"name": "", "format": "", "media": "", "bytes": ""}, "paper": "", "url": "",
    }


def pruned(value):
    """A value of JSON without what says nothing."""
    if isinstance(value, dict):
        kept = {key: pruned(part) for key, part in value.items()}
        return {key: part for key, part in kept.items() if part not in ("", None, [], {})}
    if isinstance(value, list):
        return [part for part in map(pruned, value) if part not in ("", None, [], {})]
    return value


def pruned_xml(text):
    """XML without elements that say nothing."""
    while True:
        shorter = re.sub(r"<([\w:]+)(?: [^<>]*)?></\1>", "", text)
        if shorter == text:
            return text
        text = shorter


def cstr(r):
    return r["cstr"] and f"CSTR:{r['cstr']}"


def period(r):
    return f"{r['start']}/{r['end']}" if r["start"] or r["end"] else ""


def size(r):
    return r["file"]["bytes"] and f"{r['file']['bytes']} bytes"


def file_address(r):
    return r["file"]["name"] and f"{r['url']}/{r['file']['name']}"


def own(r):
    return {
        "id": r["id"], "title": r["title"], "description": r["abstract"], "method": r["method"], "tags": r["keywords"],
        "taxonomy": [" > ".join(r["taxonomy"])], "publisher": r["publisher"], "institutions": r["institution"], "creators": [r["creator"]],
        "license": r["licence"], "doi": r["doi"], "cstr": r["cstr"], "issued": r["published"], "modified": r["updated"],
        "version": r["version"], "spatial": r["places"], "temporal": period(r), "url": r["url"], "format": r["file"]["format"],
        "files": [{"name": r["file"]["name"], "format": r["file"]["format"], "size": r["file"]["bytes"]}],
        "related": [{"relation": "IsSupplementTo", "doi": r["paper"]}],
    }


def ckan(r):
    return {
        "id": r["id"], "name": r["id"], "title": r["title"], "author": r["creator"], "notes": r["abstract"], "methodology": r["method"],
        "tags": [{"name": tag} for tag in r["keywords"]], "taxonomy": [" > ".join(r["taxonomy"])],
        "organization": {"title": r["publisher"], "name": "archive"}, "institution": r["institution"], "license_title": r["licence"],
        "doi": r["doi"], "cstr": r["cstr"], "issued": r["published"], "metadata_modified": r["updated"], "version": r["version"],
        "spatial_text": r["places"], "temporal_start": r["start"], "temporal_end": r["end"],
        "extras": [{"key": "temporal_start", "value": r["start"]}, {"key": "temporal_end", "value": r["end"]}],
        "url": r["url"], "related_works": [{"relation": "IsSupplementTo", "identifier": r["paper"]}],
        "resources": [{"name": r["file"]["name"], "format": r["file"]["format"], "size": r["file"]["bytes"], "url": file_address(r)}],
    }


def dcat(r):
    return {
        "@type": "dcat:Dataset", "identifier": r["doi"], "otherIdentifier": [r["cstr"]], "title": r["title"], "description": r["abstract"],
        "keyword": r["keywords"], "taxonomy": [" > ".join(r["taxonomy"])], "publisher": {"name": r["publisher"]},
        "creator": [{"@type": "foaf:Person", "name": r["creator"]}, {"@type": "org:Organization", **nested(r["institution"])}],
        "license": r["licence"], "issued": r["published"], "modified": r["updated"], "versionInfo": r["version"], "spatial": r["places"],
        "temporal": period(r), "landingPage": r["url"], "provenance": r["method"],
        "isReferencedBy": [{"identifier": r["paper"], "relation": "IsSupplementTo"}],
        "distribution": [{"title": r["file"]["name"], "format": r["file"]["format"], "byteSize": r["file"]["bytes"], "downloadURL": file_address(r)}],
    }


def nested(institution):
    """An organisation in another."""
    university, department = [*institution, "", ""][:2]
    return {"name": university, "subOrganization": [{"name": department}]}


def dcat_ap(r):
    """The nodes of a graph."""
    def node(kind, of, **more):
        return {"@id": f"https://archive.example.org/{kind}/{r['number']}", "@type": of, **more}

    def to(node):
        return {"@id": node["@id"]}

    publisher = node("publisher", "foaf:Agent", **{"foaf:name": r["publisher"]})
    person = node("person", "foaf:Person", **{"foaf:name": r["creator"]})
    made = node("made-by", "foaf:Organization", **nested(r["institution"]))
    broad, narrow = [*r["taxonomy"], "", ""][:2]
    theme = node("theme", "skos:Concept", **{"skos:prefLabel": narrow, "skos:broader": {"skos:prefLabel": broad}})
    file = node("file", "dcat:Distribution", **{
        "dct:title": r["file"]["name"], "dct:format": r["file"]["format"], "dcat:byteSize": r["file"]["bytes"],
        "dcat:downloadURL": {"@id": file_address(r)}})
    dataset = {
        "@id": doi_address(r["doi"]) or f"_:{r['number']}", "@type": "dcat:Dataset", "dct:identifier": [text for text in (r["doi"], cstr(r)) if text],
        "dct:title": [{"@language": "fr", "@value": r["title"] and "Données"}, {"@language": "en", "@value": r["title"]}],
        "dct:description": {"@language": "en", "@value": r["abstract"]}, "dcat:keyword": [{"@language": "en", "@value": tag} for tag in r["keywords"]],
        "dcat:theme": [to(theme)], "dct:publisher": to(publisher), "dct:creator": [to(person), to(made)],
        "dct:license": {"@type": "dct:LicenseDocument", "dct:title": r["licence"]}, "dct:issued": {"@type": "xsd:date", "@value": r["published"]},
        "dct:modified": {"@type": "xsd:date", "@value": r["updated"]}, "dcat:version": r["version"], "dct:spatial": [{"@type": "dct:Location", "skos:prefLabel": place} for place in r["places"]],
        "dct:temporal": {"@type": "dct:PeriodOfTime", "dcat:startDate": {"@value": r["start"]}, "dcat:endDate": {"@value": r["end"]}},
        "dcat:landingPage": {"@id": r["url"]}, "dct:provenance": {"rdfs:label": r["method"]}, "dct:isReferencedBy": [{"@id": doi_address(r["paper"])}],
        "dcat:distribution": [to(file)],
    }
    return [dataset, publisher, person, made, theme, file]


def doi_address(doi):
    return doi and f"https://doi.org/{doi}"


def schema_org(r):
    return {
        "@context": "https://schema.org/", "@type": "Dataset", "@id": doi_address(r["doi"]), "name": r["title"], "description": r["abstract"],
        "measurementTechnique": r["method"], "keywords": r["keywords"], "about": [" > ".join(r["taxonomy"])], "publisher": {"name": r["publisher"]},
        "creator": [{"name": r["creator"], "affiliation": nested(r["institution"])}],
        "license": r["licence"], "identifier": [r["doi"], cstr(r)], "datePublished": r["published"], "dateModified": r["updated"],
        "version": r["version"], "spatialCoverage": r["places"], "temporalCoverage": period(r), "url": r["url"],
        "citation": [{"@id": doi_address(r["paper"])}],
        "distribution": [{"@type": "DataDownload", "name": r["file"]["name"], "encodingFormat": r["file"]["format"], "contentSize": size(r), "contentUrl": file_address(r)}],
    }


def datacite(r):
    attributes = {
        "doi": r["doi"], "titles": [{"title": r["title"], "lang": "en"}], "creators": [{"name": r["creator"], "affiliation": r["institution"]}],
        "publisher": r["publisher"], "publicationYear": int(r["published"][:4] or 0) or None, "subjects": [{"subject": tag} for tag in r["keywords"]]
        + [{"subject": " > ".join(r["taxonomy"]), "subjectScheme": "Fields of science"}],
        "dates": [{"date": r["published"], "dateType": "Issued"}, {"date": r["updated"], "dateType": "Updated"}, {"date": period(r), "dateType": "Coverage"}],
        "alternateIdentifiers": [{"alternateIdentifier": cstr(r), "alternateIdentifierType": "CSTR"}],
        "relatedIdentifiers": [{"relatedIdentifier": r["paper"], "relatedIdentifierType": "DOI", "relationType": "IsSupplementTo"}],
        "sizes": [size(r)], "formats": [r["file"]["format"]], "version": r["version"],
        "rightsList": [{"rights": r["licence"]}], "descriptions": [{"description": r["abstract"], "descriptionType": "Abstract"}, {"description": r["method"], "descriptionType": "Methods"}],
        "geoLocations": [{"geoLocationPlace": place} for place in r["places"]], "types": {"resourceTypeGeneral": "Dataset"}, "url": r["url"], "state": "findable",
    }
    return {"id": r["doi"], "type": "dois", "attributes": attributes}


def datacite_resource(r):
    e = escape
    affiliations = "".join(f"<affiliation>{e(name)}</affiliation>" for name in r["institution"])
    places = "".join(f"<geoLocation><geoLocationPlace>{e(place)}</geoLocationPlace></geoLocation>" for place in r["places"])
    subjects = "".join(f"<subject>{e(tag)}</subject>" for tag in r["keywords"])
    return f"""<resource xmlns="http://datacite.org/schema/kernel-4"><identifier identifierType="DOI">{r['doi']}</identifier>
<creators><creator><creatorName>{e(r['creator'])}</creatorName>{affiliations}</creator></creators>
<titles><title xml:lang="en">{e(r['title'])}</title></titles><publisher>{e(r['publisher'])}</publisher><publicationYear>{r['published'][:4]}</publicationYear>
<resourceType resourceTypeGeneral="Dataset">Dataset</resourceType>
<subjects>{subjects}<subject subjectScheme="Fields of science">{e(' > '.join(r['taxonomy']))}</subject></subjects>
<dates><date dateType="Issued">{r['published']}</date><date dateType="Updated">{r['updated']}</date><date dateType="Coverage">{period(r)}</date></dates>
<alternateIdentifiers><alternateIdentifier alternateIdentifierType="CSTR">{cstr(r)}</alternateIdentifier></alternateIdentifiers>
<relatedIdentifiers><relatedIdentifier relatedIdentifierType="DOI" relationType="IsSupplementTo">{r['paper']}</relatedIdentifier></relatedIdentifiers>
<sizes><size>{size(r)}</size></sizes><formats><format>{r['file']['format']}</format></formats><version>{r['version']}</version>
<rightsList><rights>{e(r['licence'])}</rights></rightsList>
<descriptions><description descriptionType="Abstract">{e(r['abstract'])}</description><description descriptionType="Methods">{e(r['method'])}</description></descriptions>
<geoLocations>{places}</geoLocations></resource>
"""


def oai(metadata):
    def one(r):
        return f"""<record><header><identifier>{r['id'].replace('made-', 'oai:made:')}</identifier><datestamp>{r['updated']}</datestamp></header>
<metadata>{metadata(r)}</metadata></record>
"""
    return one


def dublin_core(r):
    e = escape
    fields = [("title", r["title"]), ("creator", r["creator"]), ("publisher", r["publisher"]), ("description", r["abstract"]), ("date", r["published"]),
              ("type", "dataset"), ("identifier", doi_address(r["doi"])), ("identifier", cstr(r)), ("identifier", r["url"]), ("rights", r["licence"]),
              ("coverage", period(r)), ("format", r["file"]["format"]),
              ("format", size(r)), ("relation", doi_address(r["paper"]))] + [("subject", tag) for tag in r["keywords"]]
    fields += [("subject", level) for level in r["taxonomy"]] + [("coverage", place) for place in r["places"]]
    inner = "".join(f"<dc:{name}>{e(value)}</dc:{name}>" for name, value in fields if value)
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
        field("subject", [" > ".join(r["taxonomy"])]), compound("otherId", otherIdValue=cstr(r)),
        compound("timePeriodCovered", timePeriodCoveredStart=r["start"], timePeriodCoveredEnd=r["end"]),
        compound("publication", publicationRelationType="IsSupplementTo", publicationURL=doi_address(r["paper"])),
    ]
    return {
        "id": r["id"], "identifier": r["id"], "persistentUrl": doi_address(r["doi"]), "publisher": r["publisher"], "publicationDate": r["published"],
        "datasetVersion": {
            "datasetPersistentId": r["doi"] and f"doi:{r['doi']}", "versionNumber": r["version"], "lastUpdateTime": r["updated"] and f"{r['updated']}T00:00:00Z", "license": {"name": r["licence"], "uri": r["licence"] and "https://example.org/licence"},
            "metadataBlocks": {"citation": {"fields": citation}, "geospatial": {"fields": [{**compound("geographicCoverage"), "value": [{"state": field("state", place)} for place in r["places"]]}]}},
            "files": [{"label": r["file"]["name"], "dataFile": {"filename": r["file"]["name"], "contentType": r["file"]["format"], "filesize": r["file"]["bytes"]}}],
        },
    }


def iso(r):
    def text(value):
        return f"<gco:CharacterString>{escape(value)}</gco:CharacterString>"

    def date(value, kind):
        return (f'<gmd:date><gmd:CI_Date><gmd:date><gco:Date>{value}</gco:Date></gmd:date><gmd:dateType><gmd:CI_DateTypeCode codeList="x" '
                f'codeListValue="{kind}"/></gmd:dateType></gmd:CI_Date></gmd:date>')

    def party(name, role, person=None):
        individual = f"<gmd:individualName>{text(person)}</gmd:individualName>" if person else ""
        return (f"<gmd:CI_ResponsibleParty>{individual}<gmd:organisationName>{text(name)}</gmd:organisationName><gmd:role><gmd:CI_RoleCode codeList=\"x\" "
                f"codeListValue=\"{role}\"/></gmd:role></gmd:CI_ResponsibleParty>")

    codes = "".join(f"<gmd:identifier><gmd:MD_Identifier><gmd:code>{text(code)}</gmd:code></gmd:MD_Identifier></gmd:identifier>" for code in (doi_address(r["doi"]), cstr(r)) if code)
    places = "".join(f"<gmd:extent><gmd:EX_Extent><gmd:description>{text(place)}</gmd:description></gmd:EX_Extent></gmd:extent>" for place in r["places"])
    keywords = "".join(f"<gmd:keyword>{text(tag)}</gmd:keyword>" for tag in [*r["keywords"], " > ".join(r["taxonomy"])])
    contacts = f"<gmd:pointOfContact>{party(r['publisher'], 'publisher')}</gmd:pointOfContact>" + f"<gmd:pointOfContact>{party(' > '.join(r['institution']), 'author', r['creator'])}</gmd:pointOfContact>"
    return f"""<gmd:MD_Metadata xmlns:gmd="http://www.isotc211.org/2005/gmd" xmlns:gco="http://www.isotc211.org/2005/gco" xmlns:gml="http://www.opengis.net/gml">
<gmd:fileIdentifier>{text(r['id'])}</gmd:fileIdentifier><gmd:identificationInfo><gmd:MD_DataIdentification>
<gmd:citation><gmd:CI_Citation><gmd:title>{text(r['title'])}</gmd:title>{date(r['published'], 'publication')}{date(r['updated'], 'revision')}<gmd:edition>{text(r['version'])}</gmd:edition>{codes}</gmd:CI_Citation></gmd:citation>
<gmd:abstract>{text(r['abstract'])}</gmd:abstract>{contacts}<gmd:descriptiveKeywords><gmd:MD_Keywords>{keywords}</gmd:MD_Keywords></gmd:descriptiveKeywords>
<gmd:resourceConstraints><gmd:MD_LegalConstraints><gmd:otherConstraints>{text(r['licence'])}</gmd:otherConstraints></gmd:MD_LegalConstraints></gmd:resourceConstraints>
<gmd:aggregationInfo><gmd:MD_AggregateInformation><gmd:aggregateDataSetName><gmd:CI_Citation><gmd:title>{text(doi_address(r['paper']))}</gmd:title></gmd:CI_Citation></gmd:aggregateDataSetName></gmd:MD_AggregateInformation></gmd:aggregationInfo>
{places}<gmd:extent><gmd:EX_Extent><gmd:temporalElement><gmd:EX_TemporalExtent><gmd:extent><gml:TimePeriod gml:id="t"><gml:beginPosition>{r['start']}</gml:beginPosition><gml:endPosition>{r['end']}</gml:endPosition></gml:TimePeriod></gmd:extent></gmd:EX_TemporalExtent></gmd:temporalElement></gmd:EX_Extent></gmd:extent>
</gmd:MD_DataIdentification></gmd:identificationInfo>
<gmd:distributionInfo><gmd:MD_Distribution><gmd:distributionFormat><gmd:MD_Format><gmd:name>{text(r['file']['format'])}</gmd:name></gmd:MD_Format></gmd:distributionFormat><gmd:transferOptions><gmd:MD_DigitalTransferOptions><gmd:onLine><gmd:CI_OnlineResource><gmd:linkage><gmd:URL>{r['url']}</gmd:URL></gmd:linkage><gmd:name>{text(r['file']['name'])}</gmd:name></gmd:CI_OnlineResource></gmd:onLine></gmd:MD_DigitalTransferOptions></gmd:transferOptions></gmd:MD_Distribution></gmd:distributionInfo>
<gmd:dataQualityInfo><gmd:DQ_DataQuality><gmd:lineage><gmd:LI_Lineage><gmd:statement>{text(r['method'])}</gmd:statement></gmd:LI_Lineage></gmd:lineage></gmd:DQ_DataQuality></gmd:dataQualityInfo></gmd:MD_Metadata>
"""


def science_db(r):
    (broad, narrow), (university, department) = [*r["taxonomy"], "", ""][:2], [*r["institution"], "", ""][:2]
    return {
        "dataSetId": r["id"], "titleEn": r["title"], "titleZh": r["title"] and "数据集", "introductionEn": f"<p>{r['abstract']}</p>", "methodEn": r["method"], "keywordEn": r["keywords"],
        "taxonomy": broad and [{"code": "1", "nameEn": broad, "nameZh": "一", "children": [{"code": "11", "nameEn": narrow, "nameZh": "二"}]}],
        "author": [{"nameEn": r["creator"], "organizations": [{"nameEn": university, "children": [{"nameEn": department}]}]}],
        "publisher": r["publisher"], "copyRight": {"code": "x", "name": r["licence"]}, "doi": r["doi"], "cstr": r["cstr"], "dataSetPublishDate": r["published"] and f"{r['published']}T08:00:00Z",
        "dataSetUpdateDate": r["updated"], "version": r["version"], "spatial": r["places"], "temporal": period(r), "size": r["file"]["bytes"],
        "files": [{"fileName": r["file"]["name"], "fileType": r["file"]["format"], "size": r["file"]["bytes"]}], "papers": [{"url": doi_address(r["paper"]), "relation": "IsSupplementTo"}], "url": r["url"],
    }


def listed(before, one, after):
    """Parts of a JSON document around its list."""
    return before, one, after, ",\n"


def lines(one):
    return "", one, "\n", "\n"


def elements(before, one, after):
    return before, one, after, ""


def write(out, before, texts, between, after):
    out.write(before)
    for place, text in enumerate(texts):
        out.write((between if place else "") + text)
    out.write(after)


OAI = '<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH xmlns="http://www.openarchives.org/OAI/2.0/"><responseDate>2024-01-01T00:00:00Z</responseDate><ListRecords>\n'
OAI_END = "</ListRecords></OAI-PMH>\n"
XML = ["datacite-xml", "oai-dc", "oai-datacite", "iso-19115"]
# Form: the file, how it is written, and what it cannot say.
FORMS = {
    "own": ("records.jsonl", lines(own), []),
    "ckan": ("package_search.json", listed('{"success": true, "result": {"results": [', ckan, "]}}"), []),
    "dcat": ("data.json", listed('{"conformsTo": "https://project-open-data.cio.gov/v1.1/schema", "dataset": [', dcat, "]}"), []),
    "dcat-ap": ("catalogue.jsonld", listed('{"@context": {"dcat": "http://www.w3.org/ns/dcat#", "dct": "http://purl.org/dc/terms/"}, "@graph": [', dcat_ap, "]}"), ["relation"]),
    "schema-org": ("catalogue.jsonld", listed('{"@context": "https://schema.org/", "@graph": [', schema_org, "]}"), ["relation"]),
    "datacite-json": ("datacite.json", listed('{"data": [', datacite, "]}"), ["file"]),
    "datacite-xml": ("datacite.xml", elements('<?xml version="1.0"?>\n<resources>\n', datacite_resource, "</resources>\n"), ["file", "url"]),
    "oai-dc": ("oai_dc.xml", elements(OAI, oai(dublin_core), OAI_END), ["method", "levels", "institution", "updated", "version", "url", "file", "relation"]),
    "oai-datacite": ("oai_datacite.xml", elements(OAI, oai(datacite_resource), OAI_END), ["file", "url"]),
    "dataverse": ("dataverse.json", listed('{"status": "OK", "data": {"items": [', dataverse, "]}}"), ["url"]),
    "iso-19115": ("iso.xml", elements('<?xml version="1.0"?>\n<csw xmlns="x">\n', iso, "</csw>\n"), ["size", "relation"]),
    "science-db": ("scidb.json", listed('{"code": 20000, "data": {"total": 1, "data": [', science_db, "]}}"), []),
}


# Ways in which a record is broken.
BREAKS = ["untitled", "nameless", "undated", "hidden", "cyclic", "torn", "foreign", "entity"]
# Of so many one is too long.
LONG_EVERY = 200


def broken(number):
    """The fields of a record broken in one way, and in which."""
    r, way = record(number), BREAKS[number % len(BREAKS)]
    if number % LONG_EVERY == 0:
        return {**r, "abstract": "x" * 5_000_000}, "long"
    changes = {
        "untitled": {"title": "", "abstract": "", "method": ""},
        "nameless": {"id": "", "doi": "", "cstr": "", "url": ""},
        "undated": {"published": "2014-13-45", "updated": "2015-02-30"},
        "hidden": {"title": chr(0x202E) + "<script>alert(1)</script>" + r["title"]},
        "cyclic": {"paper": r["doi"]},
    }
    return {**r, **changes.get(way, {})}, way


def cyclic_levels(r):
    """A record of Science Data Bank whose subjects name each other as the one above."""
    first, second = r["taxonomy"]
    levels = [{"code": "a", "nameEn": first, "parentCode": "b"}, {"code": "b", "nameEn": second, "parentCode": "a"}]
    return {**science_db(r), "taxonomy": levels}


def text_of(form, one, r, way=None):
    """A record as its form writes it, broken in a way or not."""
    if form in XML:
        text = one(r) if way else pruned_xml(one(r))
        title = escape(r["title"])
        return {
            "torn": lambda: re.sub(re.escape(title) + r"</((?:\w+:)?)", lambda end: f"{end[0]}x", text, count=1),
            "foreign": lambda: re.sub("<metadata>.*</metadata>", "<metadata><other>x</other></metadata>", text, flags=re.S) if "<metadata>" in text else text.replace(title, "", 1),
            "entity": lambda: text.replace(escape(r["creator"]), "&unknown;"),
        }.get(way, lambda: text)()
    if form == "science-db" and way == "cyclic":
        one = cyclic_levels
    nodes = one(r) if way else pruned(one(r))
    text = ",\n".join(json.dumps(node, ensure_ascii=False) for node in (nodes if isinstance(nodes, list) else [nodes]))
    # A document ends where it is torn; a line does not end the file.
    torn = text[: len(text) // 2] if form == "own" else "7"
    return {"torn": torn, "foreign": '{"nothing": "known"}'}.get(way, text)


def records(given):
    if not given.corpus:
        return map(record, range(given.records))
    lines = given.corpus.open(encoding="utf-8")
    return itertools.starmap(from_corpus, enumerate(itertools.islice(lines, given.records)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=200)
    parser.add_argument("--corpus", type=pathlib.Path, help="the records of a benchmark's corpus.jsonl instead of made ones")
    parser.add_argument("--broken", type=int, default=0)
    parser.add_argument("--form", choices=[*FORMS], action="append")
    given = parser.parse_args()
    for form in given.form or FORMS:
        name, (before, one, after, between), _ = FORMS[form]
        folder = given.out / form
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / name, "w", encoding="utf-8") as out:
            write(out, before, (text_of(form, one, r) for r in records(given)), between, after)
        if given.broken:
            folder = given.out / "broken" / form
            folder.mkdir(parents=True, exist_ok=True)
            texts = (text_of(form, one, *broken(number)) for number in range(given.broken))
            with open(folder / name, "w", encoding="utf-8") as out:
                write(out, before, itertools.chain(texts, [text_of(form, one, record(given.broken))]), between, after)
    with open(given.out / "truth.jsonl", "w", encoding="utf-8") as out:
        for r in itertools.islice(records(given), 10_000):
            out.write(json.dumps(r, ensure_ascii=False) + "\n")
    with open(given.out / "cannot_say.json", "w", encoding="utf-8") as out:
        json.dump({form: cannot for form, (_, _, cannot) in FORMS.items()}, out, indent=1)


if __name__ == "__main__":
    main()
