"use strict";

// Two things: tables sort, and a task's row opens into its cells. Whatever stands in the data is put in as text.

(() => {
  const number = new Intl.NumberFormat("en", { maximumFractionDigits: 3 });
  const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

  // ---- sorting: ascending, descending, as it was

  function keyOf(row, column) {
    const cell = row.cells[column];
    if (!cell) return null;
    if (cell.dataset.sort !== undefined) return cell.dataset.sort === "" ? null : Number(cell.dataset.sort);
    const text = cell.textContent.trim();
    return text === "" || text === "–" ? null : text;
  }

  function compared(a, b) {
    if (typeof a === "number" && typeof b === "number") return a - b;
    return String(a).localeCompare(String(b), "en", { numeric: true });
  }

  function sort(head) {
    const table = head.closest("table");
    const heads = [...head.parentElement.cells];
    const column = heads.indexOf(head);
    const was = head.getAttribute("aria-sort");
    const now = was === "ascending" ? "descending" : was === "descending" ? "none" : "ascending";
    for (const other of heads) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", now);
    for (const body of table.tBodies) arrange(body, column, now);
  }

  function arrange(body, column, way) {
    const rows = [...body.rows].filter((row) => !row.classList.contains("opened"));
    rows.forEach((row, place) => { if (row.dataset.place === undefined) row.dataset.place = place; });
    const sign = way === "descending" ? -1 : 1;
    const keyed = rows.map((row) => [way === "none" ? null : keyOf(row, column), Number(row.dataset.place), row]);
    keyed.sort(([a, i], [b, j]) => {
      if (a === null || b === null) return a === b ? i - j : a === null ? 1 : -1; // the unknown always comes last
      return sign * compared(a, b) || i - j;
    });
    const sorted = document.createDocumentFragment();
    for (const [, , row] of keyed) {
      const below = row.nextElementSibling;
      sorted.append(row);
      if (below && below.classList.contains("opened")) sorted.append(below);
    }
    body.append(sorted);
  }

  for (const head of document.querySelectorAll("th[aria-sort]")) {
    head.querySelector("button").addEventListener("click", () => sort(head));
  }

  // ---- the cells of a task

  let read = null;

  function data() {
    if (read === null) read = JSON.parse(document.getElementById("cells").textContent);
    return read;
  }

  function element(name, text, kind) {
    const made = document.createElement(name);
    if (text !== undefined && text !== null) made.textContent = text;
    if (kind) made.className = kind;
    return made;
  }

  function count(value) {
    const cell = element("td", value === null ? "–" : whole.format(value), "n");
    cell.dataset.sort = value === null ? "" : value;
    return cell;
  }

  function linked(folder, parts, view) {
    const cell = element("td");
    if (view !== null) {
      const link = element("a", "view");
      link.href = "views/" + encodeURIComponent(data().texts[view]);
      cell.append(link);
    }
    for (const [name, file] of parts) {
      if (file === null) continue;
      const path = (folder === null ? "" : folder) + data().texts[file];
      const link = element("a", name);
      link.href = data().base + path.split("/").map(encodeURIComponent).join("/");
      if (cell.childNodes.length) cell.append(" · ");
      cell.append(link);
    }
    if (!cell.childNodes.length) cell.textContent = "–";
    return cell;
  }

  function lineOf(cell) {
    const texts = data().texts;
    const [isPartial, folder, remarks, view, trace, feedback, message, ...values] = cell;
    const line = element("tr");
    data().columns.forEach(([, kind], place) => line.append(WRITE[kind](values[place], isPartial)));
    line.append(element("td", remarks === null ? "–" : texts[remarks], "said isolated"));
    line.append(linked(folder, [["trace", trace], ["feedback", feedback], ["message", message]], view));
    const names = heads().map(([name]) => name);
    [...line.cells].forEach((field, place) => { field.dataset.label = place < names.length ? names[place] : "Files"; });
    return line;
  }

  function graded(reward) {
    const cell = element("td", reward === null ? "not scored" : number.format(reward), "n");
    cell.dataset.sort = reward === null ? "" : reward;
    if (reward === 1) cell.classList.add("passed");
    return cell;
  }

  function spent(tokens, isPartial) {
    const cell = count(tokens);
    if (isPartial) cell.append("*");
    return cell;
  }

  // how a value of each kind of column is written
  const WRITE = {
    number: count,
    reward: graded,
    tokens: spent,
    name: (text) => element("td", data().texts[text], "isolated"),
    fraction: (text) => element("td", text === null ? "–" : data().texts[text], "n"),
  };

  function heads() {
    return [...data().columns, ["Remarks", "name"]];
  }

  function opened(row, name) {
    const table = element("table", null, "cells");
    const head = table.createTHead().insertRow();
    for (const [text, kind] of heads()) {
      const cell = element("th", null, kind === "name" ? "" : "n");
      const button = element("button", text);
      button.type = "button";
      cell.scope = "col";
      cell.setAttribute("aria-sort", "none");
      cell.append(button);
      button.addEventListener("click", () => sort(cell));
      head.append(cell);
    }
    const last = element("th", "Files");
    last.scope = "col";
    head.append(last);
    const body = table.createTBody();
    const cells = data().rows[Number(row.dataset.row)];
    for (const cell of cells) body.append(lineOf(cell));
    const caption = element("caption", `Cells of ${name}`);
    if (cells.some((cell) => cell[0])) caption.append(" (* tokens of completed calls only)");
    table.prepend(caption);
    return table;
  }

  function toggle(button) {
    const row = button.closest("tr");
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) {
      row.nextElementSibling.remove();
      return;
    }
    const below = element("tr", null, "opened");
    const place = element("td");
    place.colSpan = row.cells.length;
    const frame = element("div", null, "scroll");
    frame.tabIndex = 0;
    frame.append(opened(row, button.textContent));
    place.append(frame);
    below.append(place);
    row.after(below);
  }

  for (const body of document.querySelectorAll("table.tasks > tbody")) {
    body.addEventListener("click", (event) => {
      const button = event.target.closest("button[aria-expanded]");
      if (button) toggle(button);
    });
  }

  // ---- caveats are printed, whoever closed them

  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details.caveats:not([open])")];
    for (const details of closed) details.open = true;
  });
  addEventListener("afterprint", () => {
    for (const details of closed) details.open = false;
  });

  // ---- only some tasks

  const search = document.getElementById("search");
  if (search) {
    const rows = [...document.querySelectorAll("tr.row")];
    const left = document.getElementById("left");
    search.addEventListener("input", () => {
      const wanted = search.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const isShown = row.cells[0].textContent.toLowerCase().includes(wanted);
        row.hidden = !isShown;
        const below = row.nextElementSibling;
        if (below && below.classList.contains("opened")) below.hidden = !isShown;
        shown += isShown;
      }
      left.textContent = wanted === "" ? "" : `${shown} of ${rows.length} rows`;
    });
  }
})();
