"use strict";
// The one interactive figure: an example, a coordinate, and a place along its axis.
(() => {
  const section = document.getElementById("explore");
  if (!section) return;
  const data = JSON.parse(document.getElementById("explorer-data").textContent);
  const find = (id) => document.getElementById(id);
  const slider = find("slide");
  const frame = find("explore-frame");
  const plot = find("explore-plot");
  const svg = plot.querySelector("svg");
  const marker = plot.querySelector(".marker");
  const buttons = [...section.querySelectorAll(".thumbs button")];
  const choices = [...section.querySelectorAll(".choices input")];
  let example = 0;
  let coordinate = 0;

  const curve = () => data.examples[example].curves[coordinate];

  function move() {
    const axis = data.coordinates[coordinate];
    const at = Number(slider.value);
    const name = data.examples[example].name;
    const reading = `${axis.values[at]}: ${Math.round(100 * curve().natural[at])}% as natural as the most natural value`;
    // all frames lie below one another in one picture, of which the window shows one
    frame.style.transform = `translateY(${(-100 * at) / axis.values.length}%)`;
    frame.alt = `${name} at ${axis.name} ${axis.values[at]}`;
    marker.style.left = `${axis.places[at]}%`;
    slider.setAttribute("aria-valuetext", reading);
    find("reading").textContent = reading;
  }

  function show() {
    const axis = data.coordinates[coordinate];
    const chosen = data.examples[example];
    frame.removeAttribute("width");
    frame.removeAttribute("height");
    frame.src = curve().frames;
    frame.classList.add("frames");
    svg.querySelector("path").setAttribute("d", curve().path);
    svg.setAttribute("aria-label", `density of ${axis.name} for ${chosen.name}`);
    for (const end of ["x1", "x2"]) svg.querySelector(".own").setAttribute(end, 10 * curve().own);
    find("explore-ticks").innerHTML = axis.ticks;
    for (const word of section.querySelectorAll(".which")) word.textContent = axis.name;
    slider.max = axis.values.length - 1;
    slider.value = curve().start;
    move();
  }

  function choose(place) {
    example = place;
    buttons.forEach((button, i) => button.setAttribute("aria-pressed", String(i === place)));
    const thumb = buttons[place].querySelector("img");
    find("explore-example").src = thumb.src;
    find("explore-example").alt = thumb.alt;
    find("explore-prototype").src = data.examples[place].prototype;
    find("explore-prototype").alt = `prototype of ${thumb.alt}`;
    show();
  }

  buttons.forEach((button, place) => button.addEventListener("click", () => choose(place)));
  choices.forEach((input, place) =>
    input.addEventListener("change", () => {
      coordinate = place;
      show();
    }),
  );
  slider.addEventListener("input", move);
  // pressing on the curve moves the slider there
  const drag = (event) => {
    const box = plot.getBoundingClientRect();
    const places = data.coordinates[coordinate].places;
    const wanted = (100 * (event.clientX - box.left)) / box.width;
    const near = (a, b) => (Math.abs(places[b] - wanted) < Math.abs(places[a] - wanted) ? b : a);
    slider.value = places.map((_, i) => i).reduce(near, 0);
    move();
  };
  plot.addEventListener("pointerdown", (event) => {
    plot.setPointerCapture(event.pointerId);
    drag(event);
  });
  plot.addEventListener("pointermove", (event) => {
    if (plot.hasPointerCapture(event.pointerId)) drag(event);
  });
  section.classList.add("live");
  show();
})();
