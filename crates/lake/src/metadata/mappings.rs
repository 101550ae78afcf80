//! The standards of catalogues of research data, as mappings.

use super::Standard;
use super::mapping::{Mapping, NOTHING};

/// DataCite, schema 3 to 4.6, as JSON (REST API, public data file) and as XML.
pub(super) const DATACITE: Mapping = Mapping {
    standard: Standard::DataCite,
    id: &["doi", "id", "identifier"],
    title: &["titles[!titleType].title", "titles.title[!titleType]", "titles.title"],
    description: &[
        "descriptions[descriptionType=Abstract].description",
        "descriptions.description[descriptionType=Abstract]",
        "descriptions[descriptionType=Other].description",
        "descriptions.description",
    ],
    method: &[
        "descriptions[descriptionType=Methods].description",
        "descriptions.description[descriptionType=Methods]",
        "descriptions[descriptionType=TechnicalInfo].description",
        "descriptions.description[descriptionType=TechnicalInfo]",
    ],
    tags: &["subjects.subject"],
    taxonomy: &["subjects[subjectScheme].subject", "subjects.subject[subjectScheme]"],
    publisher: &["publisher"],
    institutions: &[
        "creators.affiliation",
        "creators.creator.affiliation",
        "contributors.affiliation",
        "contributors.contributor.affiliation",
    ],
    licence: &[
        "rightsList.rights",
        "rightsList.rightsIdentifier",
        "rightsList.rightsUri",
        "rightsList.rights.rightsURI",
        "rightsList.rights.rightsIdentifier",
    ],
    identifiers: &["doi", "identifier", "identifiers.identifier", "alternateIdentifiers.alternateIdentifier", "id"],
    address: &["url"],
    issued: &[
        "dates[dateType=Issued].date",
        "dates.date[dateType=Issued]",
        "dates[dateType=Available].date",
        "dates.date[dateType=Available]",
        "publicationYear",
        "published",
    ],
    modified: &["dates[dateType=Updated].date", "dates.date[dateType=Updated]", "updated"],
    version: &["version"],
    spatial: &["geoLocations.geoLocationPlace", "geoLocations.geoLocation.geoLocationPlace"],
    period: &[
        "dates[dateType=Coverage].date",
        "dates.date[dateType=Coverage]",
        "dates[dateType=Collected].date",
        "dates.date[dateType=Collected]",
    ],
    related: &["relatedIdentifiers[relationType]", "relatedIdentifiers.relatedIdentifier"],
    files: &["contentUrl"],
    sizes: &["sizes", "sizes.size"],
    formats: &["formats", "formats.format"],
    facets: &[
        ("creator", &["creators.name", "creators.creator.creatorName"]),
        ("type", &["types.resourceTypeGeneral", "resourceType.resourceTypeGeneral"]),
        ("funder", &["fundingReferences.funderName", "fundingReferences.fundingReference.funderName"]),
        ("language", &["language"]),
    ],
    about_record: &[
        "prefix",
        "suffix",
        "xml",
        "source",
        "isActive",
        "state",
        "reason",
        "schemaVersion",
        "metadataVersion",
        "viewCount",
        "downloadCount",
        "referenceCount",
        "citationCount",
        "partCount",
        "partOfCount",
        "versionCount",
        "versionOfCount",
        "created",
        "registered",
        "agency",
        "clientId",
        "providerId",
        "relationships",
        "type",
        "attributes",
        "container",
        "viewsOverTime",
        "downloadsOverTime",
        "citationsOverTime",
    ],
    ..NOTHING
};

/// Dublin Core as OAI-PMH has it (`oai_dc`).
pub(super) const OAI_DC: Mapping = Mapping {
    standard: Standard::OaiDc,
    id: &["identifier"],
    title: &["title"],
    description: &["description"],
    tags: &["subject"],
    publisher: &["publisher"],
    licence: &["rights"],
    identifiers: &["identifier"],
    issued: &["date"],
    spatial: &["coverage"],
    related: &["relation", "source"],
    formats: &["format"],
    facets: &[
        ("creator", &["creator"]),
        ("contributor", &["contributor"]),
        ("type", &["type"]),
        ("language", &["language"]),
    ],
    ..NOTHING
};

/// Dataverse: the items of its search, and the export of a dataset.
pub(super) const DATAVERSE: Mapping = Mapping {
    standard: Standard::Dataverse,
    id: &["global_id", "persistentUrl", "datasetVersion.datasetPersistentId", "identifier", "id"],
    title: &["datasetVersion.metadataBlocks.*.fields[typeName=title].value", "name"],
    description: &[
        "datasetVersion.metadataBlocks.*.fields[typeName=dsDescription].value.dsDescriptionValue.value",
        "description",
    ],
    method: &[
        "datasetVersion.metadataBlocks.*.fields[typeName=samplingProcedure].value",
        "datasetVersion.metadataBlocks.*.fields[typeName=collectionMode].value",
        "datasetVersion.metadataBlocks.*.fields[typeName=methodology].value",
    ],
    tags: &["datasetVersion.metadataBlocks.*.fields[typeName=keyword].value.keywordValue.value", "keywords"],
    taxonomy: &[
        "datasetVersion.metadataBlocks.*.fields[typeName=subject].value",
        "datasetVersion.metadataBlocks.*.fields[typeName=topicClassification].value.topicClassValue.value",
        "subjects",
    ],
    publisher: &["publisher", "name_of_dataverse"],
    institutions: &["datasetVersion.metadataBlocks.*.fields[typeName=author].value.authorAffiliation.value"],
    licence: &["datasetVersion.license", "datasetVersion.termsOfUse", "license"],
    identifiers: &[
        "global_id",
        "persistentUrl",
        "datasetVersion.datasetPersistentId",
        "datasetVersion.metadataBlocks.*.fields[typeName=otherId].value.otherIdValue.value",
    ],
    address: &["persistentUrl", "url"],
    issued: &["publicationDate", "datasetVersion.publicationDate", "published_at"],
    modified: &["datasetVersion.lastUpdateTime", "updatedAt"],
    version: &["datasetVersion.versionNumber", "majorVersion"],
    spatial: &[
        "datasetVersion.metadataBlocks.*.fields[typeName=geographicCoverage].value.country.value",
        "datasetVersion.metadataBlocks.*.fields[typeName=geographicCoverage].value.state.value",
        "datasetVersion.metadataBlocks.*.fields[typeName=geographicCoverage].value.otherGeographicCoverage.value",
        "geographicCoverage.country",
        "geographicCoverage.other",
    ],
    start: &["datasetVersion.metadataBlocks.*.fields[typeName=timePeriodCovered].value.timePeriodCoveredStart.value"],
    end: &["datasetVersion.metadataBlocks.*.fields[typeName=timePeriodCovered].value.timePeriodCoveredEnd.value"],
    related: &["datasetVersion.metadataBlocks.*.fields[typeName=publication].value", "publications", "relatedMaterial"],
    files: &["datasetVersion.files", "files"],
    facets: &[
        ("creator", &["datasetVersion.metadataBlocks.*.fields[typeName=author].value.authorName.value", "authors"]),
        ("producer", &["producers"]),
        ("frequency", &["datasetVersion.metadataBlocks.*.fields[typeName=frequencyOfDataCollection].value"]),
    ],
    about_record: &[
        "type",
        "protocol",
        "authority",
        "separator",
        "storageIdentifier",
        "versionId",
        "versionState",
        "minorVersion",
        "createdAt",
        "fileCount",
        "contacts",
        "citation",
        "citationHtml",
        "identifier_of_dataverse",
        "datasetType",
        "id",
        "identifier",
        "image_url",
    ],
    ..NOTHING
};

/// ISO 19115 in XML (19139, 19115-3), as INSPIRE's catalogues have it: what facets and questions need.
pub(super) const ISO_19115: Mapping = Mapping {
    standard: Standard::Iso19115,
    id: &["fileIdentifier", "metadataIdentifier.*.code"],
    title: &["identificationInfo.*.citation.*.title"],
    description: &["identificationInfo.*.abstract"],
    method: &["dataQualityInfo.*.lineage.*.statement", "resourceLineage.*.statement"],
    tags: &["identificationInfo.*.descriptiveKeywords.*.keyword", "identificationInfo.*.topicCategory.*"],
    taxonomy: &["identificationInfo.*.descriptiveKeywords.*.keyword"],
    publisher: &[
        "identificationInfo.*.pointOfContact.*[role/CI_RoleCode/codeListValue=publisher].organisationName",
        "identificationInfo.*.citation.*.citedResponsibleParty.*.organisationName",
        "identificationInfo.*.citation.*.citedResponsibleParty.*.party.*.name",
        "identificationInfo.*.pointOfContact.*.organisationName",
        "identificationInfo.*.pointOfContact.*.party.*.name",
        "contact.*.organisationName",
    ],
    institutions: &[
        "identificationInfo.*.pointOfContact.*.organisationName",
        "identificationInfo.*.pointOfContact.*.party.*.name",
        "contact.*.organisationName",
    ],
    licence: &[
        "identificationInfo.*.resourceConstraints.MD_LegalConstraints.otherConstraints",
        "identificationInfo.*.resourceConstraints.*.useLimitation",
    ],
    identifiers: &["identificationInfo.*.citation.*.identifier.*.code", "dataSetURI", "fileIdentifier"],
    address: &["distributionInfo.*.transferOptions.*.onLine.*.linkage", "dataSetURI"],
    issued: &[
        "identificationInfo.*.citation.*.date.*[dateType/CI_DateTypeCode/codeListValue=publication].date",
        "identificationInfo.*.citation.*.date.*[dateType/CI_DateTypeCode/codeListValue=creation].date",
    ],
    modified: &["identificationInfo.*.citation.*.date.*[dateType/CI_DateTypeCode/codeListValue=revision].date"],
    version: &["identificationInfo.*.citation.*.edition"],
    spatial: &[
        "identificationInfo.*.extent.*.geographicElement.EX_GeographicDescription.geographicIdentifier.*.code",
        "identificationInfo.*.extent.*.description",
        "identificationInfo.*.descriptiveKeywords.*[type/MD_KeywordTypeCode/codeListValue=place].keyword",
    ],
    start: &[
        "identificationInfo.*.extent.*.temporalElement.*.extent.*.beginPosition",
        "identificationInfo.*.extent.*.temporalElement.*.extent.*.begin.*.timePosition",
    ],
    end: &[
        "identificationInfo.*.extent.*.temporalElement.*.extent.*.endPosition",
        "identificationInfo.*.extent.*.temporalElement.*.extent.*.end.*.timePosition",
    ],
    related: &[
        "identificationInfo.*.aggregationInfo.*.aggregateDataSetName.*",
        "identificationInfo.*.associatedResource.*.name.*",
    ],
    files: &["distributionInfo.*.transferOptions.*.onLine.*"],
    formats: &["distributionInfo.*.distributionFormat.*.name", "identificationInfo.*.resourceFormat.*.name"],
    facets: &[
        ("frequency", &["identificationInfo.*.resourceMaintenance.*.maintenanceAndUpdateFrequency.*.codeListValue"]),
        ("status", &["identificationInfo.*.status.*.codeListValue"]),
        ("type", &["hierarchyLevel.*.codeListValue", "metadataScope.*.resourceScope.*.codeListValue"]),
    ],
    about_record: &[
        "language",
        "characterSet",
        "dateStamp",
        "dateInfo",
        "metadataStandardName",
        "metadataStandardVersion",
        "defaultLocale",
        "referenceSystemInfo",
        "spatialRepresentationInfo",
        "hierarchyLevelName",
        "metadataStandard",
        "metadataProfile",
        "id",
        "uuid",
        "locale",
    ],
    ..NOTHING
};

/// The form of Science Data Bank (scidb.cn): its search and its details.
pub(super) const SCIENCE_DB: Mapping = Mapping {
    standard: Standard::ScienceDb,
    id: &["dataSetId", "id", "doi", "cstr"],
    title: &["titleEn", "title", "titleZh"],
    description: &["introductionEn", "introduction", "descriptionEn", "description", "introductionZh"],
    method: &["methodEn", "method", "methodZh"],
    tags: &["keywordEn", "keyword", "keywordZh"],
    taxonomy: &["taxonomy", "taxonomyEn"],
    publisher: &["publisher"],
    institutions: &["author.organizations", "organizations", "organization"],
    licence: &["copyRight.name", "copyRight.code", "copyRight"],
    identifiers: &["doi", "cstr", "pid"],
    address: &["url"],
    issued: &["dataSetPublishDate", "publishDate"],
    modified: &["dataSetUpdateDate", "updateTime", "update_time"],
    version: &["version"],
    spatial: &["spatial", "region", "location"],
    period: &["temporal", "timeRange"],
    related: &["papers", "references", "relatedPapers", "referenceLink"],
    files: &["files", "fileList"],
    sizes: &["size"],
    formats: &["fileType"],
    facets: &[
        ("creator", &["author.nameEn", "author.nameZh"]),
        ("funder", &["funding.funding_nameEn", "funding.nameEn"]),
        ("category", &["categoryLabels"]),
        ("journal", &["journalNameEn"]),
        ("language", &["language"]),
        ("type", &["dataSetType"]),
    ],
    about_record: &[
        "download",
        "visit",
        "count",
        "shareStatus",
        "dataSetStatus",
        "status",
        "create_time",
        "createTime",
        "dataSetCreateDate",
        "correspondent",
        "doiStatus",
        "fileStatus",
        "privateState",
        "explain",
        "explainEn",
    ],
    ..NOTHING
};

/// What CKAN has beside the fields of [`super::ckan`].
pub(super) const CKAN_BESIDE: Mapping = Mapping {
    taxonomy: &["taxonomy"],
    institutions: &["organization"],
    identifiers: &["doi", "identifier", "cstr", "handle", "uri"],
    method: &["methodology", "method"],
    version: &["version"],
    related: &["related_works", "related_papers", "papers", "is_supplement_to"],
    files: &["resources"],
    ..NOTHING
};

/// What DCAT has beside the fields of [`super::dcat`].
pub(super) const DCAT_BESIDE: Mapping = Mapping {
    taxonomy: &["taxonomy"],
    institutions: &["creator", "organization"],
    identifiers: &["identifier", "otherIdentifier", "@id"],
    method: &["methodology", "provenance"],
    version: &["versionInfo", "hasVersion", "version"],
    related: &["isReferencedBy", "relatedWork", "relation", "references"],
    files: &["distribution"],
    ..NOTHING
};

/// What schema.org has beside the fields of [`super::schema_org`].
pub(super) const SCHEMA_ORG_BESIDE: Mapping = Mapping {
    taxonomy: &["about"],
    institutions: &["creator.affiliation", "author.affiliation", "sourceOrganization"],
    identifiers: &["identifier", "sameAs", "@id", "url"],
    method: &["measurementTechnique", "measurementMethod"],
    version: &["version", "softwareVersion"],
    related: &["citation", "isBasedOn", "subjectOf"],
    files: &["distribution"],
    facets: &[("creator", &["creator.name", "author.name"])],
    ..NOTHING
};
