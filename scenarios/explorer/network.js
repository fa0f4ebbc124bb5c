// The network on canvas: scientists, ties, teams at work; moved, enlarged and clicked.

const MOST_TIES = 30000, ONE_PATH = 400, MOST_NAMED = 3000;
let view; // the canvas, what of it is shown, and the last picture

function addCanvas(run) {
  const canvas = el("canvas", { tabindex: 0, role: "img", "aria-label": `Co-authorship network; the same is in the lists` });
  $("canvas").append(canvas);
  view = { run, canvas, cache: document.createElement("canvas"), zoom: 1, x: 0, y: 0, moved: null, pointers: new Map() };
  canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY / 400), event.offsetX, event.offsetY); }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); view.pointers.set(event.pointerId, event); view.dragged = 0; });
  canvas.addEventListener("pointermove", drag);
  for (const kind of ["pointerup", "pointercancel"]) canvas.addEventListener(kind, (event) => {
    view.pointers.delete(event.pointerId);
    if (kind === "pointerup" && view.dragged < 5) pick(event.offsetX, event.offsetY);
  });
}

function drag(event) {
  const before = view.pointers.get(event.pointerId);
  if (!before) return;
  const others = [...view.pointers.values()].filter((one) => one.pointerId !== event.pointerId);
  view.pointers.set(event.pointerId, event);
  if (others.length) { // two fingers: their distance is the zoom
    const apart = (one) => Math.hypot(one.clientX - others[0].clientX, one.clientY - others[0].clientY);
    zoom(apart(event) / Math.max(apart(before), 1), event.offsetX, event.offsetY);
    return;
  }
  const dx = event.clientX - before.clientX, dy = event.clientY - before.clientY;
  view.dragged += Math.abs(dx) + Math.abs(dy);
  view.x += dx;
  view.y += dy;
  redraw(true);
}

function zoom(factor, x, y) {
  const larger = Math.min(200, Math.max(0.5, view.zoom * factor)), by = larger / view.zoom;
  view.x = x - (x - view.x) * by; view.y = y - (y - view.y) * by; view.zoom = larger;
  redraw(true);
}

let scheduled = 0, settled = 0;
/** Draw in the next frame; while moving a large network, its last picture is moved instead. */
function redraw(moving) {
  clearTimeout(settled);
  if (moving) settled = setTimeout(() => redraw(false), 140);
  if (scheduled) { scheduled = moving ? scheduled : 2; return; }
  scheduled = moving ? 1 : 2;
  requestAnimationFrame(() => {
    const quick = scheduled === 1;
    scheduled = 0;
    if (quick && view.heavy && view.drawn) shift(); else paint();
  });
}

function scaleOf() {
  const width = view.canvas.clientWidth, height = view.canvas.clientHeight, base = 0.92 * Math.min(width, height) / 65535;
  return { s: base * view.zoom, x: view.x + (width - 65535 * base) / 2, y: view.y + (height - 65535 * base) / 2, width, height };
}

function shift() {
  const now = scaleOf(), was = view.drawn, by = now.s / was.s, ratio = devicePixelRatio, context = view.canvas.getContext("2d");
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.clearRect(0, 0, view.canvas.width, view.canvas.height);
  context.drawImage(view.cache, (now.x - was.x * by) * ratio, (now.y - was.y * by) * ratio, view.cache.width * by, view.cache.height * by);
}

function paint() {
  const { run, canvas, cache } = view, place = scaleOf(), { s, x, y, width, height } = place, ratio = devicePixelRatio;
  if (!width || !height) return; // not laid out yet
  for (const one of [canvas, cache]) if (one.width !== Math.round(width * ratio) || one.height !== Math.round(height * ratio)) { one.width = Math.round(width * ratio); one.height = Math.round(height * ratio); }
  const context = cache.getContext("2d"), style = getComputedStyle(document.body), colour = (name) => style.getPropertyValue(`--${name}`).trim();
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  const day = state.day, count = run.names.length, small = count <= 3000;
  const px = (i) => x + run.x[i] * s, py = (i) => y + run.y[i] * s, inside = (i) => px(i) > -9 && px(i) < width + 9 && py(i) > -9 && py(i) < height + 9;
  const there = Uint8Array.from(run.names, (_, i) => present(run, i, day));
  const strokes = (rows, from, to) => { // lines in several short paths: one long path takes far longer
    let held = 0;
    for (const row of rows) {
      const a = from(row), b = to(row);
      if (!there[a] || !there[b] || !(inside(a) || inside(b))) continue;
      if (held++ % ONE_PATH === 0) { context.stroke(); context.beginPath(); }
      context.moveTo(px(a), py(a)); context.lineTo(px(b), py(b));
    }
    context.stroke(); context.beginPath();
  };
  function* every(start, end, most) { const step = Math.max(1, Math.ceil((end - start) / most)); for (let row = start; row < end; row += step) yield row; }
  const until = tiesUntil(run, day), a = (row) => run.tieA[row], b = (row) => run.tieB[row];
  context.beginPath();
  context.strokeStyle = colour("tie"); context.lineWidth = small ? 0.7 : 0.4; context.globalAlpha = run.old > 3000 ? 0.25 : 0.55;
  strokes(every(0, run.old, MOST_TIES), a, b);
  context.strokeStyle = colour("new"); context.lineWidth = small ? 1.3 : 0.6; context.globalAlpha = until - run.old > 3000 ? 0.35 : 0.75;
  strokes(every(run.old, until, MOST_TIES), a, b);
  // Teams at work: dashes from their leader to each member.
  const rows = [], busy = new Uint8Array(count);
  for (let row = 0; row < run.member_who.length; row++) if (inTeam(run, row, day)) { busy[run.member_who[row]] = 1; if (rows.length < MOST_TIES) rows.push(row); }
  context.strokeStyle = colour("team"); context.lineWidth = rows.length < 300 ? 1.6 : 0.8; context.globalAlpha = rows.length < 300 ? 0.9 : 0.35; context.setLineDash([5, 3]);
  strokes(rows, (row) => run.team_leader[run.member_team[row]], (row) => run.member_who[row]);
  context.setLineDash([]); context.globalAlpha = 1;
  run.byColour.forEach((nodes, c) => {
    context.fillStyle = colour(COLOURS[c] || "rest");
    for (const i of nodes) {
      if (!there[i] || !inside(i)) continue;
      const r = Math.max(0.7, (small ? 3.2 : 0.8) * Math.min(2.2, Math.sqrt(view.zoom)) + (small ? busy[i] * 1.5 : 0));
      if (small) { context.beginPath(); context.arc(px(i), py(i), r, 0, 7); context.fill(); } else context.fillRect(px(i) - r, py(i) - r, 2 * r, 2 * r);
    }
  });
  context.strokeStyle = colour("team"); context.lineWidth = rows.length < 300 ? 1.5 : 0.8;
  if (small) for (let i = 0; i < count; i++) if (busy[i] && there[i] && inside(i)) { context.beginPath(); context.arc(px(i), py(i), 6 * Math.min(2.2, Math.sqrt(view.zoom)), 0, 7); context.stroke(); }
  labels(context, place, colour);
  view.drawn = place;
  view.heavy = count + Math.min(run.old, MOST_TIES) + Math.min(until - run.old, MOST_TIES) > 4000;
  const shown = canvas.getContext("2d");
  shown.setTransform(1, 0, 0, 1, 0, 0);
  shown.clearRect(0, 0, canvas.width, canvas.height);
  shown.drawImage(cache, 0, 0);
}

/** The chosen scientist with its ties, and names where there is room: the best connected first. */
function labels(context, { s, x, y, width, height }, colour) {
  const { run } = view, day = state.day, taken = [], px = (i) => x + run.x[i] * s, py = (i) => y + run.y[i] * s;
  const write = (i, bold) => {
    context.font = `${bold ? 600 : 400} ${bold ? 13 : 11}px system-ui, sans-serif`;
    const left = px(i) + 8, top = py(i) - 7, right = left + context.measureText(run.names[i]).width;
    if (right > width || left < 0 || top < 0 || top > height - 14 || taken.some(([l, t, r]) => left < r && right > l && Math.abs(t - top) < 13)) return false;
    taken.push([left, top, right]);
    context.strokeStyle = colour("card"); context.lineWidth = 3; context.strokeText(run.names[i], left, top + 11);
    context.fillStyle = colour("ink"); context.fillText(run.names[i], left, top + 11);
    return true;
  };
  const chosen = chosenPeople(run);
  context.strokeStyle = colour("accent"); context.lineWidth = 2;
  if (chosen.length === 1) for (const other of partners(run, chosen[0], day).keys()) { context.beginPath(); context.moveTo(px(chosen[0]), py(chosen[0])); context.lineTo(px(other), py(other)); context.stroke(); }
  for (const i of chosen) { context.strokeStyle = colour("accent"); context.lineWidth = 3; context.beginPath(); context.arc(px(i), py(i), 9, 0, 7); context.stroke(); write(i, true); }
  run.ranked ??= byDegree(run);
  let written = 0;
  for (const i of run.ranked) {
    if (written >= 50) break;
    if (present(run, i, day) && px(i) > 0 && px(i) < width && py(i) > 0 && py(i) < height && write(i, false)) written++;
  }
}

/** The best connected scientists, as many as are looked at for names. */
function byDegree(run) {
  const degree = new Uint32Array(run.names.length);
  for (const ends of [run.tieA, run.tieB]) for (const i of ends) degree[i]++;
  const least = degree.slice().sort()[Math.max(0, degree.length - MOST_NAMED)];
  return Array.from(degree.keys()).filter((i) => degree[i] >= least).sort((p, q) => degree[q] - degree[p] || p - q).slice(0, MOST_NAMED);
}

function chosenPeople(run) {
  const known = (i) => (i === undefined ? [] : [i]), day = state.day;
  if (state.who !== undefined) return known(run.personByName.get(state.who));
  if (state.team !== undefined) return known(run.teamById.get(state.team)).flatMap((team) => lived(run.membersOf(team), run.member_joined, day).map((row) => run.member_who[row]));
  if (state.paper !== undefined) return known(run.paperById.get(state.paper)).flatMap((paper) => Array.from(run.authorsOf(paper), (row) => run.author_who[row]));
  return [];
}

function pick(x, y) {
  const { run } = view, place = scaleOf();
  let best = 144, who = -1;
  for (let i = 0; i < run.names.length; i++) {
    const far = (place.x + run.x[i] * place.s - x) ** 2 + (place.y + run.y[i] * place.s - y) ** 2;
    if (far < best && present(run, i, state.day)) { best = far; who = i; }
  }
  if (who >= 0) go({ who: run.names[who] });
}
