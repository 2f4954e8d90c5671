// The lab over its still picture, when the page has been shown: wide screens, and where it is served.
const place = document.querySelector(".lab-frame");
const wanted = place && matchMedia("(min-width: 60rem)").matches;
if (wanted) place.classList.add("wanted"); // its room is kept: nothing moves when the lab comes
addEventListener("load", () => {
  if (!wanted) return;
  const root = document.documentElement;
  const frame = document.createElement("iframe");
  frame.title = "The lab: integrators side by side over the true motion";
  frame.src = `lab/index.html?embedded&theme=${root.dataset.theme ?? "light"}`;
  frame.addEventListener("load", () => place.classList.add("live"));
  place.append(frame);
  new MutationObserver(() => {
    const inner = frame.contentDocument?.documentElement; // null where the page is a file
    if (inner) inner.dataset.theme = root.dataset.theme;
  }).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
});
