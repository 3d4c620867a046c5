// Shows a page of the inputs that were asked for. Texts become text nodes: whatever they hold, it is no markup.
"use strict";
{
  const PAGE = 25;
  const element = id => document.getElementById(`inputs-${id}`);
  const rows = JSON.parse(element("data").textContent);
  const classes = JSON.parse(element("classes").textContent);
  const flat = parts => parts.map(pieces => pieces.join("")).join("\n");
  for (const row of rows) row.text = `${flat(row.before)}\n${row.after ? flat(row.after) : ""}`.toLowerCase();
  let found = rows, first = 0;

  const make = (tag, kind, ...children) => {
    const made = document.createElement(tag);
    made.className = kind;
    made.append(...children);
    return made;
  };

  const part = pieces => {
    const shown = make("p", "part", ...pieces.map((text, place) => place % 2 ? make("mark", "", text) : text));
    shown.dir = "auto";
    return shown;
  };

  const share = value => value === null ? "not a number" : value.toFixed(3);

  // One number is a score on the scale of the label; several are the probabilities of the classes.
  const scores = (values, label, names) => {
    if (values.length === 1) return [make("span", "", `true ${label}, predicted ${share(values[0])}`)];
    const highest = Math.max(...values);
    return values.map((value, place) => {
      const name = make("span", place === label ? "true" : "", names[place] ?? `class ${place}`);
      return make("span", value === highest ? "chosen" : "", name, `: ${share(value)}`);
    });
  };

  const text = (kind, parts, values, row) => {
    const names = classes[`${row.set}/${row.recipe}`] ?? [];
    return make("div", kind, ...parts.map(part), make("div", "scores", ...scores(values, row.label, names)));
  };

  const card = row => {
    const queries = row.queries === 1 ? "1 query" : `${row.queries} queries`;
    const facts = [`${row.set}, input ${row.index}`, row.recipe, queries];
    if (row.changed) facts.push(`${row.changed} of ${row.words} words changed`);
    const what = make("div", "what", make("span", "verdict", row.outcome), ...facts.map(fact => make("span", "", fact)));
    const texts = make("div", "texts", text("before", row.before, row.scoresBefore, row));
    if (row.after) texts.append(text("after", row.after, row.scoresAfter, row));
    return make("article", `input ${row.outcome}`, what, texts);
  };

  const show = () => {
    const last = Math.min(first + PAGE, found.length);
    element("list").replaceChildren(...found.slice(first, last).map(card));
    const where = found.length ? `${first + 1} to ${last} of ${found.length}` : "none";
    for (const bar of [element("above"), element("below")]) {
      bar.querySelector(".where").textContent = `${where}${found.length < rows.length ? `, ${rows.length} in all` : ""}`;
      bar.querySelector(".previous").disabled = first === 0;
      bar.querySelector(".next").disabled = last === found.length;
    }
  };

  const ask = () => {
    const [set, recipe, outcome, order] = ["set", "recipe", "outcome", "order"].map(id => element(id).value);
    const words = element("search").value.trim().toLowerCase();
    found = rows.filter(row => (!set || row.set === set) && (!recipe || row.recipe === recipe)
      && (!outcome || row.outcome === outcome) && row.text.includes(words));
    const sets = [...new Set(found.map(row => row.set))];
    if (order === "input") found.sort((one, other) => sets.indexOf(one.set) - sets.indexOf(other.set) || one.index - other.index);
    else if (order !== "index") found.sort((one, other) => other[order] - one[order]);
    first = 0;
    show();
  };

  const turn = (pages, below) => {
    first += pages * PAGE;
    show();
    if (below) element("above").scrollIntoView();
  };

  for (const id of ["set", "recipe", "outcome", "order"]) element(id).addEventListener("change", ask);
  element("search").addEventListener("input", ask);
  for (const id of ["above", "below"]) {
    element(id).querySelector(".previous").addEventListener("click", () => turn(-1, id === "below"));
    element(id).querySelector(".next").addEventListener("click", () => turn(1, id === "below"));
  }
  show();
}
