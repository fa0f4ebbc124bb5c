"""Small files in every foreign format, written by hand, two or three good papers in each."""

import gzip
import json

AMINER_PAPER = """\
#index 11
#* Maps of science
#@ Ada Lovelace;Ben Bell
#o Here Univ.;-
#t 2001
#c VIS
#! We draw maps.
They run over lines.

#index 12
#* Trees
#@ Ada Lovelace
#o Here Univ., Town
#t 2003
#c
#% 11
#% 99

#index 13
#* Graphs
#@ Cai Li;Ada Lovelace;Ben Bell
#o A;B
#t 2005
#c VIS
#% 11
#% 12
#% 11
#! Short.
"""
AMINER_RELATIONS = "1\t501\t11\t1\n2\t502\t11\t2\n3\t501\t12\t1\n4\t501\t13\t2\n5\t503\t13\t1\n"
AMINER_AUTHORS = (
    "#index 501\n#n Ada Lovelace\n#a \n#pc 3\n#cn 9\n#hi 2\n#pi 1.0\n#upi 0.5\n#t maps\n"
)
AMINER_PAIRS = "#501\t502\t2\n#501 503 1\n"

JSONL = [
    {
        "id": "p1",
        "title": "Maps of science",
        "abstract": "We draw maps.",
        "year": 2001,
        "authors": [{"id": "ada", "name": "Ada Lovelace", "org": "Here"}, {"name": "Ben Bell"}],
        "n_citation": 3,
        "references": [],
        "venue": "Vis",
        "keywords": ["maps", "science"],
    },
    {"id": "p2", "title": "Trees", "year": 2003, "references": ["p1", "x"], "n_citation": None},
    {"id": "p3", "title": "Graphs", "year": "2005", "references": ["p1", "p2"], "authors": None},
]

OAG3 = [
    {
        "id": "53e99784b7602d9701f3e131",
        "title": "Maps of science",
        "abstract": "We draw maps.",
        "keywords": ["maps"],
        "year": 2001,
        "authors": [
            {"id": "54488", "name": "Ada Lovelace", "org": "Here", "org_id": ""},
            {"id": "", "name": "Ben  BELL", "org": None, "org_id": ""},
        ],
        "references": [],
        "doi": "",
        "venue": "Vis",
        "venue_id": "5eba",
        "n_citation": "",
    },
    {"id": "b2", "title": "Trees", "year": 2003, "references": ["53e99784b7602d9701f3e131"]},
    {"id": "b3", "title": "Graphs", "year": "2005", "n_citation": 4, "doc_type": "Conference"},
    {"id": "", "title": "Nameless", "year": 2005},
    {"id": "b4", "title": "Undated", "year": ""},
    {"id": "b5", "title": "A patent", "year": 2004, "doc_type": "Patent"},
]
INDEX = {"IndexLength": 4, "InvertedIndex": {"maps": [2, 3], "We": [0], "draw": [1]}}
OAG2 = [
    {
        "id": 2507145174,
        "title": "Maps of science",
        "authors": [{"name": "Ada Lovelace", "id": 2277886111, "org": "Here.\r", "org_id": 1}],
        "venue": {"name": "Vis", "id": 162030435},
        "year": 2001,
        "n_citation": 13,
        "doc_type": "Journal",
        "references": [1976962550, 1982791788],
        "indexed_abstract": json.dumps(INDEX),
        "fos": [{"name": "cartography", "w": 0.4}, {"name": "science", "w": 0.0}],
    },
    {"id": 7, "title": "Trees", "year": 2003, "references": [2507145174]},
    {"id": 8, "title": "Graphs", "year": 2005, "fos": ["graphs"], "venue": "Vis"},
]

DBLP10 = [
    {
        "id": "00127ee2-cb05-48ce-bc49-9de556b93346",
        "title": "Maps of science",
        "abstract": "We draw maps.",
        "authors": ["Ada Lovelace", "Ben Bell", "ben  bell"],
        "n_citation": 0,
        "references": ["51c7e02e-f5ed-431a-8cf5-f761f266d4be"],
        "venue": "vis",
        "year": 2001,
    },
    {"id": "b", "title": "Trees", "authors": ["Ada Lovelace"], "year": 2003, "n_citation": 50},
]
DBLP12 = [
    {
        "id": 1091,
        "authors": [{"name": "Ada Lovelace", "org": "Here", "id": 2312688602}],
        "title": "Maps of science",
        "year": 2001,
        "n_citation": 2,
        "page_start": "89",
        "doc_type": "Conference",
        "references": [2005687710, 2018037215],
        "indexed_abstract": INDEX,
        "fos": [{"name": "Cartography", "w": 0.4}],
        "venue": {"raw": "Vis", "id": 1, "type": "C"},
    },
    {"id": 1388, "title": "Trees", "year": 2003, "authors": [{"name": "Ben", "id": 5}]},
    {"id": 1674, "title": "Graphs", "year": 2005, "references": [1091]},
]


def openalex_work(number, **fields):
    """A whole work; its author is A7."""
    return {
        "id": f"https://openalex.org/W{number}",
        "title": f"Work {number}",
        "publication_year": 2001,
        "type": "article",
        "abstract_inverted_index": {"maps": [2, 3], "We": [0], "draw": [1]},
        "authorships": [
            {
                "author_position": "first",
                "author": {"id": "https://openalex.org/A7", "display_name": "Ada", "orcid": None},
                "institutions": [{"id": "https://openalex.org/I1", "display_name": "Here"}],
                "raw_affiliation_strings": ["Here, Town"],
            }
        ],
        "referenced_works": ["https://openalex.org/W1", "https://openalex.org/W99"],
        "cited_by_count": 5,
        "counts_by_year": [
            {"year": 2012, "cited_by_count": 3},
            {"year": 2010, "cited_by_count": 1},
        ],
        "primary_location": {"source": {"id": "https://openalex.org/S1", "display_name": "Vis"}},
        "keywords": [{"id": "k", "display_name": "Maps", "score": 0.5}],
        "is_retracted": False,
        "is_paratext": False,
    } | fields


OPENALEX = [openalex_work(number) for number in (1, 2, 3)]

VIRSCI = [
    "{'id': ('p1',), 'title': 'Maps of science', 'authors': ['Ada Lovelace', 'Ben Bell'],"
    " 'affiliations': ['Here', '-'], 'year': ('2001',), 'publication_venue': 'Vis',"
    " 'paper_references': [], 'abstract': 'We draw maps.', 'citation': 3}",
    "{'id': 'p2', 'title': ('Trees',), 'authors': 'Ada Lovelace;Cai Li', 'affiliations': None,"
    " 'year': 2003, 'publication_venue': None, 'paper_references': 'p1;x', 'abstract': None}",
    '{"id": 3, "title": "Graphs", "authors": [], "year": 2005, "paper_references": ["p1", "p2"]}',
]
PROFILE = "Your name is Scientist0, you belong to following affiliations ['Here'], ..."


def lines(rows):
    """Rows as JSON lines."""
    return "".join(json.dumps(row) + "\n" for row in rows)


def array_of_lines(rows):
    """Rows as one JSON list with an object on each line, as DBLP v12 is written."""
    return "[\n" + "\n,".join(json.dumps(row) for row in rows) + "\n]\n"


FILES = {
    "aminer": {
        "AMiner-Paper.txt": AMINER_PAPER,
        "AMiner-Author2Paper.txt": AMINER_RELATIONS,
        "AMiner-Author.txt": AMINER_AUTHORS,
        "AMiner-Coauthor.txt": AMINER_PAIRS,
    },
    "jsonl": {"papers.jsonl": lines(JSONL)},
    "oag3": {"v3.1_oag_publication_1.json": lines(OAG3)},
    "oag2": {"mag_papers_0.txt": lines(OAG2)},
    "dblp10": {"dblp-ref-0.json": lines(DBLP10)},
    "dblp12": {"dblp.v12.json": array_of_lines(DBLP12)},
    "openalex": {"works/updated_date=2023-05-16/part_000.gz": lines(OPENALEX)},
    "openalex-page": {"page.json": json.dumps({"meta": {"count": 3}, "results": OPENALEX})},
    "virsci": {f"{number}.txt": text for number, text in enumerate(VIRSCI)}
    | {"author_0.txt": PROFILE, "adjacency.txt": "0 1\n1 0\n"},
}
"""Format -> file name -> what stands in it."""
MAIN = {name: next(iter(files)) for name, files in FILES.items()}
"""Format -> the file that holds its papers, or the first of them."""


def kind(format_):
    """The importer of a format."""
    return format_.split("-")[0].rstrip("0123456789")


def put(folder, files):
    """Write files (text or bytes) under a folder, ``.gz`` packed; gives the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode("utf-8")
        path.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)
    return folder


def balanced(reading):
    """Whether nothing was lost: counts in = kept + passed over + malformed."""
    return reading.read == reading.kept + sum(reading.passed.values()) + reading.malformed
