import virsci_society as vs


class OurExport(vs.JsonSource):
    """Papers as our library exports them, one JSON object a line."""

    kind = "ours"

    def _paper(self, row):
        names = self.fields.parse_texts(row.get("by"), "by")
        return vs.RawRecord(
            id=self.fields.require_id(row.get("key")),
            title=self.fields.require_title(row.get("name")),
            abstract=self.fields.parse_text(row.get("summary"), "summary"),
            year=self.fields.parse_year(row.get("published")),
            authors=tuple(vs.RawAuthor(f"name:{name.casefold()}", name) for name in names),
        )
