"use strict";
// Every text comes from others and is set as text; nothing here makes HTML of a string.
const $ = (id) => document.getElementById(id);

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== null && text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

const count = (number) => Number(number).toLocaleString("en");
const money = (usd) => "$" + Number(usd).toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? "" : "s"}`;

function since(seconds) {
  if (seconds < 90) return plural(Math.round(seconds), "second");
  if (seconds < 5400) return plural(Math.round(seconds / 60), "minute");
  return plural(Math.round(seconds / 3600), "hour");
}

const STATES = {
  "not running": "no process works on it now; the same command resumes it",
};
const GOES_ON = ["stopped", "stopped by budget", "stopped by user", "killed", "failed"];
const stateWords = (state) => STATES[state] || state + (GOES_ON.includes(state) ? "; the same command resumes it" : "");

function numbers(pairs) {
  const list = element("dl");
  for (const [name, value, small] of pairs) {
    if (value === null || value === undefined || value === "" || value === "0") continue;
    const box = element("div"), shown = element("dd", value);
    if (small) shown.append(element("small", small));
    box.append(element("dt", name), shown);
    list.append(box);
  }
  return list;
}

function bar(share, label) {
  return element("progress", null, { max: 1, value: share, "aria-label": label });
}

function bars(title, rows) {
  const section = element("section"), grid = element("div", null, { class: "bars" });
  const most = Math.max(1, ...rows.map((row) => row[1]));
  for (const [name, number] of rows) {
    grid.append(element("span", name), bar(number / most, `${name}: ${number}`), element("span", count(number)));
  }
  section.append(element("h2", title), grid);
  return section;
}

function table(title, head, rows, numeric) {
  const section = element("section"), box = element("div", null, { class: "scroll", tabindex: 0 });
  const made = element("table"), row = element("tr"), body = element("tbody");
  const kind = (place) => (numeric.includes(place) ? { class: "number" } : {});
  head.forEach((one, place) => row.append(element("th", one, { scope: "col", ...kind(place) })));
  for (const cells of rows) {
    const line = element("tr");
    cells.forEach((one, place) => line.append(element("td", one, kind(place))));
    body.append(line);
  }
  const top = element("thead");
  top.append(row);
  made.append(top, body);
  box.append(made);
  section.append(element("h2", title), box);
  return section;
}

function abstracts(list, title) {
  const section = element("section");
  section.append(element("h2", title));
  for (const one of list) {
    const made = element("details", null, { class: "paper", id: `paper-${one.team}-${one.day}` });
    const by = one.by ? `; written by: ${one.by}` : "", head = element("summary", one.title || one.text.slice(0, 80));
    head.append(element("span", `team ${one.team}, day ${Math.floor(one.day)}${by}`, { class: "quiet" }));
    made.append(head, element("p", one.text));
    // What somebody has opened stays open when the page is drawn anew.
    made.open = Boolean((document.getElementById(made.id) || {}).open);
    section.append(made);
  }
  return section;
}

function drawing(tag, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

// Who works with whom: a circle for everybody who was asked as a member, larger and darker with teams now.
function network({ people, ties }, busy) {
  const section = element("section"), picture = drawing("svg", { viewBox: "-8 -20 416 278", role: "img", "aria-label": `${people.length} people and ${ties.length} pairs who work together` });
  const at = people.map((one) => [one.x * 400, one.y * 250]), named = new Set(busy.map(([name]) => name));
  for (const [one, other] of ties) picture.append(drawing("line", { x1: at[one][0], y1: at[one][1], x2: at[other][0], y2: at[other][1] }));
  people.forEach((one, place) => {
    const circle = drawing("circle", { cx: at[place][0], cy: at[place][1], r: 3 + 1.5 * one.teams, class: one.teams ? "busy" : "idle" });
    circle.append(drawing("title", {}, `${one.name}, in ${plural(one.teams, "team")} now`));
    picture.append(circle);
    if (named.has(one.name)) picture.append(drawing("text", { x: at[place][0], y: at[place][1] - 9, "text-anchor": at[place][0] > 360 ? "end" : at[place][0] < 40 ? "start" : "middle" }, one.name));
  });
  const said = busy.map(([name, teams]) => `${name} (${teams})`).join(", ");
  section.append(element("h2", "Who works with whom"), picture, element("p", said && `Busiest, with their teams of the last 30 days: ${said}.`, { class: "quiet" }));
  return section;
}

function timeline(teams, until) {
  const section = element("section"), grid = element("div", null, { class: "bars" });
  for (const one of teams) {
    const track = drawing("svg", { viewBox: `0 0 ${until} 10`, preserveAspectRatio: "none", role: "img", "aria-label": `day ${Math.floor(one.from)} to ${Math.floor(one.to)}` });
    track.append(drawing("rect", { x: one.from, y: 2, width: Math.max(one.to - one.from, until / 200), height: 6, class: `stage-${one.stage}` }));
    grid.append(element("span", one.team), track, element("span", one.stage, { class: "quiet" }));
  }
  section.append(element("h2", `Teams from day 0 to ${Math.floor(until)}, and the stage in which they were last asked`), grid);
  return section;
}

function showRun(state) {
  const day = state.day === null ? "" : `day ${Math.floor(state.day)} of ${Math.floor(state.until)}`;
  const ahead = state.forecast, seated = Boolean(state.seats);
  const parts = [numbers([
    ["time left", state.left === null || seated ? null : since(state.left)],
    ["simulated date", state.date || day || "no call has ended yet", state.date ? day : ""],
    ["teams", count(state.teams)],
    ["papers", state.papers === null ? null : count(state.papers)],
    ["calls", count(state.calls), state.sessions > 1 ? `in ${state.sessions} sessions` : ""],
    ["calls in flight", seated ? null : count(state.in_flight), state.in_doubt ? `${state.in_doubt} cut off by a stop` : state.reserved ? `at most ${count(state.reserved)} tokens` : ""],
    ["tokens", count(state.tokens), ahead ? `about ${count(Math.round(ahead.tokens))} at this rate` : ""],
    ["cost so far", state.usd ? money(state.usd) : null, ahead ? `about ${money(ahead.usd)} at this rate` : ""],
    ["failed attempts", count(state.faults.reduce((sum, one) => sum + one.number, 0))],
    ["asked again", count(state.repeated), "replies that could not be read"],
    ["default answers", state.defaults === null ? null : count(state.defaults), "instead of words"],
    ["without words", count(state.no_words), "refused, filtered, too long"],
  ])];
  if (state.share !== null) parts.unshift(bar(state.share, "share of the simulated time"));
  $("numbers").replaceChildren(...parts);
  const rest = [];
  if (state.network.people.length > 1) rest.push(network(state.network, state.busy));
  if (state.timeline.length) rest.push(timeline(state.timeline, state.until));
  if (state.abstracts.length) rest.push(abstracts(state.abstracts, state.papers === null ? "Newest abstracts" : "Newest papers"));
  if (state.team_states.length) rest.push(bars("Teams by state", state.team_states.map((one) => [one.state, one.teams])));
  if (state.stages.length) rest.push(bars("Teams by the stage in which they were last asked", state.stages.map((one) => [one.stage, one.teams])));
  if (state.faults.length) {
    rest.push(table("Failed attempts", ["kind", "number", "latest message"],
      state.faults.map((one) => [one.kind, count(one.number), one.latest]), [1]));
  }
  $("rest").replaceChildren(...rest);
}

function showStudy(state) {
  const places = state.states.map((_, place) => place).filter((place) => state.states[place].runs);
  $("numbers").replaceChildren(
    bar(state.runs ? state.ended / state.runs : 0, "share of the runs that have ended"),
    numbers([["runs", count(state.runs), `${Math.floor(100 * state.ended / Math.max(1, state.runs))} % have ended`], ["time left", state.left === null ? null : since(state.left)], ...state.states.map((one) => [one.state, count(one.runs)]),
      ["model calls", count(state.calls)], ["tokens", count(state.tokens)], ["cost so far", state.usd ? money(state.usd) : null]]));
  const rest = [table("Runs by arm and state", ["arm", ...places.map((place) => state.states[place].state)],
    state.arms.map((one) => [one.arm, ...places.map((place) => count(one.states[place]))]), places.map((_, place) => place + 1))];
  if (state.running.length) {
    rest.push(table("Running now", ["run", "arm", "date", "done", "teams", "calls", "in flight", "tokens"],
      state.running.map((one) => [String(one.index).padStart(4, "0"), one.arm, one.date,
        one.share === null ? "" : `${Math.floor(100 * one.share)} %`, count(one.teams), count(one.calls),
        count(one.in_flight), count(one.tokens)]), [2, 3, 4, 5, 6, 7]));
  }
  if (state.reasons.length) {
    rest.push(table("Why runs are not done", ["run", "arm", "state", "reason"],
      state.reasons.map((one) => [String(one.index).padStart(4, "0"), one.arm, one.state, one.reason]), []));
  }
  $("rest").replaceChildren(...rest);
}

const secondsSince = (time) => Math.max(0, Date.now() / 1000 - time);
const ago = (state) => {
  const waiting = state.seats?.questions.length;
  if (waiting && state.state === "running") return `; ${count(waiting)} ${waiting === 1 ? "question waits" : "questions wait"} for your answer`;
  return !state.written || state.state === "finished" ? "" : `; last written ${since(secondsSince(state.written))} ago`;
};
let latest = null;

function show(state) {
  latest = state;
  if (state.kind === "trouble") {
    $("line").textContent = state.trouble;
    return;
  }
  const seed = state.seed === undefined || state.seed === null ? "" : `, seed ${state.seed}`;
  $("name").textContent = state.name + seed;
  document.title = `${state.name} - ${state.state}`;
  (state.kind === "study" ? showStudy : showRun)(state);
  if (state.seats) showSeats(state.seats, state.state);
  showLine(state);
}

// The state is sent when it changes; what depends on the clock of this machine is shown anew by itself.
function showLine(state) {
  const said = [stateWords(state.state) + ago(state), state.reason, state.trouble, state.speaker && `who spoke: ${state.speaker}`];
  $("line").textContent = said.filter(Boolean).join("; ");
  if (state.seats) showTimes(state.seats.questions);
}
setInterval(() => latest && latest.kind !== "trouble" && showLine(latest), 1000);

const source = new EventSource("events");
source.onmessage = (event) => {
  $("link").textContent = "";
  show(JSON.parse(event.data));
};
source.onerror = () => {
  $("link").textContent = "The program that serves this page does not answer; what is shown is its last state.";
};
