"""CSV of one's own, exports of Scopus and Web of Science, RIS and BibTeX."""

import sys

import pytest

from tests.society.ecosystem.importers.foreign_files import balanced, put
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers import cleaning
from virsci_society.society.ecosystem.importers.records import RawAuthor
from virsci_society.society.ecosystem.importers.source import open_source


def read(tmp_path, kind, text, name, **options):
    source = open_source(kind, put(tmp_path, {name: text}), **options)
    records = list(source)
    assert balanced(source.report)
    return records, source.report


OWN = (
    "Paper,Authors,When,Words\n"
    '"Maps, and trees","Ada Bell; Ben Cole",2001,"We draw\nmaps."\n'
    "Graphs,Ada Bell,2003.0,\n"
)
COLUMNS = "title=Paper,year=When,abstract=Words"


def test_a_table_of_ones_own_is_read_by_its_columns(tmp_path):
    records, _ = read(tmp_path, "csv", OWN, "p.csv", columns=COLUMNS)
    maps, graphs = records
    assert (maps.title, maps.year, maps.abstract) == ("Maps, and trees", 2001, "We draw maps.")
    assert [author.id for author in maps.authors] == ["name:ada bell", "name:ben cole"]
    assert (graphs.id, graphs.year, graphs.abstract) == ("p.csv:4", 2003, "")


def test_delimiters_encodings_and_marks_of_spreadsheets_are_read(tmp_path):
    expected, _ = read(tmp_path / "0", "csv", OWN, "p.csv", columns=COLUMNS)
    tabs = OWN.replace("Paper,Authors,When,Words", "Paper\tAuthors\tWhen\tWords")
    tabs = tabs.replace('",', '"\t').replace(',"', '\t"').replace("2001,", "2001\t")
    tabs = tabs.replace("Graphs,Ada Bell,2003.0,", "Graphs\tAda Bell\t2003.0\t")
    ways = {
        "bom": OWN.encode("utf-8-sig"),
        "utf-16": OWN.encode("utf-16"),
        "utf-16 without mark": OWN.encode("utf-16-le"),
        "crlf": OWN.replace("\n", "\r\n").encode(),
        "tabs": tabs.encode(),
    }
    for name, data in ways.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "p.csv").write_bytes(data)
        assert list(open_source("csv", tmp_path / name, columns=COLUMNS)) == expected, name


def test_an_export_of_scopus_is_read_without_columns(tmp_path):
    text = (
        '"Authors","Author full names","Author(s) ID","Title","Year","Source title","Cited by",'
        '"Abstract","Author Keywords","References","EID"\n'
        '"Bell A.; Cole B.","Bell, Ada (57001000001); Cole, Ben (57001000002)",'
        '"57001000001; 57001000002","Maps","2001","VIS","7","[No abstract available]",'
        '"maps; ties","Cole B., Trees (1999); Li C., Graphs","2-s2.0-1"\n'
    )
    ((paper,), report) = read(tmp_path, "csv", text, "scopus.csv")
    assert paper.authors == (
        RawAuthor("57001000001", "Bell, Ada"),
        RawAuthor("57001000002", "Cole, Ben"),
    )
    assert (paper.id, paper.citations, paper.keywords) == ("2-s2.0-1", 7, ("maps", "ties"))
    # Written references are no ids: they are unknown, not references to unknown papers.
    assert paper.references == ()
    assert report.changed == {cleaning.NO_ABSTRACT: 1}
    older = text.replace('"Author full names",', "").replace(
        '"Bell, Ada (57001000001); Cole, Ben (57001000002)",', ""
    )
    ((paper,), _) = read(
        tmp_path, "csv", older.replace("Bell A.; Cole B.", "Bell A., Cole B."), "scopus.csv"
    )
    assert [author.id for author in paper.authors] == ["57001000001", "57001000002"]


def test_exports_of_web_of_science_are_read_by_header_or_tags(tmp_path):
    header = (
        "Authors\tAuthor Full Names\tArticle Title\tSource Title\tAuthor Keywords\tAbstract\t"
        "Publication Year\tTimes Cited, All Databases\tUT (Unique WOS ID)\n"
        "Bell, A; Cole, B\tBell, Ada; Cole, Ben\tMaps\tVIS\tmaps; ties\tWe draw.\t2001\t7\tWOS:1\n"
    )
    tags = "AU\tAF\tTI\tSO\tDE\tAB\tPY\tZ9\tUT\t\n" + header.splitlines()[1] + "\t\n"
    one, _ = read(tmp_path, "csv", header, "savedrecs.csv")
    two, _ = read(tmp_path, "csv", tags, "savedrecs.csv", columns="wos")
    assert one == two
    assert (one[0].id, one[0].citations, one[0].venue) == ("WOS:1", 7, "VIS")
    assert [author.name for author in one[0].authors] == ["Bell, Ada", "Cole, Ben"]


def test_exports_of_dimensions_and_openalex_are_read(tmp_path):
    dimensions = (
        '"About the data: Exported on May 11, 2024.",,,,,\n'
        "Rank,Publication ID,Title,Abstract,PubYear,Authors\n"
        '1,pub.1,Maps,We draw.,2001,"Bell, Ada; Cole, Ben"\n'
    )
    openalex = (
        '"id","abstract","authorships.author.display_name","authorships.author.id",'
        '"display_name","publication_year"\n'
        '"W1","We draw.","Ada Bell|Ben Cole","A1|A2","Maps",2001\n'
    )
    ((one,), _) = read(tmp_path / "d", "csv", dimensions, "p.csv")
    assert (one.id, one.year, len(one.authors)) == ("pub.1", 2001, 2)
    ((two,), _) = read(tmp_path / "o", "csv", openalex, "p.csv")
    assert two.authors == (RawAuthor("A1", "Ada Bell"), RawAuthor("A2", "Ben Cole"))


def test_rows_that_scopus_has_shifted_are_refused(tmp_path):
    text = "Title,Year,Funding Text 1,EID\nMaps,2001,one,two,2-s2.0-1\n"
    with pytest.raises(InputError, match="without funding details"):
        read(tmp_path, "csv", text, "p.csv")


WRONG = {
    "title=Papr,year=When": r"has no column 'Papr'; did you mean 'Paper'\?; it has Paper, Authors",
    "year=When": "no column for title; it has Paper, Authors, When, Words; name them: --columns",
    "titel=Paper": "expected scopus, wos, or pairs such as .*did you mean 'title'",
    "Paper": "expected scopus",
    "separator=blank": "separator is one of semicolon, comma, pipe, and",
}


@pytest.mark.parametrize("columns", WRONG)
def test_columns_that_are_not_there_are_named(columns, tmp_path):
    with pytest.raises(InputError, match=WRONG[columns]):
        read(tmp_path, "csv", OWN, "p.csv", columns=columns)


def test_authors_that_are_separated_by_something_else_are_an_error_not_one_person(tmp_path):
    text = "title,year,authors\nMaps,2001,Ada Bell and Ben Cole\nTies,2002,Cai Li and Ada Bell\n"
    with pytest.raises(InputError, match=r"separated by ';'.*--columns separator="):
        read(tmp_path, "csv", text, "p.csv")
    records, _ = read(tmp_path, "csv", text, "p.csv", columns="separator=and")
    assert [len(paper.authors) for paper in records] == [2, 2]


@pytest.mark.parametrize(
    "written",
    [
        *("\"['Ada Bell', 'Ben Cole']\"", '"[""Ada Bell"", ""Ben Cole""]"', "Ada Bell；Ben Cole"),
        *(
            "\"[{'name': 'Ada Bell'}, {'name': 'Ben Cole'}]\"",
            '"Ada Bell\nBen Cole"',
            "Ada Bell*;Ben Cole†",
        ),
    ],
)
@pytest.mark.parametrize("date", ["17.05.2001", "05/17/2001", '"May 17, 2001"', "c2001", "[2001]"])
def test_lists_of_other_programs_and_dates_are_read(written, date, tmp_path):
    text = f'Title,"Publication\nyear",Authors\nMaps,{date},{written}\nTies,in press,Cai Li\n'
    ((paper,), report) = read(tmp_path, "csv", text, "p.csv")
    assert (paper.year, [author.name for author in paper.authors]) == (
        2001,
        ["Ada Bell", "Ben Cole"],
    )
    assert report.passed == {"no year": 1}


def test_ids_are_separated_as_the_names_are(tmp_path):
    text = "title,year,authors,author_ids\nMaps,2001,Ada Bell|Ben Cole,A1|A2\n"
    ((paper,), _) = read(tmp_path, "csv", text, "p.csv", columns="separator=pipe")
    assert paper.authors == (RawAuthor("A1", "Ada Bell"), RawAuthor("A2", "Ben Cole"))


def test_a_row_of_another_width_and_another_encoding_are_told(tmp_path):
    records, report = read(
        tmp_path, "csv", OWN + "a,b\n", "p.csv", columns=COLUMNS, malformed_share=0.5
    )
    assert len(records) == 2
    assert report.shown == ["p.csv:line 5: 2 fields, and 4 columns in the header"]
    (tmp_path / "p.csv").write_bytes(OWN.replace("Ada", "Zo\u00eb").encode("cp1252"))
    with pytest.raises(InputError, match=r"not UTF-8; .*iconv"):
        list(open_source("csv", tmp_path, columns=COLUMNS))


RIS = """\
TY  - JOUR
AU  - Bell, Ada
AU  - Cole, Ben
TI  - Maps of science
PY  - 2001///
JO  - VIS
AB  - We draw
maps.
KW  - maps
DO  - 10.1/x
ER  -

TY  - CONF
A1  - Li, Cai
T1  - Graphs
Y1  - 2003/05/01
N2  - No abstract available
ER  -
TY  - JOUR
TI  - Not ended
PY  - 2004
"""


def test_ris_is_read_record_by_record(tmp_path):
    pytest.importorskip("rispy")
    (maps, graphs, last), report = read(tmp_path, "ris", RIS, "p.ris")
    assert (maps.id, maps.title, maps.year) == ("10.1/x", "Maps of science", 2001)
    assert (maps.venue, maps.keywords) == ("VIS", ("maps",))
    assert maps.abstract == "We draw maps."
    assert [author.name for author in maps.authors] == ["Ada Bell", "Ben Cole"]
    assert (graphs.title, graphs.year, graphs.abstract) == ("Graphs", 2003, "")
    assert [author.name for author in graphs.authors] == ["Cai Li"]
    assert last.title == "Not ended"
    assert report.changed == {cleaning.NO_ABSTRACT: 1}


@pytest.mark.parametrize(
    ("lines", "people"),
    [
        ("Bell,\n  Ada", ["Ada Bell"]),
        ("Bell, Ada\r\nMay\r", ["Ada May Bell"]),
        ("Bell,  \n\tAda\nA1  - Plato", ["Plato", "Ada Bell"]),
        ("Bell, Ada\n      Cole, Ben", ["Ada Bell", "Ben Cole"]),
        ("Bell, Ada\n", ["Ada Bell"]),
        ("Bell,", ["Bell"]),
    ],
)
def test_a_name_in_ris_goes_on_in_a_second_line(tmp_path, lines, people):
    pytest.importorskip("rispy")
    text = RIS.replace("Bell, Ada\nAU  - Cole, Ben", lines)
    records, _ = read(tmp_path, "ris", text, "p.ris")
    assert [author.name for author in records[0].authors] == people


def test_what_databases_write_around_references_is_no_part_of_them(tmp_path):
    pytest.importorskip("rispy")
    ovid = RIS.replace("TY  - CONF", "2.\nTY  - CONF").replace("TY  - JOUR\nTI", "\rTY  - JOUR\nTI")
    ovid = f"1.\n{ovid}ER  -\nNL  - J Maps\n\nLink to the full text: https://x.org\n"
    assert [one.title for one in read(tmp_path / "b", "ris", ovid, "p.ris")[0]] == [
        one.title for one in read(tmp_path / "a", "ris", RIS, "p.ris")[0]
    ]


BIBTEX = r"""
@string{vis = "IEEE VIS"}
@article{bell01, title = {{Maps} of {\'e}lite $k$-science: {A, B}}, year = 2001,
  author = {Bell, Ada and {The Group and Co} and M{\"u}ller, J{\"o}rg and others},
  journal = vis, keywords = {maps; ties}, abstract = {We draw.}}
@inproceedings{li03, title = "Graphs", author = "Cai Li", date = {2003-05-01}, booktitle = {KDD}}
@article{li03, title = "graphs", author = "Cai Li", year = 2003}
@article{li03, title = "Another paper", author = "Cai Li", year = 2003}
@article{broken, title = {never closed
@comment{nothing}
"""


def test_bibtex_is_read_with_its_latex(tmp_path):
    pytest.importorskip("bibtexparser")
    records, report = read(tmp_path, "bibtex", BIBTEX, "p.bib", malformed_share=0.5)
    maps, graphs, another = records
    assert (graphs.id, another.id, another.title) == ("li03", "li03:8", "Another paper")
    assert (maps.id, maps.title) == ("bell01", "Maps of élite k-science: A, B")
    assert (maps.year, maps.venue, maps.keywords) == (2001, "IEEE VIS", ("maps", "ties"))
    names = [author.name for author in maps.authors]
    assert names == ["Ada Bell", "The Group and Co", "Jörg Müller"]
    assert (graphs.year, graphs.venue) == (2003, "KDD")
    assert report.changed == {cleaning.CUT_AUTHORS: 1}
    assert (report.passed, report.malformed) == ({"duplicate id": 1}, 1)


PEOPLE = {
    "Bell, Ada AND Cole, Jr., Ben": ["Ada Bell", "Ben Cole Jr."],
    "Bell, Ada; Cole, Ben": ["Ada Bell", "Ben Cole"],
    "{Bell, Cole and Sons, Inc.}": ["Bell, Cole and Sons, Inc."],
    "Ada Bell, Ben Cole, Cai Li": None,
    "Ada Bell \\& Ben Cole": None,
}


@pytest.mark.parametrize("written", PEOPLE)
def test_people_of_a_reference_are_read_or_refused_and_never_one(written, tmp_path):
    good = "@misc{g, title={Ties}, year=2000}\n"
    text = f"{good}@misc{{a, title={{Maps}}, year=2001, author={{{written}}}}}\n"
    records, report = read(tmp_path, "bibtex", text, "p.bib", malformed_share=0.5)
    named = [[author.name for author in paper.authors] for paper in records[1:]]
    assert named == ([PEOPLE[written]] if PEOPLE[written] else [])
    assert report.malformed == (PEOPLE[written] is None)


def test_references_without_an_end_a_comma_or_utf_8_are_told_apart(tmp_path):
    text = "TY  - JOUR\nTI  - Maps\nAU  - Bell, A.\nPY  - 2001\n" * 2
    records, _ = read(tmp_path, "ris", text.replace("Maps", "Ties", 1), "p.ris")
    assert [(paper.title, len(paper.authors)) for paper in records] == [("Ties", 1), ("Maps", 1)]
    narrow = read(tmp_path, "ris", text.replace("  - ", " - ") + "ER -\n", "p.ris")[0]
    assert [paper.title for paper in narrow] == ["Maps"] * 2
    lost = "@misc{a, title={Maps} author={A Bell}, year=2001}\n"
    with pytest.raises(InputError, match="comma is missing before author"):
        read(tmp_path, "bibtex", lost, "p.bib")
    (tmp_path / "p.bib").write_bytes(lost.replace("Bell", "Zo\u00eb").encode("cp1252"))
    with pytest.raises(InputError, match=r"not UTF-8; .*iconv"):
        list(open_source("bibtex", tmp_path / "p.bib"))


@pytest.mark.parametrize(
    ("kind", "name", "package"), [("ris", "p.ris", "rispy"), ("bibtex", "p.bib", "bibtexparser")]
)
def test_the_missing_extra_is_named(kind, name, package, tmp_path, monkeypatch):
    monkeypatch.setattr(
        sys.modules["virsci_society.agents.lazy_imports"], "find_spec", lambda _: None
    )
    with pytest.raises(InputError, match=rf"{package}: .*\[bibliography\]"):
        read(tmp_path, kind, RIS, name)
