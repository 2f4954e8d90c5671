// The gallery as a grid of thumbnails with a filter; a click leads to the picture and its code.
addEventListener("DOMContentLoaded", () => {
  const title = document.querySelector("section#gallery > h1");
  if (!title) return;
  const cards = [...document.querySelectorAll("section#gallery > section")].map((section) => {
    const image = section.querySelector("img"), heading = section.querySelector("h2");
    const name = heading.firstChild.textContent;
    const card = document.createElement("a");
    card.href = `#${section.id}`;
    const shown = image ? document.createElement("img") : [...section.querySelectorAll("pre")].at(-1).cloneNode(true);
    if (image) Object.assign(shown, { src: image.src, alt: "", loading: "lazy" });
    const caption = document.createElement("span");
    caption.textContent = name;
    card.append(shown, caption);
    return { card, section, text: section.textContent.toLowerCase() };
  });
  const filter = Object.assign(document.createElement("input"),
    { type: "search", placeholder: "filter: kepler, energy, events ..." });
  filter.setAttribute("aria-label", "show the pictures with these words in their title, text or code");
  const grid = document.createElement("div");
  grid.className = "gallery-grid";
  grid.append(...cards.map(({ card }) => card));
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/);
    for (const { card, section, text } of cards) {
      card.hidden = section.hidden = !words.every((word) => text.includes(word));
    }
  });
  title.nextElementSibling.after(filter, grid);
});
