"use strict";
// Packed data of the page (scenarios/explorer/explorer_data.py), and how things stood on a day. The four files
// data.js, views.js, network.js and main.js are one script, in this order.

const NOBODY = 4294967295;
const COLOURS = ["blue", "orange", "green", "pink", "olive", "sky", "violet", "brown"]; // of communities, as on the page of a run
const KINDS = { Uint8Array, Uint16Array, Uint32Array, Float32Array };
const $ = (id) => document.getElementById(id);
let opened, settings, state = {}; // the run, what is told of it as a whole, and the address

async function unpack(id) {
  const text = $(id).textContent;
  if (!text) return null;
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  const buffer = await new Response(stream).arrayBuffer();
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const data = head.values;
  for (const [name, kind, place, count] of head.arrays) data[name] = new KINDS[kind](buffer, 4 + length + place, count);
  return data;
}

const lines = (text) => (text ? text.split("\n") : []);
const sumUp = (differences) => { for (let i = 1; i < differences.length; i++) differences[i] += differences[i - 1]; };

/** Rows of a table by the number in one or more of its columns, in the order of the table. */
function groupRows(count, ...columns) {
  const start = new Uint32Array(count + 1), size = columns[0].length;
  for (const keys of columns) for (const key of keys) if (key !== NOBODY) start[key + 1]++;
  sumUp(start);
  const rows = new Uint32Array(start[count]), next = start.slice();
  for (let row = 0; row < size; row++) for (const keys of columns) if (keys[row] !== NOBODY) rows[next[keys[row]]++] = row;
  return (key) => rows.subarray(start[key], start[key + 1]);
}

function prepare(run) {
  for (const name of ["names", "numbers", "teams", "papers", "titles", "past"]) run[name] = lines(run[name]);
  sumUp(run.tieA);
  run.old = run.tieDay.findIndex((day) => day >= 0);
  if (run.old < 0) run.old = run.tieDay.length;
  const people = run.names.length, teams = run.teams.length, papers = run.papers.length;
  for (const [name, known] of Object.entries({ personByName: run.names, teamById: run.teams, paperById: run.papers })) {
    let made; // when first asked for: the network is drawn before that
    Object.defineProperty(run, name, { get: () => (made ??= new Map(known.map((id, i) => [id, i]))) });
  }
  const index = {
    teamsOf: () => groupRows(people, run.member_who), membersOf: () => groupRows(teams, run.member_team),
    meetingsOf: () => groupRows(teams, run.meeting_team), waitsOf: () => groupRows(teams, run.wait_team), tiesOf: () => groupRows(people, run.tieA, run.tieB),
    invitedBy: () => groupRows(teams, run.invited_team), invitationsOf: () => groupRows(people, run.invited_who),
    authorsOf: () => groupRows(papers, run.author_paper), papersOf: () => groupRows(people, run.author_who),
    citesOwn: () => groupRows(papers, run.cite_from), citedBy: () => groupRows(papers, run.cite_to),
    citesPast: () => groupRows(papers, run.past_from), paperOf: () => groupRows(teams, run.paper_team),
    callsOf: () => groupRows(teams, run.said.call_team),
  };
  for (const [name, make] of Object.entries(index)) {
    let made;
    run[name] = (key) => (made ??= make())(key);
  }
  // Nodes in the order of their colours, so that each colour is set once.
  run.byColour = Array.from({ length: COLOURS.length + 1 }, () => []);
  run.community.forEach((c, i) => run.byColour[Math.min(c, COLOURS.length)].push(i));
}

async function readWords(run) {
  run.said = await unpack("said");
  run.said.call_team = run.said.calls.map((call) => call.team);
  run.said.call_day = run.said.calls.map((call) => call.day);
  run.prompts = await unpack("prompts");
}

const present = (run, i, day) => !(run.arrived[i] > day) && !(run.left[i] <= day);
const tiesUntil = (run, day) => {
  let low = run.old, high = run.tieDay.length;
  while (low < high) { const middle = (low + high) >> 1; if (run.tieDay[middle] <= day) low = middle + 1; else high = middle; }
  return low;
};
const atWork = (run, team, day) => run.team_founded[team] <= day && !(run.team_finished[team] <= day);
const inTeam = (run, row, day) => run.member_joined[row] <= day && !(run.member_left[row] <= day);
const lived = (rows, column, day) => Array.from(rows).filter((row) => column[row] <= day);

function teamState(run, team, day) {
  if (!(run.team_founded[team] <= day)) return "not founded yet";
  if (run.team_published[team] <= day) return "published";
  if (run.team_finished[team] <= day) return run.states[run.team_state[team]] === "dissolved" ? "dissolved" : "finished";
  if (!(run.team_formed[team] <= day)) return "inviting";
  const held = lived(run.meetingsOf(team), run.meeting_held, day).pop();
  return held === undefined ? "at work" : `at work: ${run.meeting_stages[run.meeting_stage[held]]}`;
}

/** Days a team has waited for people by a day: in all, and for each of them. */
function waits(run, team, day) {
  const byPerson = new Map();
  let total = 0;
  for (const row of lived(run.waitsOf(team), run.wait_day, day)) {
    total += run.wait_days[row];
    byPerson.set(run.wait_who[row], (byPerson.get(run.wait_who[row]) || 0) + run.wait_days[row]);
  }
  return { total, people: [...byPerson].sort((a, b) => b[1] - a[1]) };
}

/** For everybody: teams joined by a day, and pairs of teams that nobody else is in both of. */
function bridging(run, day) {
  const joined = new Map(), shared = new Map();
  run.member_who.forEach((who, row) => {
    if (run.member_joined[row] <= day) joined.set(who, [...(joined.get(who) || []), run.member_team[row]]);
  });
  const pairs = (teams, visit) => teams.forEach((a, i) => teams.slice(i + 1).forEach((b) => visit(Math.min(a, b) + "/" + Math.max(a, b))));
  for (const teams of joined.values()) pairs(teams, (pair) => shared.set(pair, (shared.get(pair) || 0) + 1));
  return (who) => {
    const teams = joined.get(who) || [];
    let alone = 0;
    pairs(teams, (pair) => { if (shared.get(pair) === 1) alone++; });
    return { teams: teams.length, alone };
  };
}

/** Which ties are the first of their pair. Computed once: who is most central is told on every day. */
function firstTies(run) {
  const people = run.names.length, seen = new Set();
  return Uint8Array.from(run.tieA, (a, row) => {
    const pair = a * people + run.tieB[row], known = seen.has(pair);
    seen.add(pair);
    return known ? 0 : 1;
  });
}

/** The scientists there with the most co-authors on a day, and how many they have: [number, co-authors]. */
function mostCentral(run, day, most = 3) {
  const first = run.firstTies ||= firstTies(run), degree = new Uint32Array(run.names.length), until = tiesUntil(run, day), found = [];
  for (let row = 0; row < until; row++) if (first[row]) { degree[run.tieA[row]]++; degree[run.tieB[row]]++; }
  for (let i = 0; i < degree.length; i++) {
    const least = found.length < most ? 0 : found[most - 1][1];
    if (degree[i] > least && present(run, i, day)) {
      found.push([i, degree[i]]);
      found.sort((one, other) => other[1] - one[1] || one[0] - other[0]);
      found.length = Math.min(found.length, most);
    }
  }
  return found;
}

function partners(run, who, day) {
  const found = new Map();
  for (const row of run.tiesOf(who)) {
    if (run.tieDay[row] > day) continue;
    const other = run.tieA[row] === who ? run.tieB[row] : run.tieA[row];
    found.set(other, Math.max(found.get(other) ?? -1, run.tieDay[row]));
  }
  return found;
}
