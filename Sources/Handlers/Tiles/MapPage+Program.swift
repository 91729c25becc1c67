// The page around a published map: its style, and the program that draws the map.

extension MapPage {
  static let head: StaticString = #"""
    <!DOCTYPE html>
    <html><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>Map</title>
    <style>
    html,body{margin:0;height:100%;overflow:hidden;font:13px sans-serif}canvas{width:100%;height:100%;touch-action:none;display:block}
    #about{position:fixed;right:8px;top:8px;max-width:40%;max-height:80%;overflow:auto;background:#fffe;padding:6px 10px;border-radius:4px;white-space:pre-wrap}
    </style></head><body><canvas id="map" role="img"></canvas><div id="about" hidden></div>

    """#

  static let program: StaticString = #"""
    <script>
    "use strict";
    const map = JSON.parse(document.getElementById("map-data").textContent);
    const canvas = document.getElementById("map"), about = document.getElementById("about"), pen = canvas.getContext("2d");
    document.title = map.name; canvas.setAttribute("aria-label", map.name);
    const dashes = {dash: [4, 3], dot: [1, 3], dashDot: [4, 3, 1, 3], dashDotDot: [4, 3, 1, 3, 1, 3], longDash: [8, 3], longDashDot: [8, 3, 1, 3],
      shortDash: [4, 1], shortDot: [1, 1], shortDashDot: [4, 1, 1, 1], shortDashDotDot: [4, 1, 1, 1, 1, 1]};
    for (const layer of map.layers) if (layer.tiles) layer.images = new Map(layer.tiles.map(([z, x, y, data]) => [[z, x, y].join(), {data}]));
    for (const layer of map.layers) layer.features = (layer.features || []).map(([kind, runs, symbol, labels, values]) => {
      const box = [Infinity, Infinity, -Infinity, -Infinity];
      for (const run of runs) for (let i = 0; i < run.length; i += 2) {
        if (i) { run[i] += run[i - 2]; run[i + 1] += run[i - 1]; }
        box[0] = Math.min(box[0], run[i]); box[2] = Math.max(box[2], run[i]);
        box[1] = Math.min(box[1], run[i + 1]); box[3] = Math.max(box[3], run[i + 1]);
      }
      return {kind, runs, symbol: layer.symbols[symbol], labels, values, box, layer};
    });
    let [cx, cy] = map.center, scale = map.scale, width, height, isWaiting = false;
    const toX = x => (x - cx) * scale + width / 2, toY = y => (cy - y) * scale + height / 2;
    function size() {
      const ratio = devicePixelRatio || 1;
      width = canvas.clientWidth; height = canvas.clientHeight;
      canvas.width = width * ratio; canvas.height = height * ratio;
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      if (!scale) scale = 0.9 * Math.min(width / Math.max(map.box[2] - map.box[0], 1), height / Math.max(map.box[3] - map.box[1], 1), 1);
      refresh();
    }
    function refresh() { if (!isWaiting) { isWaiting = true; requestAnimationFrame(() => { isWaiting = false; draw(); }); } }
    function path(feature) {
      const shape = new Path2D();
      for (const run of feature.runs) {
        for (let i = 0; i < run.length; i += 2) shape[i ? "lineTo" : "moveTo"](toX(run[i]), toY(run[i + 1]));
        if (feature.kind == 2) shape.closePath();
      }
      return shape;
    }
    function stroke(line, shape) {
      if (!line || line.style == "null" || !line.width) return;
      pen.strokeStyle = line.color; pen.lineWidth = line.width; pen.lineJoin = "round";
      pen.setLineDash((dashes[line.style] || []).map(n => n * line.width));
      pen.stroke(shape); pen.setLineDash([]);
    }
    function hatch(fill, shape, box) {
      const lines = new Path2D(), step = 8, [left, top, right, bottom] = box, tall = bottom - top;
      const has = (...names) => names.includes(fill.style), first = n => Math.floor(n / step) * step;
      if (has("horizontal", "cross")) for (let y = first(top); y < bottom; y += step) { lines.moveTo(left, y); lines.lineTo(right, y); }
      if (has("vertical", "cross")) for (let x = first(left); x < right; x += step) { lines.moveTo(x, top); lines.lineTo(x, bottom); }
      if (has("backwardDiagonal", "diagonalCross")) for (let x = first(left - tall); x < right; x += step) { lines.moveTo(x, top); lines.lineTo(x + tall, bottom); }
      if (has("forwardDiagonal", "diagonalCross")) for (let x = first(left); x < right + tall; x += step) { lines.moveTo(x, top); lines.lineTo(x - tall, bottom); }
      pen.save(); pen.clip(shape, "evenodd"); pen.strokeStyle = fill.color; pen.lineWidth = 1; pen.stroke(lines); pen.restore();
    }
    function marker(symbol, x, y) {
      const half = symbol.size / 2, shape = new Path2D();
      pen.save(); pen.translate(x + symbol.xOffset, y - symbol.yOffset); pen.rotate(symbol.angle * Math.PI / 180);
      const poly = points => { points.forEach(([a, b], i) => shape[i ? "lineTo" : "moveTo"](a * half, b * half)); shape.closePath(); };
      const bars = ends => { for (const [a, b] of ends) { shape.moveTo(-a * half, -b * half); shape.lineTo(a * half, b * half); } };
      switch (symbol.style) {
      case "square": poly([[-1, -1], [1, -1], [1, 1], [-1, 1]]); break;
      case "diamond": poly([[0, -1], [1, 0], [0, 1], [-1, 0]]); break;
      case "triangle": poly([[0, -1], [1, 1], [-1, 1]]); break;
      case "cross": bars([[1, 0], [0, 1]]); break;
      case "x": bars([[1, 1], [1, -1]]); break;
      default: shape.arc(0, 0, half, 0, 7);
      }
      if (symbol.style == "cross" || symbol.style == "x") { pen.strokeStyle = symbol.color; pen.lineWidth = 1; pen.stroke(shape); }
      else { pen.fillStyle = symbol.color; pen.fill(shape); }
      stroke(symbol.outline, shape); pen.restore();
    }
    function words(symbol, x, y) {
      pen.save(); pen.translate(x + symbol.xOffset, y - symbol.yOffset); pen.rotate(symbol.angle * Math.PI / 180);
      pen.font = `${symbol.fontStyle} ${symbol.fontWeight} ${symbol.size}px ${symbol.fontFamily ? JSON.stringify(symbol.fontFamily) + "," : ""}sans-serif`;
      pen.textAlign = symbol.horizontalAlignment == "justify" ? "left" : symbol.horizontalAlignment;
      pen.textBaseline = symbol.verticalAlignment == "baseline" ? "alphabetic" : symbol.verticalAlignment;
      if (symbol.haloColor && symbol.haloWidth) { pen.strokeStyle = symbol.haloColor; pen.lineWidth = 2 * symbol.haloWidth; pen.lineJoin = "round"; pen.strokeText(symbol.text, 0, 0); }
      pen.fillStyle = symbol.color; pen.fillText(symbol.text, 0, 0); pen.restore();
    }
    function paint(symbol, feature, shape) {
      if (!symbol) return;
      if (symbol.type == "composite") return symbol.symbols.forEach(part => paint(part, feature, shape));
      if (feature.kind == 0) {
        const put = symbol.type == "simpleMarker" ? marker : symbol.type == "text" ? words : null;
        if (put) for (const run of feature.runs) for (let i = 0; i < run.length; i += 2) put(symbol, toX(run[i]), toY(run[i + 1]));
      } else if (symbol.type == "simpleLine") stroke(symbol, shape);
      else if (symbol.type == "simpleFill" && feature.kind == 2) {
        const [left, bottom, right, top] = feature.box;
        if (symbol.style == "solid") { pen.fillStyle = symbol.color; pen.fill(shape, "evenodd"); }
        else if (symbol.style != "null") hatch(symbol, shape, [Math.max(toX(left), 0), Math.max(toY(top), 0), Math.min(toX(right), width), Math.min(toY(bottom), height)]);
        stroke(symbol.outline, shape);
      }
    }
    const isSeen = ({box}) => toX(box[2]) > -99 && toX(box[0]) < width + 99 && toY(box[1]) > -99 && toY(box[3]) < height + 99;
    function place({kind, runs, box}) {
      if (kind == 2) return [toX((box[0] + box[2]) / 2), toY((box[1] + box[3]) / 2)];
      const run = runs[0], i = Math.floor(run.length / 4) * 2;
      return [toX(run[i]), toY(run[i + 1])];
    }
    function isReady(tile) {
      if (!tile) return false;
      if (!tile.image) {
        tile.image = new Image();
        tile.image.onload = refresh;
        tile.image.src = "data:image/png;base64," + tile.data;
      }
      return tile.image.complete;
    }
    // The tiles of a zoom that fits the screen, or what coarser ones have of them.
    function raster({images, zoom}) {
      const ratio = devicePixelRatio || 1, half = map.turn / 2, snap = n => Math.round(n * ratio) / ratio;
      const z = Math.min(Math.max(Math.ceil(Math.log2(map.turn * scale * ratio / 512) - 0.3), 0), zoom), side = map.turn / 2 ** z;
      const range = (low, high) => [low, high].map(n => Math.min(Math.max(Math.floor((n + half) / side), 0), 2 ** z - 1));
      const [left, right] = range(cx - width / 2 / scale, cx + width / 2 / scale), [top, bottom] = range(-cy - height / 2 / scale, -cy + height / 2 / scale);
      for (let y = top; y <= bottom; y++) for (let x = left; x <= right; x++) for (let up = 0; up <= z; up++) {
        const tile = images.get([z - up, x >> up, y >> up].join()), part = 512 / 2 ** up;
        if (!isReady(tile)) continue;
        const [x0, y0, x1, y1] = [toX(x * side - half), toY(half - y * side), toX((x + 1) * side - half), toY(half - (y + 1) * side)].map(snap);
        pen.drawImage(tile.image, (x % 2 ** up) * part, (y % 2 ** up) * part, part, part, x0, y0, x1 - x0, y1 - y0);
        break;
      }
    }
    const isShown = ({minScale, maxScale}) => !(map.denominator / scale > minScale) && !(map.denominator / scale < maxScale);
    function draw() {
      pen.clearRect(0, 0, width, height);
      pen.fillStyle = map.background || "#ffffff"; pen.fillRect(0, 0, width, height);
      const taken = [], layers = map.layers.filter(isShown);
      for (const layer of layers) {
        pen.globalAlpha = layer.opacity;
        if (layer.images) raster(layer);
        for (const feature of layer.features) if (isSeen(feature)) paint(feature.symbol, feature, feature.kind ? path(feature) : null);
      }
      for (const layer of layers) {
        pen.globalAlpha = layer.opacity;
        for (const feature of layer.features) if (feature.labels.length && feature.runs.length && isSeen(feature)) for (const label of feature.labels) {
          const [x, y] = place(feature), wide = label.size * label.text.length * 0.3, tall = label.size * 0.7;
          if (taken.some(([a, b, w, h]) => Math.abs(a - x) < w + wide && Math.abs(b - y) < h + tall)) continue;
          taken.push([x, y, wide, tall]); words(label, x, y);
        }
      }
    }
    function radius(symbol) { return symbol ? symbol.type == "composite" ? Math.max(...symbol.symbols.map(radius)) : (symbol.size || symbol.width || 0) / 2 : 0; }
    function find(x, y) {
      for (const layer of map.layers.filter(isShown).reverse()) for (const feature of [...layer.features].reverse()) {
        if (!feature.symbol || !isSeen(feature)) continue;
        if (feature.kind == 0) {
          const reach = radius(feature.symbol) + 4;
          for (const run of feature.runs) for (let i = 0; i < run.length; i += 2) if (Math.hypot(toX(run[i]) - x, toY(run[i + 1]) - y) < reach) return feature;
        } else {
          pen.save(); pen.setTransform(1, 0, 0, 1, 0, 0); pen.lineWidth = 8;
          const shape = path(feature), isHit = feature.kind == 2 ? pen.isPointInPath(shape, x, y, "evenodd") : pen.isPointInStroke(shape, x, y);
          pen.restore();
          if (isHit) return feature;
        }
      }
    }
    function zoom(factor, x = width / 2, y = height / 2) {
      const next = Math.min(Math.max(scale * factor, 1e-9), 64);
      cx += (x - width / 2) * (1 / scale - 1 / next); cy -= (y - height / 2) * (1 / scale - 1 / next);
      scale = next; refresh();
    }
    let start = null;
    canvas.onpointerdown = event => { start = {x: event.clientX, y: event.clientY, moved: 0}; canvas.setPointerCapture(event.pointerId); };
    canvas.onpointermove = event => {
      if (!start) return;
      const dx = event.clientX - start.x, dy = event.clientY - start.y;
      start = {x: event.clientX, y: event.clientY, moved: start.moved + Math.hypot(dx, dy)};
      cx -= dx / scale; cy += dy / scale; refresh();
    };
    canvas.onpointerup = event => {
      const isClick = start && start.moved < 4;
      start = null;
      if (!isClick) return;
      const found = find(event.clientX, event.clientY);
      about.hidden = !found;
      if (found) about.textContent = [found.layer.name, ...found.layer.fields.map((name, i) => [name, found.values[i]]).filter(([, value]) => value !== null).map(([name, value]) => `${name}: ${value}`)].join("\n");
    };
    canvas.onwheel = event => { event.preventDefault(); zoom(2 ** (-event.deltaY / 300), event.clientX, event.clientY); };
    canvas.ondblclick = event => zoom(2, event.clientX, event.clientY);
    addEventListener("keydown", event => {
      const step = 60 / scale, moves = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]}[event.key];
      if (moves) { cx += moves[0] * step; cy += moves[1] * step; refresh(); }
      if (event.key == "+") zoom(2);
      if (event.key == "-") zoom(0.5);
    });
    addEventListener("resize", size);
    size();
    </script></body></html>

    """#
}
