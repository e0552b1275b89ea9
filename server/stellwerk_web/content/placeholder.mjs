// Shows what a stream says, as text.

const [, kind = "", name = ""] = location.pathname.split("/");
const path = kind === "match" ? `/stream/match/${name}` : kind === "wall" ? "/stream/wall" : "/stream";
const place = document.getElementById("said");
const stream = new EventSource(path);
for (const type of ["state", "change"]) {
  stream.addEventListener(type, (event) => {
    if (place !== null) place.textContent = `${event.lastEventId} ${type} ${event.data.slice(0, 2000)}\n${place.textContent.slice(0, 20000)}`;
  });
}
