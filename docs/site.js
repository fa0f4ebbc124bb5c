// By keyboard: what scrolls is a stop of Tab, and the two drawers of a narrow window can be used.
const markScrolling = () => {
  for (const one of document.querySelectorAll("pre, .table-wrapper, .cell_output")) {
    if (one.scrollWidth > one.clientWidth) one.tabIndex = 0;
    else one.removeAttribute("tabindex");
  }
};
const LINK = "a:not(.toc-tree [href='#'])"; // the title in the contents is not shown
const makeDrawer = (box, drawer) => {
  if (!drawer?.querySelector(LINK)) {
    if (box) box.disabled = true;
    return;
  }
  box.addEventListener("change", () => {
    if (box.checked) drawer.querySelector(LINK).focus();
  });
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter") box.click();
  });
  drawer.addEventListener("click", (event) => {
    if (event.target.closest("a")) box.checked = false;
  });
  drawer.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !box.checked) return;
    box.checked = false;
    box.focus();
  });
};
// A result of the search is named with the group of the menu in which its page is.
const showGroups = (results) => {
  const pages = [...document.querySelectorAll(".sidebar-tree > ul a")];
  for (const found of results.querySelectorAll("li > a:not([data-group])")) {
    const page = pages.find((one) => one.pathname === found.pathname);
    const caption = page?.closest(".sidebar-tree > ul").previousElementSibling;
    found.dataset.group = caption ? `${caption.textContent.trim()}: ` : "";
  }
};
addEventListener("DOMContentLoaded", () => {
  const results = document.getElementById("search-results");
  const watch = new MutationObserver(() => showGroups(results));
  if (results) watch.observe(results, { childList: true, subtree: true });
  makeDrawer(document.getElementById("__navigation"), document.querySelector(".sidebar-drawer"));
  makeDrawer(document.getElementById("__toc"), document.querySelector(".toc-drawer"));
  markScrolling();
  document.addEventListener("toggle", markScrolling, true); // an unfolded script may scroll
});
addEventListener("resize", markScrolling);
