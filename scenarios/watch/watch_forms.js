"use strict";
// A card for each open question. What is typed is kept in this browser until it has been sent.
const forms = new Map();
const draftName = (stem) => `society-answer-${stem}`;
const HINTS = { lines: "one on each line", numbers: "numbers, separated by commas", json: "as JSON" };
const MOST_MARKS = 11;

const alternatives = (field) => field.anyOf || field.oneOf || [];
const concrete = (field) => alternatives(field).find((kind) => kind.type !== "null") || field;
const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

// Values and labels of a field that is answered by choosing; null: it is not.
function optionsOf(field, labels, offered) {
  const inner = concrete(field), few = inner.maximum - inner.minimum < MOST_MARKS;
  if (offered && offered.length) return offered;
  if (inner.type === "boolean") return [[true, "Yes"], [false, "No"]];
  if (inner.enum) return inner.enum.filter((one) => one !== null).map((one) => [one, (labels || {})[one] || String(one)]);
  if (inner.type === "array" && inner.items && concrete(inner.items).enum) return concrete(inner.items).enum.map((one) => [one, String(one)]);
  if (["integer", "number"].includes(inner.type) && few) {
    return Array.from({ length: inner.maximum - inner.minimum + 1 }, (_, place) => [inner.minimum + place, String(inner.minimum + place)]);
  }
  return null;
}

function typeOf(field) {
  const inner = concrete(field);
  if (inner.type === "array") return { string: "lines", integer: "numbers", number: "numbers" }[inner.items && concrete(inner.items).type] || "json";
  return { string: "text", integer: "number", number: "number" }[inner.type] || "json";
}

// One control: its elements, what it says now, and how a draft is put back. An object has one for each field.
function makeControl(card, path, id, field, required) {
  const inner = concrete(field), name = path.split(".").pop(), nullable = alternatives(field).some((one) => one.type === "null");
  const needed = required && !nullable && field.default === undefined;
  const words = sentence(inner.description || field.description || (name === "Ask" ? "put a question to somebody outside the team" : inner.enum ? "your choice" : name)).replace(/^Keys of the/, "The");
  const box = element("fieldset"), hints = needed ? [] : ["may be left empty"];
  if (inner.type === "object" && inner.properties) {
    const parts = Object.entries(inner.properties).map(([key, one], place) =>
      [key, makeControl(card, `${path}.${key}`, `${id}-${place}`, one, !nullable && (inner.required || Object.keys(inner.properties)).includes(key))]);
    const isEmpty = () => parts.every(([, part]) => !String(part.keep()));
    const legend = element(nullable ? "summary" : "legend", words), fold = nullable ? element("details") : box;
    if (nullable) box.append(fold);
    fold.append(legend, ...parts.map(([, part]) => part.box));
    return { box,
      value: () => nullable && isEmpty() ? null : Object.fromEntries(parts.map(([key, part]) => [key, part.value()]).filter(([, value]) => value !== undefined)),
      keep: () => parts.map(([, part]) => part.keep()),
      put: (kept) => { parts.forEach(([, part], place) => part.put(kept[place])); if (nullable) fold.open = !isEmpty(); } };
  }
  const options = optionsOf(field, card.labels[path], card.choices[path]), several = inner.type === "array", kind = typeOf(field);
  if (!options && HINTS[kind]) hints.unshift(HINTS[kind]);
  if (options && several) hints.unshift("all that apply");
  if (!options && inner.maximum !== undefined && inner.minimum !== undefined) hints.unshift(`${inner.minimum} to ${inner.maximum}`);
  const hint = element("span", hints.length ? ` (${hints.join("; ")})` : "", { class: "quiet" });
  const listed = options && !several && (options.length > MOST_MARKS || (inner.type === "string" && !inner.enum));
  if (options && !listed) return makeChoice(box, words, hint, id, options, several, needed);
  const control = options ? element("select", null, { id, name }) : kind === "number" ? element("input", null, { id, name, type: "number", step: inner.type === "integer" ? "1" : "any" })
    : element("textarea", null, { id, name, rows: /abstract|idea|response|summary|answer/i.test(name) ? 6 : /title|direction/i.test(name) ? 1 : 2 });
  if (options) control.append(element("option", "choose ...", { value: "" }), ...options.map(([value, label]) => element("option", label, { value })));
  for (const [bound, at] of [["min", inner.minimum], ["max", inner.maximum]]) if (kind === "number" && at !== undefined) control[bound] = at;
  control.required = needed;
  const label = element("label", words, { for: id });
  label.append(hint);
  box.append(label, control);
  return { box, value: () => valueOf(kind, control.value.trim(), nullable), keep: () => control.value, put: (kept) => { control.value = kept || ""; } };
}

// Radio buttons or check boxes, drawn as buttons side by side.
function makeChoice(box, words, hint, id, options, several, needed) {
  const legend = element("legend", words), row = element("div", null, { class: "choices" });
  legend.append(hint);
  const inputs = options.map(([, label], place) => {
    const input = element("input", null, { type: several ? "checkbox" : "radio", name: id, id: `${id}-${place}`, value: place });
    input.required = needed && !several;
    const shown = element("label", label, { for: `${id}-${place}` });
    row.append(input, shown);
    return input;
  });
  box.append(legend, row);
  const chosen = () => inputs.filter((one) => one.checked).map((one) => one.value);
  return { box, options: several ? null : options,
    value: () => { const found = chosen().map((place) => options[Number(place)][0]); return several ? found : found[0]; },
    keep: chosen, put: (kept) => inputs.forEach((one) => { one.checked = (kept || []).includes(one.value); }) };
}

function valueOf(kind, text, nullable) {
  if (text === "") return nullable ? null : kind === "text" ? "" : kind === "lines" || kind === "numbers" ? [] : undefined;
  if (kind === "number") return Number(text);
  if (kind === "lines") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (kind === "numbers") return text.split(/[\s,;]+/).filter(Boolean).map(Number);
  return kind === "json" ? JSON.parse(text) : text;
}

function makeBlock(block) {
  if (block.kind === "list") {
    const list = element("ul");
    list.append(...block.lines.map((line) => element("li", line)));
    return list;
  }
  const box = element(block.kind === "you" ? "details" : "div", null, { class: block.kind + (block.own ? " own" : "") });
  if (block.kind === "you") box.append(element("summary", "Who you are"));
  if (block.who) box.append(element("strong", block.who));
  box.append(...block.lines.map((line) => element("p", line)));
  return box;
}

function makePrompt(question) {
  const fold = element("details", null, { class: "exact" });
  fold.append(element("summary", "The text that a language model would be sent, with the names of this page"),
    ...question.messages.flatMap((one) => [element("p", one.role, { class: "quiet" }), element("pre", one.content, { tabindex: 0 })]));
  return fold;
}

function makeForm(question) {
  const article = element("article", null, { class: "question", "aria-label": question.title });
  const form = element("form", null, { "data-stem": question.stem }), told = element("p", "", { role: "status" });
  const head = element("p", null, { class: "quiet" });
  article.append(element("h3", question.title), head);
  if (question.complaint) article.append(element("p", `Asked again: ${question.complaint}`, { class: "bad" }));
  article.append(...question.blocks.map(makeBlock), form, makePrompt(question));
  const required = question.schema.required || [];
  const controls = Object.entries(question.schema.properties || {}).map(([name, field], place) =>
    [name, makeControl(question, name, `${question.stem}-${place}`, field, required.includes(name))]);
  if (!controls.length) controls.push(["", makeControl({ labels: {}, choices: {} }, "answer", `${question.stem}-0`, {}, true)]);
  const buttons = addButtons(form, controls);
  form.append(told);
  const name = draftName(question.stem);
  try {
    const kept = JSON.parse(localStorage.getItem(name) || "null");
    if (kept) controls.forEach(([, control], place) => control.put(kept[place]));
  } catch { /* a draft that cannot be read is no draft */ }
  form.addEventListener("input", () => {
    try {
      localStorage.setItem(name, JSON.stringify(controls.map(([, control]) => control.keep())));
      told.textContent = "kept in this browser, not sent yet";
    } catch { told.textContent = "this browser keeps nothing: send before you leave the page"; }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const chosen = event.submitter && event.submitter.value;
    let answer;
    try {
      const values = controls.map(([key, control]) => [key, control.decides && chosen ? control.options[Number(chosen)][0] : control.value()]).filter(([, value]) => value !== undefined);
      answer = controls[0][0] === "" ? values[0][1] : Object.fromEntries(values);
    } catch (error) {
      told.textContent = `a field is no JSON: ${error.message}`;
      return;
    }
    for (const button of buttons) button.disabled = true;
    const taken = await post({ stem: question.stem, text: JSON.stringify(answer) });
    told.textContent = taken.ok ? "sent" : `not taken: ${taken.told}`;
    if (taken.ok) {
      localStorage.removeItem(name);
      article.dataset.sent = "yes";
    }
    for (const button of buttons) button.disabled = taken.ok;
  });
  return { article, head };
}

// One button that sends, or, where the whole decision is one of few choices, a button for each of them.
function addButtons(form, controls) {
  const choices = controls.filter(([, control]) => control.options), [, only] = choices[0] || [];
  const direct = choices.length === 1 && only.options.length <= 3 && only.options.every(([, label]) => label.length < 40);
  if (direct) only.decides = true;
  form.append(...controls.filter(([, control]) => !control.decides).map(([, control]) => control.box));
  const labels = direct ? only.options.map(([, label], place) => [label, String(place)]) : [["Send", ""]];
  const buttons = labels.map(([label, value]) => element("button", label, { type: "submit", value }));
  form.append(...buttons);
  return buttons;
}

async function post(data) {
  try {
    const answer = await fetch("answer", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(data) });
    return { ok: answer.ok, told: (await answer.json()).told };
  } catch (error) {
    return { ok: false, told: error.message };
  }
}

function showConsent(text) {
  const section = $("consent");
  if (section.hidden === !text) return;
  section.hidden = !text;
  if (section.contains(document.activeElement)) $("who").focus();
  section.replaceChildren();
  if (!text) return;
  const button = element("button", "I agree", { type: "button", id: "agree" });
  button.addEventListener("click", () => post({ consent: true }));
  section.append(element("h2", "Before you begin"), element("p", text, { class: "agreed" }), button);
}

// One's own answers, team by team, and what became of the team.
function showPast(past) {
  const teams = new Map();
  for (const one of past) teams.set(one.team, [...(teams.get(one.team) || []), one]);
  $("past").hidden = !past.length;
  $("past").replaceChildren(element("h2", "What you have answered"), ...[...teams].map(([team, answers]) => {
    const box = element("article"), list = element("ul");
    list.append(...answers.map((one) => {
      const line = element("li", `${one.when}: ${one.title} `);
      line.append(element("strong", one.said));
      return line;
    }));
    box.append(element("h3", answers[0].fate ? `Team ${team}, ${answers[0].fate}` : `Team ${team}`), list);
    return box;
  }));
}

function showSeats(seats, state) {
  for (const id of ["seats", "numbers", "rest"]) $(id).hidden = Boolean(seats.consent);
  showConsent(seats.consent);
  $("who").textContent = seats.who ? `You are ${seats.who}` : "Your turn";
  const open = new Set(seats.questions.map((one) => one.stem));
  for (const [stem, form] of forms) {
    if (!open.has(stem)) {
      // Whoever plays by keyboard goes on where the answered card has been.
      if (form.article.contains(document.activeElement) || form.article.dataset.sent) $("who").focus();
      form.article.remove();
      forms.delete(stem);
    }
  }
  for (const question of seats.questions) {
    // A form that is there stays: somebody may be typing in it.
    if (!forms.has(question.stem)) {
      const made = makeForm(question);
      forms.set(question.stem, made);
      $("questions").append(made.article);
    }
  }
  showPast(seats.past);
  showTimes(seats.questions);
  $("turns").textContent = seats.questions.length ? "" : state === "finished"
    ? "The run has ended; thank you." : "Nobody asks you anything now. This page changes by itself when somebody does.";
}

function showTimes(questions) {
  for (const { stem, facts, until } of questions) {
    const left = until ? Math.max(0, until - Date.now() / 1000) : null, form = forms.get(stem);
    const time = left === null ? [] : [`${since(left)} left, then it is answered for you, and marked`];
    if (form) form.head.textContent = [...facts, ...time].join("; ");
  }
}
