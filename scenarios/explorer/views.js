// The panel: lists, pages of scientists, teams and papers, conversations, search. Every text is set as
// a text node and never parsed as HTML. The state of the page is its address.

const MOST_ROWS = 100;

function el(tag, properties, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties || {})) {
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== ""));
  return made;
}
const many = (count, one, several = one + "s") => `${number(count)} ${count === 1 ? one : several}`;
const number = (value) => (Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en").replaceAll(",", "\u202f") : String(Math.round(value * 10) / 10));
function when(day) {
  if (!(day === day)) return "–";
  const start = settings.boundary;
  if (start === null || start === undefined) return `day ${Math.floor(day)}`;
  const date = new Date(Date.UTC(start, 0, 1) + Math.floor(day) * 864e5);
  return `day ${Math.floor(day)}, ${date.toISOString().slice(0, 10)}`;
}
/** The address of another state: the day stays, whatever else is not named goes. */
function address(change) {
  const kept = { day: state.day === settings.days ? null : state.day, ...change };
  const shown = Object.entries(kept).filter(([, value]) => value !== null && value !== undefined && value !== "");
  return "#" + new URLSearchParams(shown).toString();
}
const go = (change) => { location.hash = address(change); };
const link = (label, change) => el("a", { href: address(change) }, label);
const person = (i) => (i === NOBODY || i < 0 ? "–" : link(opened.names[i], { who: opened.names[i] }));
const teamLink = (i) => link(opened.teams[i], { team: opened.teams[i] });
const paperLink = (i) => link(opened.titles[i] || opened.papers[i], { paper: opened.papers[i] });
const joined = (nodes) => nodes.flatMap((node, i) => (i ? [", ", node] : [node]));
const facts = (pairs) => el("dl", { class: "facts" }, pairs.filter(([, v]) => v !== null).map(([k, v]) => el("div", {}, el("dt", {}, k), el("dd", {}, v))));
const here = () => Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
/** A date as a link to the first whole day by which it has come. */
const dayLink = (day) => el("a", { href: address({ ...here(), day: Math.ceil(day) }) }, when(day));

/** A table that sorts by its columns: [label, value of a row, cell of a row (or null)]. */
function table(columns, rows, caption, sorted = 0, words = []) {
  const by = state.sort === undefined ? sorted : Number(state.sort);
  const column = columns[by] || columns[0], up = state.up === "1" || words.includes(by) && state.up !== "0";
  const keyed = Array.from(rows, (row) => [column[1](row), row]);
  const order = (a, b) => (a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0);
  keyed.sort((a, b) => (up ? order(a, b) : order(b, a)));
  const body = el("tbody"), held = el("div", {});
  let shown = 0;
  const more = () => {
    for (const [, row] of keyed.slice(shown, shown + MOST_ROWS)) {
      body.append(el("tr", {}, columns.map(([, value, cell], i) => {
        const held = value(row), kind = i === 0 ? "name" : words.includes(i) ? "words" : "";
        return el(i ? "td" : "th", { class: kind, scope: i ? null : "row" }, cell ? cell(row) : typeof held === "number" ? (held === held ? number(held) : "–") : held);
      })));
    }
    shown = Math.min(shown + MOST_ROWS, keyed.length);
    held.replaceChildren(shown < keyed.length ? el("button", { type: "button", onclick: more }, `${shown} of ${number(keyed.length)}: show more`) : "");
  };
  const head = columns.map(([label], i) => el("th", { scope: "col", class: i === 0 ? "name" : words.includes(i) ? "words" : "", "aria-sort": i === by ? (up ? "ascending" : "descending") : null },
    el("button", { type: "button", class: "sort", onclick: () => go({ ...here(), sort: i, up: i === by ? (up ? "0" : "1") : null }) }, label)));
  more();
  return el("div", {}, el("div", { class: "scroll", tabindex: 0 }, el("table", {}, caption ? el("caption", {}, caption) : null, el("thead", {}, el("tr", {}, head)), body)), held);
}

const VIEWS = { overview, people: peopleView, teams: teamsView, papers: papersView, search: searchView, keys: keysView };

function overview(run) {
  const day = state.day;
  const there = run.unlisted ? "scientists present with a co-author or a team" : "scientists present";
  const counts = [
    [there, run.names.reduce((sum, _, i) => sum + present(run, i, day), 0)],
    ["teams founded", lived(run.teams.keys(), run.team_founded, day).length],
    ["teams at work", Array.from(run.teams.keys()).filter((i) => atWork(run, i, day)).length],
    ["papers", lived(run.papers.keys(), run.paper_published, day).length],
    ["new ties", tiesUntil(run, day) - run.old],
  ];
  return [el("h2", {}, when(day)),
    el("table", {}, el("thead", {}, el("tr", {}, el("td", { class: "name" }), el("th", { scope: "col" }, "number"))), el("tbody", {}, counts.map(([label, count]) =>
      el("tr", {}, el("th", { scope: "row", class: "name" }, label), el("td", {}, number(count)))))),
    central(run), connected(run), growth(run)];
}

function central(run) {
  const found = mostCentral(run, state.day).map(([who, count]) => el("span", {}, link(run.names[who], { who: run.names[who] }), ` (${many(count, "co-author")})`));
  return el("p", {}, "Most central on this day: ", found.length ? joined(found) : "nobody has a co-author", ".");
}

/** How many the largest component holds on the last day until now that was counted, and what that means. */
function connected(run) {
  const step = run.growth_day.findLastIndex((day) => day <= state.day), tied = run.growth_all_tied[step], held = run.growth_all[step];
  const name = "Largest component: ";
  if (!tied) return el("p", {}, name, "nobody has a co-author yet.");
  return el("p", {}, name, `by ${when(run.growth_day[step])}, ${number(held)} of the ${number(tied)} scientists with a co-author (${Math.round(100 * held / tied)} %) are connected by papers they wrote together, directly or through others: from each of them co-authors lead to all the others.`);
}

/** Colour, name and size of the communities, as on the page of the run, and what grey is. */
function communities(run) {
  const entry = (name, words) => { const dot = el("span", { "aria-hidden": "true" }, "● "); dot.style.color = `var(--${name})`; dot.style.margin = 0; return el("span", {}, dot, words); };
  const rest = run.byColour[COLOURS.length].length;
  return [...run.communities.map(([label, people], c) => entry(COLOURS[c], `${label} (${many(people, "person", "people")})`)), ...(rest ? [entry("rest", `in smaller communities, or without a co-author (${number(rest)})`)] : [])].flatMap((one) => [one, " "]);
}

/** The largest component over time, and when it came to hold half of those who have a tie. */
function growth(run) {
  const wide = 420, high = 130, names = ["growth_grown", "growth_all"];
  const top = Math.max(1, ...run.growth_all), left = 10 + 7 * number(top).length, across = wide - 5 - left;
  const x = (day) => left + across * day / Math.max(run.days, 1), y = (v) => high - 18 - (high - 30) * v / top;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const add = (tag, properties, text) => {
    const made = document.createElementNS(svg.namespaceURI, tag);
    for (const [key, value] of Object.entries(properties)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    svg.append(made);
  };
  svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", "Scientists in the largest component over time");
  names.forEach((name, i) => {
    const path = Array.from(run[name], (v, step) => `${step ? "L" : "M"}${x(run.growth_day[step]).toFixed(1)} ${y(v).toFixed(1)}`).join("");
    add("path", { d: path, fill: "none", stroke: `var(--${COLOURS[i ? 0 : 1]})`, "stroke-width": 2, "stroke-dasharray": i ? "5 3" : "none" });
  });
  for (const value of new Set([0, Math.round(top / 2), top])) {
    add("line", { x1: left, x2: wide - 5, y1: y(value), y2: y(value), stroke: "var(--grid)", "stroke-width": 1 });
    add("text", { x: left - 4, y: y(value) + 4, fill: "currentColor", "font-size": 11, "text-anchor": "end" }, number(value));
  }
  add("line", { x1: x(state.day), x2: x(state.day), y1: 8, y2: high - 16, stroke: "currentColor", "stroke-width": 1 });
  add("text", { x: left, y: high - 4, fill: "currentColor", "font-size": 11 }, "day 0");
  add("text", { x: wide - 5, y: high - 4, fill: "currentColor", "font-size": 11, "text-anchor": "end" }, `day ${run.days}`);
  svg.addEventListener("click", (event) => {
    const box = svg.getBoundingClientRect();
    setDay(run.days * Math.min(1, Math.max(0, ((event.clientX - box.left) / box.width * wide - left) / across)), true);
  });
  const half = run.growth_grown.findIndex((v, i) => run.growth_grown_tied[i] >= 10 && 2 * v >= run.growth_grown_tied[i]
    && Array.from(run.growth_grown.subarray(i)).every((later, j) => 2 * later >= run.growth_grown_tied[i + j]));
  const said = half < 0 ? "No giant component has formed from new ties: it would lastingly contain half of the scientists (at least 10) with a new tie."
    : ["A giant component of new ties formed by ", dayLink(run.growth_day[half]), `: from then on half or more of those with such a tie (then ${number(run.growth_grown[half])} of ${number(run.growth_grown_tied[half])}) are connected.`];
  return el("section", {}, el("h3", {}, "Largest component"), svg,
    el("p", { class: "fine" }, "Scientists in it. Solid: new ties only. Dashed: all ties."), el("p", {}, said));
}

function peopleView(run) {
  const teams = bridging(run, state.day);
  const rows = Array.from(run.names.keys()).filter((i) => present(run, i, state.day)).map((i) => ({ i, ...teams(i), papers: lived(Array.from(run.papersOf(i), (row) => run.author_paper[row]), run.paper_published, state.day).length }));
  return [el("h2", {}, "Scientists"), el("p", { class: "fine" }, `By ${when(state.day)}. Only link: pairs of teams that no other scientist has joined both of.`),
    table([["scientist", (r) => run.names[r.i], (r) => person(r.i)], ["teams", (r) => r.teams], ["only link", (r) => r.alone], ["papers", (r) => r.papers], ["main topic", (r) => run.topics[run.topic[r.i]]]], rows, "", 1, [0, 4])];
}

function teamsView(run) {
  const rows = lived(run.teams.keys(), run.team_founded, state.day).map((i) => ({ i, ...waits(run, i, state.day) }));
  return [el("h2", {}, "Teams"), el("p", { class: "fine" }, `By ${when(state.day)}. Waited: days on which a team waited for one last member, at homework or in another meeting.`),
    table([["team", (r) => run.teams[r.i], (r) => teamLink(r.i)], ["waited, days", (r) => r.total],
      ["longest for", (r) => (r.people.length ? run.names[r.people[0][0]] : ""), (r) => (r.people.length ? [person(r.people[0][0]), ` ${number(r.people[0][1])} d`] : "–")],
      ["state", (r) => teamState(run, r.i, state.day)]], rows, "", 1, [0, 2, 3])];
}

function papersView(run) {
  const rows = lived(run.papers.keys(), run.paper_published, state.day);
  const cited = (i) => Array.from(run.citedBy(i)).filter((row) => run.paper_published[run.cite_from[row]] <= state.day).length;
  return [el("h2", {}, "Papers"), el("p", { class: "fine" }, `Published by ${when(state.day)}.`),
    table([["title", (i) => run.titles[i], paperLink], ["published", (i) => run.paper_published[i]], ["cites", (i) => run.citesOwn(i).length + run.citesPast(i).length], ["cited", cited]], rows, "", 1, [0])];
}

function personView(run, i) {
  const day = state.day, teams = lived(run.teamsOf(i), run.member_joined, day), met = partners(run, i, day);
  const papers = lived(Array.from(run.papersOf(i), (row) => run.author_paper[row]), run.paper_published, day);
  const asked = lived(run.invitationsOf(i), run.invited_sent, day);
  const interests = (run.said?.interests || []).filter((row) => row[0] === i && row[1] <= day).pop();
  const now = teams.filter((row) => inTeam(run, row, day));
  const outcome = (row) => (run.invited_answered[row] <= day ? run.outcomes[run.invited_outcome[row]] : "open");
  return [el("h2", {}, run.names[i]),
    facts([["on this day", present(run, i, day) ? "in the society" : run.left[i] <= day ? `left on ${when(run.left[i])}` : "not arrived yet"],
      ["in files and prompts", /^\d/.test(run.numbers[i]) ? `Scientist${run.numbers[i]}` : run.numbers[i]],
      ["main topic", interests ? interests[2] || "–" : run.topics[run.topic[i]]], ["interests", interests ? interests[3] : null],
      ["papers before day 0", number(run.before[i])], ["co-authors", number(met.size)],
      ["teams now", now.length ? joined(now.map((row) => teamLink(run.member_team[row]))) : "–"]]),
    el("p", {}, link("All contributions of this scientist", { tab: "search", fwho: run.names[i] })),
    el("h3", {}, `Teams so far: ${teams.length}`), list(teams, (row) => [teamLink(run.member_team[row]), ` from ${when(run.member_joined[row])}`, run.member_left[row] <= day ? ` to ${when(run.member_left[row])}` : ""]),
    el("h3", {}, `Papers: ${papers.length}`), list(papers, (p) => [paperLink(p), ` (${when(run.paper_published[p])})`]),
    el("h3", {}, `Invitations: ${asked.length}`), list(asked, (row) => [teamLink(run.invited_team[row]), ` ${when(run.invited_sent[row])}: ${outcome(row)}`]),
    el("h3", {}, `Co-authors: ${met.size}`), list([...met].sort((a, b) => b[1] - a[1]), ([other, date]) => [person(other), date < 0 ? " before day 0" : ` ${when(date)}`])];
}

function list(rows, show, most = 12) {
  const items = Array.from(rows), made = el("ul", {}, items.slice(0, most).map((row) => el("li", {}, show(row))));
  if (items.length > most) made.append(el("li", {}, el("button", { type: "button", onclick: (event) => { event.target.parentNode.remove(); made.append(...items.slice(most).map((row) => el("li", {}, show(row)))); } }, `${items.length - most} more`)));
  return made;
}

function teamView(run, i) {
  const day = state.day, waited = waits(run, i, day), paper = run.paperOf(i)[0];
  const asked = lived(run.invitedBy(i), run.invited_sent, day);
  const calls = run.said ? lived(run.callsOf(i), run.said.call_day, day) : [];
  const later = run.said ? run.callsOf(i).length - calls.length : 0;
  const reviews = (run.said?.referees || []).filter((row) => row[0] === i && row[5] !== null && row[5] <= day);
  const decided = (run.said?.submissions || []).filter((row) => row[0] === i && row[3] <= day);
  const dissolved = teamState(run, i, day) === "dissolved" && run.said?.reasons[i];
  return [el("h2", {}, `Team ${run.teams[i]}`),
    facts([["state", teamState(run, i, day) + (dissolved ? `: ${dissolved}` : "")], ["founded", dayLink(run.team_founded[i])], ["complete", run.team_formed[i] <= day ? dayLink(run.team_formed[i]) : "–"],
      ["finished", run.team_finished[i] <= day ? dayLink(run.team_finished[i]) : "–"], ["topic", calls.some((c) => run.said.calls[c].act === "decide") ? run.said.topics[i] || "–" : null],
      ["paper", paper !== undefined && run.paper_published[paper] <= day ? paperLink(paper) : "–"],
      ["waited for", waited.total ? [`${number(waited.total)} days: `, joined(waited.people.map(([who, days]) => el("span", {}, person(who), ` ${number(days)}`)))] : "nobody"]]),
    el("h3", {}, "Members"), list(lived(run.membersOf(i), run.member_joined, day), (row) => [person(run.member_who[row]), run.member_who[row] === run.team_leader[i] ? " (leader)" : "", ` from ${when(run.member_joined[row])}`, run.member_left[row] <= day ? ` to ${when(run.member_left[row])}` : ""]),
    asked.length ? el("h3", {}, `Invitations: ${asked.length}`) : null, list(asked, (row) => [person(run.invited_who[row]), `: ${run.invited_answered[row] <= day ? run.outcomes[run.invited_outcome[row]] : "open"}`], 6),
    decided.length ? [el("h3", {}, "Peer review"), list(decided, (row) => `Submission ${row[1]}, round ${row[2]}, ${when(row[3])}: ${row[4] !== null && row[4] <= day ? `${row[5]} on ${when(row[4])}, mean score ${row[6] ?? "–"}` : "in review"}`),
      list(reviews, (row) => [person(row[3]), ` on ${when(row[5])}: ${row[7] ?? row[6]}, score ${row[8] ?? "–"}`])] : null,
    votes(run, calls), conversation(run, calls), later ? el("p", { class: "fine" }, `${many(later, "call")} after this day.`) : null];
}

const reply = (run, call) => Object.fromEntries(run.said.calls[call].fields);
const actOf = (run, call) => run.said.calls[call].act;
const speakerOf = (run, call) => run.names[run.said.calls[call].who];
const callLink = (run, call, label) => link(label, { team: run.teams[run.said.calls[call].team], call });
const chosenIdea = (run, call) => { // the idea a ballot chose: the number of its call, or -1
  const place = /\d+/.exec(String(reply(run, call)["Decision Made"] ?? ""));
  return place ? run.said.ballots[call]?.[Number(place[0])] ?? -1 : -1;
};
const writtenUp = (run, calls) => { // the idea that the last draft develops
  const drafts = calls.filter((call) => run.said.calls[call].form === "Draft" && run.said.ballots[call]);
  return drafts.length ? run.said.ballots[drafts[drafts.length - 1]][0] : -1;
};

function votes(run, calls) {
  const cast = calls.filter((call) => actOf(run, call) === "vote"), won = writtenUp(run, calls), ideas = new Map();
  if (!cast.length) return null;
  for (const call of cast) {
    for (const idea of run.said.ballots[call] || []) if (!ideas.has(idea)) ideas.set(idea, []);
    const idea = chosenIdea(run, call), key = idea >= 0 ? idea : String(reply(run, call)["Decision Made"] ?? "no choice");
    ideas.set(key, [...(ideas.get(key) || []), call]);
  }
  const rows = [...ideas].sort((a, b) => b[1].length - a[1].length);
  return el("section", {}, el("h3", {}, "Votes"), won < 0 ? el("p", { class: "fine" }, "Ideas have their ballot numbers, because this file contains no prompts of this team.") : null,
    el("table", {}, el("thead", {}, el("tr", {}, ["idea", "votes by"].map((label) => el("th", { scope: "col", class: "words" }, label)))), el("tbody", {}, rows.map(([idea, by]) =>
      el("tr", {}, el("td", { class: "words" }, typeof idea === "number" && idea >= 0 ? [callLink(run, idea, reply(run, idea).Title), ` by ${speakerOf(run, idea)} `, idea === won ? el("span", { class: "won" }, "✓ written up") : "lost"] : String(idea)),
        el("td", { class: "words" }, by.length ? joined(by.map((call) => callLink(run, call, `${speakerOf(run, call)} (round ${run.said.calls[call].turn})`))) : "nobody"))))));
}

function conversation(run, calls) {
  if (!calls.length) return el("p", { class: "fine" }, run.said ? "No conversation by this day, or it is omitted from this file." : "Loading conversations.");
  const parts = [el("h3", {}, `Conversation: ${many(calls.length, "call")}`)];
  let before = "";
  for (const call of calls) {
    const { title } = run.said.calls[call];
    if (title !== before) parts.push(el("h3", {}, (before = title)));
    parts.push(turn(run, call));
  }
  return el("section", {}, parts);
}

/** One call: who spoke, what was said, and on demand what was asked and which calls it rests on. */
function turn(run, call, words = []) {
  const said = run.said, { id, team: number, who, day, act, form, model, note, needs, fields } = said.calls[call], team = run.teams[number];
  const more = el("details", {}, el("summary", {}, "prompt, references, calls it rests on"));
  more.addEventListener("toggle", () => {
    if (more.childElementCount > 1) return;
    const used = said.used[call] || [], found = (said.retrieved[call] || []).filter((one) => !used.includes(one));
    more.append(el("p", { class: "fine" }, `Call ${id}, form ${form}, ${model}`));
    if (used.length) more.append(el("p", {}, "Builds on: ", joined(used.map((one) => paperName(run, one)))));
    if (found.length) more.append(el("p", {}, "Found for it: ", joined(found.map((one) => paperName(run, one)))));
    if (needs.length) more.append(el("p", {}, "Rests on: ", joined(needs.map((one) => callLink(run, one, `${actOf(run, one)} by ${speakerOf(run, one)}`)))));
    more.append(...promptOf(run, call));
  });
  return el("article", { class: "turn" + (act === "guest" ? " guest" : "") + (String(call) === state.call ? " found" : ""), id: `call${call}` },
    el("p", {}, el("span", { class: "who" }, person(who)), ` ${act} · `, link(when(day), { team, call }), note ? ` · ${note}` : ""), fields.map(([name, text]) => el("p", {}, el("strong", {}, name + " "), marked(text, words))), more);
}

function promptOf(run, call) {
  const shown = run.prompts?.prompts[call]?.map((line) => run.prompts.lines[line]).join("\n");
  return shown ? [el("h3", {}, "Prompt"), el("pre", { tabindex: 0 }, shown)] : [el("p", { class: "fine" }, "The prompt is not in this file.")];
}

const paperName = (run, id) => (run.paperById.has(id) ? paperLink(run.paperById.get(id)) : run.said?.past_titles[id] ? `${run.said.past_titles[id]} (${id})` : id);
function marked(text, words) {
  const parts = [], lower = text.toLowerCase();
  for (let at = 0; at < text.length;) {
    const hits = words.map((word) => [lower.indexOf(word, at), word.length]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0]);
    const [place, length] = hits[0] || [text.length, 0];
    parts.push(text.slice(at, place));
    if (length) parts.push(el("mark", {}, text.slice(place, place + length)));
    at = place + Math.max(length, 1);
  }
  return parts;
}

function paperView(run, i) {
  const team = run.paper_team[i], out = run.paper_published[i] <= state.day;
  if (!out) return [el("h2", {}, "Not published yet"), el("p", {}, "This paper appears on ", dayLink(run.paper_published[i]), ".")];
  const calls = run.said ? Array.from(run.callsOf(team)) : [];
  const own = Array.from(run.citesOwn(i), (row) => run.papers[run.cite_to[row]]), past = Array.from(run.citesPast(i), (row) => run.past[run.past_to[row]]);
  const by = lived(Array.from(run.citedBy(i), (row) => run.cite_from[row]), run.paper_published, state.day);
  return [el("h2", {}, run.titles[i]),
    el("p", { class: "authors" }, joined(Array.from(run.authorsOf(i), (row) => person(run.author_who[row])))),
    facts([["published", when(run.paper_published[i])], ["team", teamLink(team)], ["keywords", run.said?.keywords[i] || null]]),
    el("p", { class: "abstract" }, run.said ? run.said.abstracts[i] : ""), origins(run, calls),
    el("h3", {}, `Cites ${own.length + past.length}`), list([...own, ...past], (id) => [paperName(run, id), ": ", why(run, calls, id)], 40),
    el("h3", {}, `Cited by ${by.length}`), list(by, (p) => [paperLink(p)])];
}

/** Why a team cites a paper: the ideas that say they build on it, or for which it was found. */
function why(run, calls, id) {
  const ideas = (key) => calls.filter((call) => run.said[key][call]?.includes(id)), used = ideas("used"), found = ideas("retrieved");
  const named = (some) => joined(some.map((call) => callLink(run, call, `${speakerOf(run, call)}: “${reply(run, call).Title ?? actOf(run, call)}”`)));
  if (used.length) return ["idea that builds on it by ", ...named(used)];
  if (found.length) return ["found for the idea of ", ...named(found)];
  return "no idea in this file cites it";
}

/** The way back from a paper: drafts, the idea and its votes, other ideas, the topic. */
function origins(run, calls) {
  if (!calls.length) return el("p", { class: "fine" }, "The conversation of this team is omitted from this file.");
  const form = (call) => run.said.calls[call].form, won = writtenUp(run, calls);
  const steps = [["draft and revisions", calls.filter((c) => ["Draft", "Revision"].includes(form(c)))], ["the idea written up", won >= 0 ? [won] : []],
    ["votes for it", calls.filter((c) => actOf(run, c) === "vote" && won >= 0 && chosenIdea(run, c) === won)], ["all ideas", calls.filter((c) => form(c) === "Idea")],
    ["topic", calls.filter((c) => actOf(run, c) === "decide")], ["critique and self-review", calls.filter((c) => ["critique", "review"].includes(actOf(run, c)))]];
  return el("section", {}, el("h3", {}, "Origin of the paper"), facts(steps.filter(([, some]) => some.length).map(([label, some]) => [label, joined(some.map((call) => callLink(run, call, speakerOf(run, call))))])),
    el("p", {}, link(`Full conversation: ${many(calls.length, "call")}`, { team: run.teams[run.said.calls[calls[0]].team] })));
}

function searchView(run) {
  const inputs = {}, results = el("div", { "aria-live": "polite" });
  const field = (key, label, type) => (inputs[key] = el("input", { type, value: state[key] || "", placeholder: label, "aria-label": label, oninput: () => later(search) }));
  const choice = (key, label, known) => (inputs[key] = el("select", { "aria-label": label, onchange: search }, el("option", { value: "" }, label), known.map((one) => el("option", { value: one, ...(state[key] === one ? { selected: "" } : {}) }, one))));
  const kinds = (key) => [...new Set(run.said.calls.map((call) => call[key]))].filter(Boolean);
  let waiting = 0;
  const later = (act) => { clearTimeout(waiting); waiting = setTimeout(act, 200); };
  function search() {
    const held = Object.fromEntries(Object.entries(inputs).map(([key, input]) => [key, input.value.trim()]));
    history.replaceState(null, "", address({ tab: "search", ...held }));
    readAddress();
    results.replaceChildren(...found(run, held));
  }
  const form = el("form", { class: "filters", onsubmit: (event) => { event.preventDefault(); search(); } }, field("q", "words in a conversation or paper", "search"),
    field("fteam", "team", "text"), field("fwho", "person", "text"), choice("fstage", "any stage", kinds("stage")), choice("fact", "any act", kinds("act")));
  results.append(...found(run, state));
  return [el("h2", {}, "Search"), form, results];
}

function found(run, { q = "", fteam = "", fwho = "", fstage = "", fact = "" }) {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean), said = run.said;
  run.lower ??= said.calls.map((call) => call.fields.flat().join("\n").toLowerCase());
  const has = (text) => words.every((word) => text.includes(word));
  const calls = [], papers = [];
  said.calls.forEach((call, i) => {
    if (call.day <= state.day && (!fteam || run.teams[call.team] === fteam) && (!fwho || run.names[call.who] === fwho)
      && (!fstage || call.stage === fstage) && (!fact || call.act === fact) && has(run.lower[i])) calls.push(i);
  });
  if (words.length && !fwho && !fstage && !fact) run.titles.forEach((title, i) => { if (run.paper_published[i] <= state.day && (!fteam || run.teams[run.paper_team[i]] === fteam) && has(`${title} ${said.abstracts[i]}`.toLowerCase())) papers.push(i); });
  const shown = calls.slice(0, 50);
  return [el("p", { class: "fine" }, `${many(calls.length, "call")} and ${many(papers.length, "paper")} by ${when(state.day)}${calls.length > shown.length ? "; the first 50 calls are shown" : ""}.`),
    list(papers, (i) => [paperLink(i)], 8), ...shown.map((call) => [el("p", { class: "fine" }, teamLink(said.calls[call].team), ` · ${said.calls[call].stage}`), turn(run, call, words)]).flat()];
}

function keysView() {
  const keys = [["Space", "play or pause"], ["← →", "a day back or on; with Shift a month"], ["Home, End", "first or last day"], ["+ −", "larger or smaller; 0: all"], ["/", "search"], ["1 to 5", "overview, people, teams, papers, search"], ["Esc", "back to the overview"]];
  return [el("h2", {}, "Keys"), facts(keys.map(([key, what]) => [el("kbd", {}, key), what])), el("p", {}, "Drag to move the network, turn the wheel or pinch to zoom, click a scientist to see who it was on the day of the slider. The address always names what is shown: copy it to come back."),
    el("h3", {}, "What is drawn"), el("p", {}, $("communities").textContent), el("p", {}, $("legend").textContent), ...settings.left_out.map((one) => el("p", {}, "Omitted: " + one))];
}

function renderPanel() {
  const run = opened, known = (map, id) => (id === undefined ? undefined : map.get(id) ?? null);
  const who = known(run.personByName, state.who), team = known(run.teamById, state.team), paper = known(run.paperById, state.paper);
  let made;
  if ([who, team, paper].includes(null)) made = [el("h2", {}, "Not found"), el("p", {}, "This run has nothing with that name.")];
  else if (who !== undefined) made = personView(run, who);
  else if (team !== undefined) made = teamView(run, team);
  else if (paper !== undefined) made = paperView(run, paper);
  else made = state.tab === "search" && !run.said ? [el("p", {}, "Loading conversations.")] : (VIEWS[state.tab] || overview)(run);
  $("view").replaceChildren(...made.flat(3).filter((part) => part));
  $("tabs").replaceChildren(...Object.keys(VIEWS).map((name) => el("button", { type: "button", "aria-current": made && name === (who === undefined && team === undefined && paper === undefined ? state.tab || "overview" : "") ? "page" : null, onclick: () => go({ tab: name === "overview" ? null : name }) }, name)));
  const call = state.call !== undefined && $(`call${state.call}`);
  if (call) call.scrollIntoView({ block: "center" });
}
