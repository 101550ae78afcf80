// What scripts add to a page that works without them: progress and an end for long work, Ctrl+Enter, copying, and the map by keys.

const main = document.querySelector("main");
const [CANCEL, CANCELLING, CANCELLED, COPY, COPIED, KEYS] = document.body.dataset.says.split("\n");

function element(name, text, parent) {
  const made = document.createElement(name);
  made.textContent = text;
  parent?.append(made);
  return made;
}

// Long work: the form is sent as a job, whose events tell what happens.
const progress = element("div", "", document.body);
progress.id = "progress";
progress.hidden = true;
const told = element("span", "", progress);
told.setAttribute("role", "status");
const cancel = element("button", CANCEL, progress);

async function send(form) {
  const began = performance.now();
  const headers = { "Prefer": "respond-async", "X-Lakeward": "1", "Accept": "text/html" };
  const begun = await fetch(form.action, { method: "POST", headers, body: new URLSearchParams(new FormData(form)) });
  const job = begun.headers.get("Location");
  if (begun.status !== 202 || !job) throw new Error(`status ${begun.status}`);
  const seconds = () => `${Math.round((performance.now() - began) / 1000)} s`;
  let doing = form.dataset.wait;
  const tell = () => { told.textContent = `${doing}… ${seconds()}`; };
  progress.hidden = false;
  tell();
  const clock = setInterval(tell, 1000);
  const events = new EventSource(`${job}/events`);
  cancel.onclick = () => { doing = CANCELLING; fetch(job, { method: "DELETE", headers }); };
  events.addEventListener("running", (event) => { doing = JSON.parse(event.data).what ?? doing; tell(); });
  const end = (next) => { clearInterval(clock); events.close(); next(); };
  for (const state of ["done", "failed"]) {
    // The answer is a page, or leads to one.
    events.addEventListener(state, () => end(() => { location.assign(`${job}/answer`); }));
  }
  events.addEventListener("cancelled", () => end(() => { told.textContent = CANCELLED; cancel.hidden = true; busy = false; }));
}

let busy = false;
for (const form of document.querySelectorAll("form[data-wait]")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (busy) return;
    busy = true;
    cancel.hidden = false;
    send(form).catch(() => form.submit());
  });
}
// Back in the history, nothing is waited for.
addEventListener("pageshow", () => { busy = false; progress.hidden = true; });

// Ctrl+Enter sends what was typed, as in other places.
for (const box of document.querySelectorAll("form.ask textarea")) {
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    box.form.requestSubmit();
  });
}

// Citations are copied.
for (const text of document.querySelectorAll("[data-copy]")) {
  const button = element("button", `${COPY} ${text.dataset.copy}`);
  text.after(button);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(text.textContent);
    button.textContent = COPIED;
  });
}

// The map: arrows go to the nearest table that way, + and - change the size, the lines of a table stand out.
const map = document.querySelector("svg.map");
if (map) {
  const nodes = [...map.querySelectorAll("a.node")];
  const links = [...map.querySelectorAll("path.link")].map((path) => [path, path.dataset.ends.split(" ")]);
  const show = (node) => {
    map.classList.toggle("focused", Boolean(node));
    const near = new Set([node?.dataset.node]);
    for (const [path, ends] of links) {
      const lit = ends.includes(node?.dataset.node);
      path.classList.toggle("lit", lit);
      if (lit) ends.forEach((end) => near.add(end));
    }
    nodes.forEach((other) => other.classList.toggle("lit", near.has(other.dataset.node)));
  };
  const ways = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
  const centre = (node) => { const at = node.querySelector("circle").getBoundingClientRect(); return [at.x, at.y]; };
  const next = (node, [x, y]) => {
    const [left, top] = centre(node);
    const far = (other) => { const [a, b] = centre(other); const along = (a - left) * x + (b - top) * y; return along > 2 ? along + 3 * Math.abs((a - left) * y + (b - top) * x) : Infinity; };
    const best = nodes.reduce((best, other) => (far(other) < far(best) ? other : best), node);
    return best;
  };
  let size = 100;
  const resize = (by) => { size = Math.min(400, Math.max(50, size * by)); const box = map.viewBox.baseVal; map.setAttribute("width", box.width * size / 100); map.classList.add("sized"); };
  map.addEventListener("focusin", (event) => show(event.target.closest("a.node")));
  map.addEventListener("focusout", () => show(null));
  map.addEventListener("pointerover", (event) => { const node = event.target.closest("a.node"); if (node) show(node); });
  map.addEventListener("pointerleave", () => show(document.activeElement?.closest?.("a.node")));
  document.getElementById("map").addEventListener("keydown", (event) => {
    const node = document.activeElement.closest("a.node");
    if (event.key === "+" || event.key === "-") resize(event.key === "+" ? 1.25 : 0.8);
    else if (ways[event.key] && node) next(node, ways[event.key]).focus();
    else if (ways[event.key] && event.target.id === "map") nodes[0]?.focus();
    else return;
    event.preventDefault();
  });
  const hint = element("p", KEYS);
  hint.className = "why";
  document.getElementById("map").before(hint);
}
main?.setAttribute("data-ready", "");
