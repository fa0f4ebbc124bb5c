// Time, the address and keys; the start of the page.

let playing = 0, lastDay = 0;

function readAddress() {
  const given = here();
  const day = Number(given.day ?? settings.days), run = Number(given.run ?? 0);
  state = { ...given, day: day >= 0 ? Math.min(day, settings.days) : settings.days, run: runs[run] ? run : 0 };
}

function render() {
  readAddress();
  showDay();
  renderPanel();
  redraw(false);
}

function showDay() {
  $("day").value = state.day;
  $("date").textContent = when(state.day);
  $("day").setAttribute("aria-valuetext", when(state.day));
}

function setDay(day, final) {
  state.day = Math.min(settings.days, Math.max(0, final ? Math.round(day) : day));
  showDay();
  redraw(false);
  if (!final) return;
  history.replaceState(null, "", address({ ...here(), day: state.day === settings.days ? null : state.day }));
  renderPanel();
}

function play() {
  if (!playing && state.day >= settings.days) setDay(0, true);
  playing = playing ? 0 : requestAnimationFrame(function step(now) {
    if (!playing) return;
    const day = state.day + Number($("speed").value) * Math.min(now - (lastDay || now), 200) / 1000;
    lastDay = now;
    setDay(day, false);
    if (day >= settings.days) play(); else playing = requestAnimationFrame(step);
  });
  lastDay = 0;
  $("play").textContent = playing ? "❚❚" : "▶";
  $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  if (!playing) setDay(state.day, true);
}

function onKey(event) {
  const typing = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.id !== "day";
  if (event.ctrlKey || event.metaKey || event.altKey || (typing && event.key !== "Escape")) return;
  const step = event.shiftKey ? 30 : 1, tabs = ["", "people", "teams", "papers", "search"];
  const acts = { " ": play, ArrowLeft: () => setDay(state.day - step, true), ArrowRight: () => setDay(state.day + step, true), Home: () => setDay(0, true), End: () => setDay(settings.days, true),
    "+": () => zoomAll(1.4, ...middle()), "-": () => zoomAll(1 / 1.4, ...middle()), 0: () => { for (const view of canvases) Object.assign(view, { zoom: 1, x: 0, y: 0 }); redraw(false); },
    "/": () => { go({ tab: "search" }); setTimeout(() => $("view").querySelector("input")?.focus(), 50); }, Escape: () => go({}), "?": () => go({ tab: "keys" }) };
  const act = acts[event.key] || (/^[1-5]$/.test(event.key) ? () => go({ tab: tabs[event.key - 1] }) : null);
  const pressed = event.target.closest?.("a, button, summary");
  if (!act || (pressed && event.key === " ")) return;
  event.preventDefault();
  act();
}
const middle = () => [canvases[0].canvas.clientWidth / 2, canvases[0].canvas.clientHeight / 2];

async function start() {
  settings = await unpack("settings");
  settings.days = Math.max(...settings.runs.map((run) => run.days));
  for (let i = 0; i < settings.runs.length; i++) {
    runs.push(Object.assign(await unpack("drawn" + i), settings.runs[i], { label: settings.runs[i].folder || settings.runs[i].name }));
    prepare(runs[i]);
  }
  $("app").hidden = false;
  $("canvases").className = runs.length > 1 ? "two" : "";
  runs.forEach(addCanvas);
  $("day").max = settings.days;
  $("day").addEventListener("input", () => setDay(Number($("day").value), false));
  $("day").addEventListener("change", () => setDay(Number($("day").value), true));
  $("play").addEventListener("click", play);
  if (settings.parted !== null) {
    Object.assign($("parted"), { hidden: false, textContent: `They part on day ${Math.floor(settings.parted)}` });
    $("parted").addEventListener("click", () => setDay(Math.floor(settings.parted), true));
  }
  const ties = runs[0].old > MOST_TIES || runs[0].tieDay.length - runs[0].old > MOST_TIES ? ` At most ${number(MOST_TIES)} ties of each kind are drawn, spread over all.` : "";
  $("legend").textContent = `Dots: scientists, coloured by community (${runs[0].method}). Thin lines: co-authors before day 0; dark: since. Dashed, with rings: teams at work on this day.${ties}`;
  $("communities").replaceChildren(...communities(runs[0]));
  addEventListener("hashchange", render);
  addEventListener("resize", () => redraw(false));
  addEventListener("keydown", onKey);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(false));
  readAddress();
  showDay();
  canvases.forEach(paint);
  performance.mark("network");
  renderPanel();
  if (document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done));
  for (let i = 0; i < runs.length; i++) await readWords(runs[i], i);
  performance.mark("words");
  renderPanel();
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  Object.assign($("failed"), { hidden: false, textContent: `The explorer could not start (${error.message}); it needs a newer browser.` });
  $("app").hidden = true;
});
