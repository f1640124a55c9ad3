// Charts of bars that one can filter. The figures stand in the page itself, as JSON.
"use strict";

// The fields of a chart: what can be chosen of its figures, and how its bars are drawn.
const CHARTS = {
  ratios: { choices: { threads: "Threads", series: "Library" }, all: ["series"], from: 1, logarithmic: true },
  sweep: { choices: { what: "Varied", series: "Threads" }, all: ["series"], from: 0, logarithmic: false },
};

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function chooser(label, values, withAll) {
  const options = values.map((value) => element("option", { value, textContent: value }));
  if (withAll) options.unshift(element("option", { value: "", textContent: "all" }));
  const field = element("select", {}, ...options);
  return [field, element("label", { textContent: `${label} ` }, field)];
}

// Where a value lies on the scale, from 0 to 1.
function scaleOf(rows, chart) {
  const values = rows.map((row) => row.value);
  const most = Math.max(...values, chart.from);
  if (!chart.logarithmic) return (value) => value / most;
  const low = Math.log(Math.min(...values, chart.from));
  const high = Math.log(Math.max(most, chart.from * 1.01));
  return (value) => (Math.log(value) - low) / (high - low);
}

function bar(row, scale, chart) {
  const [begin, end] = [scale(chart.from), scale(row.value)].sort((a, b) => a - b);
  const drawn = element("span", { className: row.value < chart.from ? "bar below" : "bar" });
  drawn.style.left = `${begin * 100}%`;
  drawn.style.width = `${Math.max(end - begin, 0.002) * 100}%`;
  const line = element("span", { className: "line" });
  line.style.left = `${scale(chart.from) * 100}%`;
  return element(
    "div",
    { className: "row" },
    element("span", { className: "name", textContent: row.series }),
    element("span", { className: "track" }, drawn, line),
    element("span", { className: "value", textContent: row.shown }),
  );
}

function draw(place, rows, chart) {
  const scale = scaleOf(rows, chart);
  const groups = new Map();
  for (const row of rows) groups.set(row.label, [...(groups.get(row.label) || []), row]);
  place.replaceChildren();
  for (const [label, members] of groups) {
    const bars = members.map((row) => bar(row, scale, chart));
    place.append(element("div", { className: "group" }, element("div", { className: "label", textContent: label }), ...bars));
  }
  if (rows.length === 0) place.append(element("p", { textContent: "No figure has these words." }));
}

function addChart(place, figures) {
  const chart = CHARTS[place.dataset.chart];
  const fields = Object.entries(chart.choices).map(([key, label]) => {
    const values = [...new Set(figures.map((row) => row[key]))];
    return [key, ...chooser(label, values, chart.all.includes(key))];
  });
  const words = element("input", { type: "search", placeholder: "Show rows with these words" });
  words.setAttribute("aria-label", words.placeholder);
  const bars = element("div", { className: "bars" });

  function update() {
    const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = figures.filter(
      (row) =>
        fields.every(([key, field]) => field.value === "" || row[key] === field.value) &&
        wanted.every((word) => row.label.toLowerCase().includes(word)),
    );
    draw(bars, rows, chart);
  }

  for (const [, field] of fields) field.addEventListener("change", update);
  words.addEventListener("input", update);
  place.append(element("div", { className: "table-filter" }, ...fields.map(([, , label]) => label), words), bars);
  update();
}

const figures = document.getElementById("figures");
if (figures) {
  const all = JSON.parse(figures.textContent);
  document.querySelectorAll(".chart").forEach((place) => addChart(place, all[place.dataset.chart]));
}
