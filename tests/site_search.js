// What the search of the built site finds: node site_search.js FOLDER QUERY ...
// prints one line of JSON for each query, the pages in the order in which a reader sees them.
const fs = require("fs"), vm = require("vm");
const [html, ...queries] = process.argv.slice(2);
const nothing = () => null;
const site = vm.createContext({
  SPHINX_HIGHLIGHT_ENABLED: false, _ready: nothing, queries, _: text => text,
  document: {getElementById: nothing},
});
site.window = site;
for (const name of ["_static/language_data.js", "_static/searchtools.js", "searchindex.js"])
  vm.runInContext(fs.readFileSync(`${html}/${name}`, "utf-8"), site);
site._removeChildren = nothing;
const search = "queries.map(one => Search._performSearch(...Search._parseQuery(one)).reverse())";
for (const found of vm.runInContext(search, site))
  console.log(JSON.stringify(found.map(one => one[0])));
