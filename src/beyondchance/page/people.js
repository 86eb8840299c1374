// Cards of people, each to be printed or saved by itself.
(() => {
  "use strict";

  // A page of its own, with nothing of anyone else: styles, the card, and no link into this page.
  function standalone(card) {
    const page = document.implementation.createHTMLDocument(card.dataset.name);
    page.documentElement.lang = "en";
    const [charset, policy, viewport] = document.querySelectorAll("meta");
    page.head.prepend(...[charset, policy, viewport].map((meta) => page.importNode(meta, true)));
    page.head.children[1].content = "default-src 'none'; style-src 'unsafe-inline'";
    page.head.append(page.importNode(document.querySelector("style"), true));
    const copy = page.importNode(card, true);
    copy.classList.add("alone");
    copy.querySelector(".save").remove();
    for (const link of copy.querySelectorAll("a")) link.replaceWith(...link.childNodes);
    page.body.append(page.createElement("main"));
    page.body.firstChild.append(copy);
    return `<!DOCTYPE html>\n${page.documentElement.outerHTML}`;
  }

  for (const card of document.querySelectorAll(".person")) {
    const [save, print] = card.querySelectorAll(".save button");
    save.hidden = print.hidden = false;
    save.addEventListener("click", async () => {
      const name = card.dataset.name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
      const answer = await window.beyondchanceSave(`${name}.html`, standalone(card), "text/html");
      card.querySelector("[role=status]").textContent = answer;
    });
    print.addEventListener("click", () => {
      card.classList.add("alone");
      window.print();
    });
    addEventListener("afterprint", () => card.classList.remove("alone"));
  }
})();
