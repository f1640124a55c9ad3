// A field that shows only those rows of a page's tables which hold all words that are typed.
"use strict";

function addFilter(place) {
  const article = place.closest("article") || document.body;
  const rows = [...article.querySelectorAll("table tbody tr")];
  const texts = rows.map((row) => {
    const section = row.closest("section");
    const title = section ? section.querySelector("h1, h2, h3") : null;
    return `${title ? title.textContent : ""} ${row.textContent}`.toLowerCase();
  });
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Show rows with these words";
  field.setAttribute("aria-label", field.placeholder);
  const count = document.createElement("output");

  function apply() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, number) => {
      const fits = words.every((word) => texts[number].includes(word));
      row.classList.toggle("filtered-away", !fits);
      shown += fits ? 1 : 0;
    });
    for (const table of article.querySelectorAll("table")) {
      const left = table.querySelector("tbody tr:not(.filtered-away)");
      table.classList.toggle("filtered-away", words.length > 0 && left === null);
    }
    count.textContent = words.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
  }

  field.addEventListener("input", apply);
  place.append(field, count);
  apply();
}

document.querySelectorAll(".table-filter").forEach(addFilter);
