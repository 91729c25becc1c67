// Draws the outline of a model in a notebook: a tree that can be folded, drawn anew with every change.

function drawn(node, folded) {
  const item = document.createElement("li");
  const line = node.children.length ? document.createElement("summary") : document.createElement("span");
  for (const part of ["kind", "label", "detail"]) {
    // Names come from anywhere, so they are text and never markup.
    const span = document.createElement("span");
    span.className = part;
    span.textContent = node[part];
    line.append(span, " ");
  }
  item.className = `${node.kind} ${node.isDimmed ? "dimmed" : ""}`.trim();
  item.dataset.key = node.key;
  if (!node.children.length) {
    item.append(line);
    return item;
  }
  const details = document.createElement("details");
  details.open = !folded.has(node.key);
  details.addEventListener("toggle", () => (details.open ? folded.delete(node.key) : folded.add(node.key)));
  details.append(line, listed(node.children, folded));
  item.append(details);
  return item;
}

function listed(nodes, folded) {
  const list = document.createElement("ul");
  list.append(...nodes.map((node) => drawn(node, folded)));
  return list;
}

export default {
  render({ model, el }) {
    // Each display of the widget is folded by itself.
    const folded = new Set();
    const draw = () => {
      const ended = document.createElement("p");
      ended.className = "ended";
      ended.textContent = model.get("ended");
      el.classList.add("geomodel-outline");
      el.replaceChildren(listed(model.get("nodes"), folded), ...(ended.textContent ? [ended] : []));
    };
    draw();
    model.on("change:nodes", draw);
    model.on("change:ended", draw);
    return () => {
      model.off("change:nodes", draw);
      model.off("change:ended", draw);
    };
  },
};
