from virsci_society import JsonSource, RawAuthor, RawRecord
from virsci_society.society.ecosystem.importers import fields


class OurExport(JsonSource):
    """Papers as our library exports them, one JSON object a line."""

    kind = "ours"
    source_name = "the export of our library"

    def _paper(self, row):
        names = fields.parse_texts(row.get("by"), "by")
        return RawRecord(
            id=fields.require_id(row.get("key")),
            title=fields.require_title(row.get("name")),
            abstract=fields.parse_text(row.get("summary"), "summary"),
            year=fields.parse_year(row.get("published")),
            authors=tuple(RawAuthor(f"name:{name.casefold()}", name) for name in names),
        )
