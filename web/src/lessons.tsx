// What this is, and three lessons: scenarios that open, with what to look at.

import { signal } from "@preact/signals";
import { has, type GalleryEntry } from "./api";
import { openEntry } from "./gallery";

/** What to do; some of it needs a view that not every page has. */
type Step = string | { needs: string; words: string };
interface Lesson { entry: string; title: string; about: string; steps: Step[] }

const LESSONS: Lesson[] = [
  {
    entry: "performance_anomaly",
    title: "One slow laptop slows everybody",
    about: "Why fairness in frames is unfairness in time.",
    steps: [
      "Press Run. Four stations send at 11 Mb/s and one at 1 Mb/s, and yet all have nearly the " +
        "same goodput: see the table of flows.",
      "Open the air: the long frames are those of the slow station. Each gets its turn, and its " +
        "turn takes eleven times as long.",
      "Go back to the scenario, press Try: five fast ones, run it, and compare the two runs.",
    ],
  },
  {
    entry: "hidden_nodes",
    title: "Two senders that cannot hear each other",
    about: "Collisions that listening before talking does not prevent.",
    steps: [
      "Press Run: more than half of the attempts collide, although only two stations send.",
      "Open the air and press L to go from one lost frame to the next: each overlaps one of the " +
        "other station, which did not detect it.",
      "Go back, press Try: all nodes detect each other, and run it. The losses are nearly gone.",
    ],
  },
  {
    entry: "home",
    title: "A call behind a backup",
    about: "How a full queue ruins a conversation, and which queue does not.",
    steps: [
      "Press Run: the headline has the opinion score of the worst call (MOS; 4.4 is perfect), and " +
        "the tables have the delays by link: the modem's queue is full of the backup.",
      {
        needs: "why",
        words: "Press Why so slow?, choose a call and explain it: the change that helps most " +
          "stands first, with what it gains.",
      },
      "Go back to the scenario, press Try: the call has a good score, run it, and compare the two " +
        "runs.",
    ],
  },
];

const lesson = signal<Lesson | null>(null);
const CLOSED = "simoom intro closed";

function isClosed(): boolean {
  try {
    return localStorage.getItem(CLOSED) === "yes";
  } catch {
    return false;
  }
}

export function Intro({ entries }: { entries: GalleryEntry[] }) {
  const keep = (isOpen: boolean) => {
    try {
      localStorage.setItem(CLOSED, isOpen ? "no" : "yes");
    } catch {
      // It is then open again the next time.
    }
  };
  const begin = (own: Lesson, button: HTMLElement) => {
    const entry = entries.find(({ name }) => name === own.entry);
    if (entry) openEntry(entry);
    lesson.value = own;
    button.closest("details")!.open = false;
    scrollTo(0, 0);
  };
  return (
    <details class="card intro" open={!isClosed()}
      onToggle={(event) => keep(event.currentTarget.open)}>
      <summary><h2>What is this?</h2></summary>
      <p>Simoom simulates Wi-Fi: every frame on the air and every segment of TCP. A scenario is a
        short text: stations, their traffic, and what differs from the standard. Run it to see who
        gets how much, how long packets wait and why, and each frame on a timeline. Everything
        stays on this machine. Start with a lesson, or with a scenario of the gallery.</p>
      <div class="lessons">
        {LESSONS.map((own) => (
          <button key={own.entry} type="button"
            onClick={(event) => begin(own, event.currentTarget)}>
            <strong>{own.title}</strong><span>{own.about}</span></button>
        ))}
      </div>
    </details>
  );
}

/** The steps of the lesson that was begun, beside every view. */
export function LessonSteps() {
  const own = lesson.value;
  if (!own) return null;
  return (
    <aside class="lesson" aria-label="Lesson">
      <details open={innerWidth > 900}>
        <summary><strong>{own.title}</strong></summary>
        <ol>{own.steps.filter((step) => typeof step === "string" || has(step.needs))
          .map((step) => (typeof step === "string" ? step : step.words))
          .map((words) => <li key={words}>{words}</li>)}</ol>
        <button type="button" onClick={() => (lesson.value = null)}>End the lesson</button>
      </details>
    </aside>
  );
}
