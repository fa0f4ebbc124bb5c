"""The cleaning rules: each by name, with its count and an example, whatever the importer."""

import gzip
import json

import pytest

from tests.society.ecosystem.importers.foreign_files import lines, openalex_work, put
from virsci_society.agents.errors import InputError
from virsci_society.society.ecosystem.importers import cleaning
from virsci_society.society.ecosystem.importers.cleaning import plain, without_rights
from virsci_society.society.ecosystem.importers.source import open_source

GOOD = {"id": "good", "title": "Maps", "year": 2001, "authors": [{"id": "a", "name": "Ada Bell"}]}


def read(tmp_path, rows, **options):
    """The records of rows beside a good one, and their report."""
    rows = [GOOD, *({**GOOD, "id": f"p{at}", **row} for at, row in enumerate(rows))]
    source = open_source("jsonl", put(tmp_path, {"p.jsonl": lines(rows)}), **options)
    return list(source)[1:], source.report


def authors(*names):
    return {"authors": [{"name": name} for name in names]}


MANY = authors(*(f"Person {number}" for number in range(101)))
CASES = {
    # rule -> a row, and what of its record is expected
    cleaning.MARKUP: ({"title": "<i>Maps</i> &amp; ties"}, {"title": "Maps & ties"}),
    cleaning.COPYRIGHT: ({"abstract": "© 2015 IEEE. We draw."}, {"abstract": "We draw."}),
    cleaning.NO_ABSTRACT: ({"abstract": "[No abstract available]"}, {"abstract": ""}),
    cleaning.NO_TEXT: ({"venue": "N/A"}, {"venue": ""}),
    cleaning.NO_AUTHOR: (authors("Anonymous"), {"authors": ()}),
    cleaning.NO_AUTHOR_ID: ({"authors": [{"id": "A9999999999", "name": ""}]}, {"authors": ()}),
    cleaning.CUT_AUTHORS: (authors("et al."), {"authors": ()}),
    cleaning.MANY_AUTHORS: (MANY, {"authors": ()}),
    cleaning.NO_TITLE: ({"title": "[Untitled]"}, None),
    cleaning.NO_YEAR: ({"year": 2999}, None),
}


def test_every_rule_has_a_case():
    assert list(CASES) == list(cleaning.RULES)


@pytest.mark.parametrize("rule", CASES)
def test_each_rule_is_applied_counted_and_shown(rule, tmp_path):
    row, expected = CASES[rule]
    records, report = read(tmp_path, [row])
    (shown,) = report.cleaning()
    assert shown["what"] == (rule if expected else f"paper left out: {rule}")
    assert shown["number"] == 1
    assert shown["example"].startswith("p.jsonl:line 2")
    if expected is None:
        assert (records, report.passed) == ([], {rule: 1})
    else:
        ((name, value),) = expected.items()
        assert getattr(records[0], name) == value
        assert report.changed == {rule: 1}


PLACEHOLDERS = {
    "abstract": [
        *("[Abstract not available]", "No abstract is available for this article.", "Abstract."),
        *("N/A", "The abstract of this paper is not available", "International audience", "-"),
        *("there is no abstract for this article", "暂无摘要", "Abstract unavailable", "NaN"),
        *(
            "<p>No abstract</p>",
            "© 2015 Elsevier B.V. All rights reserved.",
            "(c) 2012 Wiley, Inc.",
        ),
        *("Copyright © 2010 by the Institute of Physics", "© The Author(s) 2019."),
        *("Abstract: not available", "Full text available only in PDF", "Résumé non disponible"),
        *("Нет аннотации", "初録なし".replace("初", "抄"), "This publication has no abstract"),
        *("Please enable JavaScript to view this page", "Description not available", "Extract"),
    ],
    "title": [
        "Untitled",
        "No title",
        "Title not available",
        "n/a",
        "(title missing)",
        "null",
        "无题",
        "Document1",
    ],
    "authors": [
        *("N/A", "Unknown", "[Anonymous]", "Anonymous Author(s)", "Unknown Author 3", "佚名"),
        *("[No author name available]", "No authors listed", "The Editors", "Various", "-", "null"),
        *("null null", "Unknown, Unknown", "Anonymous, A.", "N.N.", "nan nan", "Author, Unknown"),
        *("Аноним", "作者不详", "Autor desconocido", "AA.VV.", "Staff Writer", "XXX"),
    ],
    "venue": ["Unknown", "-", "null", "not available"],
}
KEPT = {
    "abstract": [
        *("We find no abstract available in half of all records of the index.", "Abstract art."),
        *("Copyright law of 2015 and its critics.", "We study the unknown.", "Nothing."),
    ],
    "title": ["The unknown author", "Abstract", "Missing data", "No free lunch", "Null models"],
    "authors": ["Na Li", "Ann Other", "No", "Albert Al", "Anon Bell", "Null Island", "Nan Nan"],
    "venue": ["Unknown Journal of Maps"],
}


@pytest.mark.parametrize("field", PLACEHOLDERS)
def test_texts_that_say_nothing_are_removed_and_only_these(field, tmp_path):
    def values(texts):
        rows = [authors(text) if field == "authors" else {field: text} for text in texts]
        records, report = read(tmp_path, rows)
        assert report.malformed == 0
        return [getattr(record, field) for record in records]

    assert not any(values(PLACEHOLDERS[field]))
    kept = values(KEPT[field])
    assert len(kept) == len(KEPT[field])
    assert all(kept)


def test_placeholder_ids_give_way_to_the_name(tmp_path):
    rows = [
        {"authors": [{"id": id_, "name": "Ben Cole"}, {"id": id_, "name": "Cai Li"}]}
        for id_ in ("A9999999999", "-1", "null", "N/A")
    ]
    records, report = read(tmp_path, rows)
    for record in records:
        assert [author.id for author in record.authors] == ["name:ben cole", "name:cai li"]
    assert report.changed == {cleaning.NO_AUTHOR_ID: 8}
    assert (report.named, report.left_out) == (8, 0)


def test_placeholder_names_are_left_out_although_they_have_an_id(tmp_path):
    ((record,), report) = read(
        tmp_path, [{"authors": [{"id": "x1", "name": "Anonymous"}, {"id": "x2", "name": None}]}]
    )
    assert [author.id for author in record.authors] == ["x2"]
    assert report.changed == {cleaning.NO_AUTHOR: 1}


@pytest.mark.parametrize(
    "mark",
    [
        *(
            "et al.",
            "et al",
            "and others",
            "others",
            "...",
            "+ 12 more",
            "…",
            "+5",
            "и др.",
            "ほか",
        ),
        *("y otros", "& al", "and colleagues", "etc.", "et al (2009)"),
    ],
)
def test_a_mark_for_further_authors_is_no_author(mark, tmp_path):
    ((record,), report) = read(tmp_path, [authors("Ada Bell", mark)])
    assert [author.name for author in record.authors] == ["Ada Bell"]
    assert report.changed == {cleaning.CUT_AUTHORS: 1}


@pytest.mark.parametrize("mark", [", et al.", " [et al.]", " ...", ", +5 more", " и др.", " & al."])
def test_a_mark_behind_a_name_is_removed(mark, tmp_path):
    ((record,), report) = read(tmp_path, [authors("Ada Bell" + mark)])
    assert [author.name for author in record.authors] == ["Ada Bell"]
    assert report.changed == {cleaning.CUT_AUTHORS: 1}


def test_works_whose_authors_openalex_cut_off_are_counted(tmp_path):
    def signed(count):
        return [{"author": {"id": f"A{n + 1}", "display_name": f"P {n}"}} for n in range(count)]

    rows = [
        openalex_work(1, authorships=signed(100), is_authors_truncated=True),
        openalex_work(2, authorships=signed(100)),
        openalex_work(3, authorships=signed(100), is_authors_truncated=False),
        openalex_work(4, authorships=signed(99)),
    ]
    source = open_source("openalex", put(tmp_path, {"p.jsonl": lines(rows)}))
    assert [len(work.authors) for work in source] == [100, 100, 100, 99]
    assert source.report.changed == {cleaning.CUT_AUTHORS: 2}
    assert "2 papers have a list of authors that the source cut off" in source.unknown


def test_the_bound_on_authors_can_be_set(tmp_path):
    records, _ = read(tmp_path, [MANY], max_authors=101)
    assert len(records[0].authors) == 101
    records, report = read(tmp_path, [authors("Ada", "Ben", "Cai")], max_authors=2)
    assert records[0].authors == ()
    assert report.changed == {cleaning.MANY_AUTHORS: 1}


@pytest.mark.parametrize("year", [1000, 1, 1499, 2041, 2999, 9999])
def test_years_that_cannot_be_are_left_out(year, tmp_path):
    records, report = read(tmp_path, [{"year": year}])
    assert (records, report.passed) == ([], {cleaning.NO_YEAR: 1})


def test_a_record_that_is_left_out_counts_for_no_other_rule(tmp_path):
    row = {"title": "&lt;p&gt;", "abstract": "N/A", **authors("et al.")}
    _, report = read(tmp_path, [row, {"id": "good", "abstract": "N/A"}])
    assert report.changed == {}
    assert report.passed == {cleaning.NO_TITLE: 1, "duplicate id": 1}


PLAIN = {
    "Model of <mml:math><mml:mi>x</mml:mi></mml:math>": "Model of x",
    "<jats:title>Abstract</jats:title> <jats:p>H<jats:sub>2</jats:sub>O</jats:p>": "H2O",
    "<jats:sec><jats:title>Aims</jats:title><jats:p>Ties.</jats:p></jats:sec>": "Aims Ties.",
    "a<br/>b <a href='x'>c</a>": "a b c",
    "&lt;p&gt;Caf&eacute; &amp;amp; R&amp;D&lt;/p&gt;": "Café & R&D",
    "<math><annotation encoding='application/x-tex'>x_1</annotation>x</math>": "x",
    "x<!-- not shown --> y<script>alert(1)</script>": "x y",
    r"{BERT} for $k$-means by M{\"u}ller and G\"odel": "BERT for k-means by Müller and Gödel",
    r"\emph{Deep} \textbf{nets \emph{in}} $O(n^2)$ \cite{x}": "Deep nets in O(n^2)",
    r"On $\alpha$-stable $\mathcal{L}_1$ sets, 5\%": "On alpha-stable L_1 sets, 5%",
    r"a $\frac{1}{2}$ spin": "a 1/2 spin",
    "RÃ©seaux dâ€™affaires": "Réseaux d’affaires",
    r"\u00e9cole\n Ties": "école Ties",
    r"\ud83d\ude00 Ties\u0000 of \ud83d": "😀 Ties of ?",
    r"Erd\H{o}s, \c{c}, {\'e}cole, na\"{\i}ve, Stra{\ss}e": "Erdős, ç, école, naïve, Straße",
}
UNTOUCHED = [
    *("p < 0.05 and q > 1", "a<b and c>d", "List<T> in Java", "AT&T", "R&D; Q&A", "if x<y"),
    *("costs $5 and $10", "sets {x, y}", r"the path C:\temp\new", "5 > 3", "<5 years>", "a & b;"),
]


@pytest.mark.parametrize("written", PLAIN)
def test_markup_and_entities_are_removed(written):
    assert plain(written) == PLAIN[written]


@pytest.mark.parametrize("written", UNTOUCHED)
def test_what_only_looks_like_markup_stays(written):
    assert plain(written) == written


@pytest.mark.parametrize(
    "mark", ["<", "<a ", "&", "\\", "$", "{", "<!--", "\\emph{", "\\cite[", "$x", '<a b="']
)
def test_hostile_markup_costs_little(mark):
    assert isinstance(plain(mark * 20_000), str)


@pytest.mark.parametrize("text", ["-" * 90_000 + "a", "& " * 40_000 + "a", "2015" * 20_000])
def test_hostile_texts_of_every_field_cost_little(text, tmp_path):
    rows = [{"abstract": f"© 2015 {text}", "venue": text, "keywords": [text], **authors(text)}]
    assert len(read(tmp_path, rows)[0]) == 1


def test_copyright_lines_at_both_ends_are_removed():
    assert without_rights("We draw. © 2015 The Authors. Published by Elsevier Ltd.") == "We draw."
    line = "© 2015 Elsevier B.V. All rights reserved. Published by Elsevier Inc."
    assert without_rights(f"{line} We draw © maps.") == "We draw © maps."
    assert without_rights("We copyright 2015 things.") == "We copyright 2015 things."


@pytest.mark.parametrize(
    "people",
    [
        *("Ada Bell|Ben Cole", "Ada Bell\nBen Cole", "Ada Bell；Ben Cole", "Ada Bell、Ben Cole"),
        [{"given": "Ada", "family": "Bell"}, {"firstName": "Ben", "lastName": "Cole"}],
        [{"author": {"display_name": "Ada Bell"}}, {"literal": "Ben Cole"}],
    ],
)
def test_people_are_told_apart_however_they_are_written(people, tmp_path):
    ((record,), _) = read(tmp_path, [{"authors": people}])
    assert [author.name for author in record.authors] == ["Ada Bell", "Ben Cole"]
    with pytest.raises(InputError, match="semicolons between people"):
        read(tmp_path, [{"authors": "Ada Bell / Ben Cole"}], malformed_share=0.1)


OTHERS = {
    b"\xff\xfe\0\0{\0\0\0": "UTF-32",
    b"ARROW1\0\0" + b"x" * 9: "no text file",
    b"version https://git-lfs.github.com/spec/v1\n": "git lfs pull",
    b"INSERT INTO papers VALUES (1, 'x');\n": "is SQL",
    gzip.compress(gzip.compress(b"{}", mtime=0), mtime=0): "packed twice",
}


@pytest.mark.parametrize("content", OTHERS)
def test_other_files_are_named(content, tmp_path):
    (tmp_path / "p.jsonl").write_bytes(content)
    with pytest.raises(InputError, match=OTHERS[content]):
        list(open_source("jsonl", tmp_path / "p.jsonl"))


def test_an_error_that_was_saved_is_named_however_small_its_share(tmp_path):
    good = [{**GOOD, "id": f"p{number}"} for number in range(500)]
    pages = {
        "json": json.dumps({"error": "Rate limit exceeded", "message": "slow down"}),
        "nested": json.dumps({"error": {"code": 429}}),
        "html": "<!DOCTYPE html>\n<html><body>502</body></html>\n",
        "text": "upstream connect error\n",
    }
    for name, page in pages.items():
        source = open_source("jsonl", put(tmp_path / name, {"1.json": lines(good), "2.json": page}))
        with pytest.raises(InputError, match=r"2\.json: "):
            list(source)
