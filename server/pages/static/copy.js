// Copy buttons: each copies the code beside it.

import { write } from "./seats.js";

const SAID_MS = 2000;

/** Let every `button[data-copy]` of the page work, also those that come later. */
export function copyButtons() {
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest("button[data-copy]");
    if (!button) return;
    write(button, (await copied(button.parentElement.querySelector("code"))) ? "Copied" : "Selected");
    setTimeout(() => write(button, "Copy"), SAID_MS);
  });
}

// Over plain http browsers give a page no clipboard: there the text is selected, and copied as by hand.
async function copied(element) {
  try {
    await navigator.clipboard.writeText(element.textContent);
    return true;
  } catch {
    window.getSelection().selectAllChildren(element);
    return document.execCommand("copy");
  }
}
