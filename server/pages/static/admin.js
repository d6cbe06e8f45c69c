// The one-use link: its code stands behind the #, which browsers do not send; it is spent by a click alone.

import { copyButtons } from "./copy.js";

const code = location.hash.slice(1);
const button = document.getElementById("redeem");
const say = document.getElementById("say");

history.replaceState(null, "", location.pathname); // out of the address bar and the history
copyButtons();
if (code) {
  button.hidden = false;
  button.addEventListener("click", redeem);
} else {
  say.textContent = "The link of this page is not complete: it ends in # and a code.";
}

async function redeem() {
  button.disabled = true;
  try {
    const answer = await fetch("/api/v1/links/redeem", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ code }),
    });
    const told = await answer.json();
    if (answer.ok) show(told.token);
    else refuse(told);
  } catch {
    say.textContent = "The server does not answer. Please try again.";
    button.disabled = false;
  }
}

function show(token) {
  for (const id of ["token", "variable"]) document.getElementById(id).textContent = token;
  document.getElementById("given").hidden = false;
  button.hidden = true;
  say.textContent = "You are the admin. This is your token:";
}

function refuse(problem) {
  const used = problem.code === "bad_link";
  say.textContent = used
    ? "This link was used already, has run out, or was replaced by a newer one. As long as there is no admin, each start of the server prints a new one."
    : problem.detail;
  button.hidden = used;
  button.disabled = false;
}
