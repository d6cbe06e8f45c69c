// Parts of a page that the server renders again after a change: standings, results.

import { writeTimes } from "./clock.js";

const PAUSE_MS = 1000;

/** A part that is fetched anew on `refresh()`, at most once in a pause and only while the page is seen. */
class Fragment {
  constructor(element) {
    this.element = element;
    this.address = element.dataset.fragment;
    this.wanted = false;
    this.busy = false;
    document.addEventListener("visibilitychange", () => this.run());
  }

  refresh() {
    this.wanted = true;
    this.run();
  }

  async run() {
    if (this.busy || !this.wanted || document.hidden) return;
    this.busy = true;
    this.wanted = false;
    try {
      const answer = await fetch(this.address);
      if (answer.ok) this.replace(await answer.text());
    } catch {
      // The server is away. The feed notices too, and its snapshot asks for every part again.
    }
    setTimeout(() => {
      this.busy = false;
      this.run();
    }, PAUSE_MS);
  }

  replace(html) {
    const focused = this.element.contains(document.activeElement) ? document.activeElement.href : null;
    this.element.innerHTML = html; // our own template's output: names are escaped there
    writeTimes(this.element);
    if (focused) [...this.element.querySelectorAll("a")].find((link) => link.href === focused)?.focus();
  }
}

/** Find the page's fragments; returns a function that refreshes those of a ladder, or all of them. */
export function watchFragments() {
  const fragments = [...document.querySelectorAll("[data-fragment]")].map((element) => new Fragment(element));
  return (ladder = null) => {
    for (const fragment of fragments) {
      const own = fragment.element.dataset.ladder;
      if (ladder === null || !own || own === ladder) fragment.refresh();
    }
  };
}
