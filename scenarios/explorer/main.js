// Time, the address and keys; the start of the page.

let playing = 0, lastDay = 0;

function readAddress() {
  const given = here();
  const day = Number(given.day ?? settings.days);
  state = { ...given, day: day >= 0 ? Math.min(day, settings.days) : settings.days };
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
    "+": () => zoom(1.4, ...middle()), "-": () => zoom(1 / 1.4, ...middle()), 0: () => { Object.assign(view, { zoom: 1, x: 0, y: 0 }); redraw(false); },
    "/": () => { go({ tab: "search" }); setTimeout(() => $("view").querySelector("input")?.focus(), 50); }, Escape: () => go({}), "?": () => go({ tab: "keys" }) };
  const act = acts[event.key] || (/^[1-5]$/.test(event.key) ? () => go({ tab: tabs[event.key - 1] }) : null);
  const pressed = event.target.closest?.("a, button, summary");
  if (!act || (pressed && event.key === " ")) return;
  event.preventDefault();
  act();
}
const middle = () => [view.canvas.clientWidth / 2, view.canvas.clientHeight / 2];

async function start() {
  settings = await unpack("settings");
  opened = Object.assign(await unpack("drawn"), settings);
  prepare(opened);
  $("app").hidden = false;
  addCanvas(opened);
  $("day").max = settings.days;
  $("day").addEventListener("input", () => setDay(Number($("day").value), false));
  $("day").addEventListener("change", () => setDay(Number($("day").value), true));
  $("play").addEventListener("click", play);
  const ties = opened.old > MOST_TIES || opened.tieDay.length - opened.old > MOST_TIES ? ` At most ${number(MOST_TIES)} ties of each kind are drawn, spread over all.` : "";
  $("legend").textContent = `Dots: scientists, coloured by community (${opened.method}). Thin lines: co-authors before day 0; dark: since. Dashed, with rings: teams at work on this day.${ties}`;
  $("communities").replaceChildren(...communities(opened));
  addEventListener("hashchange", render);
  addEventListener("resize", () => redraw(false));
  addEventListener("keydown", onKey);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => redraw(false));
  readAddress();
  showDay();
  paint();
  performance.mark("network");
  renderPanel();
  if (document.readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done));
  await readWords(opened);
  performance.mark("words");
  renderPanel();
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => {
  Object.assign($("failed"), { hidden: false, textContent: `The explorer could not start (${error.message}); it needs a newer browser.` });
  $("app").hidden = true;
});
