"use strict";
// Forms for the open questions. What is typed is kept in this browser until it has been sent.
const forms = new Map();
const draftName = (stem) => `society-answer-${stem}`;

function typeOf(field) {
  if (field.enum) return "choice";
  const one = (field.anyOf || field.oneOf || []).find((kind) => kind.type !== "null");
  if (one) return typeOf(one);
  if (field.type === "array") {
    const inner = field.items ? typeOf(field.items) : "text";
    return { text: "lines", whole: "numbers", decimal: "numbers" }[inner] || (inner === "choice" ? "choices" : "json");
  }
  return { string: "text", integer: "whole", number: "decimal", boolean: "choice", object: "json" }[field.type] || "json";
}

const concrete = (field) => (field.anyOf || field.oneOf || []).find((kind) => kind.type !== "null") || field;
const HINTS = { lines: "one on each line", numbers: "whole numbers or decimals, separated by commas",
  choices: "all that apply", json: "as JSON" };

// One control: its elements, what it says now, and how a draft is put back. An object has one control for each field.
function makeControl(id, name, field, required) {
  const kind = typeOf(field), inner = concrete(field), box = element("fieldset");
  const nullable = (field.anyOf || field.oneOf || []).some((one) => one.type === "null");
  if (inner.type === "object" && inner.properties) {
    const needed = nullable ? [] : inner.required || [];
    const isEmpty = () => parts.every(([, part]) => !part.keep() || !String(part.keep()));
    const parts = Object.entries(inner.properties).map(([key, one], place) =>
      [key, makeControl(`${id}-${place}`, key, one, needed.includes(key))]);
    const legend = element("legend", name);
    if (nullable) legend.append(" ", element("span", "(may be left empty)", { class: "quiet" }));
    box.append(legend, ...parts.map(([, part]) => part.box));
    return { box,
      value: () => nullable && isEmpty() ? null : Object.fromEntries(parts.map(([key, part]) => [key, part.value()]).filter(([, value]) => value !== undefined)),
      keep: () => parts.map(([, part]) => part.keep()),
      put: (kept) => parts.forEach(([, part], place) => part.put(kept[place])) };
  }
  const bounds = [inner.minimum, inner.maximum];
  const range = bounds.every((one) => one !== undefined) ? `${bounds[0]} to ${bounds[1]}` : "";
  const hints = [HINTS[kind], range, required && !nullable && field.default === undefined ? "" : "may be left empty"].filter(Boolean).join("; ");
  const label = element("label", name, { for: id });
  if (hints) label.append(" ", element("span", `(${hints})`, { class: "quiet" }));
  let control;
  if (kind === "choice" || kind === "choices") {
    control = element("select", null, { id, name });
    if (kind === "choices") control.multiple = true;
    else control.append(element("option", "choose ...", { value: "" }));
    const values = inner.type === "boolean" ? [true, false] : inner.enum || inner.items.enum || concrete(inner.items).enum;
    const said = (value) => (value === true ? "yes" : value === false ? "no" : String(value));
    values.forEach((value, place) => value !== null && control.append(element("option", said(value), { value: String(place) })));
    control.values = values;
  } else if (kind === "whole" || kind === "decimal") {
    control = element("input", null, { id, name, type: "number", step: kind === "whole" ? "1" : "any" });
    if (inner.minimum !== undefined) control.min = inner.minimum;
    if (inner.maximum !== undefined) control.max = inner.maximum;
  } else {
    control = element("textarea", null, { id, name, rows: kind === "text" ? 3 : 2 });
  }
  if (required && !nullable && field.default === undefined) control.required = true;
  box.append(label, control);
  if (field.description) box.insertBefore(element("p", field.description, { class: "quiet" }), control);
  return { box, value: () => valueOf(kind, control, nullable), keep: () => keepOf(kind, control),
    put: (kept) => putBack(kind, control, kept) };
}

function valueOf(kind, control, nullable) {
  const text = control.value.trim();
  if (kind === "choices") return [...control.selectedOptions].map((one) => control.values[Number(one.value)]);
  if (text === "") return nullable ? null : kind === "text" ? "" : kind === "lines" || kind === "numbers" ? [] : undefined;
  if (kind === "choice") return control.values[Number(text)];
  if (kind === "whole" || kind === "decimal") return Number(text);
  if (kind === "lines") return text.split("\n").map((line) => line.trim()).filter(Boolean);
  if (kind === "numbers") return text.split(/[\s,;]+/).filter(Boolean).map(Number);
  if (kind === "json") return JSON.parse(text);
  return text;
}

const keepOf = (kind, control) => (kind === "choices" ? [...control.selectedOptions].map((one) => one.value) : control.value);

function putBack(kind, control, kept) {
  if (kept === undefined || kept === null) return;
  if (kind === "choices") [...control.options].forEach((one) => { one.selected = kept.includes(one.value); });
  else control.value = kept;
}

function makeForm(question) {
  const article = element("article", null, { class: "question" }), form = element("form", null, { "data-stem": question.stem });
  const head = element("p", null, { class: "quiet" }), told = element("p", "", { role: "status" });
  article.append(element("h3", question.who ? `To ${question.who}` : question.stem), head);
  if (question.again) article.append(element("p", "Asked again: your answer could not be read. It and what was wrong with it are the last two messages.", { class: "bad" }));
  question.messages.forEach((one, place) => {
    // The first message is the same all along; the last is what is asked now.
    const part = element("details");
    part.open = place === question.messages.length - 1;
    part.append(element("summary", `message ${place + 1} of ${question.messages.length} (${one.role})`), element("pre", one.content));
    article.append(part);
  });
  const fields = Object.entries(question.schema.properties || {}), required = question.schema.required || [];
  const controls = fields.map(([name, field], place) =>
    [name, makeControl(`${question.stem}-${place}`, name, field, required.includes(name))]);
  if (!controls.length) {
    controls.push(["", makeControl(`${question.stem}-0`, "answer", { type: "object" }, true)]);
  }
  const button = element("button", "Send the answer", { type: "submit" });
  form.append(...controls.map(([, control]) => control.box), button, told);
  article.append(form);
  try {
    const kept = JSON.parse(localStorage.getItem(draftName(question.stem)) || "null");
    if (kept) controls.forEach(([, control], place) => control.put(kept[place]));
  } catch { /* a draft that cannot be read is no draft */ }
  form.addEventListener("input", () => {
    try {
      localStorage.setItem(draftName(question.stem), JSON.stringify(controls.map(([, control]) => control.keep())));
      told.textContent = "kept in this browser, not sent yet";
    } catch { told.textContent = "this browser keeps nothing: send before you leave the page"; }
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    let answer;
    try {
      const values = controls.map(([name, control]) => [name, control.value()]).filter(([, value]) => value !== undefined);
      answer = controls[0][0] === "" ? values[0][1] : Object.fromEntries(values);
    } catch (error) {
      told.textContent = `a field is no JSON: ${error.message}`;
      return;
    }
    button.disabled = true;
    const taken = await post({ stem: question.stem, text: JSON.stringify(answer) });
    told.textContent = taken.ok ? "sent" : `not taken: ${taken.told}`;
    if (taken.ok) localStorage.removeItem(draftName(question.stem));
    button.disabled = taken.ok;
  });
  return { article, head };
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
  section.replaceChildren();
  if (!text) return;
  const button = element("button", "I agree", { type: "button", id: "agree" });
  button.addEventListener("click", () => post({ consent: true }));
  section.append(element("h2", "Before you begin"), element("pre", text), button);
}

function showSeats(seats, state) {
  showConsent(seats.consent);
  $("seats").hidden = Boolean(seats.consent);
  const open = new Set(seats.questions.map((one) => one.stem));
  for (const [stem, form] of forms) {
    if (!open.has(stem)) {
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
  showTimes(seats.questions);
  $("turns").textContent = seats.questions.length ? "" : state === "finished"
    ? "The run has ended; thank you." : "Nobody asks you anything now. This page changes by itself when somebody does.";
}

function showTimes(questions) {
  for (const { stem, call, until } of questions) {
    const left = until ? Math.max(0, until - Date.now() / 1000) : null;
    const form = forms.get(stem);
    if (form) form.head.textContent = left === null ? `${call}; no time limit` : `${call}; ${since(left)} left, then it is answered for you, and marked`;
  }
}
