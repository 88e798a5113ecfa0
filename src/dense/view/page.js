"use strict";

// Shows one run, or two side by side. Everything that comes from a trace is put in as text, never as markup.

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const blocks = [...document.querySelectorAll("script.chunk")];
  const runs = data.runs;
  const ID = /\b(?:a\d+|n\d+|issue_\d+|shortcut_\d+)\b/g;
  const main = document.getElementById("main");
  const detail = document.getElementById("detail");
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  function el(name, kind, ...content) {
    const made = document.createElement(name);
    if (kind) made.className = kind;
    for (const one of content.flat()) if (one !== null && one !== undefined && one !== "") made.append(one);
    return made;
  }

  // ---- identifiers: a12, n30, issue_0, shortcut_1 lead to what they name

  const places = runs.map(() => new Map()); // identifier → element

  function actionOf(run, id) {
    if (/^a\d+$/.test(id)) return Number(id.slice(1));
    return runs[run].actions[id] || 0;
  }

  function isKnown(run, id) {
    const action = actionOf(run, id);
    return action ? action <= runs[run].steps.length : places[run].has(id) || known[run].has(id);
  }

  function linkTo(run, id, text = id) {
    const made = el("a", "id", text);
    made.href = `#${runs.length > 1 ? run + 1 + "." : ""}${id}`;
    return made;
  }

  function linked(run, text) { // our own sentences: `code` as code, identifiers as links
    const found = document.createDocumentFragment();
    text.split(/`([^`\n]+)`/).forEach((piece, place) => found.append(place % 2 ? el("code", "", piece) : withLinks(run, piece)));
    return found;
  }

  function withLinks(run, text) {
    const found = document.createDocumentFragment();
    let from = 0;
    for (const match of text.matchAll(ID)) {
      if (!isKnown(run, match[0])) continue;
      found.append(text.slice(from, match.index), linkTo(run, match[0]));
      from = match.index + match[0].length;
    }
    found.append(text.slice(from));
    return found;
  }

  const ids = (run, list) => list.flatMap((id, place) => [place ? " " : "", linkTo(run, id)]);
  const unnamed = (text, list) => list.filter((id) => !new RegExp(`\\b${id}\\b`).test(text));

  function identifiers(run) {
    const found = new Set(runs[run].issues.map((issue) => issue.id));
    const walk = (node) => { found.add(node.id); (node.children || []).forEach(walk); };
    runs[run].tree.forEach(walk);
    return found;
  }
  const known = runs.map((_, run) => identifiers(run));

  // ---- colours: a hue for each part of the root

  function colour(run, part) {
    const count = Math.max(runs[run].tree.length, 1);
    const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
    return `hsl(${Math.round((part * 360) / count + 200) % 360} 45% ${isDark ? 45 : 62}%)`;
  }

  // ---- one run

  function pill(state) { return state ? el("span", `pill ${state}`, state.replaceAll("_", " ")) : null; }

  function part(title, ...content) {
    const filled = content.flat().filter((one) => one);
    return filled.length ? [el("h3", "", title), ...filled] : [];
  }

  function issueItem(run, issue) {
    const made = el("li", issue.open ? "issue" : "issue closed", linkTo(run, issue.id), issue.fatal ? el("strong", "failed", " fatal") : "", " ",
      linked(run, issue.text));
    if (issue.quote && !issue.text.includes(issue.quote)) made.append(el("code", "quote", issue.quote));
    const trail = el("div", "soft");
    if (issue.evidence.length) trail.append("shown by ", ...ids(run, issue.evidence));
    if (!issue.open) trail.append(issue.evidence.length ? " · " : "", "closed by ", ...ids(run, issue.resolution.length ? issue.resolution : [issue.resolved]));
    if (issue.code) trail.append(` · ${issue.code}`);
    made.append(trail);
    places[run].set(issue.id, made);
    return made;
  }

  function leafRows(run, node) {
    const list = el("ul");
    for (let action = node.first; action <= node.last; action += 1) {
      const [label, , outcome] = runs[run].steps[action - 1] || ["", "", ""];
      list.append(el("li", outcome === "failed" ? "failed" : "", linkTo(run, `a${action}`), " ", label));
    }
    return list;
  }

  function treeNode(run, node, top) {
    if (node.kind === "action") return leafRows(run, node);
    const made = el("details");
    const span = node.first === node.last ? `a${node.first}` : `a${node.first}–a${node.last}`;
    const swatch = top === null ? "" : el("span", "swatch");
    if (swatch) swatch.style.setProperty("background", colour(run, top));
    made.append(el("summary", "", swatch, node.title, " ", pill(node.state), " ", node.kind === "shortcut" ? el("span", "soft", "shortcut ") : "", linkTo(run, `a${node.first}`, span)));
    let isFilled = false;
    made.addEventListener("toggle", () => {
      if (isFilled || !made.open) return;
      isFilled = true;
      if (node.summary) made.append(el("p", "", linked(run, node.summary)));
      for (const [name, text] of node.more) made.append(el("p", "", el("span", "soft", `${name}: `), linked(run, text)));
      let leaf = null;
      for (const child of node.children) { // neighbouring actions share one list
        if (child.kind === "action" && leaf) { leaf.last = child.last; continue; }
        if (leaf) { made.append(leafRows(run, leaf)); leaf = null; }
        if (child.kind === "action") leaf = { ...child };
        else made.append(treeNode(run, child, null));
      }
      if (leaf) made.append(leafRows(run, leaf));
    });
    places[run].set(node.id, made);
    if (top !== null && node.state !== "complete" && runs[run].tree.length <= 20) made.open = true;
    return made;
  }

  function openTo(run, id) { // open the branches above an identifier, which fills them
    const holds = (node) => node.id === id || (node.children || []).some(holds);
    const visit = (nodes) => {
      const node = nodes.find(holds);
      if (!node || !places[run].has(node.id)) return;
      places[run].get(node.id).open = true;
      places[run].get(node.id).dispatchEvent(new Event("toggle"));
      if (node.id !== id) visit(node.children);
    };
    visit(runs[run].tree);
  }

  function message(run, text) {
    const made = el("pre", "message");
    const key = (text.match(/^([0-9a-z]{4,12})\| /m) || [])[1];
    let isQuoted = false;
    for (const line of text.split("\n")) {
      const isMark = key && line.startsWith(`${key}| `);
      if (isMark) isQuoted = !line.endsWith("| end");
      made.append(isQuoted && !isMark ? el("span", "quoted", line) : withLinks(run, line), "\n");
    }
    return made;
  }

  function folded(title, isOpen, ...content) {
    const made = el("details", "", el("summary", "", title), ...content);
    made.open = isOpen;
    return made;
  }

  function section(run) {
    const it = runs[run];
    const open = it.issues.filter((issue) => issue.open);
    const closed = it.issues.filter((issue) => !issue.open);
    const steps = el("ol");
    for (const step of it.next) steps.append(el("li", "", linked(run, step.text), " ", step.untested ? el("span", "untested", "untested") : "", " ", ...ids(run, unnamed(step.text, step.evidence))));
    const demands = el("ul");
    for (const one of it.requirements) demands.append(el("li", "", el("span", one.met, one.met === "yes" ? "met" : one.met === "no" ? "not met" : "unchecked"), " ", linked(run, one.text), " ", ...ids(run, unnamed(one.text, one.evidence))));
    const openList = el("ul", "issues", open.map((issue) => issueItem(run, issue)));
    const sizes = el("dl");
    for (const [name, value] of it.sizes) sizes.append(el("dt", "", name), el("dd", "", value));
    const tree = el("div", "tree", it.tree.map((node, place) => treeNode(run, node, place)));
    return el("section", "run",
      runs.length > 1 ? el("h2", "", it.name, " ", pill(it.state), " ", el("span", "soft", it.method)) : el("p", "", pill(it.state), " ", el("span", "soft", `${it.steps.length} actions, judged from the trace alone; method ${it.method}`)),
      it.notes.map((note) => el("p", "note", note)),
      it.task ? part("Task", el("pre", "task", it.task)) : [],
      part("Next steps", it.next.length ? steps : null),
      part(`Open issues (${open.length})`, open.length ? openList : el("p", "soft", it.tree.length ? "None that the trace shows." : "This method reports no issues.")),
      part("Requirements of the task", it.requirements.length ? demands : null),
      part("Timeline", timeline(run)),
      part("Subtasks", it.summary ? el("p", "", linked(run, it.summary)) : null, it.tree.length ? tree : el("p", "soft", "This method makes no tree.")),
      closed.length ? part(`Closed issues (${closed.length})`, el("ul", "issues", closed.map((issue) => issueItem(run, issue)))) : [],
      it.message ? part("The message as delivered", folded("what the next attempt gets", runs.length > 1, message(run, it.message))) : [],
      it.given ? part("The message that this attempt was given", folded("what it started with", false, message(run, it.given))) : [],
      part("Sizes and tokens", sizes));
  }

  // ---- the timeline: outcome above, the part of the tree below

  const canvases = [];

  function timeline(run) {
    const canvas = el("canvas", "timeline");
    canvas.tabIndex = 0;
    canvas.setAttribute("role", "img");
    const failed = runs[run].steps.filter(([, , outcome]) => outcome === "failed").length;
    canvas.setAttribute("aria-label", `${runs[run].steps.length} actions, ${failed} failed`);
    const tip = el("div", "tip soft", "Hover or tap: one bar is one action; the band below shows its subtask.");
    const at = (event) => {
      const box = canvas.getBoundingClientRect();
      const place = Math.floor(((event.clientX - box.left) / box.width) * runs[run].steps.length) + 1;
      return Math.min(Math.max(place, 1), runs[run].steps.length);
    };
    canvas.addEventListener("mousemove", (event) => {
      const action = at(event);
      tip.textContent = `a${action}: ${runs[run].steps[action - 1][0]}`;
    });
    canvas.addEventListener("click", (event) => { go(run, `a${at(event)}`); });
    canvases[run] = { canvas, marked: new Set() };
    const legend = el("div", "legend soft", ...[["failed", "failed"], ["passed", "check passed"], ["changed", "changed files"], ["step", "other"]].map(([kind, text]) => el("span", `k-${kind}`, el("b", "", text))));
    return [canvas, tip, legend];
  }

  function draw(run) {
    const { canvas, marked } = canvases[run];
    const steps = runs[run].steps;
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio);
    const height = Math.round(canvas.clientHeight * ratio);
    if (!width || !steps.length) return;
    canvas.width = width;
    canvas.height = height;
    const pen = canvas.getContext("2d");
    const colours = { failed: css("--bad"), passed: css("--good"), changed: css("--changed"), "": css("--step") };
    const heights = { failed: 0.62, passed: 0.62, changed: 0.46, "": 0.3 };
    const wide = width / steps.length;
    const columns = Math.min(steps.length, Math.floor(width / (2 * ratio)));
    const each = width / columns;
    for (let column = 0; column < columns; column += 1) { // a bar for one action, or shares of several
      const held = steps.slice(Math.floor((column * steps.length) / columns), Math.floor(((column + 1) * steps.length) / columns));
      let top = 0.66 * height;
      for (const kind of ["failed", "passed", "changed", ""]) {
        const share = held.filter(([, , outcome]) => outcome === kind).length / held.length;
        if (!share) continue;
        const tall = share * (held.length > 1 ? 0.62 : heights[kind]) * height;
        pen.fillStyle = colours[kind];
        pen.fillRect(column * each, top - tall, Math.max(each - (each > 3 * ratio ? ratio : 0), 1), tall);
        top -= tall;
      }
    }
    runs[run].tree.forEach((node, place) => {
      pen.fillStyle = colour(run, place);
      pen.fillRect((node.first - 1) * wide, 0.72 * height, Math.max((node.last - node.first + 1) * wide - ratio, 1), 0.16 * height);
    });
    pen.fillStyle = css("--focus");
    for (const action of marked) pen.fillRect((action - 1) * wide, 0.92 * height, Math.max(wide, 2 * ratio), 0.08 * height);
    if (selected.run === run && selected.action) {
      pen.strokeStyle = css("--ink");
      pen.lineWidth = 2 * ratio;
      pen.strokeRect((selected.action - 1) * wide - ratio, ratio, Math.max(wide, 3) + 2 * ratio, height - 2 * ratio);
    }
  }
  const drawAll = () => canvases.forEach((_, run) => draw(run));

  // ---- the texts of steps, opened when they are needed

  const opened = new Map();

  async function chunk(place) {
    if (!opened.has(place)) {
      const bytes = Uint8Array.from(atob(blocks[place].textContent), (letter) => letter.charCodeAt(0));
      const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      opened.set(place, new Response(stream).json());
    }
    return opened.get(place);
  }

  async function stepOf(run, action) {
    let first = 1;
    for (const [place, last] of runs[run].chunks) {
      if (action <= last) return (await chunk(place))[action - first];
      first = last + 1;
    }
    return null;
  }

  function marked(text, wanted) {
    if (!wanted) return text;
    const found = document.createDocumentFragment();
    const lower = text.toLowerCase();
    let from = 0;
    for (let at = lower.indexOf(wanted), count = 0; at >= 0 && count < 500; at = lower.indexOf(wanted, from), count += 1) {
      found.append(text.slice(from, at), el("mark", "", text.slice(at, at + wanted.length)));
      from = at + wanted.length;
    }
    found.append(text.slice(from));
    return found;
  }

  function stepBody(step, wanted) {
    const made = document.createDocumentFragment();
    const add = (title, text, kind = "") => { if (text) made.append(el("h4", "", title), el("pre", kind, marked(text, wanted))); };
    add("says", step.says);
    add("thinks", step.thinks);
    for (const call of step.calls || []) {
      made.append(el("h4", "", `calls ${call.name}`));
      for (const [name, text] of call.texts) made.append(el("pre", "", call.texts.length > 1 || call.rest ? el("span", "soft", `${name}: `) : "", marked(text, wanted)));
      if (call.rest) made.append(el("pre", "", marked(call.rest, wanted)));
    }
    for (const seen of step.seen || []) {
      const notes = [seen.from === "tool" ? "output" : `from the ${seen.from}`, seen.exit === null ? "" : `exit code ${seen.exit}`, seen.error ? "error" : ""];
      add(notes.filter(Boolean).join(", "), seen.text || "(empty)", seen.error || seen.exit ? "bad" : "");
    }
    for (const agent of step.agents || []) {
      const inner = agent.steps.map((one, place) => folded(`action ${place + 1}`, false, stepBody(one, wanted)));
      made.append(folded(`${agent.name}: ${agent.count} actions`, false, ...inner));
    }
    return made;
  }

  // ---- going to a place

  const selected = { run: 0, action: 0 };

  async function show(run, action) {
    selected.run = run;
    selected.action = action;
    const step = await stepOf(run, action);
    if (!step || selected.action !== action || selected.run !== run) return;
    const bar = el("div", "bar", el("strong", "", `a${action}`, runs.length > 1 ? ` of ${runs[run].name}` : "", ` / ${runs[run].steps.length}`));
    for (const [text, to] of [["‹", action - 1], ["›", action + 1]]) {
      const button = el("button", "", text);
      button.type = "button";
      button.setAttribute("aria-label", to < action ? "previous action" : "next action");
      button.disabled = to < 1 || to > runs[run].steps.length;
      button.addEventListener("click", () => go(run, `a${to}`));
      bar.append(button);
    }
    const close = el("button", "", "close");
    close.type = "button";
    close.addEventListener("click", hide);
    bar.append(close);
    const about = [step.agent, step.time, step.at].filter(Boolean).join(" · ");
    detail.replaceChildren(bar, el("p", "", runs[run].steps[action - 1][0]), el("p", "soft", about), stepBody(step, search.value.trim().toLowerCase()));
    detail.scrollTop = 0;
    if (detail.hidden) {
      detail.hidden = false;
      document.body.classList.add("detailed");
    }
    drawAll();
  }

  function hide() {
    detail.hidden = true;
    selected.action = 0;
    document.body.classList.remove("detailed");
    history.replaceState(null, "", location.pathname + location.search);
    drawAll();
  }

  function go(run, id) {
    const hash = `#${runs.length > 1 ? run + 1 + "." : ""}${id}`;
    if (location.hash === hash) follow();
    else location.hash = hash;
  }

  function follow() {
    const found = /^#(?:([12])\.)?((?:a|n|issue_|shortcut_)\d+)$/.exec(location.hash);
    if (!found) return;
    const run = found[1] ? Number(found[1]) - 1 : 0;
    const id = found[2];
    if (!runs[run]) return;
    const action = actionOf(run, id);
    if (action && action <= runs[run].steps.length) { show(run, action); return; }
    openTo(run, id);
    const place = places[run].get(id);
    if (place) place.scrollIntoView({ block: "center" });
  }
  addEventListener("hashchange", follow);

  // ---- search: in the labels at once, then in all texts

  const search = document.getElementById("search");
  const foundText = document.getElementById("found");
  const results = el("div", "");
  results.id = "results";
  let searching = 0;

  const textOf = (step) => JSON.stringify([step.says, step.thinks, (step.calls || []).map((call) => [call.name, call.texts, call.rest]), (step.seen || []).map((seen) => seen.text), (step.agents || []).map((agent) => agent.steps.map(textOf))]);

  async function find(wanted) {
    const turn = (searching += 1);
    results.replaceChildren();
    canvases.forEach((one) => one.marked.clear());
    foundText.textContent = "";
    if (wanted.length < 2) { drawAll(); return; }
    const escaped = JSON.stringify(wanted).slice(1, -1);
    let count = 0;
    const list = el("ul");
    for (const [run, it] of runs.entries()) {
      let action = 0;
      for (const [place, last] of it.chunks) {
        const steps = await chunk(place);
        if (turn !== searching) return;
        for (const step of steps) {
          action += 1;
          if (!textOf(step).toLowerCase().includes(escaped) && !it.steps[action - 1][0].toLowerCase().includes(wanted)) continue;
          count += 1;
          canvases[run].marked.add(action);
          if (count <= 200) list.append(el("li", "", runs.length > 1 ? `${run + 1}. ` : "", linkTo(run, `a${action}`), " ", it.steps[action - 1][0]));
        }
        if (action >= last && count > 5000) break;
      }
    }
    results.replaceChildren(list);
    foundText.textContent = `${count} ${count === 1 ? "action" : "actions"}${count > 200 ? ", the first 200 listed" : ""}`;
    drawAll();
  }
  let waiting = 0;
  search.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => find(search.value.trim().toLowerCase()), 150);
  });

  // ---- keys

  function nextFailed() {
    const steps = runs[selected.run].steps;
    for (let step = 1; step <= steps.length; step += 1) {
      const action = ((selected.action + step - 1) % steps.length) + 1;
      if (steps[action - 1][2] === "failed") { go(selected.run, `a${action}`); return; }
    }
  }

  let issueAt = -1;
  function nextIssue() {
    const open = runs.flatMap((it, run) => it.issues.filter((issue) => issue.open).map((issue) => [run, issue.id]));
    if (!open.length) return;
    issueAt = (issueAt + 1) % open.length;
    go(...open[issueAt]);
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target === search) { if (event.key === "Escape") search.blur(); return; }
    const { run, action } = selected;
    if (event.key === "/") { event.preventDefault(); search.focus(); }
    else if (event.key === "j" && action < runs[run].steps.length) go(run, `a${action + 1}`);
    else if (event.key === "k" && action > 1) go(run, `a${action - 1}`);
    else if (event.key === "f") nextFailed();
    else if (event.key === "i") nextIssue();
    else if (event.key === "m") { const place = document.querySelector("pre.message"); if (place) { place.closest("details").open = true; place.scrollIntoView(); } }
    else if (event.key === "Escape" && !detail.hidden) hide();
  });
  const keys = document.getElementById("keys");
  keys.addEventListener("click", () => {
    const help = document.getElementById("help");
    help.hidden = !help.hidden;
    keys.setAttribute("aria-expanded", String(!help.hidden));
  });

  // ---- the page

  document.getElementById("title").textContent = runs.map((run) => run.name).join("  |  ");
  main.append(results);
  if (data.differences.length) {
    const table = el("table", "differences", el("tr", "", el("th"), el("th", "", "1"), el("th", "", "2")));
    for (const row of data.differences) table.append(el("tr", row.differs ? "differs" : "", el("th", "", row.what), el("td", "", row.left), el("td", "", row.right)));
    main.append(el("section", "", el("h3", "", "What differs"), table));
  }
  main.append(el("div", runs.length > 1 ? "runs two" : "runs", runs.map((_, run) => section(run))));
  drawAll();
  new ResizeObserver(drawAll).observe(main);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  follow();
  document.documentElement.dataset.ready = "yes";
})();
