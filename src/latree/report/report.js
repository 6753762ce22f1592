// The drawing of the tree, and what is told of its nodes. Names are data: they only ever become text, never markup.
"use strict";

(() => {
  const began = performance.now();
  const facts = JSON.parse(document.getElementById("facts").textContent);
  // Shares are written with two letters each, in thousandths, base 32.
  const unpacked = (text) => Array.from({ length: text.length / 2 }, (_, i) => parseInt(text.slice(2 * i, 2 * i + 2), 32));
  const { names, n_columns: nColumns, tree: edges, groups, labels } = facts;
  const page = document.documentElement;
  const $ = (id) => document.getElementById(id);
  const svg = $("drawing");
  const stage = $("stage");
  const panel = $("panel");
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  page.classList.add("scripted");

  const N_COLOURS = 12;
  const ANIMATION = 280; // milliseconds
  const NEAR = 14; // pixels within which a node is hit
  const ROW = 21; // pixels a leaf needs when labels are to be read
  const LONGEST = 28; // letters of a name in the drawing

  // ---------------------------------------------------------------------------------------------- names and numbers

  // One line, without letters that show nothing; joiners stay, which emoji and some scripts are made with.
  const plain = (text) => text.replace(/(?![\u200c\u200d\u{e0020}-\u{e007f}])[\p{Cc}\p{Cf}\p{Cs}\p{Z}]/gu, " ").replace(/ +/g, " ").trim() || "(blank)";
  const elided = (text, longest = LONGEST) => {
    const letters = Array.from(plain(text));
    return letters.length <= longest ? letters.join("") : letters.slice(0, longest - 1).join("").trimEnd() + "…";
  };
  const shortNames = names.map((name) => elided(name));
  const isHidden = (id) => id >= nColumns;
  const percent = (share) => (share === 0 || share >= 0.0095 ? `${Math.round(100 * share)}\u00a0%` : `${(100 * share).toPrecision(1)}\u00a0%`);
  const counted = (n, what) => `${n.toLocaleString("en")} ${what}${n === 1 ? "" : "s"}`;

  // Makes an element: attributes, then children; text is only ever text.
  function make(tag, attributes = {}, ...children) {
    const vector = ["svg", "rect", "path", "text", "g", "line", "title"].includes(tag);
    const element = vector ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "onclick") element.addEventListener("click", value);
      else if (value !== undefined && value !== null) element.setAttribute(key, value);
    }
    element.append(...children.filter((child) => child !== null && child !== undefined));
    return element;
  }

  function nameOf(id, longest = 40) {
    const shown = elided(names[id], longest);
    return make("bdi", shown === names[id] ? {} : { title: plain(names[id]).slice(0, 6000) }, shown);
  }

  // ------------------------------------------------------------------------------------------------------- the tree

  const nodes = names.map((_, id) => ({ id, children: [] }));
  edges.parent.forEach((above, id) => above >= 0 && nodes[above].children.push(nodes[id]));
  const tops = nodes.filter((node) => edges.parent[node.id] < 0);
  // Several parts hang from a node that is not there, so that they can be laid out together.
  const tree = d3
    .hierarchy(tops.length > 1 ? { id: -1, children: tops } : tops[0])
    .sum((node) => (node.id >= 0 && !isHidden(node.id) ? 1 : 0))
    .sort((a, b) => a.value - b.value || a.data.id - b.data.id);
  const place = new Array(names.length); // id -> node of the hierarchy
  tree.each((node) => {
    if (node.data.id >= 0) place[node.data.id] = node;
  });

  const groupOf = new Array(names.length).fill(-1);
  groups.forEach((group, number) => group.nodes.forEach((id) => (groupOf[id] = number)));
  const groupColour = groups.map((group) => group.colour);
  const named = new Set(groups.flatMap((group) => group.named_by));

  // The label of a hidden variable is the one that all columns below it share.
  const labelOf = labels ? names.map((_, id) => (isHidden(id) ? -1 : labels.of[id])) : null;
  if (labels) {
    tree.eachAfter((node) => {
      if (node.data.id < nColumns) return;
      const below = new Set((node.children || []).map((child) => labelOf[child.data.id]));
      labelOf[node.data.id] = below.size === 1 ? [...below][0] : -1;
    });
  }

  const state = {
    layout: null,
    lengths: "strength",
    colours: labels ? "labels" : "groups",
    folded: new Set(),
    selected: null,
    lit: null, // the group or label that is highlighted
  };

  const colourOf = (id) => {
    if (state.colours === "labels") return labelOf[id] < 0 ? -1 : labels.colours[labelOf[id]];
    return groupOf[id] < 0 ? -1 : groupColour[groupOf[id]];
  };
  const kindOf = (id) => (state.colours === "labels" ? labelOf[id] : groupOf[id]);

  // What the browser has to lay the page out for is asked before the drawing is made, and again when its size changes.
  drawLegend();
  const sizeOf = () => ({ width: svg.clientWidth || 800, height: svg.clientHeight || 600 });
  let size = sizeOf();
  const family = getComputedStyle(document.body).fontFamily;

  // ----------------------------------------------------------------------------------------------- elements, once

  const view = make("g", { class: "view" });
  const linkLayer = make("g", { class: "links" });
  const dotLayer = make("g", { class: "dots" });
  const labelLayer = make("g", { class: "labels" });
  view.append(linkLayer, dotLayer);
  svg.append(view, labelLayer);

  const links = names.map((_, id) => {
    if (edges.parent[id] < 0) return null;
    const link = make("path");
    linkLayer.append(link);
    return link;
  });
  const dots = names.map(() => {
    const dot = make("path");
    dotLayer.append(dot);
    return dot;
  });

  function dress() {
    names.forEach((_, id) => {
      const colour = colourOf(id);
      const dim = state.lit !== null && kindOf(id) !== state.lit;
      const folded = state.folded.has(id);
      const kind = folded ? "folded" : isHidden(id) ? "hidden" : "column";
      dots[id].setAttribute("class", `dot ${kind} ${colour < 0 ? "trunk" : `c${colour}`}${dim ? " dim" : ""}${id === state.selected ? " selected" : ""}`);
      if (!links[id]) return;
      const above = edges.parent[id];
      const inside = kindOf(id) === kindOf(above) || (state.colours === "labels" && labelOf[id] >= 0);
      const support = edges.support[id];
      const sure = support === null ? "" : support >= 0.9 ? " sure" : support >= 0.5 ? " likely" : " unsure";
      links[id].setAttribute("class", `link ${inside && colour >= 0 ? `c${colour}` : "trunk"}${sure}${dim ? " dim" : ""}${onPath.has(id) ? " on-path" : ""}`);
    });
  }

  // ---------------------------------------------------------------------------------------------------------- layout

  let frame = { leaves: 1, radius: 1, width: 1, height: 1 }; // of the drawing, before zooming
  let shown = []; // nodes that are visible, every node after its parent
  let isShown = new Array(names.length).fill(false);
  const at = names.map(() => ({ u: 0, v: 0 })); // across, from 0 to 1, and away from the middle, from 0 to 1
  const onPath = new Set();

  const pen = document.createElement("canvas").getContext("2d");
  const widths = new Map();
  function widthOf(text, font) {
    const key = font + text;
    if (!widths.has(key)) {
      pen.font = font;
      widths.set(key, pen.measureText(text).width);
    }
    return widths.get(key);
  }
  const FONTS = { column: `12px ${family}`, folded: `600 12px ${family}`, hidden: `11px ${family}`, support: `10px ${family}` };

  const isLeaf = (node) => !node.children || state.folded.has(node.data.id);

  // Gives every node its target; nodes in a folded branch are where the branch is folded.
  function targets() {
    const target = new Array(names.length);
    const order = [];
    const waiting = [tree];
    let leaves = 0;
    while (waiting.length) {
      const node = waiting.pop();
      order.push(node);
      node.far = node.parent ? node.parent.far + (edges.parent[node.data.id] < 0 ? 0 : state.lengths === "equal" ? 1 : edges.length[node.data.id]) : 0;
      if (isLeaf(node)) node.across = leaves++;
      else for (let i = node.children.length - 1; i >= 0; i--) waiting.push(node.children[i]);
    }
    const farthest = Math.max(1e-9, ...order.map((node) => node.far));
    // Parts of a forest stand off the middle, where nothing joins them.
    const off = tops.length > 1 && state.layout === "radial" ? 0.12 : 0;
    for (let i = order.length - 1; i >= 0; i--) {
      const node = order[i];
      if (!isLeaf(node)) node.across = (node.children[0].across + node.children[node.children.length - 1].across) / 2;
      if (node.data.id >= 0) target[node.data.id] = { u: (node.across + 0.5) / leaves, v: off + ((1 - off) * node.far) / farthest };
    }
    const visible = order.filter((node) => node.data.id >= 0).map((node) => node.data.id);
    const seen = new Array(names.length).fill(false);
    visible.forEach((id) => (seen[id] = true));
    tree.eachBefore((node) => {
      const id = node.data.id;
      if (id >= 0 && !seen[id]) target[id] = target[node.parent.data.id];
    });
    return { target, visible, seen, leaves };
  }

  // The width of the widest label: among those with most letters, as measuring a thousand takes long.
  function longestLabel() {
    const told = shown.filter((id) => state.folded.has(id) || !isHidden(id)).map((id) => (state.folded.has(id) ? foldedName(id) : shortNames[id]));
    told.sort((a, b) => b.length - a.length);
    return Math.max(0, ...told.slice(0, 30).map((text) => widthOf(text, FONTS.folded)));
  }

  function measure(leaves) {
    const side = longestLabel() + 16;
    if (state.layout === "radial") {
      const room = Math.min(size.width, size.height) / 2;
      const need = (leaves * 15) / (2 * Math.PI);
      frame = { leaves, margin: Math.min(side, 0.42 * room), radius: 0 };
      frame.radius = Math.max(room - frame.margin, need);
    } else {
      const height = Math.max(Math.min(size.height - 40, leaves * 40), leaves * ROW);
      frame = { leaves, margin: Math.min(side, 0.5 * size.width), height };
      const room = size.width - frame.margin - 46;
      frame.width = Math.max(room, (0.6 * height * room) / size.height);
    }
  }

  const angle = (u) => 2 * Math.PI * u;
  function point(u, v) {
    return state.layout === "radial" ? d3.pointRadial(angle(u), v * frame.radius) : [v * frame.width, u * frame.height];
  }
  const digits = (x) => Math.round(x * 10) / 10;

  function linkPath(id) {
    const from = at[edges.parent[id]];
    const to = at[id];
    const [x0, y0] = point(from.u, from.v);
    const [x1, y1] = point(to.u, to.v);
    if (state.layout !== "radial") return `M${digits(x0)},${digits(y0)}V${digits(y1)}H${digits(x1)}`;
    const radius = from.v * frame.radius;
    const [xc, yc] = point(to.u, from.v);
    const turn = to.u - from.u;
    if (radius < 0.5) return `M${digits(x0)},${digits(y0)}L${digits(x1)},${digits(y1)}`;
    const large = Math.abs(turn) > 0.5 ? 1 : 0;
    return `M${digits(x0)},${digits(y0)}A${digits(radius)},${digits(radius)} 0 ${large} ${turn > 0 ? 1 : 0} ${digits(xc)},${digits(yc)}L${digits(x1)},${digits(y1)}`;
  }

  function draw(ids) {
    for (const id of ids) {
      const [x, y] = point(at[id].u, at[id].v);
      dots[id].setAttribute("d", `M${digits(x)},${digits(y)}h0.01`);
      if (links[id]) links[id].setAttribute("d", linkPath(id));
    }
  }

  let running = 0;
  function arrange({ animate = false, fit = false } = {}) {
    const { target, visible, seen, leaves } = targets();
    const before = isShown;
    shown = visible;
    isShown = seen;
    measure(leaves);
    const moving = names.map((_, id) => id).filter((id) => before[id] || seen[id]);
    const hide = () => {
      names.forEach((_, id) => {
        dots[id].style.display = seen[id] ? "" : "none";
        if (links[id]) links[id].style.display = seen[id] ? "" : "none";
      });
    };
    stage.dataset.layout = state.layout;
    stage.dataset.lengths = state.lengths;
    stage.dataset.folded = state.folded.size;
    stage.dataset.shown = visible.length;
    dress();
    cancelAnimationFrame(running);
    if (!animate || calm.matches) {
      moving.forEach((id) => Object.assign(at[id], target[id]));
      draw(moving);
      hide();
      collectLabels();
      if (fit) fitView(false);
      else refresh();
      return;
    }
    const start = moving.map((id) => ({ ...at[id] }));
    moving.forEach((id) => {
      dots[id].style.display = "";
      if (links[id]) links[id].style.display = "";
    });
    const since = performance.now();
    candidates = [];
    refresh();
    const step = (now) => {
      const t = Math.min(1, Math.max(0, now - since) / ANIMATION);
      const eased = t * t * (3 - 2 * t);
      moving.forEach((id, i) => {
        at[id].u = start[i].u + (target[id].u - start[i].u) * eased;
        at[id].v = start[i].v + (target[id].v - start[i].v) * eased;
      });
      draw(moving);
      if (t < 1) running = requestAnimationFrame(step);
      else {
        hide();
        collectLabels();
        refresh();
      }
    };
    running = requestAnimationFrame(step);
    if (fit) fitView(true);
  }

  // ---------------------------------------------------------------------------------------------------------- labels

  let candidates = []; // all labels there could be, the most important first
  const texts = new Map(); // labels that were shown before

  function foldedName(id) {
    const number = groups.findIndex((group) => topOf(group) === id);
    const many = place[id].value;
    if (number < 0) return `${elided(names[id], 12)} (${many})`;
    return `${groups[number].named_by.slice(0, 2).map((column) => elided(names[column], 14)).join(" · ")} (${many})`;
  }

  function collectLabels() {
    const found = [];
    for (const id of shown) {
      const node = place[id];
      const end = isLeaf(node);
      if (state.folded.has(id)) found.push({ id, key: `f${id}`, kind: "folded", text: foldedName(id), rank: 1e6 + node.value, end });
      else if (!isHidden(id)) {
        const rank = (named.has(id) ? 1e5 : 1e3) + 100 * (edges.information[id] || 0) + (end ? 0 : 10);
        found.push({ id, key: `c${id}`, kind: "column", text: shortNames[id], rank, end });
      } else found.push({ id, key: `h${id}`, kind: "hidden", text: names[id], rank: node.value / nColumns / 100, end });
      if (edges.support[id] !== null && edges.parent[id] >= 0) {
        found.push({ id, key: `s${id}`, kind: "support", text: String(Math.round(100 * edges.support[id])), rank: node.value / nColumns });
      }
    }
    candidates = found.sort((a, b) => b.rank - a.rank || a.id - b.id);
  }

  // Where a label stands on the screen: its start, its direction, and where its text is anchored.
  function stand(label, { k, x, y }) {
    const { id } = label;
    if (label.kind === "support") {
      const from = at[edges.parent[id]];
      const [x0, y0] = point(at[id].u, from.v);
      const [x1, y1] = point(at[id].u, at[id].v);
      if (k * Math.hypot(x1 - x0, y1 - y0) < label.width + 14) return null;
      const raised = state.layout === "radial" ? 0 : -7;
      return { x: k * (x0 + x1) / 2 + x - label.width / 2, y: k * (y0 + y1) / 2 + y + raised, turn: 0, anchor: "start" };
    }
    const [px, py] = point(at[id].u, at[id].v);
    const sx = k * px + x;
    const sy = k * py + y;
    if (!label.end || label.kind === "hidden") return { x: sx - label.width - 6, y: sy - 9, turn: 0, anchor: "start" };
    const away = label.kind === "folded" ? 12 : 8;
    if (state.layout !== "radial") return { x: sx + away, y: sy, turn: 0, anchor: "start" };
    const turn = angle(at[id].u) - Math.PI / 2;
    const flipped = Math.cos(turn) < 0;
    return { x: sx + away * Math.cos(turn), y: sy + away * Math.sin(turn), turn, anchor: flipped ? "end" : "start", flipped };
  }

  const CELL = 2; // pixels
  let taken = new Uint8Array(0);
  function placeLabels() {
    const transform = d3.zoomTransform(svg);
    const wide = Math.ceil(size.width / CELL) + 2;
    const high = Math.ceil(size.height / CELL) + 2;
    if (taken.length !== wide * high) taken = new Uint8Array(wide * high);
    else taken.fill(0);
    // Walks over the cells that a label covers; stops where the visit says so.
    const walk = (spot, label, reach, visit) => {
      const cos = Math.cos(spot.turn);
      const sin = Math.sin(spot.turn);
      for (let along = 0; along <= label.width + 5; along += 5) {
        const cx = Math.floor((spot.x + along * cos) / CELL) + 1;
        const cy = Math.floor((spot.y + along * sin) / CELL) + 1;
        for (let i = -reach; i <= reach; i++) {
          for (let j = -reach; j <= reach; j++) {
            if (cx + i < 0 || cy + j < 0 || cx + i >= wide || cy + j >= high) continue;
            if (visit((cy + j) * wide + cx + i)) return true;
          }
        }
      }
      return false;
    };
    const { k, x, y } = transform;
    let dotted = false;
    const markDots = () => {
      dotted = true;
      for (const id of shown) {
        const [px, py] = point(at[id].u, at[id].v);
        const cell = [Math.floor((k * px + x) / CELL) + 1, Math.floor((k * py + y) / CELL) + 1];
        if (cell[0] >= 0 && cell[1] >= 0 && cell[0] < wide && cell[1] < high) taken[cell[1] * wide + cell[0]] = 1;
      }
    };
    const chosen = new Set();
    const first = candidates.filter((label) => label.id === state.selected && label.kind !== "support");
    for (const label of first.length ? [...first, ...candidates] : candidates) {
      if (chosen.has(label.key)) continue;
      if (crowded === "dense" && label.rank < 100 && label.id !== state.selected) break;
      if (!dotted && label.rank < 100 && label.id !== state.selected) markDots(); // lesser labels cover no dots either
      label.width ??= widthOf(label.text, FONTS[label.kind]);
      const spot = stand(label, transform);
      if (!spot) continue;
      if (spot.x < -label.width || spot.y < -8 || spot.x > size.width + label.width || spot.y > size.height + 8) continue;
      if (walk(spot, label, 3, (cell) => taken[cell])) continue;
      walk(spot, label, 2, (cell) => {
        taken[cell] = 1;
      });
      chosen.add(label.key);
      show(label, spot);
    }
    for (const [key, text] of texts) if (!chosen.has(key)) text.style.display = "none";
    stage.dataset.labels = chosen.size;
  }

  function show(label, spot) {
    let text = texts.get(label.key);
    if (!text) {
      text = make("text", { "data-id": label.id, dy: "0.35em" });
      texts.set(label.key, text);
      labelLayer.append(text);
    }
    if (text.textContent !== label.text) text.textContent = label.text;
    const dim = state.lit !== null && kindOf(label.id) !== state.lit;
    const colour = colourOf(label.id);
    text.setAttribute("class", `label ${label.kind}${dim ? " dim" : ""}${label.id === state.selected ? " selected" : ""}${colour < 0 ? "" : ` c${colour}`}`);
    text.style.display = "";
    text.setAttribute("text-anchor", spot.anchor);
    const degrees = (spot.turn * 180) / Math.PI + (spot.flipped ? 180 : 0);
    text.setAttribute("transform", `translate(${digits(spot.x)},${digits(spot.y)})${spot.turn ? `rotate(${digits(degrees)})` : ""}`);
  }

  // ------------------------------------------------------------------------------------------------------------ zoom

  let pending = 0;
  function refresh() {
    if (pending) return;
    pending = requestAnimationFrame(() => {
      pending = 0;
      placeLabels();
    });
  }

  const zoom = d3
    .zoom()
    .extent(() => [
      [0, 0],
      [size.width, size.height],
    ])
    .clickDistance(5)
    .on("zoom", ({ transform }) => {
      view.setAttribute("transform", transform);
      stage.dataset.scale = transform.k.toFixed(4);
      crowd(transform.k);
      refresh();
    });
  const canvas = d3.select(svg).call(zoom).on("dblclick.zoom", null);

  // Where leaves are closer than their labels, lines and dots get thinner, and only columns have labels.
  let crowded = "";
  function crowd(k) {
    const spacing = k * leafSpacing(0.8);
    const now = spacing < 3 ? "dense" : spacing < 9 ? "close" : "roomy";
    if (now !== crowded) svg.dataset.crowd = crowded = now;
  }
  function leafSpacing(v) {
    return state.layout === "radial" ? (2 * Math.PI * v * frame.radius) / frame.leaves : frame.height / frame.leaves;
  }

  function fitted() {
    if (state.layout === "radial") {
      const side = 2 * frame.radius;
      const k = Math.min(1, (size.width - 2 * frame.margin) / side, (size.height - 2 * frame.margin) / side);
      return d3.zoomIdentity.translate(size.width / 2, size.height / 2).scale(k);
    }
    const k = Math.min(1, (size.width - frame.margin - 46) / frame.width, (size.height - 24) / frame.height);
    return d3.zoomIdentity.translate(38, (size.height - k * frame.height) / 2).scale(k);
  }

  function move(transform, animate) {
    if (animate && !calm.matches) canvas.transition().duration(500).call(zoom.transform, transform);
    else canvas.interrupt().call(zoom.transform, transform);
  }
  function fitView(animate) {
    const target = fitted();
    zoom.scaleExtent([0.5 * target.k, Math.max(6, 12 * target.k)]);
    move(target, animate);
  }
  function zoomBy(factor) {
    if (calm.matches) canvas.call(zoom.scaleBy, factor);
    else canvas.transition().duration(180).call(zoom.scaleBy, factor);
  }

  // Goes to a node, unless it is in view and its surroundings can be read; shows no more empty space than it must.
  function flyTo(id) {
    const [x, y] = point(at[id].u, at[id].v);
    const now = d3.zoomTransform(svg);
    const spacing = leafSpacing(Math.max(at[id].v, 0.2));
    const [sx, sy] = now.apply([x, y]);
    if (now.k >= Math.min(1, 11 / spacing) && sx > 40 && sy > 30 && sx < size.width - 90 && sy < size.height - 30) return;
    const k = Math.max(now.k, Math.min(1.2, 16 / spacing));
    const radial = state.layout === "radial";
    const [left, right] = radial ? [-k * frame.radius - frame.margin, k * frame.radius + frame.margin] : [-38, k * frame.width + frame.margin];
    const [top, bottom] = radial ? [left, right] : [-16, k * frame.height + 16];
    const within = (wanted, low, high, room) => (high - low <= room ? (room - low - high) / 2 : Math.min(-low, Math.max(room - high, wanted)));
    const tx = within(size.width / 2 - k * x, left, right, size.width);
    const ty = within(size.height / 2 - k * y, top, bottom, size.height);
    move(d3.zoomIdentity.translate(tx, ty).scale(k), true);
  }
  function keepInView(id) {
    const [sx, sy] = d3.zoomTransform(svg).apply(point(at[id].u, at[id].v));
    if (sx < 30 || sy < 30 || sx > size.width - 30 || sy > size.height - 30) flyTo(id);
  }

  // --------------------------------------------------------------------------------------------------------- folding

  function topOf(group) {
    return group.nodes.reduce((top, id) => (place[id].depth < place[top].depth ? id : top), group.nodes[0]);
  }
  // The group that all nodes of a branch are in, or -1.
  const pure = new Map();
  tree.eachAfter((node) => {
    const own = node.data.id >= 0 ? groupOf[node.data.id] : -1;
    pure.set(node, (node.children || []).every((child) => pure.get(child) === own) ? own : -1);
  });
  function toggleFold(id) {
    if (!place[id].children) return;
    if (state.folded.has(id)) state.folded.delete(id);
    else state.folded.add(id);
    arrange({ animate: true });
    if (state.selected === id) tell(id);
  }
  function unfoldAbove(id) {
    let changed = false;
    for (let node = place[id].parent; node; node = node.parent) changed = state.folded.delete(node.data.id) || changed;
    if (changed) arrange();
  }
  $("fold-all").addEventListener("click", () => {
    for (const node of tree.descendants()) {
      const above = node.parent;
      if (above && node.children && pure.get(node) >= 0 && !(pure.get(above) >= 0 && above.parent)) state.folded.add(node.data.id);
    }
    arrange({ animate: true, fit: true });
  });
  $("unfold-all").addEventListener("click", () => {
    state.folded.clear();
    arrange({ animate: true, fit: true });
  });

  // ------------------------------------------------------------------------------------------------------- selecting

  function select(id, { fly = false } = {}) {
    if (id !== null) unfoldAbove(id);
    state.selected = id;
    onPath.clear();
    if (id !== null) for (let node = place[id]; node && node.data.id >= 0; node = node.parent) onPath.add(node.data.id);
    stage.dataset.selected = id === null ? "" : id;
    dress();
    refresh();
    if (id !== null && fly) flyTo(id);
    tell(id);
  }

  function nearest(event) {
    const label = event.target.closest ? event.target.closest("text[data-id]") : null;
    if (label) return Number(label.dataset.id);
    const [mx, my] = d3.pointer(event, svg);
    const { k, x, y } = d3.zoomTransform(svg);
    let best = null;
    let least = NEAR * NEAR;
    for (const id of shown) {
      const [px, py] = point(at[id].u, at[id].v);
      const away = (k * px + x - mx) ** 2 + (k * py + y - my) ** 2;
      if (away < least) [best, least] = [id, away];
    }
    return best;
  }

  svg.addEventListener("click", (event) => {
    const id = nearest(event);
    if (id !== null || state.selected !== null) select(id);
  });
  svg.addEventListener("dblclick", (event) => {
    const id = nearest(event);
    if (id !== null) toggleFold(id);
    else zoomBy(2);
  });

  const tip = $("tip");
  let hovered = null;
  svg.addEventListener("pointermove", (event) => {
    const id = event.buttons ? null : nearest(event);
    svg.classList.toggle("pointing", id !== null);
    if (id !== hovered) {
      hovered = id;
      tip.hidden = id === null;
      if (id !== null) tip.replaceChildren(...tipText(id));
    }
    if (id !== null) {
      const [mx, my] = d3.pointer(event, stage);
      tip.style.left = `${Math.min(mx + 14, size.width - tip.offsetWidth - 8)}px`;
      tip.style.top = `${my + tip.offsetHeight + 24 > size.height ? my - tip.offsetHeight - 10 : my + 16}px`;
    }
  });
  svg.addEventListener("pointerleave", () => {
    tip.hidden = true;
    hovered = null;
  });

  function tipText(id) {
    const lines = [make("strong", {}, nameOf(id, 60))];
    if (isHidden(id)) lines.push(counted(facts.hidden[id - nColumns].sizes.length, "state"));
    if (place[id].children) lines.push(`${counted(place[id].value, "column")} in this branch${state.folded.has(id) ? ", folded" : ""}`);
    if (labels && !isHidden(id) && labels.of[id] >= 0) lines.push(make("bdi", {}, elided(labels.names[labels.of[id]], 60)));
    if (edges.parent[id] >= 0) {
      const support = edges.support[id] === null ? "" : `, support ${percent(edges.support[id])}`;
      lines.push(`edge to ${elided(names[edges.parent[id]], 24)}: strength ${edges.strength[id].toFixed(2)}${support}`);
    }
    return lines.map((line) => make("div", {}, line));
  }

  svg.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key } = event;
    const actions = { "+": () => zoomBy(1.4), "=": () => zoomBy(1.4), "-": () => zoomBy(1 / 1.4), 0: () => fitView(true) };
    if (actions[key]) actions[key]();
    else if ((key === "f" || key === "F" || key === " ") && state.selected !== null) toggleFold(state.selected);
    else if (key === "Enter" && state.selected !== null) panel.focus();
    else if (key === "Escape") select(null);
    else if (key.startsWith("Arrow")) step(key);
    else return;
    event.preventDefault();
  });

  // Moves the selection: right to the branches, left to the middle, up and down to what is beside.
  function step(key) {
    const start = state.selected === null ? null : place[state.selected];
    let next = null;
    if (!start) next = tree.data.id >= 0 ? tree : tree.children[0];
    else if (key === "ArrowRight") next = isLeaf(start) ? null : start.children[0];
    else if (key === "ArrowLeft") next = start.parent;
    else {
      const direction = key === "ArrowDown" ? 1 : -1;
      const beside = shown.filter((id) => place[id].depth === start.depth);
      const found = beside[beside.indexOf(start.data.id) + direction];
      next = found === undefined ? null : place[found];
    }
    if (next && next.data.id >= 0) {
      select(next.data.id);
      keepInView(next.data.id);
    }
  }

  // ---------------------------------------------------------------------------------------------------- about a node

  function link(id, longest = 28) {
    return make("button", { type: "button", class: "link", onclick: () => select(id, { fly: true }) }, nameOf(id, longest));
  }

  function groupLink(group) {
    const shown = group.named_by.flatMap((column, i) => [i ? " · " : "", nameOf(column, 20)]);
    return make("button", { type: "button", class: "link", onclick: () => select(group.hub, { fly: true }) }, ...shown);
  }

  function bar(share) {
    const drawn = make("svg", { class: "share", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    drawn.append(make("rect", { class: "back", width: 100, height: 10 }), make("rect", { class: "front", width: Math.max(0, Math.min(100, 100 * share)), height: 10 }));
    return drawn;
  }

  // The colour of a category: from light to dark where categories have an order.
  function shade(scale, category) {
    const { names: all, ordered } = facts.scales[scale];
    if (!ordered) return `var(--c${category % N_COLOURS})`;
    const part = all.length < 2 ? 100 : Math.round((100 * category) / (all.length - 1));
    return `color-mix(in oklab, var(--ramp-high) ${part}%, var(--ramp-low))`;
  }

  function stacked(scale, shares) {
    const { names: all } = facts.scales[scale];
    const drawn = make("svg", { class: "stacked", viewBox: "0 0 1000 10", preserveAspectRatio: "none", role: "img" });
    let x = 0;
    const told = [];
    shares.forEach((share, category) => {
      if (share === 0) return;
      const text = `${elided(all[category], 40)}: ${percent(share / 1000)}`;
      told.push([share, text]);
      const part = make("rect", { x, width: share, height: 10 }, make("title", {}, text));
      part.style.fill = shade(scale, category);
      drawn.append(part);
      x += share;
    });
    told.sort((a, b) => b[0] - a[0]);
    drawn.setAttribute("aria-label", told.slice(0, 3).map(([, text]) => text).join(", "));
    return drawn;
  }

  function legendOf(scale) {
    const { names: all, ordered } = facts.scales[scale];
    const mark = (category) => {
      const square = make("span", { class: "mark" });
      square.style.background = shade(scale, category);
      return square;
    };
    if (ordered && all.length > 4) {
      const ramp = make("span", { class: "ramp" });
      return make("div", { class: "category-legend" }, make("bdi", {}, elided(all[0], 18)), ramp, make("bdi", {}, elided(all[all.length - 1], 18)));
    }
    const few = all.slice(0, 6).map((text, category) => make("span", { class: "entry" }, mark(category), make("bdi", {}, elided(text, 20))));
    return make("div", { class: "category-legend" }, ...few, all.length > 6 ? "…" : null);
  }

  function section(title, hint, ...children) {
    return make("section", {}, make("h4", hint ? { title: hint } : {}, title), ...children);
  }

  function head(id, kind, ...lines) {
    const colour = colourOf(id);
    const fold = place[id].children
      ? make("button", { type: "button", class: "small-button", id: "fold", onclick: () => toggleFold(id) }, state.folded.has(id) ? "Unfold branch" : "Fold branch")
      : null;
    const go = make("button", { type: "button", class: "small-button", onclick: () => flyTo(id) }, "Go there");
    const close = make("button", { type: "button", class: "small-button", "aria-label": "Close", onclick: () => select(null) }, "Close");
    return make(
      "header",
      {},
      make("p", { class: "kind" }, make("span", { class: `swatch ${colour < 0 ? "trunk" : `c${colour}`}` }), kind),
      make("h3", {}, nameOf(id, 80)),
      ...lines.filter(Boolean).map((line) => make("p", { class: "muted" }, line)),
      make("div", { class: "buttons" }, go, fold, close),
    );
  }

  function groupLine(id) {
    if (groupOf[id] < 0 || groups.length < 2) return null;
    const group = groups[groupOf[id]];
    return make("span", {}, "In the group of ", ...group.named_by.flatMap((column, i) => (i ? [" · ", nameOf(column, 20)] : [nameOf(column, 20)])));
  }

  function neighbours(id) {
    const near = [...(edges.parent[id] >= 0 ? [[edges.parent[id], id]] : []), ...nodes[id].children.map((child) => [child.id, child.id])];
    near.sort((a, b) => edges.strength[b[1]] - edges.strength[a[1]] || a[0] - b[0]);
    const rows = near.map(([other, edge]) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, link(other, 22)),
        make("td", { class: "bar-cell" }, bar(edges.strength[edge])),
        make("td", { class: "figure" }, edges.strength[edge].toFixed(2)),
        make("td", { class: "figure" }, edges.support[edge] === null ? "–" : percent(edges.support[edge])),
      ),
    );
    const top = make("tr", {}, make("th", { scope: "col" }, "Name"), make("th", { scope: "col", colspan: 2 }, "Strength"), make("th", { scope: "col", class: "figure" }, "Support"));
    return make("table", {}, make("thead", {}, top), make("tbody", {}, ...rows));
  }

  // What sets a state apart: the values that are much commoner in it than elsewhere.
  function meaning(detail, place) {
    const found = [];
    for (const { column, shares } of detail.columns) {
      const scale = facts.scales[facts.columns[column].scale];
      let best = null;
      shares[place].forEach((share, category) => {
        const usual = Math.max(facts.columns[column].model[category], 1);
        const score = share * Math.log(Math.max(share, 1) / usual);
        if (share > 1.2 * usual && (!best || score > best.score)) best = { score, share, text: scale.names[category] };
      });
      if (best) found.push({ ...best, column });
    }
    found.sort((a, b) => b.score - a.score || a.column - b.column);
    return found.slice(0, 3);
  }

  function detailOf(id) {
    const detail = facts.hidden[id - nColumns];
    return { ...detail, columns: detail.columns.map((column) => ({ ...column, shares: column.shares.map(unpacked) })) };
  }

  function aboutHidden(id) {
    const detail = detailOf(id);
    const nShown = detail.columns.length ? detail.columns[0].shares.length : 0;
    const states = detail.sizes.slice(0, Math.max(nShown, 1)).map((size, i) => {
      const typical = meaning(detail, i);
      const words = typical.flatMap(({ column, text, share }, j) => [
        ...(j ? [", "] : []),
        nameOf(column, 18),
        " ",
        make("b", {}, make("bdi", {}, elided(text, 18))),
        ` (${percent(share / 1000)})`,
      ]);
      return make(
        "li",
        {},
        make("div", { class: "line" }, make("span", { class: "state" }, `state ${detail.states[i]}`), bar(size / 1000), make("span", { class: "figure" }, percent(size / 1000))),
        make("div", { class: "meaning" }, ...(words.length ? ["often ", ...words] : ["like all rows"])),
      );
    });
    const rest = detail.sizes.slice(nShown);
    if (nShown && rest.length) {
      const share = rest.reduce((sum, part) => sum + part, 0) / 1000;
      states.push(make("li", { class: "muted" }, `${counted(rest.length, "smaller state")}: ${percent(share)} of the rows`));
    }
    const profiles = detail.columns.map(({ column, information, shares }) =>
      make(
        "div",
        { class: "profile" },
        make("div", { class: "line" }, link(column, 30), make("span", { class: "figure muted", title: "Mutual information with the hidden variable, in nats" }, information.toFixed(3))),
        ...shares.map((part, i) => make("div", { class: "profile-row" }, make("span", { class: "state" }, String(detail.states[i])), stacked(facts.columns[column].scale, part))),
        legendOf(facts.columns[column].scale),
      ),
    );
    panel.replaceChildren(
      head(id, "Hidden variable", groupLine(id)),
      section("States", "How many of the rows are in each state, and which values are commoner there than elsewhere", make("ol", { class: "states-list" }, ...states)),
      section("What it separates most", "The columns with most mutual information with this variable; one bar a state, one colour a value", ...profiles),
      section("Neighbours", "What it is tied to directly", neighbours(id)),
    );
  }

  function aboutColumn(id) {
    const detail = facts.columns[id];
    const { names: values } = facts.scales[detail.scale];
    const shares = detail.data || detail.model;
    const most = Math.max(...shares, 1);
    const rows = values.map((text, category) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, make("bdi", text.length > 24 ? { title: plain(text) } : {}, elided(text, 24))),
        make("td", { class: "bar-cell" }, bar(shares[category] / most)),
        make("td", { class: "figure", title: `${percent(detail.model[category] / 1000)} under the model` }, percent(shares[category] / 1000)),
      ),
    );
    const relatives = detail.relatives.map(([column, information]) =>
      make("tr", {}, make("th", { scope: "row" }, link(column, 24)), make("td", { class: "bar-cell" }, bar(information / Math.max(detail.relatives[0][1], 1e-9))), make("td", { class: "figure" }, information.toFixed(3))),
    );
    const above = edges.parent[id];
    const missing = facts.missing && facts.missing[id] ? `${counted(facts.missing[id], "cell")} missing` : null;
    const label = labels && labels.of[id] >= 0 ? make("span", {}, "Label: ", make("bdi", {}, elided(labels.names[labels.of[id]], 60))) : null;
    const parent = above < 0 ? null : make("p", {}, "With ", link(above), ` it shares ${edges.information[id].toFixed(3)} of its ${detail.entropy.toFixed(3)} nats.`);
    panel.replaceChildren(
      head(id, detail.binned ? "Column, cut into bins" : "Column", groupLine(id), label, missing),
      section(detail.data ? "Distribution" : "Distribution under the model", detail.data ? "Shares of the cells that are present" : null, make("table", { class: "distribution" }, make("tbody", {}, ...rows))),
      relatives.length
        ? section("Nearest relatives", "The columns with most mutual information with this one under the model, in nats", make("table", {}, make("tbody", {}, ...relatives)))
        : section("Nearest relatives", null, make("p", { class: "muted" }, "None: it depends on no other column.")),
      ...(nodes[id].children.length || above >= 0 ? [section("Neighbours", "What it is tied to directly", parent, neighbours(id))] : []),
    );
  }

  function tell(id) {
    panel.classList.toggle("empty", id === null);
    if (id !== null) {
      (isHidden(id) ? aboutHidden : aboutColumn)(id);
      panel.scrollTop = 0;
      return;
    }
    const tips = [
      "Click a column for its values and nearest relatives.",
      ...(nColumns < names.length ? ["Click a dot for what a hidden variable stands for.", "Double-click a dot to fold its branch."] : []),
      "Scroll or pinch to zoom, drag to move.",
    ];
    const listed = groups.map((group, number) =>
      make(
        "tr",
        {},
        make("th", { scope: "row" }, make("span", { class: `swatch c${groupColour[number]}` }), groupLink(group)),
        make("td", { class: "figure" }, String(group.nodes.filter((node) => !isHidden(node)).length)),
      ),
    );
    panel.replaceChildren(
      make("h3", {}, "Look around"),
      make("ul", { class: "tips" }, ...tips.map((text) => make("li", {}, text))),
      ...(groups.length > 1 ? [section("Groups", null, make("table", { class: "group-list" }, make("tbody", {}, ...listed)))] : []),
    );
  }

  // ---------------------------------------------------------------------------------------------------------- legend

  function drawLegend() {
    const byLabel = state.colours === "labels";
    const order = byLabel ? labels.names.map((_, i) => i) : groups.map((_, i) => i);
    if (order.length < 2 && !byLabel) {
      $("legend").replaceChildren();
      return;
    }
    const chips = order.slice(0, 40).map((number) => {
      const text = byLabel ? [make("bdi", {}, elided(labels.names[number], 26))] : [make("bdi", {}, groups[number].named_by.slice(0, 2).map((id) => elided(names[id], 16)).join(" · "))];
      const colour = byLabel ? labels.colours[number] : groupColour[number];
      const chip = make("button", { type: "button", class: "chip", "aria-pressed": String(state.lit === number) }, make("span", { class: `swatch c${colour}` }), ...text);
      chip.addEventListener("click", () => {
        state.lit = state.lit === number ? null : number;
        dress();
        refresh();
        drawLegend();
      });
      return chip;
    });
    if (order.length > 40) chips.push(make("span", { class: "muted" }, `and ${order.length - 40} more`));
    $("legend").replaceChildren(...chips);
  }

  // ---------------------------------------------------------------------------------------------------------- search

  const input = $("search");
  const results = $("results");
  let hits = [];
  let active = -1;
  const lowered = names.map((name) => plain(name).toLowerCase());

  function search() {
    const wanted = plain(input.value).toLowerCase();
    hits = [];
    if (input.value.trim()) {
      const starts = [];
      const others = [];
      lowered.forEach((name, id) => {
        if (name.startsWith(wanted)) starts.push(id);
        else if (name.includes(wanted)) others.push(id);
      });
      hits = [...starts, ...others].slice(0, 12);
    }
    active = hits.length ? 0 : -1;
    showResults(Boolean(input.value.trim()));
  }
  function showResults(open) {
    results.replaceChildren(
      ...hits.map((id, i) => {
        const entry = make("li", { role: "option", id: `result-${i}`, "aria-selected": String(i === active) }, nameOf(id, 44), make("span", { class: "muted" }, isHidden(id) ? "hidden" : ""));
        entry.addEventListener("pointerdown", (event) => {
          event.preventDefault();
          choose(id);
        });
        return entry;
      }),
      ...(open && !hits.length ? [make("li", { class: "muted none" }, "No such column")] : []),
    );
    results.hidden = !open;
    input.setAttribute("aria-expanded", String(open));
    if (active >= 0 && open) input.setAttribute("aria-activedescendant", `result-${active}`);
    else input.removeAttribute("aria-activedescendant");
    const current = results.children[active];
    if (open && current) current.scrollIntoView({ block: "nearest" });
  }
  function choose(id) {
    showResults(false);
    input.value = "";
    select(id, { fly: true });
  }
  input.addEventListener("input", search);
  input.addEventListener("blur", () => showResults(false));
  input.addEventListener("focus", () => input.value.trim() && search());
  input.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (hits.length) active = (active + (event.key === "ArrowDown" ? 1 : -1) + hits.length) % hits.length;
      showResults(hits.length > 0);
    } else if (event.key === "Enter") {
      if (active >= 0) choose(hits[active]);
    } else if (event.key === "Escape") {
      input.value = "";
      hits = [];
      showResults(false);
    } else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });

  // --------------------------------------------------------------------------------------------------------- buttons

  function press(attribute, value) {
    for (const button of document.querySelectorAll(`[data-${attribute}]`)) {
      if (button.tagName === "BUTTON") button.setAttribute("aria-pressed", String(button.dataset[attribute] === value));
    }
  }
  for (const button of document.querySelectorAll("button[data-layout]")) {
    button.addEventListener("click", () => {
      state.layout = button.dataset.layout;
      press("layout", state.layout);
      arrange({ fit: true });
    });
  }
  for (const button of document.querySelectorAll("button[data-lengths]")) {
    button.addEventListener("click", () => {
      state.lengths = button.dataset.lengths;
      press("lengths", state.lengths);
      arrange({ animate: true });
    });
  }
  for (const button of document.querySelectorAll("button[data-colours]")) {
    button.addEventListener("click", () => {
      state.colours = button.dataset.colours;
      state.lit = null;
      press("colours", state.colours);
      dress();
      refresh();
      drawLegend();
      tell(state.selected);
    });
  }
  $("zoom-in").addEventListener("click", () => zoomBy(1.5));
  $("zoom-out").addEventListener("click", () => zoomBy(1 / 1.5));
  $("zoom-fit").addEventListener("click", () => fitView(true));

  for (const button of document.querySelectorAll("button[data-node]")) {
    button.addEventListener("click", () => {
      select(Number(button.dataset.node), { fly: true });
      $("tree").scrollIntoView({ behavior: calm.matches ? "auto" : "smooth" });
    });
  }

  // ----------------------------------------------------------------------------------------------------------- theme

  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const remember = (theme) => {
    try {
      window.localStorage.setItem("latree-theme", theme);
    } catch {
      // A page that was opened from a file may not keep anything: the choice holds until it is closed.
    }
  };
  try {
    const kept = window.localStorage.getItem("latree-theme");
    if (kept === "light" || kept === "dark") page.dataset.theme = kept;
  } catch {
    // See above.
  }
  $("theme").addEventListener("click", () => {
    const now = page.dataset.theme || (dark.matches ? "dark" : "light");
    page.dataset.theme = now === "dark" ? "light" : "dark";
    remember(page.dataset.theme);
  });

  // ----------------------------------------------------------------------------------------------------------- start

  const narrow = size.width < 600;
  state.layout = nColumns <= (narrow ? 80 : 40) ? "horizontal" : "radial";
  press("layout", state.layout);
  tell(null);
  arrange({ fit: true });
  placeLabels();
  stage.dataset.milliseconds = Math.round(performance.now() - began);

  let later = 0;
  new ResizeObserver(() => {
    clearTimeout(later);
    later = setTimeout(() => {
      const before = size;
      size = sizeOf();
      if (size.width !== before.width || size.height !== before.height) arrange({ fit: true });
    }, 120);
  }).observe(svg);
})();
