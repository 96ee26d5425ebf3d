"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const make = (tag, text, className) => {
    const node = document.createElement(tag);
    if (text !== undefined && text !== null) node.textContent = text;
    if (className) node.className = className;
    return node;
  };

  // ------------------------------------------------------------ explanations
  const EXPLAINED = "[data-tip], .mark";
  const tip = byId("tip");
  let timer = 0;

  function explain(target) {
    const cell = target.closest("td");
    const own = target.closest(EXPLAINED);
    if (own && own.dataset.tip) return ["", own.dataset.tip];
    if (own) {  // a raised number: the note stands once on the page
      const note = byId(own.getAttribute("href").slice(1));
      const code = note.querySelector("code").textContent;
      return [code, note.textContent.slice(code.length).trim()];
    }
    const table = cell && cell.closest("table.data, table.forest");
    if (!table || cell.closest(".panel")) return null;
    const head = table.tHead && table.tHead.rows[0].cells[cell.cellIndex];
    const source = head && head.querySelector("[data-tip]");
    if (!source || !cell.textContent) return null;
    const row = cell.parentNode;
    const place = row.cells[0].firstChild.textContent.trim();
    return [`${place} · ${source.textContent}`, source.dataset.tip];
  }

  function show(target) {
    const found = explain(target);
    if (!found) return hide();
    tip.replaceChildren();
    if (found[0]) tip.append(make("b", found[0]), make("br"));
    tip.append(found[1]);
    tip.hidden = false;
    const anchor = target.closest(EXPLAINED) || target.closest("td");
    const box = anchor.getBoundingClientRect();
    const left = Math.min(box.left, innerWidth - tip.offsetWidth - 12);
    const below = box.bottom + 8 + tip.offsetHeight < innerHeight;
    const top = below ? box.bottom + 6 : box.top - tip.offsetHeight - 6;
    tip.style.left = `${Math.max(left, 8) + scrollX}px`;
    tip.style.top = `${top + scrollY}px`;
    if (anchor.matches("button, a")) anchor.setAttribute("aria-describedby", "tip");
  }

  function hide() {
    clearTimeout(timer);
    if (tip.hidden) return;
    tip.hidden = true;
    document.querySelectorAll("[aria-describedby=tip]").forEach((node) => {
      node.removeAttribute("aria-describedby");
    });
  }

  document.addEventListener("mouseover", (event) => {
    clearTimeout(timer);
    const target = event.target;
    if (!(target instanceof Element)) return;
    if (!target.closest(`td, ${EXPLAINED}`)) return hide();
    timer = setTimeout(() => show(target), 350);
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches(EXPLAINED)) show(event.target);
    else hide();
  });
  document.addEventListener("click", (event) => {
    if (event.target.closest("td, .explain") && !event.target.closest("a, .open")) {
      show(event.target);
    } else hide();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
  });

  // Paper shows everything.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    closed.forEach((node) => { node.open = true; });
  });
  addEventListener("afterprint", () => closed.forEach((node) => { node.open = false; }));

  // Very many slices are folded.
  document.querySelectorAll("tbody.rest").forEach((rest) => {
    const more = make("button", `Show ${rest.rows.length} more slices`, "more");
    more.type = "button";
    rest.hidden = true;
    more.addEventListener("click", () => {
      rest.hidden = !rest.hidden;
      more.textContent = rest.hidden ? `Show ${rest.rows.length} more slices` : "Show fewer";
      more.setAttribute("aria-expanded", String(!rest.hidden));
    });
    more.setAttribute("aria-expanded", "false");
    rest.closest(".scroll").after(more);
  });

  // ------------------------------------------------------------ question table
  const data = JSON.parse(byId("question-data").textContent);
  const STATUS = ["answered", "unscored", "failed"];
  const PAIRING = ["", "only in the baseline", "only in the variant", "not comparable"];
  const VARIES = "(differs between trials)";
  const QUESTION_TEXTS = ["question", "query", "prompt", "input", "user_input"];
  const PAGE = 20;
  const [ID, PAIR, LABELS, BEFORE, AFTER, FIGURES, SHARED, BASELINE, VARIANT] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8];
  const state = {
    variant: 0, metric: 0, search: "", change: "", from: "", to: "",
    labels: {}, extra: {}, sort: "delta", down: false, page: 0,
  };
  const questionText = data.texts.findIndex((name) => QUESTION_TEXTS.includes(name));
  const hasStatus = data.variants.some((arm) => arm.questions.some(
    (q) => q[BEFORE] > 0 || q[AFTER] > 0));
  const [most, rest] = data.cut || [0, 0];
  const CUT = most === rest
    ? `texts are cut at ${most} characters`
    : `texts are cut at ${most} characters, those of unchanged questions at ${rest}`;
  let found = [];
  let before = null;  // the filters that a link has replaced

  const number = (text) => text === null || text === undefined
    ? NaN : parseFloat(text.replace("−", "-").replace(/,/g, ""));
  const status = (code) => STATUS[code] || "";
  const figure = (q, part) => {
    const all = q[FIGURES].slice(4 * state.metric, 4 * state.metric + 4);
    return all[part] === undefined ? null : all[part];
  };
  const label = (q, at) => data.breakdowns[at].labels[q[LABELS][at]];

  function category(q, arm, column) {
    const at = data.texts.indexOf(column);
    if (column === "status") return status(arm === BASELINE ? q[BEFORE] : q[AFTER]);
    if (at < 0 || !q[arm].length) return undefined;
    if (q[SHARED][at] !== undefined) return q[SHARED][at];
    const seen = new Set(q[arm].map((row) => row[3][at]).filter((t) => t !== undefined));
    return seen.size > 1 ? VARIES : [...seen][0];
  }

  // Ids of the questions in one cell of a transition table.
  const groups = new Map();
  function members(name) {
    const key = `${state.variant} ${name}`;
    if (!groups.has(key)) {
      groups.set(key, new Set(data.variants[state.variant].groups[name] || []));
    }
    return groups.get(key);
  }

  function searchable(q) {
    if (q.words === undefined) {
      const own = [...q[BASELINE], ...q[VARIANT]].flatMap((row) => Object.values(row[3]));
      q.words = [q[ID], ...Object.values(q[SHARED]), ...own].join("\n").toLowerCase();
    }
    return q.words;
  }

  function wanted(q) {
    if (state.change) {
      const change = figure(q, 3);
      if (state.change === "paired" && change === null) return false;
      const is = state.change === "paired" ? change : { better: 1, same: 0, worse: -1, unpaired: null }[state.change];
      if (change !== is) return false;
    }
    if (state.from && status(q[BEFORE]) !== state.from) return false;
    if (state.to && status(q[AFTER]) !== state.to) return false;
    for (const [name, value] of Object.entries(state.labels)) {
      if (value && !data.breakdowns.some(
        (b, at) => b.name === name && label(q, at) === value)) return false;
    }
    for (const [name, value] of Object.entries(state.extra)) {
      if (name === ":group") {
        if (!members(value).has(q[ID])) return false;
        continue;
      }
      const [arm, ...column] = name.split(":");
      const side = arm === "baseline" ? BASELINE : VARIANT;
      if (category(q, side, column.join(":")) !== value) return false;
    }
    return !state.search || searchable(q).includes(state.search);
  }

  const KEYS = {
    id: (q) => q[ID],
    baseline: (q) => number(figure(q, 0)),
    variant: (q) => number(figure(q, 1)),
    delta: (q) => number(figure(q, 2)) * data.metrics[state.metric].better,
    status: (q) => 4 * q[BEFORE] + q[AFTER],
  };

  function sorted(questions) {
    const key = KEYS[state.sort] || ((q) => label(q, Number(state.sort)) || "");
    const sign = state.down ? -1 : 1;
    return questions.map((q, i) => [key(q), i, q]).sort((a, b) => {
      const emptyA = Number.isNaN(a[0]), emptyB = Number.isNaN(b[0]);
      if (emptyA || emptyB) return emptyA - emptyB || a[1] - b[1];
      return (a[0] < b[0] ? -sign : a[0] > b[0] ? sign : 0) || a[1] - b[1];
    }).map((entry) => entry[2]);
  }

  function update() {
    const all = data.variants[state.variant].questions;
    found = sorted(all.filter(wanted));
    state.page = 0;
    const of = found.length === all.length
      ? `${all.length} questions` : `${found.length} of ${all.length} questions`;
    byId("found").textContent = data.cut ? `${of}; ${CUT}` : of;
    chips();
    draw();
  }

  function chips() {
    byId("chips").replaceChildren(...Object.entries(state.extra).map(([name, value]) => {
      const shown = name === ":group" ? value : `${name.replace(":", " ")}: ${value}`;
      const chip = make("span", shown, "chip");
      const remove = make("button", "×");
      remove.type = "button";
      remove.setAttribute("aria-label", `Remove the filter ${shown}`);
      remove.addEventListener("click", () => {
        delete state.extra[name];
        before = null;
        update();
      });
      chip.append(remove);
      return chip;
    }));
  }

  // ------------------------------------------------------------ drawing
  // A long name is cut in its middle; its start and end tell it from others.
  function middle(text, most = 40) {
    const all = [...text];
    if (all.length <= most) return text;
    return `${all.slice(0, most / 2).join("")}…${all.slice(1 - most / 2).join("")}`;
  }

  function columns() {
    const metric = data.metrics[state.metric];
    return [
      ["id", "id", "", "Open a question to see both answers and every score."],
      ...data.breakdowns.map((b, at) => [String(at), b.name, "", "Slice of the question."]),
      ...(questionText < 0 ? [] : [["", data.texts[questionText], "", ""]]),
      ["baseline", "baseline", "r", `${metric.name} of this question; the mean of its trials.`],
      ["variant", "variant", "r", `${metric.name} of this question; the mean of its trials.`],
      ["delta", "delta", "r", `Variant minus baseline; sorted by what is better (${metric.name} ${metric.arrow}).`],
      ...(hasStatus ? [["status", "status", "", "Worst status of the trials: baseline → variant."]] : []),
    ];
  }

  function drawHead() {
    byId("questions-table").tHead.rows[0].replaceChildren(...columns().map(
      ([key, title, side, help]) => {
        const head = make("th", key ? null : title, side);
        head.scope = "col";
        if (key) {
          const button = make("button", title, "sort");
          button.type = "button";
          if (help) button.dataset.tip = help;
          button.addEventListener("click", () => {
            state.down = state.sort === key ? !state.down : false;
            state.sort = key;
            update();
          });
          head.append(button);
          if (state.sort === key) {
            head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
          }
        }
        return head;
      }));
  }

  function draw() {
    drawHead();
    const start = state.page * PAGE;
    const body = byId("questions-table").tBodies[0];
    body.replaceChildren(...found.slice(start, start + PAGE).map(drawRow));
    if (!found.length) {
      const row = make("tr"), cell = make("td", "No question fits these filters.");
      cell.colSpan = columns().length;
      row.append(cell);
      body.append(row);
    }
    const pages = Math.max(Math.ceil(found.length / PAGE), 1);
    byId("page-at").textContent = `Page ${state.page + 1} of ${pages}`;
    byId("page-before").disabled = state.page === 0;
    byId("page-after").disabled = state.page >= pages - 1;
    document.querySelector(".pages").hidden = pages === 1;
  }

  function drawRow(q) {
    const row = make("tr");
    const first = make("td"), open = make("button", middle(q[ID]), "open");
    open.type = "button";
    if (open.textContent !== q[ID]) open.title = q[ID];
    open.setAttribute("aria-expanded", "false");
    open.addEventListener("click", () => toggle(row, open, q));
    first.append(open);
    row.append(first);
    data.breakdowns.forEach((_, at) => {
      const text = label(q, at) || "–", cell = make("td", middle(text));
      if (cell.textContent !== text) cell.title = text;
      row.append(cell);
    });
    if (questionText >= 0) {
      const cell = make("td", null, "text");
      const side = q[BASELINE].length ? q[BASELINE] : q[VARIANT];
      const text = q[SHARED][questionText] ?? side[0]?.[3][questionText] ?? "";
      cell.append(make("span", text));
      cell.firstChild.dir = "auto";
      row.append(cell);
    }
    const change = figure(q, 3);
    const kind = { 1: "better", "-1": "worse" }[change] || "";
    row.append(
      make("td", figure(q, 0) ?? "–", "r"), make("td", figure(q, 1) ?? "–", "r"),
      make("td", figure(q, 2) ?? (PAIRING[q[PAIR]] || "–"), `r ${kind}`));
    if (hasStatus) {
      const both = [status(q[BEFORE]), status(q[AFTER])].filter(Boolean);
      row.append(make("td", [...new Set(both)].join(" → "), "n"));
    }
    columns().forEach(([, title], at) => { row.cells[at].dataset.label = title; });
    return row;
  }

  function toggle(row, open, q) {
    const wasOpen = open.getAttribute("aria-expanded") === "true";
    open.setAttribute("aria-expanded", String(!wasOpen));
    if (wasOpen) return row.nextSibling.remove();
    const panel = make("tr", null, "panel"), cell = make("td");
    cell.colSpan = columns().length;
    cell.append(...shared(q), ...arms(q), scores(q));
    panel.append(cell);
    row.after(panel);
  }

  function terms(texts) {
    return Object.entries(texts).flatMap(([at, text]) => {
      const value = make("dd", text);
      value.dir = "auto";
      return [make("dt", data.texts[at]), value];
    });
  }

  function shared(q) {
    if (!Object.keys(q[SHARED]).length) return [];
    const list = make("dl", null, "shared");
    list.append(...terms(q[SHARED]));
    return [list];
  }

  function scores(q) {
    const table = make("table", null, "data scores"), head = make("tr");
    const sides = [q[BASELINE], q[VARIANT]], several = sides.some((a) => a.length > 1);
    const trials = several ? ["baseline by trial", "variant by trial"] : [];
    ["metric", "baseline", "variant", "delta", ...trials].forEach((title, i) => {
      head.append(make("th", title, i && i < 4 ? "r" : ""));
    });
    table.createTHead().append(head);
    const body = table.createTBody();
    data.metrics.forEach((metric, at) => {
      const all = q[FIGURES].slice(4 * at, 4 * at + 4), row = body.insertRow();
      const kind = { 1: "better", "-1": "worse" }[all[3]] || "";
      row.append(
        make("td", `${metric.name} ${metric.arrow}`), make("td", all[0] ?? "–", "r"),
        make("td", all[1] ?? "–", "r"), make("td", all[2] ?? "–", `r ${kind}`));
      if (several) {
        sides.forEach((arm) => row.append(
          make("td", arm.map((t) => t[2][at] ?? "–").join("  "), "trials")));
      }
    });
    return table;
  }

  function arms(q) {
    const rows = [...q[BASELINE], ...q[VARIANT]];
    const plain = rows.every(([, code, , texts]) => code < 1 && !Object.keys(texts).length);
    if (plain && q[BASELINE].length && q[VARIANT].length) return [];
    const box = make("div", null, "arms");
    [["Baseline", q[BASELINE]], ["Variant", q[VARIANT]]].forEach(([title, trials]) => {
      const side = make("div");
      side.append(make("h3", title));
      if (!trials.length) side.append(make("p", "Not in this arm."));
      trials.forEach((row) => side.append(trial(row, trials.length > 1)));
      box.append(side);
    });
    return [box];
  }

  function trial([name, code, , texts], several) {
    const card = make("div", null, "trial");
    const facts = [several ? `trial ${name}` : "", status(code)].filter(Boolean);
    if (facts.length) card.append(make("h4", facts.join(" · ")));
    const list = make("dl");
    list.append(...terms(texts));
    if (list.childNodes.length) card.append(list);
    return card;
  }

  // ------------------------------------------------------------ filters
  function option(select, text, value) {
    const node = make("option", text);
    node.value = value === undefined ? text : value;
    select.append(node);
  }

  function build() {
    data.variants.forEach((arm, at) => option(byId("f-variant"), arm.name, at));
    byId("l-variant").hidden = data.variants.length < 2;
    data.metrics.forEach((m, at) => option(byId("f-metric"), `${m.name} ${m.arrow}`, at));
    document.querySelectorAll(".l-status").forEach((node) => { node.hidden = !hasStatus; });
    const names = [...new Set(data.breakdowns.map((b) => b.name))];
    byId("f-breakdowns").append(...names.map((name) => {
      const holder = make("label", name), select = make("select");
      option(select, "all", "");
      const labels = data.breakdowns.filter((b) => b.name === name).flatMap((b) => b.labels);
      [...new Set(labels)].forEach((text) => option(select, text));
      select.dataset.breakdown = name;
      select.addEventListener("change", () => {
        state.labels[name] = select.value;
        before = null;
        update();
      });
      holder.append(select);
      return holder;
    }));
    const listen = (id, name, read, kind = "change") => {
      byId(id).addEventListener(kind, (event) => {
        state[name] = read(event.target.value);
        before = null;
        update();
      });
    };
    listen("f-search", "search", (text) => text.toLowerCase(), "input");
    listen("f-variant", "variant", Number);
    listen("f-metric", "metric", Number);
    for (const name of ["change", "from", "to"]) listen(`f-${name}`, name, String);
    byId("f-clear").addEventListener("click", (event) => {
      event.preventDefault();
      clear();
      before = null;
      update();
    });
    document.querySelector(".filters").addEventListener("submit", (e) => e.preventDefault());
    const turn = (by) => () => { state.page += by; draw(); };
    byId("page-before").addEventListener("click", turn(-1));
    byId("page-after").addEventListener("click", turn(1));
  }

  function clear() {
    Object.assign(state, {
      metric: 0, search: "", change: "", from: "", to: "", labels: {}, extra: {},
      sort: "delta", down: false,
    });
    reflect();
  }

  function reflect() {
    byId("f-search").value = state.search;
    byId("f-variant").value = state.variant;
    byId("f-metric").value = state.metric;
    for (const name of ["change", "from", "to"]) byId(`f-${name}`).value = state[name];
    document.querySelectorAll("[data-breakdown]").forEach((select) => {
      select.value = state.labels[select.dataset.breakdown] || "";
    });
  }

  // A link such as #questions?question_type=lookup&:change=worse sets the filters;
  // the way back restores them, unless the reader has changed them since.
  function follow() {
    const [place, query] = location.hash.slice(1).split("?");
    if (place !== "questions" || query === undefined) {
      if (before) {
        Object.assign(state, before);
        before = null;
        reflect();
        update();
      }
      const target = place && byId(decodeURIComponent(place));
      const around = target && target.closest("details");
      if (around && !around.open) { around.open = true; target.scrollIntoView(); }
      return;
    }
    before = before || structuredClone(state);
    clear();
    const known = new Set(data.breakdowns.map((b) => b.name));
    for (const [name, value] of new URLSearchParams(query)) {
      if (name === ":metric") {
        const at = data.metrics.findIndex((metric) => metric.name === value);
        state.metric = Math.max(at, 0);
      } else if (name === ":variant") {
        const at = data.variants.findIndex((arm) => arm.name === value);
        state.variant = Math.max(at, 0);
      } else if (name === ":change") state.change = value;
      else if (name === "baseline:status") state.from = value;
      else if (name === "variant:status") state.to = value;
      else if (known.has(name)) state.labels[name] = value;
      else state.extra[name] = value;
    }
    reflect();
    update();
    byId("questions").scrollIntoView();
    byId("found").focus({ preventScroll: true });
  }

  if (byId("explorer") && data.metrics.length) {
    build();
    byId("explorer").hidden = false;
    reflect();
    update();
    addEventListener("hashchange", follow);
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#questions?"]');
      if (link && link.getAttribute("href") === location.hash) follow();
    });
    follow();
  }
})();
